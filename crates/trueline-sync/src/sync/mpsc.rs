//! `std::sync::mpsc`: channels with one receiver.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use super::{Condvar, Mutex, MutexGuard};
use crate::cancel::unpoisoned;
use crate::world;

struct State<T> {
    queue: VecDeque<T>,
    senders: usize,
    has_receiver: bool,
    /// Whether the receiver is waiting for a message.
    is_receiving: bool,
    /// The total numbers of messages sent and received.
    sent: usize,
    received: usize,
}

struct Channel<T> {
    state: Mutex<State<T>>,
    /// The capacity; `None` if it is unlimited. With capacity 0, a sender waits until its message has left the queue.
    room: Option<usize>,
    arrived: Condvar,
    left: Condvar,
}

impl<T> Channel<T> {
    #[track_caller]
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        unpoisoned(self.state.lock())
    }

    fn new(room: Option<usize>) -> (Arc<Self>, Receiver<T>) {
        let state =
            State { queue: VecDeque::new(), senders: 1, has_receiver: true, is_receiving: false, sent: 0, received: 0 };
        let channel = Arc::new(Self { state: Mutex::new(state), room, arrived: Condvar::new(), left: Condvar::new() });
        (Arc::clone(&channel), Receiver { channel })
    }

    fn is_full(&self, state: &State<T>) -> bool {
        self.room.is_some_and(|room| state.queue.len() >= room.max(1))
    }

    #[track_caller]
    fn send(&self, message: T) -> Result<(), SendError<T>> {
        let mut state = self.lock();
        while state.has_receiver && self.is_full(&state) {
            state = unpoisoned(self.left.wait(state));
        }
        if !state.has_receiver {
            return Err(SendError(message));
        }
        state.queue.push_back(message);
        let ticket = state.sent;
        state.sent = ticket.wrapping_add(1);
        self.arrived.notify_one();
        if self.room == Some(0) {
            let is_received = |state: &State<T>| state.received.wrapping_sub(ticket).wrapping_sub(1) < usize::MAX / 2;
            while state.has_receiver && !is_received(&state) {
                state = unpoisoned(self.left.wait(state));
            }
            if !is_received(&state) {
                // With capacity 0, this message is the only one in the queue.
                return state.queue.pop_back().map_or(Ok(()), |message| Err(SendError(message)));
            }
        }
        Ok(())
    }

    #[track_caller]
    fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let mut state = self.lock();
        if !state.has_receiver {
            return Err(TrySendError::Disconnected(message));
        }
        let has_partner = self.room != Some(0) || state.is_receiving;
        if self.is_full(&state) || !has_partner {
            return Err(TrySendError::Full(message));
        }
        state.queue.push_back(message);
        state.sent = state.sent.wrapping_add(1);
        self.arrived.notify_one();
        Ok(())
    }

    fn take(&self, state: &mut State<T>) -> Result<T, TryRecvError> {
        match state.queue.pop_front() {
            Some(message) => {
                state.received = state.received.wrapping_add(1);
                if self.room.is_some() {
                    self.left.notify_all();
                }
                Ok(message)
            }
            None if state.senders == 0 => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        }
    }

    #[track_caller]
    fn receive(&self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        let mut state = self.lock();
        loop {
            match self.take(&mut state) {
                Ok(message) => return Ok(message),
                Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
                Err(TryRecvError::Empty) => {}
            }
            state.is_receiving = true;
            let mut is_over = false;
            state = match deadline {
                None => unpoisoned(self.arrived.wait(state)),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    let (state, result) = unpoisoned(self.arrived.wait_timeout(state, left));
                    is_over = result.timed_out() && (world::blocks() || Instant::now() >= deadline);
                    state
                }
            };
            state.is_receiving = false;
            if is_over {
                return self.take(&mut state).map_err(|error| match error {
                    TryRecvError::Empty => RecvTimeoutError::Timeout,
                    TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
                });
            }
        }
    }

    fn add_sender(&self) {
        self.lock().senders += 1;
    }

    fn remove_sender(&self) {
        let mut state = self.lock();
        state.senders -= 1;
        if state.senders == 0 {
            self.arrived.notify_all();
        }
    }
}

/// Creates a channel with unlimited capacity.
///
/// ```
/// let (sender, receiver) = trueline_sync::sync::mpsc::channel();
/// sender.send(1).unwrap();
/// drop(sender);
/// assert_eq!(receiver.iter().collect::<Vec<_>>(), [1]);
/// ```
#[must_use]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (channel, receiver) = Channel::new(None);
    (Sender { channel }, receiver)
}

/// Creates a channel with a capacity of this many messages. With capacity 0, a sender waits until its message is
/// received.
///
/// ```
/// let (sender, receiver) = trueline_sync::sync::mpsc::sync_channel(1);
/// sender.send(1).unwrap();
/// assert!(sender.try_send(2).is_err());
/// assert_eq!(receiver.recv(), Ok(1));
/// ```
#[must_use]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let (channel, receiver) = Channel::new(Some(bound));
    (SyncSender { channel }, receiver)
}

macro_rules! sender {
    ($name:ident, $doc:literal) => {
        #[doc = $doc]
        pub struct $name<T> {
            channel: Arc<Channel<T>>,
        }

        impl<T> $name<T> {
            /// Sends a message. If the capacity is limited, waits for room.
            ///
            /// # Errors
            /// Returns the message if the receiver was dropped.
            #[track_caller]
            pub fn send(&self, message: T) -> Result<(), SendError<T>> {
                self.channel.send(message)
            }
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                self.channel.add_sender();
                Self { channel: Arc::clone(&self.channel) }
            }
        }

        impl<T> Drop for $name<T> {
            fn drop(&mut self) {
                self.channel.remove_sender();
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

sender!(Sender, "Sends to a channel with unlimited capacity.");
sender!(SyncSender, "Sends to a channel with limited capacity.");

impl<T> SyncSender<T> {
    /// Sends a message if there is room.
    ///
    /// # Errors
    /// Returns the message if there is no room, or the receiver was dropped.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.channel.try_send(message)
    }
}

/// Receives from a channel.
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
}

/// Iterates over messages, waiting for each, until all senders are dropped.
#[derive(Debug)]
pub struct Iter<'r, T> {
    receiver: &'r Receiver<T>,
}

/// Iterates over the messages that are available, without waiting.
#[derive(Debug)]
pub struct TryIter<'r, T> {
    receiver: &'r Receiver<T>,
}

/// Iterates over messages, waiting for each, until all senders are dropped.
#[derive(Debug)]
pub struct IntoIter<T> {
    receiver: Receiver<T>,
}

impl<T> Receiver<T> {
    /// Waits for a message.
    ///
    /// # Errors
    /// Fails if the channel is empty and all senders are dropped.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.channel.receive(None).map_err(|_| RecvError)
    }

    /// Returns a message, if one is available.
    ///
    /// # Errors
    /// Fails if the channel is empty.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.channel.take(&mut self.channel.lock())
    }

    /// Waits for a message, with a time limit.
    ///
    /// # Errors
    /// Fails if no message arrives in time, or all senders are dropped.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.channel.receive(Some(deadline)),
            None => self.recv().map_err(RecvTimeoutError::from),
        }
    }

    /// Iterates over messages, waiting for each, until all senders are dropped.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    /// Iterates over the messages that are available, without waiting.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.channel.lock();
        state.has_receiver = false;
        let left = if self.channel.room == Some(0) { VecDeque::new() } else { std::mem::take(&mut state.queue) };
        self.channel.left.notify_all();
        drop(state);
        // The messages are dropped after the lock is released, because their destructors may use
        // the channel.
        drop(left);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.receiver.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<'r, T> IntoIterator for &'r Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'r, T>;

    fn into_iter(self) -> Iter<'r, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_in_order_from_all() {
        for room in [None, Some(0), Some(1), Some(3)] {
            let (channel, receiver) = Channel::new(room);
            std::thread::scope(|scope| {
                for sender in 0..3 {
                    channel.add_sender();
                    let sending = SyncSender { channel: Arc::clone(&channel) };
                    scope.spawn(move || (0..50).for_each(|number| sending.send((sender, number)).expect("received")));
                }
                channel.remove_sender();
                let mut next = [0; 3];
                for (sender, number) in &receiver {
                    assert_eq!(number, next[sender], "{room:?}");
                    next[sender] += 1;
                }
                assert_eq!(next, [50; 3]);
            });
        }
    }

    #[test]
    fn both_ends_notice_when_the_other_is_gone() {
        let (sender, receiver) = sync_channel(0);
        assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)), "no thread receives");
        assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
        std::thread::scope(|scope| {
            let sent = scope.spawn(|| sender.send(2));
            drop(receiver);
            assert!(sent.join().expect("the sender does not panic").is_err());
        });
        let (sender, receiver) = channel::<u32>();
        drop(sender);
        assert_eq!(receiver.recv(), Err(RecvError));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    }
}
