//! Arguments that no generator makes.
use std::sync::Mutex;

fn main() {
    trueline::test(|| Mutex::new(Vec::new()))
        .model(Vec::new())
        .operation("push", "a string", |stack, x| stack.lock().unwrap().push(x), |stack, x| stack.push(x))
        .run();
}
