//! The [`World`] of an exploration. It runs one task at a time, and records which access each task
//! will make next. There are three kinds of tasks: the threads of the program; the main task, which
//! makes the calls before and after these threads run; and the threads that the object started.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::Program;
use super::pulse::Beat;
use super::schedule::{Schedule, Scribe};
use super::strategy::{MOST_TASKS, Pending, Strategy, Tasks, Transition, View, members, only};
use super::trace::{TraceEntry, What};
use crate::drive::run::{Called, Caller, message};
use crate::drive::{Behavior, Call, Clock, Handle, Random, Worker};
use crate::history::Value;
use crate::primitives::{
    self, Access, AccessKind, Blocking, Cancellable, Cancellation, Cancelled, Place, Seen, Wake, World,
};
use trueline_sync::Statics;
use trueline_sync::thread::Locals;

/// An event of a history.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Event {
    pub(super) process: u32,
    pub(super) what: Happened,
}

/// The content of an event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Happened {
    Called(Call),
    Returned(Value),
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Complete,
    Stuck,
    Diverged,
    /// The execution was cut off, because an equivalent execution is explored elsewhere.
    Redundant,
    Panicked {
        thread: usize,
        message: String,
    },
}

/// The raw data of an execution.
pub(super) struct Raw<'r> {
    pub(super) events: &'r [Event],
    pub(super) ending: &'r Ending,
    pub(super) schedule: &'r Schedule,
    pub(super) preemptions: u32,
    /// The number of random choices that the object made.
    pub(super) choices: u32,
    /// Whether the object made random choices in the second half of its steps.
    pub(super) chooses_late: bool,
    pub(super) trace: &'r [TraceEntry],
}

/// Rules that hold for all executions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) most_steps: u64,
    /// The maximum number of spurious wake-ups of each task.
    pub(super) spurious: u32,
    /// Whether an operation that has begun must end before another begins.
    pub(super) serial: bool,
    /// The seed of the object's random choices; `None` if they are explored.
    pub(super) choices: Option<u64>,
    /// Whether to record what each access did.
    pub(super) traces: bool,
}

/// The maximum number of times that each spinning task checks its condition again when no other
/// task can run. A task may need several checks, because its loop may give up after some attempts.
const IDLE_ROUNDS: u32 = 64;
/// If a task has read more than this number of places (primitives), the task counts as having read
/// every place.
const MOST_READS: usize = 32;
/// The maximum number of steps that tasks started by the object can make after the threads of the
/// program have finished.
const MOST_STEPS_BEYOND: u64 = 1000;
/// The maximum number of consecutive spins, without a read in between, that count as one wait: a
/// loop with back-off may spin several times before it checks its condition again.
const MOST_IDLE_SPINS: u32 = 1000;
/// A task that uses the types of `std` counts as waiting in a loop after this many accesses to
/// places that it has already read, if it changes nothing in between. This rule is needed for
/// published code that waits in loops without calling `spin_loop` or `yield_now`.
const MOST_REPEATS: u32 = 64;
/// The maximum number of times that the exploration checks whether a wait was ended from outside,
/// for example by another thread.
const LOOKS_OUTSIDE: u32 = 25;
/// The time between two checks of whether a wait was ended from outside.
const LOOK_OUTSIDE: Duration = Duration::from_millis(2);
/// The maximum number of operations of a thread that chooses its calls.
const MOST_CHOSEN: usize = 1000;
/// The number of the coroutine of the main task. The coroutines of other tasks have higher numbers.
pub(super) const MAIN: usize = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// No execution is running: histories are judged, and nothing is scheduled.
    Outside,
    /// Only the main task, and tasks that the object started, can run.
    Quiet,
    /// Tasks run up to their first call.
    Starting,
    Running,
    /// The execution is redundant. Its tasks run to their ends, which is the cheapest way to finish them.
    Draining,
    /// Tasks are unwound.
    Cancelling,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Ready,
    /// The task is about to lock this mutex, and cannot continue while the mutex is held.
    Locking(Place),
    /// The task waits for a notification. After that, it must lock `mutex`, if there is one, before
    /// it can continue.
    Waiting {
        condvar: Place,
        mutex: Option<Place>,
        is_timed: bool,
    },
    Spinning,
    Done,
}

struct Task {
    status: Status,
    pending: Pending,
    is_inside: bool,
    /// Whether the task already holds the lock that it requests next, because it got the lock when
    /// its wait for a notification ended.
    has_lock: bool,
    /// Whether the task's wait ended by a timeout.
    timed_out: bool,
    spurious_left: u32,
    /// Whether the task may be unwound at its current schedule point.
    may_end: bool,
    /// A function that returns whether something outside of the exploration has ended the task's
    /// wait. `None` if nothing outside can end the wait.
    is_over: Option<Rc<dyn Fn() -> bool>>,
    /// The number of times that the task has spun since it last read something.
    idle_spins: u32,
    /// The places that the task has read since it last spun.
    reads: Vec<Place>,
    /// The number of accesses that read a place in `reads` again without changing anything, counted
    /// since the task last changed something or made a call.
    repeats: u32,
    /// Whether another task has changed a place in `reads`.
    has_news: bool,
    choices: u64,
}

const NOTHING: Pending = Pending { access: None, calls: false };

impl Task {
    fn new() -> Self {
        Self {
            status: Status::Done,
            pending: NOTHING,
            is_inside: false,
            has_lock: false,
            timed_out: false,
            spurious_left: 0,
            may_end: true,
            is_over: None,
            idle_spins: 0,
            reads: Vec::new(),
            repeats: 0,
            has_news: false,
            choices: 0,
        }
    }

    fn reset(&mut self, spurious: u32) {
        let reads = std::mem::take(&mut self.reads);
        *self = Self { status: Status::Ready, reads, spurious_left: spurious, ..Self::new() };
        self.reads.clear();
    }

    fn has_read(&self, place: Place) -> bool {
        self.reads.len() > MOST_READS || self.reads.contains(&place)
    }
}

/// The code of a task that the object started.
type Body = Box<dyn FnOnce()>;

struct State {
    mode: Mode,
    /// The threads of the program, the main task, and the tasks that the object started.
    tasks: Vec<Task>,
    /// The number of threads of the program, which is also the number of the main task.
    main: usize,
    /// The next action of each task, as strategies see it.
    pending: Vec<Pending>,
    current: usize,
    /// The task of the last transition.
    last: Option<usize>,
    open: Option<Transition>,
    held: Vec<Place>,
    events: Vec<Event>,
    steps: u64,
    /// The number of steps since the threads of the program finished.
    steps_beyond: u64,
    idle: u32,
    /// The number of accesses of the main task, and of other tasks while the main task waits.
    of_main: u64,
    preemptions: u32,
    choices: u32,
    /// The value of `steps + of_main` when the last choice was made.
    last_choice: u64,
    ending: Option<Ending>,
    scribe: Scribe,
    trace: Vec<TraceEntry>,
    /// For each task, the operation that the task is inside, if any.
    inside: Vec<Option<u32>>,
    /// For each operation, whether it has reached a schedule point in any execution.
    reached: Vec<bool>,
}

impl State {
    fn enabled(&self, serial: bool) -> Tasks {
        let mut enabled = 0;
        for (number, task) in self.tasks.iter().enumerate() {
            let is_enabled = match task.status {
                Status::Ready => true,
                Status::Locking(place) => !self.held.contains(&place),
                // A timeout does not enable a task that the object started: the task may run a
                // polling loop, whose timeouts could keep the program from making progress.
                Status::Waiting { is_timed, .. } => (is_timed && number < self.main) || task.spurious_left > 0,
                Status::Spinning | Status::Done => false,
            };
            if is_enabled {
                enabled |= only(number);
            }
        }
        if serial {
            // In a serial execution, the task whose operation has begun is the only enabled task.
            // If this task cannot continue, all tasks that the object started are enabled, because
            // the operation may wait for them.
            if let Some(inside) = self.tasks.iter().position(|task| task.is_inside) {
                let background = !(only(self.main + 1) - 1);
                enabled &= if enabled & only(inside) != 0 { only(inside) } else { background };
            }
        }
        enabled
    }

    /// Among the tasks that the object started, returns the first one that waits with a time limit.
    fn timed_out(&self) -> Option<usize> {
        let is_timed = |task: &Task| matches!(task.status, Status::Waiting { is_timed: true, .. });
        (self.main + 1..self.tasks.len()).find(|number| is_timed(&self.tasks[*number]))
    }

    /// Returns a task whose wait was ended by something outside the exploration, such as another
    /// thread that released the stdout lock. Waits briefly for such an event.
    fn ended_outside(&self) -> Option<usize> {
        let is_over = |task: &Task| task.is_over.as_ref().map(|is_over| is_over());
        for _ in 0..LOOKS_OUTSIDE {
            let mut waiting = self.tasks.iter().map(is_over);
            if let Some(task) = waiting.clone().position(|is_over| is_over == Some(true)) {
                return Some(task);
            }
            waiting.find(Option::is_some)?;
            std::thread::sleep(LOOK_OUTSIDE);
        }
        None
    }

    /// Returns whether the threads of the program have finished.
    fn is_program_done(&self) -> bool {
        self.tasks[..self.main].iter().all(|task| task.status == Status::Done)
    }

    /// Reports that the current task has changed `place`.
    fn changed(&mut self, place: Place) {
        self.idle = 0;
        for (number, task) in self.tasks.iter_mut().enumerate() {
            if number != self.current && task.has_read(place) {
                match task.status {
                    Status::Spinning => {
                        task.status = Status::Ready;
                        if let Some(open) = &mut self.open {
                            open.woke |= only(number);
                        }
                    }
                    _ => task.has_news = true,
                }
            }
        }
    }

    fn note(&mut self, what: What) {
        let process = u32::try_from(self.current).expect("the number of tasks fits in 32 bits");
        self.trace.push(TraceEntry { process, what });
    }
}

/// The world of an exploration, and all data that tasks share with it.
pub(super) struct Controller {
    pub(super) program: Program,
    rules: Rules,
    /// The coroutine that runs next.
    pub(super) next: Cell<usize>,
    is_over: Cell<bool>,
    state: RefCell<State>,
    strategy: RefCell<Box<dyn Strategy>>,
    handles: RefCell<Vec<Option<Box<dyn Handle>>>>,
    cancellation: RefCell<Option<(Cancellable, Cancellation)>>,
    /// For each task that the object started, its body.
    bodies: RefCell<Vec<Option<Body>>>,
    /// For each task, its thread locals.
    locals: RefCell<Vec<Rc<Locals>>>,
    statics: Statics,
    abandoned: Cell<u64>,
    beat: Option<Arc<Beat>>,
}

impl Controller {
    pub(super) fn new(
        program: Program,
        rules: Rules,
        strategy: Box<dyn Strategy>,
        beat: Option<Arc<Beat>>,
    ) -> Rc<Self> {
        let tasks = program.threads.len();
        assert!(
            tasks < MOST_TASKS,
            "the program has too many threads: an exploration supports fewer than {MOST_TASKS}"
        );
        let state = State {
            mode: Mode::Outside,
            tasks: (0..=tasks).map(|_| Task::new()).collect(),
            main: tasks,
            pending: vec![NOTHING; tasks + 1],
            current: tasks,
            last: None,
            open: None,
            held: Vec::new(),
            events: Vec::new(),
            steps: 0,
            steps_beyond: 0,
            idle: 0,
            of_main: 0,
            preemptions: 0,
            choices: 0,
            last_choice: 0,
            ending: None,
            scribe: Scribe::default(),
            trace: Vec::new(),
            inside: vec![None; tasks + 1],
            reached: vec![false; program.kinds.len()],
        };
        let cancellation = Cancellation::new();
        Rc::new(Self {
            handles: RefCell::new((0..=tasks).map(|_| None).collect()),
            program,
            rules,
            next: Cell::new(MAIN),
            is_over: Cell::new(false),
            state: RefCell::new(state),
            strategy: RefCell::new(strategy),
            cancellation: RefCell::new(Some((cancellation.enter(), cancellation))),
            bodies: RefCell::default(),
            locals: RefCell::default(),
            statics: Statics::new(),
            abandoned: Cell::new(0),
            beat,
        })
    }

    /// Returns the operations that have reached a schedule point.
    pub(super) fn reached(&self) -> impl Iterator<Item = usize> {
        let reached = self.state.borrow().reached.clone();
        reached.into_iter().enumerate().filter_map(|(number, is_reached)| is_reached.then_some(number))
    }

    /// Emits a heartbeat, with the operation that the current task is inside.
    fn beat(&self, state: &State) {
        if let Some(beat) = &self.beat {
            match state.inside[state.current] {
                Some(operation) => beat.inside(operation),
                None => beat.other(),
            }
        }
    }

    /// Returns the number of threads of the program.
    pub(super) fn tasks(&self) -> usize {
        self.program.threads.len()
    }

    /// Returns the number of tasks that were abandoned where they were stuck.
    pub(super) fn abandoned(&self) -> u64 {
        self.abandoned.get()
    }

    /// Prepares the next execution. Returns whether there is one.
    pub(super) fn begin(&self) -> bool {
        self.strategy.borrow_mut().begin()
    }

    pub(super) fn donate(&self) -> Option<super::jobs::Job> {
        self.strategy.borrow_mut().donate()
    }

    /// Restores static variables, after all executions.
    pub(super) fn restore_statics(&self) {
        self.statics.restore();
    }

    /// Resets the state for the next execution.
    fn reset(&self) {
        let tasks = self.tasks();
        let state = &mut *self.state.borrow_mut();
        state.mode = Mode::Quiet;
        state.current = tasks;
        state.tasks.truncate(tasks + 1);
        state.pending.truncate(tasks + 1);
        state.inside.truncate(tasks + 1);
        state.tasks.iter_mut().for_each(|task| task.reset(self.rules.spurious));
        state.tasks[tasks].status = Status::Done;
        (state.last, state.open, state.steps, state.idle, state.preemptions) = (None, None, 0, 0, 0);
        state.ending = None;
        (state.of_main, state.choices, state.last_choice, state.steps_beyond) = (0, 0, 0, 0);
        state.held.clear();
        state.events.clear();
        state.scribe.clear();
        state.trace.clear();
        state.inside.fill(None);
        self.beat(state);
        self.bodies.borrow_mut().clear();
        let locals = &mut *self.locals.borrow_mut();
        locals.clear();
        locals.extend((0..=tasks).map(|task| Locals::new(task as u64)));
        self.statics.restore();
    }

    /// Runs a task until it switches to the main task.
    fn go(&self, task: usize, switch: &dyn Fn()) {
        self.next.set(task + 1);
        switch();
        self.state.borrow_mut().current = self.tasks();
    }

    /// Runs one execution, and passes its data to `look`.
    pub(super) fn execute<R>(&self, switch: &dyn Fn(), look: impl FnOnce(&Raw<'_>) -> R) -> R {
        let tasks = self.tasks();
        self.reset();
        let go = |task: usize| self.go(task, switch);
        let instance = (self.program.make)();
        let number = |thread: usize| u32::try_from(thread).expect("the number of threads fits in 32 bits");
        let has_around = !(self.program.before.is_empty() && self.program.after.is_empty());
        let mut around = has_around.then(|| instance.handle(number(tasks)));
        if let Some(handle) = &mut around {
            self.around(&self.program.before, &mut **handle);
        }
        if self.state.borrow().ending.is_none() {
            for thread in 0..tasks {
                let handle = instance.handle(number(thread));
                self.handles.borrow_mut()[thread] = Some(handle);
            }
            self.state.borrow_mut().mode = Mode::Starting;
            (0..tasks).for_each(go);
            if self.state.borrow().ending.is_none() {
                self.state.borrow_mut().mode = Mode::Running;
                if let Some(first) = self.decide() {
                    go(first);
                }
            }
            self.close();
            let ending = self.state.borrow_mut().ending.get_or_insert(Ending::Complete).clone();
            if ending != Ending::Complete {
                self.leave(&ending, &go);
            }
            self.state.borrow_mut().mode = Mode::Quiet;
            if let (Some(handle), Ending::Complete) = (&mut around, ending) {
                self.around(&self.program.after, &mut **handle);
            }
        }
        // Dropping the handles and the object may run further code of the object, which may panic, too.
        let handles: Vec<_> = self.handles.borrow_mut().iter_mut().map(Option::take).collect();
        let dropped = catch_unwind(AssertUnwindSafe(|| drop((handles, around, instance))));
        self.settle(switch);
        self.state.borrow_mut().mode = Mode::Outside;
        let state = self.state.borrow();
        let ending = state.ending.as_ref().unwrap_or(&Ending::Complete);
        if let Err(payload) = dropped {
            // A panic in a drop is a failure only after a complete execution: an object that was abandoned in the
            // middle of an operation may panic when it is dropped.
            if *ending == Ending::Complete {
                drop(state);
                resume_unwind(payload);
            }
            std::mem::forget(payload);
        }
        if let Ending::Panicked { message, .. } = ending {
            // An object that is not deterministic cannot be explored. This is not a failure of an
            // execution, so panic instead of passing it to `look`.
            assert!(message != super::NOT_DETERMINISTIC, "{message}");
        }
        look(&Raw {
            events: &state.events,
            ending,
            schedule: state.scribe.schedule(),
            preemptions: state.preemptions,
            choices: state.choices,
            chooses_late: state.choices > 0 && state.last_choice >= (state.steps + state.of_main) / 2,
            trace: &state.trace,
        })
    }

    /// Ends or abandons tasks that have not finished, after an execution.
    fn leave(&self, ending: &Ending, go: &dyn Fn(usize)) {
        if *ending == Ending::Redundant {
            self.state.borrow_mut().mode = Mode::Draining;
            let mut before = 0;
            // A task may have to wait until another task has ended, so repeat this as long as at
            // least one more task ends.
            while self.unfinished() != before {
                before = self.unfinished();
                members(before).for_each(go);
            }
        }
        self.forget_bodies();
        let may_end = |task: &usize| self.state.borrow().tasks[*task].may_end;
        let ended: Vec<_> = members(self.unfinished()).filter(may_end).collect();
        if !ended.is_empty() {
            self.state.borrow_mut().mode = Mode::Cancelling;
            self.cancel();
            ended.into_iter().for_each(go);
            self.renew_cancellation();
        }
        members(self.unfinished()).for_each(|task| self.abandon(task));
    }

    /// Forgets the tasks that the object started but that have not run yet. Their data is not
    /// dropped, because other tasks that have not finished may share it.
    fn forget_bodies(&self) {
        let state = &mut *self.state.borrow_mut();
        for (number, body) in self.bodies.borrow_mut().iter_mut().enumerate() {
            if let Some(body) = body.take() {
                std::mem::forget(body);
                state.tasks[state.main + 1 + number].status = Status::Done;
            }
        }
    }

    /// Abandons a task at its current schedule point. The values that it owns are never dropped.
    fn abandon(&self, task: usize) {
        let state = &mut *self.state.borrow_mut();
        if state.tasks[task].status == Status::Done {
            return;
        }
        state.tasks[task].status = Status::Done;
        self.locals.borrow()[task].leak();
        super::engine::abandon(task + 1);
        let mut count = 1;
        if state.held.iter().any(|place| self.statics.contains(*place)) {
            // The abandoned task holds a static lock. No later execution can take this lock, so
            // later executions would differ. To end the exploration, count more abandoned tasks
            // than the exploration allows.
            count = u64::MAX / 2;
        }
        self.abandoned.set(self.abandoned.get().saturating_add(count));
    }

    /// After the object was dropped, runs the tasks that the object started until they cannot continue, and abandons
    /// those that have not ended.
    fn settle(&self, switch: &dyn Fn()) {
        while let Some(task) = self.in_background() {
            self.go(task, switch);
        }
        self.forget_bodies();
        members(self.unfinished()).for_each(|task| self.abandon(task));
        let locals = Rc::clone(&self.locals.borrow()[self.tasks()]);
        drop(catch_unwind(AssertUnwindSafe(|| locals.destroy())));
    }

    /// Returns a task that the object started and that can run, unless such tasks have already made
    /// too many steps. Called when the main task cannot run or has finished.
    fn in_background(&self) -> Option<usize> {
        let state = &mut *self.state.borrow_mut();
        state.steps_beyond += 1;
        if state.steps_beyond > MOST_STEPS_BEYOND {
            return None;
        }
        members(state.enabled(false)).find(|task| *task > state.main)
    }

    /// Ends the current transition, if a panic ended the execution in the middle of it.
    fn close(&self) {
        let state = &mut *self.state.borrow_mut();
        if let Some(open) = state.open.take() {
            let strategy = &mut **self.strategy.borrow_mut();
            strategy.observe(&open);
            strategy.end(&mut std::iter::empty());
        }
    }

    fn unfinished(&self) -> Tasks {
        let state = self.state.borrow();
        let numbered = state.tasks.iter().enumerate();
        numbered.filter(|(_, task)| task.status != Status::Done).map(|(number, _)| only(number)).sum()
    }

    fn cancel(&self) {
        if let Some((_, cancellation)) = &*self.cancellation.borrow() {
            cancellation.cancel();
        }
    }

    fn renew_cancellation(&self) {
        let slot = &mut *self.cancellation.borrow_mut();
        // Drop the old cancellation first, because entering the new one inside the old one would
        // nest them.
        drop(slot.take());
        let cancellation = Cancellation::new();
        *slot = Some((cancellation.enter(), cancellation));
    }

    /// Makes the calls of the main task, while no other task runs.
    fn around(&self, calls: &[Call], handle: &mut dyn Handle) {
        let main = self.tasks();
        let result =
            catch_unwind(AssertUnwindSafe(|| calls.iter().for_each(|call| drop(self.call(main, call, handle)))));
        let Err(payload) = result else { return };
        if payload.is::<Cancelled>() {
            self.renew_cancellation();
            let ending = &mut self.state.borrow_mut().ending;
            if *ending != Some(Ending::Diverged) {
                *ending = Some(Ending::Stuck);
            }
        } else {
            let message = message(&*payload);
            self.state.borrow_mut().ending = Some(Ending::Panicked { thread: main, message });
        }
    }

    /// Ends the main task, which can never continue.
    fn end_main(&self) {
        if !self.state.borrow().tasks[self.tasks()].may_end {
            // The main task must not be unwound, and it runs on the thread that explores. So it parks here, and the
            // watchdog of the test reports where it is stuck.
            loop {
                std::thread::park();
            }
        }
        self.cancel();
        primitives::point();
    }

    /// The body of a task's coroutine, which runs until all executions are over.
    pub(super) fn work(&self, me: usize, switch: &dyn Fn()) {
        while !self.is_over.get() {
            let result = if me > self.tasks() {
                let body = self.bodies.borrow_mut()[me - self.tasks() - 1].take();
                let body = body.expect("the body is set before its task starts");
                self.started(me);
                catch_unwind(AssertUnwindSafe(body))
            } else {
                let handle = self.handles.borrow_mut()[me].take();
                let mut handle = handle.expect("the handle is set before its task starts");
                let result = catch_unwind(AssertUnwindSafe(|| self.calls(me, &mut *handle)));
                self.handles.borrow_mut()[me] = Some(handle);
                result
            };
            let locals = Rc::clone(&self.locals.borrow()[me]);
            let result = result.and_then(|()| catch_unwind(AssertUnwindSafe(|| locals.destroy())));
            if result.is_err() {
                locals.leak();
            }
            self.finished(me, result);
            switch();
        }
        self.next.set(MAIN);
    }

    /// Records that a task that the object started runs for the first time.
    fn started(&self, me: usize) {
        let state = &mut *self.state.borrow_mut();
        state.current = me;
        if state.mode == Mode::Running {
            state.open = Some(Transition::of(me, NOTHING));
        }
    }

    /// Makes the calls of a thread of the program.
    fn calls(&self, me: usize, handle: &mut dyn Handle) {
        self.state.borrow_mut().current = me;
        match &self.program.threads[me] {
            Behavior::Calls(calls) => calls.iter().for_each(|call| drop(self.call(me, call, handle))),
            Behavior::Chooses(choose) => {
                let number = |count: usize| u32::try_from(count).expect("the number of threads fits in 32 bits");
                let seed = self.program.seed ^ (me as u64).wrapping_mul(0x9e37_79b9);
                let worker = Worker {
                    caller: &mut InTask { controller: self, me, handle },
                    kinds: &self.program.kinds,
                    random: Random::new(seed),
                    thread: number(me),
                    threads: number(self.tasks()),
                    operations: self.program.operations,
                    left: MOST_CHOSEN,
                };
                worker.choose(&**choose);
            }
        }
    }

    /// Ends the coroutines of the tasks, from the coroutine of the main task.
    pub(super) fn end(&self, switch: &dyn Fn()) {
        self.is_over.set(true);
        for coroutine in super::engine::suspended() {
            self.next.set(coroutine);
            switch();
        }
        self.is_over.set(false);
    }

    fn finished(&self, me: usize, result: Result<(), Box<dyn Any + Send>>) {
        let is_running = {
            let state = &mut *self.state.borrow_mut();
            state.tasks[me].status = Status::Done;
            state.pending[me] = NOTHING;
            match result {
                Err(payload) if !payload.is::<Cancelled>() && matches!(state.mode, Mode::Starting | Mode::Running) => {
                    state.ending = Some(Ending::Panicked { thread: me, message: message(&*payload) });
                    false
                }
                _ => state.mode == Mode::Running,
            }
        };
        let next = if is_running { self.decide() } else { None };
        self.next.set(next.map_or(MAIN, |task| task + 1));
    }

    /// Calls an operation, if it is possible now.
    fn call(&self, me: usize, call: &Call, handle: &mut dyn Handle) -> Option<Value> {
        self.call_point(me);
        if !handle.is_possible(call.operation) {
            return None;
        }
        self.happened(me, Happened::Called(call.clone()));
        let result = handle.call(call, Clock::Counter).result;
        self.happened(me, Happened::Returned(result.clone()));
        Some(result)
    }

    fn happened(&self, me: usize, what: Happened) {
        let state = &mut *self.state.borrow_mut();
        if matches!(state.mode, Mode::Draining | Mode::Cancelling) {
            return;
        }
        let is_call = matches!(what, Happened::Called(_));
        state.idle = 0;
        state.inside[me] = if let Happened::Called(call) = &what { Some(call.operation) } else { None };
        self.beat(state);
        if let Some(task) = state.tasks.get_mut(me) {
            task.is_inside = is_call;
            task.reads.clear();
            task.has_news = false;
            task.repeats = 0;
        }
        if let Some(open) = &mut state.open {
            open.called |= is_call;
            open.returned |= !is_call;
        }
        if self.rules.traces {
            state.note(What::Event(state.events.len()));
        }
        state.events.push(Event { process: u32::try_from(me).expect("the number of threads fits in 32 bits"), what });
    }

    /// The schedule point before a call. Unlike at other schedule points, the task is not about to access a
    /// primitive.
    fn call_point(&self, me: usize) {
        self.state.borrow_mut().tasks[me].may_end = true;
        if me == self.tasks() {
            return;
        }
        let pending = Pending { access: None, calls: true };
        let mode = self.state.borrow().mode;
        match mode {
            Mode::Starting => {
                {
                    let state = &mut *self.state.borrow_mut();
                    (state.tasks[me].status, state.tasks[me].pending) = (Status::Ready, pending);
                }
                self.next.set(MAIN);
                super::engine::switch();
                self.resumed(me);
            }
            _ => self.pause(me, Status::Ready, pending),
        }
    }

    /// Lets other tasks run before this task makes the access `pending`. Returns when it is this task's turn.
    fn pause(&self, me: usize, status: Status, pending: Pending) {
        let mode = self.state.borrow().mode;
        match mode {
            Mode::Outside | Mode::Starting => return,
            Mode::Quiet => {
                // While the main task waits, a task that the object started runs for as long as it can.
                let goes_on = {
                    let state = &mut *self.state.borrow_mut();
                    state.of_main += 1;
                    (state.tasks[me].status, state.tasks[me].pending) = (status, pending);
                    state.of_main <= self.rules.most_steps && state.enabled(false) & only(me) != 0
                };
                if !goes_on {
                    self.next.set(MAIN);
                    super::engine::switch();
                }
            }
            Mode::Running => {
                {
                    let task = &mut self.state.borrow_mut().tasks[me];
                    (task.status, task.pending) = (status, pending);
                }
                let next = self.decide_or_end();
                if next != Some(me) {
                    self.next.set(next.map_or(MAIN, |task| task + 1));
                    super::engine::switch();
                }
            }
            Mode::Draining => {
                let goes_on = {
                    let state = &mut *self.state.borrow_mut();
                    state.steps += 1;
                    match status {
                        Status::Ready => state.steps <= self.rules.most_steps,
                        Status::Locking(place) => !state.held.contains(&place),
                        _ => false,
                    }
                };
                if !goes_on {
                    self.next.set(MAIN);
                    super::engine::switch();
                }
            }
            Mode::Cancelling => {
                if !self.state.borrow().tasks[me].may_end {
                    // The task must not be unwound here, and need not run any further.
                    self.next.set(MAIN);
                    super::engine::switch();
                }
            }
        }
        self.resumed(me);
    }

    /// Continues a task.
    fn resumed(&self, me: usize) {
        let mode = {
            let state = &mut *self.state.borrow_mut();
            state.current = me;
            self.beat(state);
            match state.mode {
                Mode::Quiet => {
                    let task = &mut state.tasks[me];
                    match task.status {
                        Status::Locking(place) => state.held.push(place),
                        Status::Waiting { is_timed, .. } => task.timed_out = is_timed,
                        Status::Spinning | Status::Ready | Status::Done => {}
                    }
                    task.status = Status::Ready;
                }
                Mode::Running => {
                    let task = &mut state.tasks[me];
                    let mut access = task.pending.access;
                    match task.status {
                        Status::Locking(place) => {
                            state.held.push(place);
                        }
                        Status::Waiting { condvar, is_timed, .. } => {
                            task.timed_out = is_timed;
                            if !is_timed {
                                task.spurious_left = task.spurious_left.saturating_sub(1);
                            }
                            access = Some(Access { kind: AccessKind::Notify, place: Some(condvar), other: None });
                        }
                        Status::Spinning | Status::Ready | Status::Done => {}
                    }
                    task.status = Status::Ready;
                    let pending = Pending { access, ..task.pending };
                    state.open = Some(Transition::of(me, pending));
                }
                Mode::Draining => {
                    if let Status::Locking(place) = state.tasks[me].status {
                        if !state.held.contains(&place) {
                            state.held.push(place);
                        }
                    }
                }
                _ => {}
            }
            state.mode
        };
        if mode == Mode::Cancelling && !std::thread::panicking() {
            // The execution is over. This schedule point ends the task immediately, instead of at
            // its next access.
            primitives::point();
        }
    }

    /// Returns the task that runs next; `None` if the execution is over. [`decide`](Self::decide)
    /// panics if the object is not deterministic. This function catches the panic, which must not
    /// unwind code of the object, and ends the execution.
    fn decide_or_end(&self) -> Option<usize> {
        catch_unwind(AssertUnwindSafe(|| self.decide())).unwrap_or_else(|payload| {
            let state = &mut *self.state.borrow_mut();
            state.ending = Some(Ending::Panicked { thread: state.current, message: message(&*payload) });
            None
        })
    }

    /// Decides which task runs next; returns `None` if the execution is over.
    fn decide(&self) -> Option<usize> {
        let state = &mut *self.state.borrow_mut();
        let strategy = &mut **self.strategy.borrow_mut();
        if let Some(open) = state.open.take() {
            strategy.observe(&open);
            state.last = Some(open.task);
        }
        let end = |state: &mut State, strategy: &mut dyn Strategy, ending: Ending| {
            let blocked = state.tasks.iter().enumerate().filter(|(_, task)| matches!(task.status, Status::Locking(_)));
            strategy.end(&mut blocked.map(|(number, task)| (number, task.pending)));
            state.ending = Some(ending);
            None
        };
        let enabled = state.enabled(self.rules.serial);
        let is_program_done = state.is_program_done();
        state.steps_beyond += u64::from(is_program_done);
        if is_program_done && (enabled == 0 || state.steps_beyond > MOST_STEPS_BEYOND) {
            return end(state, strategy, Ending::Complete);
        }
        if enabled == 0 {
            if let Some(task) = state.timed_out() {
                state.steps += 1;
                let is_too_long = state.steps > self.rules.most_steps;
                return if is_too_long { end(state, strategy, Ending::Diverged) } else { Some(task) };
            }
            let in_serial_order = |task: &Task| !self.rules.serial || task.is_inside;
            let spinners = state.tasks.iter().enumerate();
            let spinners: Tasks = spinners
                .filter(|(_, task)| task.status == Status::Spinning && in_serial_order(task))
                .map(|(number, _)| only(number))
                .sum();
            if spinners == 0 {
                if let Some(task) = state.ended_outside() {
                    state.tasks[task].status = Status::Ready;
                    return Some(task);
                }
                return end(state, strategy, Ending::Stuck);
            }
            // Only spinning tasks can run. They check their conditions again, one after the other,
            // because their loops may give up after some attempts.
            if state.idle >= IDLE_ROUNDS * spinners.count_ones() {
                return end(state, strategy, Ending::Stuck);
            }
            state.idle += 1;
            state.steps += 1;
            let behind = spinners & !(only(state.last.unwrap_or(0)) << 1).wrapping_sub(1);
            let task = if behind == 0 { spinners } else { behind }.trailing_zeros() as usize;
            state.tasks[task].status = Status::Ready;
            return Some(task);
        }
        state.steps += 1;
        if state.steps > self.rules.most_steps {
            return end(state, strategy, Ending::Diverged);
        }
        for (pending, task) in state.pending.iter_mut().zip(&state.tasks) {
            *pending = task.pending;
        }
        let is_between = state.last.is_none_or(|last| !state.tasks[last].is_inside);
        let view = View { enabled, current: state.last, is_between, pending: &state.pending };
        let Some(task) = strategy.schedule(&view) else { return end(state, strategy, Ending::Redundant) };
        state.scribe.decided_task(enabled, state.last, task);
        state.preemptions += u32::from(view.preempts(task));
        Some(task)
    }

    /// Returns a number below `bound`.
    fn pick(&self, bound: usize) -> usize {
        let state = &mut *self.state.borrow_mut();
        if matches!(state.mode, Mode::Draining | Mode::Cancelling) {
            return 0;
        }
        let number = self.strategy.borrow_mut().choose(bound);
        state.scribe.decided_number(bound, number);
        if self.rules.traces {
            state.note(What::Chose { number, bound });
        }
        number
    }
}

/// A task that chooses its calls.
struct InTask<'t> {
    controller: &'t Controller,
    me: usize,
    handle: &'t mut dyn Handle,
}

impl Caller for InTask<'_> {
    fn call(&mut self, call: Call) -> Called {
        self.controller.call(self.me, &call, self.handle).map_or(Called::Skipped, Called::Done)
    }
}

impl World for Controller {
    fn point(&self, access: Access) {
        if std::thread::panicking() {
            return;
        }
        let (me, has_lock, waits) = {
            let state = &mut *self.state.borrow_mut();
            if state.mode == Mode::Outside {
                return;
            }
            let me = state.current;
            if let Some(operation) = state.inside[me] {
                state.reached[operation as usize] = true;
            }
            let task = &mut state.tasks[me];
            (task.may_end, task.idle_spins) = (trueline_sync::may_end(), 0);
            match me == state.main {
                false => {
                    let has_lock = access.kind == AccessKind::Lock && std::mem::take(&mut task.has_lock);
                    let waits = task.repeats >= MOST_REPEATS && !task.may_end;
                    (me, has_lock, waits)
                }
                true => {
                    state.of_main += 1;
                    if state.of_main <= self.rules.most_steps {
                        return;
                    }
                    state.ending = Some(Ending::Diverged);
                    (me, false, false)
                }
            }
        };
        if me == self.tasks() {
            return self.end_main();
        }
        if has_lock {
            return;
        }
        if waits {
            self.state.borrow_mut().tasks[me].repeats = 0;
            self.spin();
        }
        let status = match (access.kind, access.place) {
            (AccessKind::Lock, Some(place)) => Status::Locking(place),
            _ => Status::Ready,
        };
        self.pause(me, status, Pending { access: Some(access), calls: false });
    }

    fn edge(&self) {
        // Does nothing, because there is already a schedule point before each call.
    }

    fn is_watching(&self) -> bool {
        self.is_inside()
    }

    fn saw(&self, seen: &Seen) {
        let state = &mut *self.state.borrow_mut();
        if matches!(state.mode, Mode::Draining | Mode::Cancelling) {
            return;
        }
        if self.rules.traces {
            state.note(What::Seen(*seen));
        }
        let Some(place) = seen.access.place else { return };
        let task = &mut state.tasks[state.current];
        let reads = matches!(seen.access.kind, AccessKind::Load | AccessKind::Update | AccessKind::TryLock);
        let is_again = reads && task.has_read(place);
        if reads && !is_again {
            task.reads.push(place);
        }
        let Some((before, after)) = seen.values else { return };
        task.repeats = if before == after { task.repeats + u32::from(is_again) } else { 0 };
        if seen.access.kind == AccessKind::TryLock {
            if after == 1 {
                state.held.push(place);
            }
            return;
        }
        if let Some(open) = &mut state.open {
            open.wrote = before != after;
        }
        if before != after {
            state.changed(place);
        }
    }

    fn choose(&self, bound: usize) -> usize {
        {
            let state = &mut *self.state.borrow_mut();
            state.choices += u32::from(bound > 1);
            state.last_choice = state.steps + state.of_main;
        }
        let Some(seed) = self.rules.choices else { return self.pick(bound) };
        let state = &mut *self.state.borrow_mut();
        let current = state.current;
        state.tasks[current].choices += 1;
        let count = state.tasks[current].choices;
        let mut random = Random::new(Random::new(seed ^ current as u64).bits() ^ count);
        random.below(u32::try_from(bound).unwrap_or(u32::MAX)) as usize
    }

    fn spin(&self) {
        if std::thread::panicking() {
            return;
        }
        let me = {
            let state = &mut *self.state.borrow_mut();
            if state.mode == Mode::Outside {
                return std::thread::yield_now();
            }
            let me = state.current;
            let task = &mut state.tasks[me];
            task.may_end = trueline_sync::may_end();
            task.idle_spins += 1;
            // A loop with back-off may spin several times before it checks its condition again.
            // These spins count as one wait.
            let backs_off = (2..MOST_IDLE_SPINS).contains(&task.idle_spins);
            if (task.has_news || (backs_off && !task.may_end)) && me != state.main {
                task.has_news = false;
                task.reads.clear();
                return;
            }
            state.idle += u32::from(me == state.main);
            me
        };
        if me == self.tasks() {
            if let Some(task) = self.in_background() {
                self.go(task, &super::engine::switch);
            } else if self.state.borrow().idle > IDLE_ROUNDS {
                self.end_main();
            }
            return;
        }
        self.pause(me, Status::Spinning, NOTHING);
        let task = &mut self.state.borrow_mut().tasks[me];
        task.reads.clear();
        task.has_news = false;
    }

    fn blocking(&self) -> Option<&dyn Blocking> {
        self.is_inside().then_some(self)
    }

    fn locals(&self) -> Option<Rc<Locals>> {
        let state = self.state.borrow();
        (state.mode != Mode::Outside).then(|| Rc::clone(&self.locals.borrow()[state.current]))
    }

    fn statics(&self) -> Option<&Statics> {
        self.is_inside().then_some(&self.statics)
    }
}

impl Controller {
    /// Returns whether an execution is running.
    fn is_inside(&self) -> bool {
        self.state.borrow().mode != Mode::Outside
    }

    /// Makes the main task wait, and runs the tasks that the object started until the main task is woken. Returns
    /// whether the time limit of the wait expired.
    fn main_waits(&self, place: Place, is_timed: bool) -> bool {
        let main = self.tasks();
        self.state.borrow_mut().tasks[main].status = Status::Waiting { condvar: place, mutex: None, is_timed };
        let is_waiting = || self.state.borrow().tasks[main].status != Status::Ready;
        while is_waiting() {
            let task = self.in_background().or_else(|| self.state.borrow().timed_out().filter(|_| !is_timed));
            let Some(task) = task else { break };
            self.go(task, &super::engine::switch);
        }
        let mut timed_out = is_waiting();
        let is_over = self.state.borrow().tasks[main].is_over.clone();
        if let Some(is_over) = is_over.filter(|_| timed_out) {
            // The main task waits for something that another operating-system thread holds.
            while !is_over() {
                std::thread::sleep(LOOK_OUTSIDE);
            }
            timed_out = false;
        }
        self.state.borrow_mut().tasks[main].status = Status::Done;
        if timed_out && !is_timed {
            self.end_main();
        }
        timed_out
    }

    fn wait(&self, place: Place, is_timed: bool) -> bool {
        if std::thread::panicking() {
            return true;
        }
        let (me, mutex) = {
            let state = self.state.borrow();
            let waits = state.open.and_then(|open| open.access).filter(|access| access.kind == AccessKind::Wait);
            (state.current, waits.and_then(|access| access.place))
        };
        if me == self.tasks() {
            return self.main_waits(place, is_timed);
        }
        let access = Access { kind: AccessKind::Notify, place: Some(place), other: None };
        let status = Status::Waiting { condvar: place, mutex, is_timed };
        self.pause(me, status, Pending { access: Some(access), calls: false });
        let state = &mut *self.state.borrow_mut();
        std::mem::take(&mut state.tasks[me].timed_out)
    }
}

impl Blocking for Controller {
    fn block(&self, place: Place) {
        self.wait(place, false);
    }

    fn block_unless(&self, place: Place, is_over: Rc<dyn Fn() -> bool>) {
        let me = {
            let state = &mut *self.state.borrow_mut();
            state.tasks[state.current].is_over = Some(is_over);
            state.current
        };
        self.wait(place, false);
        self.state.borrow_mut().tasks[me].is_over = None;
    }

    fn block_for_a_while(&self, place: Place) -> bool {
        self.wait(place, true)
    }

    fn wake(&self, place: Place, wake: Wake) {
        let mut here = {
            let state = &mut *self.state.borrow_mut();
            if let Some(at) = state.held.iter().position(|held| *held == place) {
                state.held.swap_remove(at);
                state.changed(place);
            }
            let is_here = |task: &Task| matches!(task.status, Status::Waiting { condvar, .. } if condvar == place);
            let numbered = state.tasks.iter().enumerate();
            numbered.filter(|(_, task)| is_here(task)).map(|(number, _)| only(number)).sum::<Tasks>()
        };
        if wake == Wake::One && here.count_ones() > 1 {
            let picked = self.pick(here.count_ones() as usize);
            here = members(here).nth(picked).map_or(0, only);
        }
        let state = &mut *self.state.borrow_mut();
        for number in members(here) {
            let task = &mut state.tasks[number];
            let Status::Waiting { condvar, mutex, .. } = task.status else { continue };
            match mutex {
                Some(mutex) => {
                    task.status = Status::Locking(mutex);
                    task.has_lock = true;
                    let access = Access { kind: AccessKind::Lock, place: Some(mutex), other: Some(condvar) };
                    task.pending = Pending { access: Some(access), calls: false };
                }
                None => task.status = Status::Ready,
            }
            if let Some(open) = &mut state.open {
                open.woke |= only(number);
            }
        }
    }

    fn blocked(&self, place: Place) -> usize {
        let state = self.state.borrow();
        let is_here = |task: &&Task| matches!(task.status, Status::Waiting { condvar, .. } if condvar == place);
        state.tasks.iter().filter(is_here).count()
    }

    fn next_task(&self) -> u64 {
        self.state.borrow().tasks.len() as u64
    }

    fn spawn(&self, body: Body) -> Result<(), Body> {
        let state = &mut *self.state.borrow_mut();
        let number = state.tasks.len();
        if number >= MOST_TASKS {
            return Err(body);
        }
        let mut task = Task::new();
        task.reset(self.rules.spurious);
        state.tasks.push(task);
        state.pending.push(NOTHING);
        state.inside.push(None);
        self.locals.borrow_mut().push(Locals::new(number as u64));
        self.bodies.borrow_mut().push(Some(body));
        if let Some(open) = &mut state.open {
            open.woke |= only(number);
        }
        Ok(())
    }
}
