//! Men and women who pair up.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, section 9. Each thread is a man or a woman
//! and pairs up with a thread of the other kind; each passes its name, and receives the name of its partner.
//!
//! This happens in stages: a man arrives and stores his name; a woman reads his name, and stores
//! her own; the man reads her name, and makes room for the next man.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::TwoSlots`] | each thread stores its name in its own slot and takes the name from the other slot, regardless of which thread stored it | man 1 arrives and waits; woman 1 → man 1; man 2 → woman 1; woman 2 → man 2; man 1 → woman 2 |
//! | [`Fault::Crosswise`] | the fault of `TwoSlots` with semaphores: a man lets in the next woman, and a woman lets in the next man; that man may take the signal that the first man is waiting for | as for `TwoSlots` |
//! | [`Fault::NotifyOne`] | wakes only one waiting thread, which may be waiting for something else | a man and a woman do not return |

use trueline::primitives::AtomicU64;
use trueline::primitives::Ordering::SeqCst;

use super::monitor::Monitor;
use super::semaphore::Semaphore;

/// A fault of the object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Uses two slots, so a thread may take the name that was left for an earlier thread.
    TwoSlots,
    /// Men and women let each other in: a woman raises a semaphore to let the next man enter, and a
    /// man raises another semaphore to let the next woman enter.
    Crosswise,
    /// A thread wakes one waiting thread instead of all.
    NotifyOne,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Stage {
    #[default]
    Nobody,
    Man,
    Both,
}

#[derive(Default, Debug)]
struct Couple {
    stage: Stage,
    him: u64,
    her: u64,
}

#[derive(Default, Debug)]
struct Slots {
    him: Option<u64>,
    her: Option<u64>,
}

/// One side of [`Fault::Crosswise`]: the men, or the women.
#[derive(Debug)]
struct Side {
    /// A semaphore that is raised to let a thread of this side enter.
    entry: Semaphore,
    name: AtomicU64,
    /// A semaphore that is raised when a thread of this side has stored its name.
    named: Semaphore,
}

impl Side {
    fn new() -> Self {
        Self { entry: Semaphore::raised(), name: AtomicU64::new(0), named: Semaphore::lowered() }
    }

    fn meet(&self, me: u64, others: &Self) -> u64 {
        self.entry.down();
        self.name.store(me, SeqCst);
        self.named.up();
        others.named.down();
        let other = others.name.load(SeqCst);
        others.entry.up();
        other
    }
}

#[derive(Debug)]
enum Means {
    Stages { couple: Monitor<Couple>, notify_one: bool },
    Slots(Monitor<Slots>),
    Crosswise { men: Side, women: Side },
}

/// The object at which men and women meet.
///
/// ```
/// use trueline_objects::sync::men_women::MenWomen;
///
/// let party = MenWomen::new();
/// std::thread::scope(|scope| {
///     scope.spawn(|| assert_eq!(party.man_sync(1), 2));
///     assert_eq!(party.woman_sync(2), 1);
/// });
/// ```
#[derive(Debug)]
pub struct MenWomen {
    means: Means,
}

impl MenWomen {
    /// Creates an object without waiting threads.
    pub fn new() -> Self {
        Self { means: Means::Stages { couple: Monitor::default(), notify_one: false } }
    }

    /// Creates an object with a fault.
    pub fn faulty(fault: Fault) -> Self {
        let means = match fault {
            Fault::TwoSlots => Means::Slots(Monitor::default()),
            Fault::Crosswise => Means::Crosswise { men: Side::new(), women: Side::new() },
            Fault::NotifyOne => Means::Stages { couple: Monitor::default(), notify_one: true },
        };
        Self { means }
    }

    /// Called by a man: waits for a woman, and returns her name.
    pub fn man_sync(&self, me: u64) -> u64 {
        match &self.means {
            Means::Stages { couple: monitor, notify_one } => {
                let mut couple = monitor.enter_when(|couple| couple.stage == Stage::Nobody);
                couple.him = me;
                couple.stage = Stage::Man;
                notify(monitor, *notify_one);
                couple = monitor.wait_until(couple, |couple| couple.stage == Stage::Both);
                couple.stage = Stage::Nobody;
                notify(monitor, *notify_one);
                couple.her
            }
            Means::Slots(monitor) => meet_in_slots(monitor, me, |slots| (&mut slots.him, &mut slots.her)),
            Means::Crosswise { men, women } => men.meet(me, women),
        }
    }

    /// Called by a woman: waits for a man, and returns his name.
    pub fn woman_sync(&self, me: u64) -> u64 {
        match &self.means {
            Means::Stages { couple: monitor, notify_one } => {
                let mut couple = monitor.enter_when(|couple| couple.stage == Stage::Man);
                couple.her = me;
                couple.stage = Stage::Both;
                notify(monitor, *notify_one);
                couple.him
            }
            Means::Slots(monitor) => meet_in_slots(monitor, me, |slots| (&mut slots.her, &mut slots.him)),
            Means::Crosswise { men, women } => women.meet(me, men),
        }
    }
}

fn notify<S>(monitor: &Monitor<S>, one: bool) {
    if one {
        monitor.notify_one();
    } else {
        monitor.notify_all();
    }
}

/// Stores a name in the thread's own slot, and takes the name in the other slot.
fn meet_in_slots(
    monitor: &Monitor<Slots>,
    me: u64,
    own_and_other: fn(&mut Slots) -> (&mut Option<u64>, &mut Option<u64>),
) -> u64 {
    let mut slots = monitor.enter();
    while own_and_other(&mut slots).0.is_some() {
        slots = monitor.wait_once(slots);
    }
    *own_and_other(&mut slots).0 = Some(me);
    monitor.notify_all();
    loop {
        if let Some(other) = own_and_other(&mut slots).1.take() {
            monitor.notify_all();
            return other;
        }
        slots = monitor.wait_once(slots);
    }
}
