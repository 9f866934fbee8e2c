//! A test without `.model(..)`.
use std::sync::Mutex;

fn main() {
    trueline::test(|| Mutex::new(Vec::new()))
        .operation("push", 0..9_u64, |stack, x| stack.lock().unwrap().push(x), |model, x| model.push(x))
        .operation("pop", (), |stack, ()| stack.lock().unwrap().pop(), |model, ()| model.pop())
        .run();
}
