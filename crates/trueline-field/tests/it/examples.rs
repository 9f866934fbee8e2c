//! Example tests: adapt them to test your own objects.

use std::collections::BTreeMap;

use crossbeam_queue::SegQueue;
use dashmap::DashMap;
use trueline::drive::unique;

#[test]
fn seg_queue() {
    trueline::test(SegQueue::new)
        .spec("queue")
        .operation("enqueue", unique(), |queue, x| queue.push(x))
        .operation("dequeue", (), |queue, ()| queue.pop())
        .run();
}

#[test]
fn dash_map() {
    trueline::test(DashMap::new)
        .model(BTreeMap::new())
        .operation("insert", (0..4, 0..100), |map, (k, v)| map.insert(k, v), |map, (k, v)| map.insert(k, v))
        .operation("get", 0..4, |map, k| map.get(&k).map(|entry| *entry), |map, k| map.get(&k).copied())
        .reads_only()
        .operation("remove", 0..4, |map, k| map.remove(&k).map(|entry| entry.1), |map, k| map.remove(&k))
        // DashMap does not promise that `len` is exact. With TRUELINE_WEAK=1, the test fails within milliseconds.
        .operation("len", (), |map, ()| map.len(), |map, ()| map.len())
        .weak()
        .run();
}
