//! Concurrent objects from the literature, in correct and faulty versions, as test subjects for `trueline`.
//!
//! Each file contains one family of objects and describes the paper, the algorithm, each fault, and
//! a history that the fault leads to. A faulty version is the correct code with a flag that is
//! checked at the faulty place. All objects are built on [`trueline::primitives`], so that trueline
//! can add random yields (chaos), control their schedules, and cancel stuck runs. All fields that
//! threads share are atomics or protected by locks, even where the algorithm has a race, so a race
//! in an algorithm is never undefined behavior. Nodes are numbers in an arena that grows on demand,
//! which makes creating an object cheap.
//!
//! *Lowe* is G. Lowe, *Testing for linearizability* (2016); *H&K* is A. Horn and D. Kroening, *Faster linearizability
//! checking via P-compositionality* (2015); *H&S* is M. Herlihy and N. Shavit, *The Art of Multiprocessor Programming*.
//!
//! The function `faulty` of an object takes the fault; where it takes an `Option`, `None` creates the correct object.
//!
//! [`sync`] contains objects that synchronize threads, and [`relaxed`] contains objects with a relaxed order. Both
//! modules have tables of their own.
//!
//! [`catalog`] lists all objects by name, each with a test of its correctness; `trueline test NAME` runs this test.
//!
//! | name | made by | paper | fault | specification | expected |
//! |---|---|---|---|---|---|
//! | `ms-queue` | [`MsQueue::new`](ms_queue::MsQueue::new) | Lowe §6, H&S §10.5 | | `queue` | accepted |
//! | `ms-queue-recycling` | [`MsQueue::recycling`](ms_queue::MsQueue::recycling) | Michael & Scott 1996 | | `queue` | accepted |
//! | `ms-queue-faulty-late-read` | [`ms_queue::Fault::LateRead`] | | a dequeue reads the value after it has moved the head | `queue` | rejected or stuck |
//! | `ms-queue-faulty-aba` | [`ms_queue::Fault::Aba`] | | nodes are reused, but links have no tags (ABA) | `queue` | rejected or stuck |
//! | `ms-queue-faulty-no-help` | [`ms_queue::Fault::NoHelp`] | | an enqueue may set the tail back, and no thread moves it forward again | `queue` | stuck |
//! | `treiber-stack` | [`TreiberStack::new`](treiber_stack::TreiberStack::new) | Treiber 1986 | | `stack` | accepted |
//! | `treiber-stack-faulty-aba` | [`treiber_stack::Fault::Aba`] | | nodes are reused, but links have no tags (ABA) | `stack` | rejected or stuck |
//! | `locked-queue` | [`LockedQueue`](locked::LockedQueue) | Lowe | | `bounded-queue:2` | accepted |
//! | `locked-map` | [`LockedMap`](locked::LockedMap) | Lowe §6 | | `map` | accepted |
//! | `locked-height-stack` | [`LockedHeightStack`](locked::LockedHeightStack) | H&K example 9 | | `stack-heights` | accepted |
//! | `laarman-map` | [`LaarmanMap::new`](laarman_map::LaarmanMap::new) | Lowe §8 | | `map` | accepted |
//! | `laarman-map-faulty-delete` | [`laarman_map::Fault::Delete`] | Lowe §8, figure 7 | delete does not use compare-and-set | `map` | rejected |
//! | `resizing-map` | [`ResizingMap::new`](resizing_map::ResizingMap::new) | Lowe §8 | | `map` | accepted |
//! | `resizing-map-faulty-migrate` | [`resizing_map::Fault::Migrate`] | Lowe §8 | slots are copied without being owned | `map` | rejected |
//! | `sharded-map` | [`ShardedMap::new`](sharded_map::ShardedMap::new) | Lowe §8 | | `map` | accepted |
//! | `sharded-map-faulty-early-status` | [`sharded_map::Fault::EarlyStatus`] | Lowe §8 | update stores the status before the datum | `map` | rejected |
//! | `sharded-map-faulty-late-status` | [`sharded_map::Fault::LateStatus`] | | update stores the datum before the status | `map` | rejected |
//! | `shann-queue` | [`ShannQueue`](shann_queue::ShannQueue) | Shann et al. 2000, Lowe §8 | | `bounded-queue:2` | accepted |
//! | `shann-queue-faulty-stale-slot` | [`shann_queue::Fault::StaleSlot`] | Colvin & Groves 2005, Lowe §8 | the slot is not read again before a counter is advanced | `bounded-queue:2` | rejected |
//! | `shann-queue-partial` | [`shann_queue::Mode::Partial`] | Shann et al. 2000, Lowe §8 | | `bounded-queue:2` | accepted |
//! | `shann-queue-partial-faulty-stale-slot` | [`shann_queue::Mode::Partial`] | Colvin & Groves 2005, Lowe §8 | the slot is not read again before a counter is advanced | `bounded-queue:2` | rejected or stuck |
//! | `shann-queue-partial-without-help` | [`shann_queue::Mode::PartialWithoutHelp`] | Shann et al. 2000, Lowe §8 | | `bounded-queue:2` | accepted |
//! | `shann-queue-partial-without-help-faulty-stale-slot` | [`shann_queue::Mode::PartialWithoutHelp`] | Colvin & Groves 2005, Lowe §8 | the slot is not read again before a counter is advanced | `bounded-queue:2` | stuck |
//! | `register` | [`register::Access::SeqCst`] | Lowe §8 | | `register:0` | accepted |
//! | `register-faulty-relaxed` | [`register::Access::Relaxed`] | Lowe §8 | writes become visible late; the fault shows only with a clock that does not order memory accesses | `register:0` | rejected |
//! | `register-faulty-acquire-release` | [`register::Access::AcquireRelease`] | Lowe §8 | writes become visible late; the fault shows only with a clock that does not order memory accesses | `register:0` | rejected |
//! | `buffered-register` | [`BufferedRegister`](register::BufferedRegister) | Lowe §8, simulated | | `register:0` | accepted |
//! | `buffered-register-faulty-stores` | [`register::Buffering::Stores`] | Lowe §8, simulated | writes wait in a buffer | `register:0` | rejected |
//! | `buffered-register-faulty-loads` | [`register::Buffering::Loads`] | Lowe §8, simulated | reads may return an old copy | `register:0` | rejected |
//! | `fine-grained-list` | [`FineGrainedList`](fine_grained_list::FineGrainedList), bad hash | H&K `FGL`, H&S §9.5 | | `set` | accepted |
//! | `fine-grained-list-faulty-early-unlock` | [`fine_grained_list::Fault::EarlyUnlock`] | | a node is unlocked before the next one is locked | `set` | rejected |
//! | `optimistic-list` | [`OptimisticList`](optimistic_list::OptimisticList), bad hash | H&K `OPTIMIST`, H&S §9.6 | | `set` | accepted |
//! | `optimistic-list-faulty-no-validation` | [`optimistic_list::Fault::NoValidation`] | | nodes are not validated after they are locked | `set` | rejected |
//! | `lazy-list` | [`LazyList`](lazy_list::LazyList), bad hash | H&K `LLL`, H&S §9.7 | | `set` | accepted |
//! | `lazy-list-blind-contains` | [`LazyList::blind`](lazy_list::LazyList::blind) | | | `set` | accepted |
//! | `lazy-list-faulty-unmarked-validation` | [`lazy_list::Fault::UnmarkedValidation`] | | validation ignores marks | `set` | rejected |
//! | `lock-free-list` | [`LockFreeList`](lock_free_list::LockFreeList), bad hash | H&K `LFLL`, H&S §9.8 | | `set` | accepted |
//! | `lock-free-list-faulty-separate-mark` | [`lock_free_list::Fault::SeparateMark`] | | the mark and the link are stored separately | `set` | rejected |
//! | `lock-free-list-faulty-unlink-only` | [`lock_free_list::Fault::UnlinkOnly`] | | a node is unlinked without being marked | `set` | rejected |
//! | `lock-free-list-faulty-blind-contains` | [`lock_free_list::Fault::BlindContains`] | | `contains` ignores marks | `set` | rejected |
//! | `lazy-skiplist` | [`LazySkiplist`](lazy_skiplist::LazySkiplist), good hash | H&K `LSL`, H&S §14.3 | | `set` | accepted |
//! | `collision-resistant-lazy-skiplist` | [`lazy_skiplist::Collisions::Scan`], bad hash | H&K `CRLSL` | | `set` | accepted |
//! | `lock-free-skiplist` | [`LockFreeSkiplist`](lock_free_skiplist::LockFreeSkiplist), good hash | H&K `LFSL`, H&S §14.4 | | `set` | accepted |
//! | `collision-resistant-lock-free-skiplist` | [`lock_free_skiplist::Collisions::Scan`], bad hash | H&K `CRLFSL` | | `set` | accepted |
//! | `lock-free-skiplist-stepping-over` | [`lock_free_skiplist::Collisions::StepOver`], good hash | H&K `LFSLF0` | a traversal may skip the item that it is looking for; a good hash function hides this fault | `set` | accepted |
//! | `lock-free-skiplist-faulty-stepping-over` | [`lock_free_skiplist::Collisions::StepOver`], bad hash | H&K `LFSLF1`, Lowe §8 | a traversal may skip the item that it is looking for | `set` | rejected |
//! | `lock-free-skiplist-faulty-collisions` | [`lock_free_skiplist::Collisions::None`], bad hash | H&K | items with equal hashes are not distinguished | `set` | rejected |
//! | `split-ordered-set` | [`SplitOrderedSet::new`](split_ordered_set::SplitOrderedSet::new) | H&K `TBB`, H&S §13.3 | | `growing-set` | accepted |
//! | `split-ordered-set-preloaded` | [`SplitOrderedSet::preloaded`](split_ordered_set::SplitOrderedSet::preloaded) | H&K | contains an item that was added before the history began | `growing-set` | rejected |

#![allow(clippy::new_without_default, reason = "objects are created correct or faulty, and neither is a default")]

mod arena;
pub mod catalog;
mod free_list;
pub mod hash;
mod link;
mod locked_nodes;
mod slot;

pub mod fine_grained_list;
pub mod laarman_map;
pub mod lazy_list;
pub mod lazy_skiplist;
pub mod lock_free_list;
pub mod lock_free_skiplist;
pub mod locked;
pub mod ms_queue;
pub mod optimistic_list;
pub mod register;
pub mod relaxed;
pub mod resizing_map;
pub mod shann_queue;
pub mod sharded_map;
pub mod split_ordered_set;
pub mod sync;
pub mod treiber_stack;
