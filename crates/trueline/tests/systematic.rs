//! spike
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use trueline::drive::systematic::{Program, spike};
use trueline::drive::{Behaviour, Call, Clock, Handle, Instance, Kind, Timed};
use trueline::history::Value;
use trueline::primitives::AtomicU64;

struct Counter(Arc<AtomicU64>, bool);
impl Instance for Counter {
    fn handle(&self, _t: u32) -> Box<dyn Handle> {
        Box::new(Counter(Arc::clone(&self.0), self.1))
    }
}
impl Handle for Counter {
    fn call(&mut self, _call: &Call, clock: Clock) -> Timed {
        Timed::measure(clock, || {
            if self.1 {
                self.0.fetch_add(1, Ordering::SeqCst)
            } else {
                let v = self.0.load(Ordering::SeqCst);
                self.0.store(v + 1, Ordering::SeqCst);
                v
            }
        })
    }
}

#[test]
fn spike_it() {
    for (atomic, ops) in [(true, 3), (false, 1), (false, 2), (false, 3)] {
        let calls = vec![Call { operation: 0, argument: Value::Null }; ops];
        let program = Program {
            make: Arc::new(move || Arc::new(Counter(Arc::default(), atomic))),
            kinds: Arc::from([Kind::new("draw", |_| Value::Null)]),
            threads: vec![Behaviour::Calls(calls); 2],
            before: vec![],
            after: vec![],
            operations: 0,
            seed: 0,
        };
        let histories = Arc::new(AtomicUsize::new(0));
        let h = Arc::clone(&histories);
        let start = Instant::now();
        let n = spike(program, move |_| {
            h.fetch_add(1, Ordering::SeqCst);
        });
        let t = start.elapsed();
        println!("{atomic} {ops}: {n} executions, {histories:?} histories, {:.2?} per execution", t / (n as u32));
    }
}
