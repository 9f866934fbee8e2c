//! The first test of the guide.

use std::collections::VecDeque;
use std::sync::Mutex;

#[test]
fn queue() {
    trueline::test(|| Mutex::new(VecDeque::new()))
        .model(VecDeque::new())
        .operation("push", 0..100, |queue, x| queue.lock().unwrap().push_back(x), |model, x| model.push_back(x))
        .operation("pop", (), |queue, ()| queue.lock().unwrap().pop_front(), |model, ()| model.pop_front())
        .run();
}
