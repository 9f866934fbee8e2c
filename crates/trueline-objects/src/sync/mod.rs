//! Objects that synchronise threads.
//!
//! They are those of J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, figure 10 and section 10,
//! correct and faulty. Calls do not take effect one at a time, but some together; where nobody is there to synchronise
//! with, a call waits. So some faults show in a history, and others only in calls that do not return though they should.
//!
//! Most are monitors: a state behind a lock, and one condition on which all wait, in loops. Some pass on
//! [semaphores](semaphore::Semaphore) like batons. As everywhere in this crate, what the paper's faulty versions read in
//! a race is an atomic here.
//!
//! | name | made by | paper | fault | who synchronises | expected |
//! |---|---|---|---|---|---|
//! | `sync-channel` | [`SyncChannel::new`](channel::SyncChannel::new) | §1, §9 | | a send and a receive | accepted |
//! | `sync-channel-faulty-no-wait` | [`channel::Fault::NoWait`] | | the sender does not wait | a send and a receive | rejected |
//! | `sync-channel-faulty-two-states` | [`channel::Fault::TwoStates`] | | the slot is free before its sender has gone | a send and a receive | stuck |
//! | `sync-channel-faulty-wrong-condition` | [`channel::Fault::WrongCondition`] | | the sender wakes senders | a send and a receive | stuck |
//! | `filter-channel` | [`FilterChannel::new`](filter_channel::FilterChannel::new) | §2.1, §9 | | a send and a receive that accepts it | accepted |
//! | `filter-channel-faulty-no-filter` | [`filter_channel::Fault::NoFilter`] | | nobody asks what is accepted | a send and a receive that accepts it | rejected |
//! | `filter-channel-faulty-one-slot` | [`filter_channel::Fault::OneSlot`] | | a value that nobody wants is in the way | a send and a receive that accepts it | stuck |
//! | `filter-channel-faulty-two-states` | [`filter_channel::Fault::TwoStates`] | | so it is, and the slot is free before its sender has gone | a send and a receive that accepts it | stuck |
//! | `men-women` | [`MenWomen::new`](men_women::MenWomen::new) | §9 | | a man and a woman | accepted |
//! | `men-women-faulty-two-slots` | [`men_women::Fault::TwoSlots`] | | names taken from slots without rounds | a man and a woman | rejected |
//! | `men-women-faulty-crosswise` | [`men_women::Fault::Crosswise`] | | each side lets in the other | a man and a woman | rejected |
//! | `men-women-faulty-notify-one` | [`men_women::Fault::NotifyOne`] | | wakes one who waits for something else | a man and a woman | stuck |
//! | `exchanger` | [`Exchanger::new`](exchanger::Exchanger::new) | §1, §9 | | two exchanges | accepted |
//! | `exchanger-faulty-no-third-stage` | [`exchanger::Fault::NoThirdStage`] | | the slot is free before the first has taken its value | two exchanges | rejected |
//! | `counter-channel` | [`CounterChannel::new`](counter_channel::CounterChannel::new) | §1, §9 | | a send and a receive | accepted |
//! | `counter-channel-faulty-late-number` | [`counter_channel::Fault::LateNumber`] | | the count is read when others have counted | a send and a receive | rejected |
//! | `counter-channel-faulty-early-number` | [`counter_channel::Fault::EarlyNumber`] | | a number is taken before it is its turn | a send and a receive | rejected |
//! | `counter-channel-faulty-two-states` | [`counter_channel::Fault::TwoStates`] | | the slot is free before its sender has gone | a send and a receive | stuck |
//! | `two-families` | [`TwoFamilies::new`](two_families::TwoFamilies::new) | §9 | | two, one of each family, once | accepted |
//! | `two-families-faulty-late-read` | [`two_families::Fault::LateRead`] | | the partner's name is overwritten | two, one of each family, once | rejected |
//! | `one-family` | [`OneFamily::new`](one_family::OneFamily::new) | §9 | | two, once | accepted |
//! | `one-family-faulty-late-read` | [`one_family::Fault::LateRead`] | | the partner's name is overwritten | two, once | rejected |
//! | `one-family-faulty-early-look` | [`one_family::Fault::EarlyLook`] | | looks who waits, and decides later | two, once | stuck |
//! | `abc` | [`Abc::new`](abc::Abc::new) | §9 | | three, one of each kind | accepted |
//! | `abc-faulty-late-read` | [`abc::Fault::LateRead`] | | A reads when the next have come | three, one of each kind | rejected |
//! | `abc-faulty-lost-signal` | [`abc::Fault::LostSignal`] | | one signal in fifty is forgotten | three, one of each kind | stuck |
//! | `barrier` | [`Barrier::new`](barrier::Barrier::new) | §1, §9 | | all | accepted |
//! | `barrier-faulty-returns-at-once` | [`barrier::Fault::ReturnsAtOnce`] | | waits for nobody | all | rejected |
//! | `barrier-faulty-no-rounds` | [`barrier::Fault::NoRounds`] | | opens once for all | all | rejected |
//! | `barrier-faulty-no-initial-wait` | [`barrier::Fault::NoInitialWait`] | | some come while others leave | all | rejected or stuck |
//! | `barrier-faulty-bare-wait` | [`barrier::Fault::BareWait`] | | waits without a loop; needs spurious wake-ups | all | rejected or stuck |
//! | `barrier-faulty-notify-one` | [`barrier::Fault::NotifyOne`] | | wakes one, and not all | all | stuck |
//! | `tree-barrier` | [`TreeBarrier::new`](barrier::TreeBarrier::new) | §10 | | all | accepted |
//! | `tree-barrier-faulty-up-does-not-wait` | [`signal::Fault::UpDoesNotWait`] | | signals of children do not wait | all | rejected or stuck |
//! | `tree-barrier-faulty-early-down` | [`signal::Fault::EarlyDown`] | | children leave as soon as they are seen | all | rejected or stuck |
//! | `combining-barrier` | [`CombiningBarrier::new`](barrier::CombiningBarrier::new) | §1 | | all | accepted |
//! | `enrollable-barrier` | [`EnrollableBarrier::new`](enrollable_barrier::EnrollableBarrier::new) | §1, §9 | | all that are enrolled; or one that enrols or resigns | accepted |
//! | `enrollable-barrier-faulty-no-initial-wait` | [`enrollable_barrier::Fault::NoInitialWait`] | | some come while others leave | all that are enrolled; or one that enrols or resigns | rejected |
//! | `timeout-channel` | [`TimeoutChannel::new`](timeout_channel::TimeoutChannel::new) | §1, §2.4, §9 | | a send and a receive; or one that gives up | accepted |
//! | `timeout-channel-faulty-one-flag` | [`timeout_channel::Fault::OneFlag`] | | the slot is free before its sender has gone | a send and a receive; or one that gives up | rejected |
//! | `timeout-exchanger` | [`TimeoutExchanger::new`](timeout_exchanger::TimeoutExchanger::new) | §1, §9 | | two exchanges; or one that gives up | accepted |
//! | `timeout-exchanger-faulty-third-joins` | [`timeout_exchanger::Fault::ThirdJoins`] | | three take part in an exchange of two | two exchanges; or one that gives up | rejected |
//! | `timeout-exchanger-faulty-ghost` | [`timeout_exchanger::Fault::Ghost`] | | who gives up leaves its value behind | two exchanges; or one that gives up | rejected |
//! | `closeable-channel` | [`CloseableChannel::new`](closeable_channel::CloseableChannel::new) | §1, §2.4, §9 | | a send and a receive, while it is open; or one that fails or closes | accepted |
//! | `closeable-channel-faulty-closed-first` | [`closeable_channel::Fault::ClosedFirst`] | | a send fails that was received | a send and a receive, while it is open; or one that fails or closes | rejected |
//! | `closeable-channel-faulty-old-library` | [`closeable_channel::Fault::OldLibrary`] | | the same, with three conditions | a send and a receive, while it is open; or one that fails or closes | rejected |
//! | `terminating-queue` | [`TerminatingQueue::new`](terminating_queue::TerminatingQueue::new) | §1, §9 | | one; or all workers, on an empty queue | accepted |
//! | `terminating-queue-faulty-returns-at-once` | [`terminating_queue::Fault::ReturnsAtOnce`] | | waits for nobody | one; or all workers, on an empty queue | rejected |
//! | `terminating-queues` | [`TerminatingQueues::new`](terminating_queue::TerminatingQueues::new) | | | one; or all workers, on empty queues | accepted |
//! | `atomic-broadcast` | [`AtomicBroadcast::new`](atomic_broadcast::AtomicBroadcast::new) | §9 | | a send and all receives | accepted |
//! | `atomic-broadcast-faulty-no-rounds` | [`atomic_broadcast::Fault::NoRounds`] | | a send overwrites another | a send and all receives | rejected or stuck |
//! | `signal` | [`Signal::new`](signal::Signal::new) | §10 | | a child with its parent, twice: an interval | accepted |
//! | `signal-faulty-up-does-not-wait` | [`signal::Fault::UpDoesNotWait`] | | the child does not wait | a child with its parent, twice: an interval | rejected or stuck |
//! | `signal-faulty-early-down` | [`signal::Fault::EarlyDown`] | | the child is let go when it is seen | a child with its parent, twice: an interval | rejected or stuck |

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
