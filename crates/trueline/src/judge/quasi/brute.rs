//! Quasi linearizability by its definition: the oracle that the other checkers are compared with.
//!
//! The oracle tries every set of optional operations that may have taken effect, every legal order
//! `s''` of the operations that took effect, and every linear extension `s'` of the real-time order
//! `<_h` on these operations, and checks whether `s'` and `s''` are as near to each other as the
//! semantics requires. The oracle shares nothing with the other checkers: no automaton, no memory
//! of failed configurations, no scheduling of jobs.
//!
//! # Complexity
//! O(n!^2).

use super::super::search::Meter;
use super::semantics::SerialOrders;
use super::task::{QuasiFound, QuasiTask};
use crate::judge::erased::{Case, Machine};
use crate::verdict::LimitKind;

/// The maximum number of optional operations, which may or may not have taken effect. It is limited
/// because every choice of which of them took effect is tried.
const MOST: usize = 20;

/// The maximum number of operations. It is limited because each operation is a level of recursion.
const MOST_OPERATIONS: usize = 1_000;

/// Judges one object by trying every order that the definition allows.
pub(super) fn search(
    case: &dyn Case,
    task: &QuasiTask,
    serial: Option<&dyn SerialOrders>,
    meter: &mut Meter,
) -> Result<QuasiFound, LimitKind> {
    if task.len() > MOST_OPERATIONS {
        return Err(LimitKind::Refused("it has too many operations, so not all orders can be tried"));
    }
    let optional: Vec<u32> = task.operations().filter(|op| !task.must(*op)).collect();
    if optional.len() > MOST {
        return Err(LimitKind::Refused(
            "too many operations never returned, so it is not possible to try every choice of which of them took effect",
        ));
    }
    let mut longest = Vec::new();
    for chosen in 0_u32..1 << optional.len() {
        let is_chosen = |op: &u32| optional.iter().position(|other| other == op).is_none_or(|at| chosen >> at & 1 == 1);
        let operations: Vec<u32> = task.operations().filter(is_chosen).collect();
        let mut orders: Vec<Vec<u32>> = Vec::new();
        let is_next = |rest: &[u32], op: u32| rest.iter().all(|other| !task.precedes(*other, op));
        all_orders(&operations, &mut Vec::new(), &is_next, meter, &mut |order, meter| {
            meter.allocate(size_of_val(order))?;
            meter.push(&mut orders, order.to_vec())
        })?;
        let mut legal = Legal { machine: case.machine(), task, serial, charged: 0 };
        let mut found = None;
        legal.all_orders(&operations, &mut Vec::new(), &[0], &mut longest, meter, &mut |permuted, meter| {
            for order in &orders {
                meter.work(permuted.len() * permuted.len())?;
                if is_near(task, serial.is_some(), order, permuted) {
                    found = Some((order.clone(), permuted.to_vec()));
                    return Ok(true);
                }
            }
            Ok(false)
        })?;
        let of_orders = orders.iter().map(|order| size_of_val(&order[..])).sum::<usize>();
        meter.free(of_orders + orders.capacity() * size_of::<Vec<u32>>() + legal.charged);
        if let Some((order, permuted)) = found {
            return Ok(QuasiFound::Accepted { order, permuted });
        }
    }
    Ok(QuasiFound::behind(longest))
}

/// A function that is called with each order that is found.
type Each<'f, T> = &'f mut dyn FnMut(&[u32], &mut Meter) -> Result<T, LimitKind>;

/// Calls `found` with each order of the given operations that `is_next` allows. `is_next` decides
/// whether an operation may come next, given the operations that remain.
fn all_orders(
    rest: &[u32],
    order: &mut Vec<u32>,
    is_next: &dyn Fn(&[u32], u32) -> bool,
    meter: &mut Meter,
    found: Each<'_, ()>,
) -> Result<(), LimitKind> {
    meter.work(rest.len() * rest.len())?;
    if rest.is_empty() {
        found(order, meter)?;
    }
    for (at, &op) in rest.iter().enumerate() {
        if is_next(rest, op) {
            let mut others = rest.to_vec();
            others.remove(at);
            order.push(op);
            all_orders(&others, order, is_next, meter, found)?;
            order.pop();
        }
    }
    Ok(())
}

struct Legal<'a> {
    machine: Box<dyn Machine + 'a>,
    task: &'a QuasiTask,
    serial: Option<&'a dyn SerialOrders>,
    /// The size of the states, in bytes, that has been reported to the meter.
    charged: usize,
}

impl Legal<'_> {
    /// Calls `found` with each legal order of the given operations, until `found` returns `true`.
    fn all_orders(
        &mut self,
        rest: &[u32],
        order: &mut Vec<u32>,
        states: &[u32],
        longest: &mut Vec<u32>,
        meter: &mut Meter,
        found: Each<'_, bool>,
    ) -> Result<bool, LimitKind> {
        meter.configuration()?;
        if order.len() > longest.len() {
            longest.clone_from(order);
        }
        if rest.is_empty() {
            return Ok(self.is_serial(order) && found(order, meter)?);
        }
        for (at, &op) in rest.iter().enumerate() {
            let next = self.step(states, op);
            meter.grown(&mut self.charged, self.machine.bytes())?;
            if next.is_empty() {
                continue;
            }
            let mut others = rest.to_vec();
            others.remove(at);
            order.push(op);
            if self.all_orders(&others, order, &next, longest, meter, found)? {
                return Ok(true);
            }
            order.pop();
        }
        Ok(false)
    }

    /// Returns the states after an operation. If serial histories define which orders are legal,
    /// the specification is not used, and the states stay the same.
    fn step(&mut self, states: &[u32], op: u32) -> Vec<u32> {
        if self.serial.is_some() {
            return states.to_vec();
        }
        let op = self.task.ids[op as usize];
        states.iter().flat_map(|state| self.machine.next(*state, op)).collect()
    }

    fn is_serial(&self, order: &[u32]) -> bool {
        self.serial.is_none_or(|serial| serial.contains(&self.task.ids(order)))
    }
}

/// Returns whether two orders of the same operations are as near to each other as the semantics requires.
fn is_near(task: &QuasiTask, of_program: bool, order: &[u32], permuted: &[u32]) -> bool {
    let of_class = |order: &[u32], class: u32| -> Vec<u32> {
        order.iter().copied().filter(|op| task.class[*op as usize] == Some(class)).collect()
    };
    let is_near = |class: u32| {
        let factor = task.factors[class as usize] as usize;
        let (order, permuted) = (of_class(order, class), of_class(permuted, class));
        let distance = |(at, op): (usize, &u32)| {
            permuted.iter().position(|other| other == op).expect("both orders have the same operations").abs_diff(at)
        };
        order.iter().enumerate().map(distance).all(|distance| distance <= factor)
    };
    let mut classes = 0..u32::try_from(task.factors.len()).expect("the number of classes fits in 32 bits");
    if !of_program {
        return classes.all(is_near);
    }
    let differs = |class: Option<u32>| {
        order.iter().zip(permuted).any(|(one, other)| {
            one != other
                && (class.is_none() || task.class[*one as usize] != class || task.class[*other as usize] != class)
        })
    };
    // Either the orders are equal, or only the operations of one class change places, and only among themselves.
    !differs(None) || classes.any(|class| !differs(Some(class)) && is_near(class))
}
