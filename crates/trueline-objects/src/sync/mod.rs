//! Objects that synchronize threads.
//!
//! These are the objects of J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, figure 10 and
//! section 10, in correct and faulty versions. Their calls do not take effect one at a time: several calls take effect
//! together, and a call waits until it has partners to synchronize with. Thus some faults show up as a history that is
//! not allowed, and others only as calls that do not return although they should.
//!
//! Most objects are monitors: a state protected by a lock, and one condition variable on which all
//! threads wait, in loops. Some objects use [semaphores](semaphore::Semaphore) instead, which one
//! thread lowers and another one raises. Some of the paper's faulty versions have data races. Here,
//! as everywhere in this crate, the variables involved in these races are atomics.
//!
//! | name | made by | paper | fault | specification | expected |
//! |---|---|---|---|---|---|
//! | `sync-channel` | [`SyncChannel::new`](channel::SyncChannel::new) | §1, §9 | | `sync-channel` | accepted |
//! | `sync-channel-faulty-no-wait` | [`channel::Fault::NoWait`] | | the sender does not wait | `sync-channel` | rejected |
//! | `sync-channel-faulty-two-states` | [`channel::Fault::TwoStates`] | | the slot is freed before its sender has left | `sync-channel` | stuck |
//! | `sync-channel-faulty-wrong-condition` | [`channel::Fault::WrongCondition`] | | the sender wakes other senders instead of receivers | `sync-channel` | stuck |
//! | `filter-channel` | [`FilterChannel::new`](filter_channel::FilterChannel::new) | §2.1, §9 | | `filter-channel` | accepted |
//! | `filter-channel-faulty-no-filter` | [`filter_channel::Fault::NoFilter`] | | the filter of the receiver is ignored | `filter-channel` | rejected |
//! | `filter-channel-faulty-one-slot` | [`filter_channel::Fault::OneSlot`] | | an unwanted value blocks the slot | `filter-channel` | stuck |
//! | `filter-channel-faulty-two-states` | [`filter_channel::Fault::TwoStates`] | | an unwanted value blocks the slot; also, the slot is freed before its sender has left | `filter-channel` | stuck |
//! | `men-women` | [`MenWomen::new`](men_women::MenWomen::new) | §9 | | `men-women` | accepted |
//! | `men-women-faulty-two-slots` | [`men_women::Fault::TwoSlots`] | | a thread may read the name of a partner of another round | `men-women` | rejected |
//! | `men-women-faulty-crosswise` | [`men_women::Fault::Crosswise`] | | men and women let each other in, and may take the signal of another thread | `men-women` | rejected |
//! | `men-women-faulty-notify-one` | [`men_women::Fault::NotifyOne`] | | wakes one thread, which may be waiting for something else | `men-women` | stuck |
//! | `exchanger` | [`Exchanger::new`](exchanger::Exchanger::new) | §1, §9 | | `exchanger` | accepted |
//! | `exchanger-faulty-no-third-stage` | [`exchanger::Fault::NoThirdStage`] | | the slot is freed before the first thread has taken its value | `exchanger` | rejected |
//! | `counter-channel` | [`CounterChannel::new`](counter_channel::CounterChannel::new) | §1, §9 | | `counter-channel` | accepted |
//! | `counter-channel-faulty-late-number` | [`counter_channel::Fault::LateNumber`] | | the sender reads the count when other threads may have changed it | `counter-channel` | rejected |
//! | `counter-channel-faulty-early-number` | [`counter_channel::Fault::EarlyNumber`] | | a sender takes its number before it has the slot | `counter-channel` | rejected |
//! | `counter-channel-faulty-two-states` | [`counter_channel::Fault::TwoStates`] | | the slot is freed before its sender has left | `counter-channel` | stuck |
//! | `two-families` | [`TwoFamilies::new`](two_families::TwoFamilies::new) | §9 | | `two-families` | accepted |
//! | `two-families-faulty-late-read` | [`two_families::Fault::LateRead`] | | the partner's name is overwritten | `two-families` | rejected |
//! | `one-family` | [`OneFamily::new`](one_family::OneFamily::new) | §9 | | `one-family` | accepted |
//! | `one-family-faulty-late-read` | [`one_family::Fault::LateRead`] | | the partner's name is overwritten | `one-family` | rejected |
//! | `one-family-faulty-early-look` | [`one_family::Fault::EarlyLook`] | | a thread that finds no partner lets others search before it waits | `one-family` | stuck |
//! | `abc` | [`Abc::new`](abc::Abc::new) | §9 | | `abc` | accepted |
//! | `abc-faulty-late-read` | [`abc::Fault::LateRead`] | | thread A reads the names when the next group may already have overwritten them | `abc` | rejected |
//! | `abc-faulty-lost-signal` | [`abc::Fault::LostSignal`] | | one signal in fifty is lost | `abc` | stuck |
//! | `barrier` | [`Barrier::new`](barrier::Barrier::new) | §1, §9 | | `barrier:4` | accepted |
//! | `barrier-faulty-returns-at-once` | [`barrier::Fault::ReturnsAtOnce`] | | does not wait for other threads | `barrier:4` | rejected |
//! | `barrier-faulty-no-rounds` | [`barrier::Fault::NoRounds`] | | opens once and never closes again | `barrier:4` | rejected |
//! | `barrier-faulty-no-initial-wait` | [`barrier::Fault::NoInitialWait`] | | threads enter while others are still leaving | `barrier:4` | rejected or stuck |
//! | `barrier-faulty-bare-wait` | [`barrier::Fault::BareWait`] | | waits without a loop; the fault shows only with spurious wake-ups | `barrier:4` | rejected or stuck |
//! | `barrier-faulty-notify-one` | [`barrier::Fault::NotifyOne`] | | wakes only one thread | `barrier:4` | stuck |
//! | `tree-barrier` | [`TreeBarrier::new`](barrier::TreeBarrier::new) | §10 | | `barrier:4` | accepted |
//! | `tree-barrier-faulty-up-does-not-wait` | [`signal::Fault::UpDoesNotWait`] | | a child that signals does not wait for its parent | `barrier:4` | rejected or stuck |
//! | `tree-barrier-faulty-early-down` | [`signal::Fault::EarlyDown`] | | a child leaves as soon as its parent has seen it | `barrier:4` | rejected or stuck |
//! | `combining-barrier` | [`CombiningBarrier::new`](barrier::CombiningBarrier::new) | §1 | | `combining-barrier:4` | accepted |
//! | `enrollable-barrier` | [`EnrollableBarrier::new`](enrollable_barrier::EnrollableBarrier::new) | §1, §9 | | `enrollable-barrier` | accepted |
//! | `enrollable-barrier-faulty-no-initial-wait` | [`enrollable_barrier::Fault::NoInitialWait`] | | threads enter while others are still leaving | `enrollable-barrier` | rejected or stuck |
//! | `timeout-channel` | [`TimeoutChannel::new`](timeout_channel::TimeoutChannel::new) | §1, §2.4, §9 | | `timeout-channel` | accepted |
//! | `timeout-channel-faulty-one-flag` | [`timeout_channel::Fault::OneFlag`] | | the slot is freed before its sender has left | `timeout-channel` | rejected |
//! | `timeout-exchanger` | [`TimeoutExchanger::new`](timeout_exchanger::TimeoutExchanger::new) | §1, §9 | | `timeout-exchanger` | accepted |
//! | `timeout-exchanger-faulty-third-joins` | [`timeout_exchanger::Fault::ThirdJoins`] | | three threads take part in an exchange between two | `timeout-exchanger` | rejected |
//! | `timeout-exchanger-faulty-ghost` | [`timeout_exchanger::Fault::Ghost`] | | a thread that gives up leaves its value behind | `timeout-exchanger` | rejected |
//! | `closeable-channel` | [`CloseableChannel::new`](closeable_channel::CloseableChannel::new) | §1, §2.4, §9 | | `closeable-channel` | accepted |
//! | `closeable-channel-faulty-closed-first` | [`closeable_channel::Fault::ClosedFirst`] | | a send fails although its value was received | `closeable-channel` | rejected |
//! | `closeable-channel-faulty-old-library` | [`closeable_channel::Fault::OldLibrary`] | | with three condition variables, a send fails although its value was received | `closeable-channel` | rejected |
//! | `terminating-queue` | [`TerminatingQueue::new`](terminating_queue::TerminatingQueue::new) | §1, §9 | | `terminating-queue:4` | accepted |
//! | `terminating-queue-faulty-returns-at-once` | [`terminating_queue::Fault::ReturnsAtOnce`] | | does not wait for other threads | `terminating-queue:4` | rejected |
//! | `terminating-queues` | [`TerminatingQueues::new`](terminating_queue::TerminatingQueues::new) | §1 | | `terminating-queues:4` | accepted |
//! | `atomic-broadcast` | [`AtomicBroadcast::new`](atomic_broadcast::AtomicBroadcast::new) | §9 | | `broadcast:3` | accepted |
//! | `atomic-broadcast-faulty-no-rounds` | [`atomic_broadcast::Fault::NoRounds`] | | a send overwrites another | `broadcast:3` | rejected or stuck |
//! | `signal` | [`Signal::new`](signal::Signal::new) | §10 | | `signal` | accepted |
//! | `signal-faulty-up-does-not-wait` | [`signal::Fault::UpDoesNotWait`] | | the child does not wait | `signal` | rejected or stuck |
//! | `signal-faulty-early-down` | [`signal::Fault::EarlyDown`] | | the child leaves as soon as the parent has seen it | `signal` | rejected or stuck |
//!
//! A call of a [`Signal`](signal::Signal) takes effect in two steps, and is judged by
//! [interval linearizability](trueline::judge::interval).

pub(crate) mod catalog;
mod monitor;
mod pairs;
pub mod semaphore;

pub mod abc;
pub mod atomic_broadcast;
pub mod barrier;
pub mod channel;
pub mod closeable_channel;
pub mod counter_channel;
pub mod enrollable_barrier;
pub mod exchanger;
pub mod filter_channel;
pub mod men_women;
pub mod one_family;
pub mod signal;
pub mod terminating_queue;
pub mod timeout_channel;
pub mod timeout_exchanger;
pub mod two_families;
