//! Matchings of bipartite graphs: Hopcroft and Karp, *An n^5/2 algorithm for maximum matchings in bipartite graphs*
//! (SIAM Journal on Computing 2(4), 1973); Mendelsohn and Dulmage, *Some generalizations of the problem of distinct
//! representatives* (Canadian Journal of Mathematics 10, 1958).
//!
//! **Maximum.** The algorithm works in phases. Each phase finds the length of a shortest augmenting
//! path, by layers from the free left vertices, and then augments along disjoint paths of that
//! length until no such path is left. So the shortest augmenting path is longer in each phase.
//! After sqrt V phases each path has more than sqrt V vertices, so fewer than sqrt V disjoint paths
//! are left, and at most that many phases follow.
//!
//! **Covering.** On both sides, some vertices must be covered, and the others may be covered.
//! Mendelsohn and Dulmage: if one matching covers the left vertices that must be covered, and
//! another covers the right ones, then some matching covers both. Both matchings are found as
//! maximum matchings, the first in the graph without the optional left vertices, the second in the
//! graph without the optional right vertices. If one of these matchings does not cover all the
//! vertices that it should, no matching does.
//!
//! The two matchings are combined as follows. Start from the first matching, and let `r` be a right
//! vertex that must be covered and is not. Follow the second matching from `r` to the left, the
//! first one back to the right, and so on, and exchange the pairs of the first matching on this
//! path for those of the second. This is a path, because `r` is an end of its component in the
//! union of the two matchings. Left vertices that were covered stay covered, because the second
//! matching reaches each one on the path. If the path ends at a left vertex that the first matching
//! leaves free, no vertex is uncovered. Otherwise, it ends at a right vertex that the second
//! matching leaves free. That vertex is uncovered now, but need not be covered, because the second
//! matching covers all right vertices that must be covered. Components are disjoint, so the paths
//! do not interfere.
//!
//! Each pair of either matching has a vertex that must be covered, and so has each pair of the result.
//!
//! # Complexity
//! O(E sqrt V) time and O(V + E) space for V vertices and E edges. There is no recursion.

use super::{NONE, Pairs};

/// A matching of a bipartite graph.
#[derive(Clone, Debug)]
pub(crate) struct Matching {
    /// For each left vertex, its partner on the right, or [`NONE`].
    pub(crate) left: Vec<u32>,
    /// For each right vertex, its partner on the left, or [`NONE`].
    pub(crate) right: Vec<u32>,
}

impl Matching {
    /// Returns the pairs, left vertex first, in the order of left vertices.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        (0u32..).zip(&self.left).filter(|(_, right)| **right != NONE).map(|(left, right)| (left, *right))
    }

    fn join(&mut self, left: u32, right: u32) {
        self.left[left as usize] = right;
        self.right[right as usize] = left;
    }
}

/// Returns a matching with the maximum number of pairs. `edges_of` holds the right neighbors of each left vertex.
pub(crate) fn maximum<R: AsRef<[u32]>>(left: usize, right: usize, edges_of: &[R]) -> Matching {
    assert_eq!(edges_of.len(), left, "each left vertex has a list of edges");
    let mut phase = Phase {
        edges_of,
        matching: Matching { left: vec![NONE; left], right: vec![NONE; right] },
        layer: vec![NONE; left],
        next: vec![0; left],
        path: Vec::new(),
    };
    let mut free: Vec<u32> =
        (0u32..).zip(edges_of).filter(|(_, edges)| !edges.as_ref().is_empty()).map(|(vertex, _)| vertex).collect();
    while phase.layers(&free) {
        phase.next.fill(0);
        free.retain(|vertex| !phase.augment(*vertex));
    }
    phase.matching
}

/// Returns a matching that covers every vertex that must be covered, or `None` if no such matching
/// exists. `edges` holds the right neighbors of each left vertex. Each pair of the matching has its
/// left vertex first, and at least one of its vertices must be covered.
pub(crate) fn covering(
    left: usize,
    right: usize,
    edges: &[Vec<u32>],
    must_left: &[bool],
    must_right: &[bool],
) -> Option<Pairs> {
    assert_eq!(
        (edges.len(), must_left.len(), must_right.len()),
        (left, left, right),
        "`edges`, `must_left` and `must_right` have one entry for each vertex"
    );
    let from_left: Vec<&[u32]> =
        edges.iter().zip(must_left).map(|(edges, must)| if *must { edges.as_slice() } else { &[] }).collect();
    let mut matching = maximum(left, right, &from_left);
    let is_covered = |mates: &[u32], must: &[bool]| mates.iter().zip(must).all(|(mate, must)| !must || *mate != NONE);
    if !is_covered(&matching.left, must_left) {
        return None;
    }
    if is_covered(&matching.right, must_right) {
        return Some(matching.pairs().collect());
    }
    let mut from_right = vec![Vec::new(); right];
    for (vertex, edges) in (0u32..).zip(edges) {
        for &other in edges.iter().filter(|other| must_right[**other as usize]) {
            from_right[other as usize].push(vertex);
        }
    }
    // In `second`, the two sides are swapped: its left vertices are the right vertices of this
    // graph.
    let second = maximum(right, left, &from_right);
    if !is_covered(&second.left, must_right) {
        return None;
    }
    for start in (0u32..).zip(must_right).filter(|(_, must)| **must).map(|(vertex, _)| vertex) {
        if matching.right[start as usize] == NONE {
            exchange(&mut matching, &second, start);
        }
    }
    Some(matching.pairs().collect())
}

/// Exchanges the pairs of `matching` for those of `second` (whose sides are swapped) on the path from a right vertex
/// that `matching` leaves free and `second` covers.
fn exchange(matching: &mut Matching, second: &Matching, start: u32) {
    let mut right = start;
    loop {
        let left = second.left[right as usize];
        if left == NONE {
            matching.right[right as usize] = NONE;
            return;
        }
        let before = matching.left[left as usize];
        matching.join(left, right);
        if before == NONE {
            return;
        }
        right = before;
    }
}

struct Phase<'e, R> {
    edges_of: &'e [R],
    matching: Matching,
    /// For each left vertex, half its distance from the free left vertices, or [`NONE`] if it is farther away than the
    /// nearest free right vertex.
    layer: Vec<u32>,
    /// For each left vertex, the index of the first edge that was not tried yet in this phase.
    next: Vec<usize>,
    /// The left vertices of the alternating path that is being built. From each of them, the path
    /// continues along the edge that was tried last, at index `next - 1`. The vector is kept to
    /// reuse its memory.
    path: Vec<u32>,
}

impl<R: AsRef<[u32]>> Phase<'_, R> {
    /// Finds the layers. Returns `false` if no free right vertex can be reached, which means that
    /// the matching is maximum.
    fn layers(&mut self, free: &[u32]) -> bool {
        self.layer.fill(NONE);
        for &vertex in free {
            self.layer[vertex as usize] = 0;
        }
        let mut last = free.to_vec();
        let mut depth = 0;
        let mut is_reached = false;
        while !last.is_empty() && !is_reached {
            depth += 1;
            let mut following = Vec::new();
            for &vertex in &last {
                for &other in self.edges_of[vertex as usize].as_ref() {
                    let mate = self.matching.right[other as usize];
                    if mate == NONE {
                        is_reached = true;
                    } else if self.layer[mate as usize] == NONE {
                        self.layer[mate as usize] = depth;
                        following.push(mate);
                    }
                }
            }
            last = following;
        }
        if is_reached {
            // The vertices of the last layer are farther away than the nearest free right vertex,
            // so no shortest path contains them.
            for vertex in last {
                self.layer[vertex as usize] = NONE;
            }
        }
        is_reached
    }

    /// Augments along a path that leads from this free left vertex through the layers and is
    /// disjoint from the earlier paths of this phase. Returns `false` if no such path exists.
    ///
    /// Each edge is tried at most once in a phase: either the path uses it, or no later path of
    /// this phase can use it. A left vertex of an earlier path is not entered again: it could be
    /// entered only through its new partner, which was reached from the layer of this left vertex,
    /// and so is not adjacent to any vertex of the layer before.
    fn augment(&mut self, start: u32) -> bool {
        self.path.clear();
        self.path.push(start);
        while let Some(&vertex) = self.path.last() {
            let Some(&other) = self.edges_of[vertex as usize].as_ref().get(self.next[vertex as usize]) else {
                self.path.pop();
                continue;
            };
            self.next[vertex as usize] += 1;
            let mate = self.matching.right[other as usize];
            if mate == NONE {
                for &vertex in &self.path {
                    let used = self.next[vertex as usize] - 1;
                    self.matching.join(vertex, self.edges_of[vertex as usize].as_ref()[used]);
                }
                return true;
            }
            if self.layer[mate as usize] == self.layer[vertex as usize] + 1 {
                self.path.push(mate);
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(pairs: Option<Pairs>) -> Option<Pairs> {
        pairs.map(|mut pairs| {
            pairs.sort_unstable();
            pairs
        })
    }

    #[test]
    fn a_maximum_is_found_where_the_first_choice_is_wrong() {
        let matching = maximum(3, 3, &[vec![0, 1], vec![0], vec![1, 2]]);
        assert_eq!(matching.pairs().collect::<Vec<_>>(), [(0, 1), (1, 0), (2, 2)]);
        assert_eq!(matching.right, [1, 0, 2]);
    }

    #[test]
    fn a_maximum_need_not_cover_all() {
        assert_eq!(maximum(3, 2, &[vec![0], vec![0], vec![0]]).pairs().count(), 1);
        assert_eq!(maximum::<Vec<u32>>(0, 2, &[]).pairs().count(), 0);
    }

    #[test]
    fn nothing_is_matched_where_nothing_must_be() {
        assert_eq!(covering(1, 1, &[vec![0]], &[false], &[false]), Some(vec![]));
    }

    #[test]
    fn the_two_sides_are_put_together() {
        // 0-0, 1-0, 1-1: left 0 needs right 0, so right 1 needs left 1, which itself need not be covered.
        let edges = [vec![0], vec![0, 1]];
        assert_eq!(sorted(covering(2, 2, &edges, &[true, false], &[false, true])), Some(vec![(0, 0), (1, 1)]));
        // One left vertex, which the first matching pairs with right 0; but right 1 must be covered, and right 0 need
        // not be.
        assert_eq!(sorted(covering(1, 2, &[vec![0, 1]], &[true], &[false, true])), Some(vec![(0, 1)]));
        assert_eq!(covering(1, 2, &[vec![0, 1]], &[true], &[true, true]), None);
        assert_eq!(covering(2, 1, &[vec![0], vec![0]], &[true, true], &[false]), None);
    }

    #[test]
    fn long_paths_are_no_burden() {
        // A path: left i is adjacent to right i and to right i + 1, which is tried first. The last left vertex gets its
        // only neighbor only if all others change.
        let count = 300_000u32;
        let mut edges: Vec<Vec<u32>> = (0..count).map(|vertex| vec![vertex + 1, vertex]).collect();
        edges.push(vec![count]);
        let all = vec![true; edges.len()];
        let expected: Pairs = (0..=count).map(|vertex| (vertex, vertex)).collect();
        assert_eq!(sorted(covering(all.len(), all.len(), &edges, &all, &all)), Some(expected));
    }
}
