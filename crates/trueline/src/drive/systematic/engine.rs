//! Coroutines: tasks that run on one thread of the operating system, one at a time.
//!
//! The coroutines come from `shuttle-engine`. Its scheduler always runs the coroutine that the [`Controller`] names; it
//! does not need to know that the others wait, and for what. Coroutines are reused for many executions, because
//! starting and ending one of `shuttle-engine`'s takes as long as dozens of switches.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::panic::{self, Location};
use std::rc::Rc;
use std::sync::OnceLock;

use shuttle_engine::runtime::execution::ExecutionState;
use shuttle_engine::runtime::thread;
use shuttle_engine::scheduler::{Schedule, Scheduler, Task, TaskId};
use shuttle_engine::{Config, FailurePersistence, MaxSteps, Runner};

use super::controller::{Controller, MAIN};
use crate::primitives::enter;

/// The number of executions that coroutines are used for. It is limited because `shuttle-engine` records all switches.
const EXECUTIONS_OF_COROUTINES: u32 = 512;
/// The stack size of a task, and of the judge. Only the part that is used takes memory.
const STACK: usize = 1 << 20;

/// A function that is called for each execution that was prepared, and returns whether to continue.
type Each = Box<dyn FnMut(&Controller) -> ControlFlow<()>>;

/// The data of the coroutines on this thread. It is thread-local because `shuttle-engine` requires functions that are
/// `Send`.
struct Here {
    controller: Rc<Controller>,
    each: RefCell<Each>,
    is_over: std::cell::Cell<bool>,
}

thread_local! {
    static HERE: RefCell<Option<Rc<Here>>> = const { RefCell::new(None) };
}

/// Switches to the coroutine that the controller names.
pub(super) fn switch() {
    thread::switch();
}

/// A scheduler that runs the coroutine that the controller names.
struct Obedient(Rc<Here>);

impl Scheduler for Obedient {
    fn new_execution(&mut self) -> Option<Schedule> {
        (!self.0.is_over.get()).then(|| Schedule::new(0))
    }

    fn next_task(&mut self, _runnable: &[&Task], _current: Option<TaskId>, _is_yielding: bool) -> Option<TaskId> {
        Some(TaskId::from(self.0.controller.next.get()))
    }

    fn next_u64(&mut self) -> u64 {
        0
    }
}

/// Makes executions as long as `each` continues. `each` is called on a coroutine, and calls [`Controller::execute`].
pub(super) fn run(controller: Rc<Controller>, each: Each) {
    prepare();
    let here = Rc::new(Here { controller: Rc::clone(&controller), each: RefCell::new(each), is_over: false.into() });
    let before = HERE.replace(Some(Rc::clone(&here)));
    let inside = enter(controller);
    Runner::new(Obedient(here), config()).run(main);
    drop(inside);
    HERE.set(before);
}

fn here() -> Rc<Here> {
    HERE.with_borrow(Clone::clone).expect("coroutines have something to work on")
}

/// The main coroutine.
fn main() {
    let here = here();
    let controller = &here.controller;
    controller.next.set(MAIN);
    for task in 0..controller.tasks() {
        let body = move || self::here().controller.work(task, &switch);
        ExecutionState::spawn_thread(Box::new(body), STACK, None, None, Location::caller());
    }
    for _ in 0..EXECUTIONS_OF_COROUTINES {
        if !controller.begin() || (here.each.borrow_mut())(controller).is_break() {
            here.is_over.set(true);
            break;
        }
    }
    controller.end(&switch);
    controller.next.set(MAIN);
}

fn config() -> Config {
    let mut config = Config::new();
    config.stack_size = STACK;
    config.failure_persistence = FailurePersistence::None;
    config.max_steps = MaxSteps::None;
    config.silence_warnings = true;
    config
}

/// Keeps the panic hook of the program. `shuttle-engine` permanently installs a panic hook when it first runs, which
/// would print its own schedules at every panic. So this runs it once without tasks, and then restores the previous
/// hook.
fn prepare() {
    static PREPARED: OnceLock<()> = OnceLock::new();

    struct Once(bool);

    impl Scheduler for Once {
        fn new_execution(&mut self) -> Option<Schedule> {
            (!std::mem::replace(&mut self.0, true)).then(|| Schedule::new(0))
        }

        fn next_task(&mut self, runnable: &[&Task], _current: Option<TaskId>, _is_yielding: bool) -> Option<TaskId> {
            runnable.first().map(|task| task.id())
        }

        fn next_u64(&mut self) -> u64 {
            0
        }
    }

    PREPARED.get_or_init(|| {
        let hook = panic::take_hook();
        Runner::new(Once(false), config()).run(|| ());
        panic::set_hook(hook);
    });
}
