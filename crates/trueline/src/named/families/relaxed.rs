//! Relaxed queues, stacks and priority queues: their operations are written like those of the strict ones.

use super::queues::{PriorityQueueFamily, QueueFamily, StackFamily};
use crate::history::{ProcessId, Record, Value};
use crate::named::{Family, Op, Ret};
use crate::spec::{DisplacementQueue, PriorityQueue, Queue, RelaxedPriorityQueue, RelaxedQueue, RelaxedStack, Stack};

/// Families that read and show operations as another does.
macro_rules! families {
    ($($family:ident: $spec:ty, as $strict:ident($of:expr);)+) => {
        $(
            #[derive(Debug)]
            pub(super) struct $family(pub(super) $spec);

            impl Family for $family {
                type Spec = $spec;

                fn spec(&self) -> &$spec {
                    &self.0
                }

                fn read_op(&self, name: &str, process: ProcessId, record: &Record) -> Result<Op<Self>, String> {
                    $strict($of).read_op(name, process, record)
                }

                fn read_ret(&self, record: &Record, op: &Op<Self>, result: &Value) -> Result<Ret<Self>, String> {
                    $strict($of).read_ret(record, op, result)
                }

                fn show_op(op: &Op<Self>) -> Record {
                    $strict::show_op(op)
                }

                fn show_ret(ret: &Ret<Self>) -> String {
                    $strict::show_ret(ret)
                }
            }
        )+
    };
}

families! {
    RelaxedQueueFamily: RelaxedQueue<Value>, as QueueFamily(Queue::new());
    DisplacementQueueFamily: DisplacementQueue<Value>, as QueueFamily(Queue::new());
    RelaxedStackFamily: RelaxedStack<Value>, as StackFamily(Stack::new());
    RelaxedPriorityQueueFamily: RelaxedPriorityQueue<Value>, as PriorityQueueFamily(PriorityQueue::new());
}
