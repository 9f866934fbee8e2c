//! Judges stateless objects whose executions synchronize in pairs, by a matching in a graph. Any
//! relation may determine which executions can be partners.
//!
//! The algorithm follows Lawrence & Lowe, sections 7.3 and 7.4: two executions are joined by an
//! edge if they overlap and may synchronize with their results. A synchronization linearization is
//! a matching that covers all executions that returned. Executions that did not return, and
//! executions that could have returned alone, may be covered or not. If the graph has no odd cycle,
//! [`hopcroft_karp`] finds the matching, otherwise [`general`].
//!
//! # Complexity
//! O(n k) edges for n executions of which k are open at once; the time is O(n k sqrt n) if there is
//! no odd cycle, and otherwise cubic in the size of the largest component.

use super::greedy::{fits, is_alone, pair};
use super::matching::{general, hopcroft_karp};
use super::task::SyncTask;
use crate::history::{EventKind, OpId};
use crate::judge::search::Meter;
use crate::verdict::{LimitKind, Synchronizations};

/// The reason for refusing a history.
const REFUSED: &str = "the algorithm supports only synchronizations of at most two operations, without a state";

/// Returns a synchronization linearization, if there is one.
pub(super) fn search(task: &SyncTask<'_>, meter: &mut Meter) -> Result<Option<Synchronizations>, LimitKind> {
    if !super::is_binary(task.spec) {
        return Err(LimitKind::Refused(REFUSED));
    }
    let state = task.spec.initial();
    let mut ops: Vec<OpId> = Vec::new();
    let mut edges: Vec<Vec<u32>> = Vec::new();
    // The open executions, by their numbers in `ops`.
    let mut open: Vec<u32> = Vec::new();
    for event in task.events() {
        let op = event.op();
        if event.kind() == EventKind::Return {
            open.retain(|other| ops[*other as usize] != op);
            continue;
        }
        meter.configuration()?;
        let number = u32::try_from(ops.len()).expect("operations are numbered with 32 bits");
        let partners: Vec<u32> =
            open.iter().copied().filter(|other| fits(task, &state, op, ops[*other as usize])).collect();
        meter.allocate(2 * partners.len() * size_of::<u32>() + size_of::<Vec<u32>>())?;
        for partner in &partners {
            edges[*partner as usize].push(number);
        }
        edges.push(partners);
        ops.push(op);
        open.push(number);
    }
    let may_be_alone: Vec<bool> = ops.iter().map(|op| is_alone(task, &state, *op)).collect();
    let must: Vec<bool> = ops.iter().zip(&may_be_alone).map(|(op, alone)| task.has_returned(*op) && !alone).collect();
    let covering = match two_sides(&edges) {
        Some(sides) => on_two_sides(&sides, &edges, &must),
        None => general::covering(ops.len(), &edges, &must),
    };
    let Some(pairs) = covering else { return Ok(None) };
    let mut has_partner = vec![false; ops.len()];
    let mut groups: Synchronizations = Vec::with_capacity(pairs.len());
    for (one, other) in pairs {
        has_partner[one as usize] = true;
        has_partner[other as usize] = true;
        groups.push(pair(task, ops[one as usize], ops[other as usize]).to_vec());
    }
    let alone = (0..ops.len()).filter(|at| !has_partner[*at] && task.has_returned(ops[*at]));
    groups.extend(alone.map(|at| vec![ops[at]]));
    Ok(Some(super::in_order(task, groups)))
}

/// Returns the side of each vertex if the graph is bipartite.
fn two_sides(edges: &[Vec<u32>]) -> Option<Vec<bool>> {
    let mut sides: Vec<Option<bool>> = vec![None; edges.len()];
    let mut waiting = Vec::new();
    for start in 0..edges.len() {
        if sides[start].is_some() {
            continue;
        }
        sides[start] = Some(false);
        waiting.push(start);
        while let Some(vertex) = waiting.pop() {
            let other_side = sides[vertex].map(|side| !side);
            for next in edges[vertex].iter().map(|next| *next as usize) {
                if sides[next].is_none() {
                    sides[next] = other_side;
                    waiting.push(next);
                } else if sides[next] != other_side {
                    return None;
                }
            }
        }
    }
    sides.into_iter().collect()
}

/// Returns a matching of a bipartite graph that covers all vertices that must be covered, if there is one.
fn on_two_sides(sides: &[bool], edges: &[Vec<u32>], must: &[bool]) -> Option<Vec<(u32, u32)>> {
    let mut place = vec![0_u32; sides.len()];
    let (mut left, mut right): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    for (vertex, is_right) in (0_u32..).zip(sides) {
        let side = if *is_right { &mut right } else { &mut left };
        place[vertex as usize] = u32::try_from(side.len()).expect("there are no more places than vertices");
        side.push(vertex);
    }
    let of_left: Vec<Vec<u32>> =
        left.iter().map(|vertex| edges[*vertex as usize].iter().map(|next| place[*next as usize]).collect()).collect();
    let musts = |side: &[u32]| -> Vec<bool> { side.iter().map(|vertex| must[*vertex as usize]).collect() };
    let pairs = hopcroft_karp::covering(left.len(), right.len(), &of_left, &musts(&left), &musts(&right))?;
    Some(pairs.into_iter().map(|(one, other)| (left[one as usize], right[other as usize])).collect())
}
