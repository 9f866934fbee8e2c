//! An operation of the object and of the model return different types.
use std::sync::Mutex;

fn main() {
    trueline::test(|| Mutex::new(Vec::new()))
        .model(Vec::new())
        .operation("push", 0..9, |stack, x| stack.lock().unwrap().push(x), |stack, x| stack.push(x))
        .operation("len", (), |stack, ()| stack.lock().unwrap().len(), |stack, ()| stack.is_empty())
        .run();
}
