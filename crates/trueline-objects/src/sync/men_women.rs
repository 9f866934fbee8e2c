//! Men and women.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, section 9. Each thread is a man or a woman and
//! wants to pair off with one of the others; each tells who it is, and is told who the other is.
//!
//! In stages: a man comes and tells his name; a woman finds it, and tells hers; the man finds that, and makes room for the
//! next.
//!
//! | fault | what is wrong | a history |
//! |---|---|---|
//! | [`Fault::TwoSlots`] | each leaves his name in a slot and takes the name in the other one, whose ever it is | man 1 comes and waits; woman 1 → man 1; man 2 → woman 1; woman 2 → man 2; man 1 → woman 2 |
//! | [`Fault::Crosswise`] | the same with semaphores: a man lets in the next woman, and a woman the next man, who may take the signal that the first is waiting for | the same |
//! | [`Fault::NotifyOne`] | wakes only one who waits, who may be waiting for something else | a man and a woman do not return |

use trueline::primitives::AtomicU64;
use trueline::primitives::Ordering::SeqCst;

use super::monitor::Monitor;
use super::semaphore::Semaphore;

/// What is wrong with an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Two slots, without rounds.
    TwoSlots,
    /// Two semaphores for entry, put up by the other side.
    Crosswise,
    /// Wakes one, and not all.
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

/// One side of [`Fault::Crosswise`].
#[derive(Debug)]
struct Side {
    /// Up when one of this side may enter.
    entry: Semaphore,
    name: AtomicU64,
    /// Up when the name is there.
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

/// Where they meet.
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
    /// One that nobody has come to.
    pub fn new() -> Self {
        Self { means: Means::Stages { couple: Monitor::default(), notify_one: false } }
    }

    /// One that is wrong.
    pub fn faulty(fault: Fault) -> Self {
        let means = match fault {
            Fault::TwoSlots => Means::Slots(Monitor::default()),
            Fault::Crosswise => Means::Crosswise { men: Side::new(), women: Side::new() },
            Fault::NotifyOne => Means::Stages { couple: Monitor::default(), notify_one: true },
        };
        Self { means }
    }

    /// A man waits for a woman: who is she?
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

    /// A woman waits for a man: who is he?
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

/// Leaves a name in one's own slot, and takes that in the other one.
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
