//! Tests that plain models are judged as fast as models with declared meanings.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use trueline::test::{FailureKind, Meaning, Plan};

/// A queue in which every third `pop` takes the second value, if there are more than eight.
#[derive(Default)]
struct Queue {
    values: Mutex<VecDeque<u32>>,
    is_faulty: bool,
    pops: AtomicU32,
}

impl Queue {
    fn pop(&self) -> Option<u32> {
        let mut values = self.values.lock().unwrap();
        let takes_second = self.is_faulty && values.len() > 8 && self.pops.fetch_add(1, SeqCst) % 3 == 2;
        if takes_second { values.remove(1) } else { values.pop_front() }
    }
}

fn queue(is_faulty: bool, meanings: Option<[Meaning; 2]>) -> Plan {
    let test = trueline::test(move || Queue { is_faulty, ..Queue::default() }).model(VecDeque::new());
    let push = test.operation(
        "push",
        trueline::drive::unique(),
        |queue, x| queue.values.lock().unwrap().push_back(u32::try_from(x).unwrap_or(0)),
        |model, x| model.push_back(u32::try_from(x).unwrap_or(0)),
    );
    match meanings {
        Some([put, take]) => push
            .means(put)
            .operation("pop", (), |queue, ()| queue.pop(), |model, ()| model.pop_front())
            .means(take)
            .into_plan(),
        None => push.operation("pop", (), |queue, ()| queue.pop(), |model, ()| model.pop_front()).into_plan(),
    }
    .forgetful()
}

#[test]
fn a_fault_of_long_runs_is_found_by_a_plain_model() {
    // A search could judge only fewer and smaller runs in this time.
    let outcome = queue(true, None).seed(1).runs(1000).shrink_for(Duration::ZERO).run();
    let failure = outcome.failure.expect("the queue is faulty");
    assert_eq!(failure.kind, FailureKind::NotLinearizable);
}
