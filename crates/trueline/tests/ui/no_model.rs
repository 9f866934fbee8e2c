//! A test that does not say what is right.
use std::sync::Mutex;

fn main() {
    trueline::test(|| Mutex::new(Vec::new()))
        .operation("push", 0..9, |stack, x| stack.lock().unwrap().push(x))
        .run();
}
