//! Coroutines: tasks that take turns on one operating system thread.
//!
//! The [`Controller`] names the coroutine that runs next; this module does not keep track of what
//! other coroutines wait for. A coroutine runs the same task in all executions. A coroutine that is
//! stuck in code that must not be unwound is abandoned, with its stack, and replaced by a new one.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use corosensei::stack::DefaultStack;

use super::controller::{Controller, MAIN};
use crate::drive::raw::coroutine::{Coroutine, coroutine, suspend};
use crate::primitives::enter;

/// The stack size of a task. Only the used part of a stack takes memory.
const STACK: usize = 1 << 20;
/// The maximum number of stacks that this thread keeps for its later explorations.
const MOST_STACKS: usize = 16;

/// The coroutines of an exploration.
struct Here {
    controller: Rc<Controller>,
    /// The coroutines by number. [`MAIN`] does not have one, because it runs on the thread itself.
    coroutines: RefCell<Vec<Option<Coroutine>>>,
}

impl Here {
    /// Takes the coroutine with this number, in order to resume it.
    fn take(&self, number: usize) -> Coroutine {
        let mut coroutines = self.coroutines.borrow_mut();
        if coroutines.len() <= number {
            coroutines.resize_with(number + 1, || None);
        }
        coroutines[number].take().unwrap_or_else(|| {
            let stack = STACKS.with_borrow_mut(Vec::pop).unwrap_or_else(|| {
                DefaultStack::new(STACK)
                    .unwrap_or_else(|error| panic!("cannot allocate memory for a task's stack: {error}"))
            });
            coroutine(stack, move || here().controller.work(number - 1, &switch))
        })
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        for coroutine in self.coroutines.take().into_iter().flatten() {
            if coroutine.done() {
                STACKS.with_borrow_mut(|stacks| {
                    if stacks.len() < MOST_STACKS {
                        stacks.push(coroutine.into_stack());
                    }
                });
            } else {
                // A panic left this coroutine unfinished, and dropping it would unwind its stack.
                std::mem::forget(coroutine);
            }
        }
    }
}

thread_local! {
    static HERE: RefCell<Option<Rc<Here>>> = const { RefCell::new(None) };
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

fn here() -> Rc<Here> {
    HERE.with_borrow(Clone::clone).expect("`HERE` is set while coroutines run")
}

/// Suspends this coroutine. In the main task, resumes the coroutines that the controller names, until it names the main
/// task.
pub(super) fn switch() {
    if suspend() {
        return;
    }
    let here = here();
    loop {
        let next = here.controller.next.get();
        if next == MAIN {
            return;
        }
        let mut coroutine = here.take(next);
        coroutine.resume(());
        here.coroutines.borrow_mut()[next] = Some(coroutine);
    }
}

/// Abandons the coroutine with this number where it is: neither its stack nor its data are ever used again.
pub(super) fn abandon(number: usize) {
    let coroutine = here().coroutines.borrow_mut().get_mut(number).and_then(Option::take);
    std::mem::forget(coroutine);
}

/// Returns the numbers of the coroutines that have begun but not ended.
pub(super) fn suspended() -> Vec<usize> {
    let here = here();
    let coroutines = here.coroutines.borrow();
    coroutines.iter().enumerate().filter(|(_, coroutine)| coroutine.is_some()).map(|(number, _)| number).collect()
}

/// Calls `each` until it returns `Break`. `each` runs executions with [`Controller::execute`].
pub(super) fn run(controller: Rc<Controller>, mut each: impl FnMut(&Controller) -> ControlFlow<()>) {
    struct Leaves(Option<Rc<Here>>, Rc<Controller>);
    impl Drop for Leaves {
        fn drop(&mut self) {
            HERE.set(self.0.take());
            self.1.restore_statics();
        }
    }
    let here = Rc::new(Here { controller: Rc::clone(&controller), coroutines: RefCell::default() });
    let _leaves = Leaves(HERE.replace(Some(here)), Rc::clone(&controller));
    let _inside = enter(controller.clone());
    controller.next.set(MAIN);
    while controller.begin() && each(&controller).is_continue() {}
    controller.end(&switch);
    controller.next.set(MAIN);
}
