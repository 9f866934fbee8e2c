#[test]
fn run_again() {
    your_test()
        .only("draw | draw")
        .chaos(2)
        .runs(1000)
        .run();
}
