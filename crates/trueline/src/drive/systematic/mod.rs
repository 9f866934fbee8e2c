//! Exploring the schedules of small programs, one task at a time.

mod controller;
mod depth_first;
mod engine;
mod jobs;
mod schedule;
mod strategy;
mod trace;

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use controller::{Controller, Ending, Event, Happened, Rules};
use depth_first::DepthFirst;
use jobs::Job;

pub use schedule::Schedule;

use super::{Behaviour, Call, Instance, Kind};
use crate::history::{History, Value};

/// What an exploration says that is led astray.
const NOT_DETERMINISTIC: &str = "the object is not deterministic: with the same schedule it did something else; it must \
     make random choices by `primitives::choose`, and depend on no time, address or hash seed";

/// What is explored: an object, and what is called.
#[derive(Clone)]
pub struct Program {
    /// Makes the object.
    pub make: Arc<dyn Fn() -> Arc<dyn Instance> + Send + Sync>,
    /// The operations.
    pub kinds: Arc<[Kind]>,
    /// What each thread does.
    pub threads: Vec<Behaviour>,
    /// What is called before the threads start, by a process of its own.
    pub before: Vec<Call>,
    /// What is called when they are done, by the same process.
    pub after: Vec<Call>,
    /// How many operations a thread that chooses is asked for.
    pub operations: u32,
    /// The seed of what threads that choose draw.
    pub seed: u64,
}

#[doc(hidden)]
pub fn spike(program: Program, mut look: impl FnMut(History<Call, Value>) + 'static) -> u64 {
    let rules = Rules { most_steps: 10_000, spurious: 0, serial: false, choices: None, traces: false };
    let controller = Controller::new(program, rules, Box::new(DepthFirst::new(None, Job::default())));
    let count = Rc::new(RefCell::new(0));
    let counted = Rc::clone(&count);
    let mut seen = std::collections::HashSet::<Box<[Event]>>::new();
    engine::run(
        controller,
        Box::new(move |controller| {
            controller.execute(&engine::switch, |raw| {
                *counted.borrow_mut() += 1;
                assert_eq!(*raw.ending, Ending::Complete);
                if !seen.contains(raw.events) {
                    seen.insert(raw.events.into());
                    let mut builder = History::builder();
                    for event in raw.events {
                        match &event.what {
                            Happened::Called(call) => drop(builder.call(event.process, call.clone()).expect("fine")),
                            Happened::Returned(value) => drop(builder.ret(event.process, value.clone()).expect("fine")),
                        }
                    }
                    look(builder.finish());
                }
            });
            ControlFlow::Continue(())
        }),
    );
    let count = *count.borrow();
    count
}
