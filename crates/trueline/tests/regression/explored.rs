#[test]
fn explored_again() {
    your_test()
        .only("draw | draw")
        .run();
}
