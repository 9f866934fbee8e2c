//! Tests correct crates, as a control: even a long test must not find a fault (`TRUELINE_TIME=30
//! cargo test --release -p trueline-field clean`).

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use trueline::test::call;

/// The handle of a thread: a sender, and the receiver for one of the threads.
struct Ends {
    sender: Sender<u64>,
    receiver: Option<Receiver<u64>>,
}

#[test]
fn std_mpsc() {
    trueline::test(|| {
        let (sender, receiver) = channel();
        Mutex::new((sender, Some(receiver)))
    })
    .handle(|channel, _| {
        let mut ends = channel.lock().expect("no thread panics while it holds the lock");
        // The first thread that requests a handle gets the receiver.
        Ends { sender: ends.0.clone(), receiver: ends.1.take() }
    })
    .spec("queue")
    .operation("dequeue", (), |ends, ()| ends.receiver.as_ref().and_then(|receiver| receiver.try_recv().ok()))
    .when(|ends| ends.receiver.is_some())
    .operation("enqueue", trueline::drive::unique(), |ends, x| ends.sender.send(x).expect("the receiver still exists"))
    .run();
}

/// Sends to a channel that holds at most two messages. Returns whether there was room.
fn send_to_two(queue: &mut VecDeque<u64>, message: u64) -> bool {
    let has_room = queue.len() < 2;
    if has_room {
        queue.push_back(message);
    }
    has_room
}

#[test]
fn crossbeam_channel() {
    trueline::test(|| crossbeam_channel::bounded::<u64>(2))
        .model(VecDeque::new())
        .operation("send", trueline::drive::unique(), |ends, x| ends.0.try_send(x).is_ok(), send_to_two)
        .operation("receive", (), |ends, ()| ends.1.try_recv().ok(), |queue, ()| queue.pop_front())
        .operation("len", (), |ends, ()| ends.1.len(), |queue, ()| queue.len())
        .reads_only()
        .after([call("len", ())])
        .run();
}

#[test]
fn flume() {
    trueline::test(|| flume::bounded::<u64>(2))
        .model(VecDeque::new())
        .operation("send", trueline::drive::unique(), |ends, x| ends.0.try_send(x).is_ok(), send_to_two)
        .operation("receive", (), |ends, ()| ends.1.try_recv().ok(), |queue, ()| queue.pop_front())
        .operation("len", (), |ends, ()| ends.1.len(), |queue, ()| queue.len())
        .reads_only()
        .run();
}
