//! stateright: the linearizability tester of a model checker, which is intended for histories of a few operations.

use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};
use trueline::history::{EventKind, History, Outcome};

use super::Peer;
use crate::objects::Object;

#[derive(Clone, Debug)]
pub(crate) struct Stateright;

#[derive(Clone, Debug)]
pub(crate) struct Adapter<O: Object> {
    state: O::State,
}

impl<O: Object> SequentialSpec for Adapter<O> {
    type Op = O::Op;
    type Ret = O::Ret;

    fn invoke(&mut self, op: &O::Op) -> O::Ret {
        let ret = O::answer(&self.state, op);
        O::update(&mut self.state, op);
        ret
    }

    fn is_valid_step(&mut self, op: &O::Op, ret: &O::Ret) -> bool {
        let allowed = O::allows(&self.state, op, ret);
        if allowed {
            O::update(&mut self.state, op);
        }
        allowed
    }
}

impl<O: Object> Peer<O> for Stateright {
    type Input = LinearizabilityTester<u32, Adapter<O>>;

    fn translate(history: &History<O::Op, O::Ret>) -> Self::Input {
        let mut tester = LinearizabilityTester::new(Adapter { state: O::initial() });
        for event in history.events() {
            let operation = &history[event.op()];
            let process = operation.process.0;
            match (event.kind(), &operation.outcome) {
                (EventKind::Call, _) => tester.on_invoke(process, operation.op.clone()),
                (EventKind::Return, Outcome::Returned(ret)) => tester.on_return(process, ret.clone()),
                (EventKind::Return, _) => unreachable!("only operations that returned have a return event"),
            }
            .expect("a history is well formed");
        }
        tester
    }

    fn judge(input: Self::Input) -> bool {
        input.is_consistent()
    }
}
