//! A model that cannot be hashed.
use std::collections::HashMap;
use std::sync::Mutex;

fn main() {
    trueline::test(|| Mutex::new(HashMap::new()))
        .model(HashMap::new())
        .operation("insert", (0..9, 0..9), |map, (k, v)| map.lock().unwrap().insert(k, v), |map, (k, v)| map.insert(k, v))
        .run();
}
