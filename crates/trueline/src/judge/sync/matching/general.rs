//! Matchings of graphs that need not be bipartite: Edmonds, *Paths, trees, and flowers* (Canadian Journal of
//! Mathematics 17, 1965), as implemented by Gabow, *An efficient implementation of Edmonds' algorithm for maximum
//! matching on graphs* (Journal of the ACM 23(2), 1976).
//!
//! **Search.** From a free vertex, the root, the search grows paths that alternate between edges outside the matching
//! and edges in it. A vertex is *outer* if such a path of even length leads to it; its label describes the path. An
//! edge from an outer vertex to a free one completes an augmenting path. An edge between outer vertices closes an odd
//! cycle, a *blossom*: all its vertices become outer, and from then on the blossom counts as one vertex, represented by
//! its *base*, the vertex of the cycle that is nearest to the root. If an augmenting path starts at the root, the
//! search finds one (Edmonds). If no augmenting path starts there, the search finds every vertex to which an even path
//! leads: an additional free vertex that is adjacent only to such a vertex would complete an augmenting path, which the
//! search would find.
//!
//! **Covering.** Some vertices must be covered, and the others may be covered. The vertices that
//! must be covered are processed one by one. If such a vertex `u` is free, take an alternating path
//! from `u` that ends either in a free vertex (a path of odd length) or in a covered optional
//! vertex (a path of even length), and exchange the edges on it that are in the matching for those
//! that are not. Then `u` is covered, and no vertex became free except possibly the optional one at
//! the end: so one more of the vertices that must be covered is covered. If no such path exists, no
//! covering matching exists. To see this, let `N` be a covering matching, and `M` the matching so
//! far. In the symmetric difference of the two, `u` is an end of a path, because `N` covers it and
//! `M` does not. If the last edge of this path belongs to `N`, the path ends in a vertex that is
//! free in `M`. If the last edge belongs to `M`, the path ends in a vertex that `N` does not cover,
//! and so in an optional one. Either way, this is a path as required. The search above finds it:
//! the ends of odd paths are the free vertices adjacent to outer ones, and the ends of even paths
//! are the outer vertices.
//!
//! An alternative is to join optional vertices with each other and to look for a perfect matching. The method here
//! needs no additional edges, however many vertices are optional, and stops at the first vertex that cannot be covered.
//!
//! Each edge that enters the matching was examined from an outer vertex that must be covered, because the search stops
//! at an outer vertex that need not be covered. So each pair has a vertex that must be covered.
//!
//! **Departures from Gabow.** The base of a vertex is found by union-find with path halving, instead of an array that
//! is written for each blossom. Labels are cleared only for the vertices that were reached, so the cost of a search
//! depends only on the connected component that contains its root, and components need not be distinguished.
//!
//! # Complexity
//! O(V^3) time in the worst case for V vertices of a component, and O(V E log V) for E edges: each
//! of V searches examines each edge twice, and looks up the bases of its ends each time. O(V + E)
//! space in total. There is no recursion.

use super::{NONE, Pairs};

/// Returns a matching with the maximum number of pairs. `edges` holds the neighbors of each vertex, so each edge is in
/// two lists. Each pair has its smaller vertex first.
#[cfg(test)]
pub(crate) fn maximum(vertices: usize, edges: &[Vec<u32>]) -> Pairs {
    // If the search finds no path from a free vertex, then by the argument above, no matching
    // covers this vertex in addition to the vertices that are covered at that time. Covered
    // vertices stay covered, so the same is true when all vertices have been processed. Then no
    // augmenting path is left, and the matching is maximum (Berge).
    let must = vec![true; vertices];
    let mut search = AugmentingSearch::new(vertices, edges, &must);
    for vertex in (0u32..).take(vertices) {
        search.cover(vertex);
    }
    search.pairs()
}

/// Returns a matching that covers every vertex that must be covered, or `None` if no such matching
/// exists. `edges` holds the neighbors of each vertex, so each edge is in two lists. Each pair of
/// the matching has its smaller vertex first, and at least one of its vertices must be covered.
pub(crate) fn covering(vertices: usize, edges: &[Vec<u32>], must: &[bool]) -> Option<Pairs> {
    let mut search = AugmentingSearch::new(vertices, edges, must);
    let is_covered = (0u32..).zip(must).filter(|(_, must)| **must).all(|(vertex, _)| search.cover(vertex));
    is_covered.then(|| search.pairs())
}

/// The label of a vertex in one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    /// The vertex is not known to be outer.
    Unknown,
    /// Outer: the search started here.
    Root,
    /// Outer: the even path goes to the outer vertex given here, from there to the partner of the labeled vertex, and
    /// then to the labeled vertex.
    Vertex(u32),
    /// Outer because of a blossom that this edge between outer vertices closed: the even path goes to the second vertex
    /// of the edge, over the edge, and then back along the even path of its first vertex, which contains the labeled
    /// vertex.
    Edge(u32, u32),
}

struct AugmentingSearch<'g> {
    edges: &'g [Vec<u32>],
    must: &'g [bool],
    /// The partner of each vertex, or [`NONE`].
    mates: Vec<u32>,
    label: Vec<Label>,
    /// For each vertex, a vertex nearer to the base of its blossom. For a base, the vertex itself.
    nearer: Vec<u32>,
    /// For each base, the number of the last walk toward the root that passed it.
    walked: Vec<u64>,
    walks: u64,
    /// All outer vertices of this search, in the order in which they became outer.
    outer: Vec<u32>,
    /// A stack for `rematch`, kept to reuse its memory.
    rematches: Vec<(u32, u32)>,
}

impl<'g> AugmentingSearch<'g> {
    fn new(vertices: usize, edges: &'g [Vec<u32>], must: &'g [bool]) -> Self {
        assert_eq!(
            (edges.len(), must.len()),
            (vertices, vertices),
            "`edges` and `must` have one entry for each vertex"
        );
        AugmentingSearch {
            edges,
            must,
            mates: vec![NONE; vertices],
            label: vec![Label::Unknown; vertices],
            nearer: (0u32..).take(vertices).collect(),
            walked: vec![0; vertices],
            walks: 0,
            outer: Vec::new(),
            rematches: Vec::new(),
        }
    }

    fn pairs(&self) -> Pairs {
        let mates = (0u32..).zip(self.mates.iter().copied());
        mates.filter(|(vertex, mate)| *mate != NONE && vertex < mate).collect()
    }

    /// Changes the matching so that it also covers this vertex. At most one other vertex becomes
    /// uncovered, and only one that need not be covered. Returns `false` if such a change is
    /// impossible.
    fn cover(&mut self, root: u32) -> bool {
        if self.mates[root as usize] != NONE {
            return true;
        }
        let is_found = self.search(root);
        for vertex in self.outer.drain(..) {
            self.label[vertex as usize] = Label::Unknown;
            self.nearer[vertex as usize] = vertex;
        }
        is_found
    }

    fn search(&mut self, root: u32) -> bool {
        self.reach(root, Label::Root);
        let mut next = 0;
        while let Some(&vertex) = self.outer.get(next) {
            next += 1;
            if !self.must[vertex as usize] {
                self.rematch(vertex, NONE);
                return true;
            }
            let edges = self.edges;
            for &other in &edges[vertex as usize] {
                if self.label[other as usize] != Label::Unknown {
                    self.close(vertex, other);
                    continue;
                }
                let mate = self.mates[other as usize];
                if mate == NONE {
                    self.mates[other as usize] = vertex;
                    self.rematch(vertex, other);
                    return true;
                }
                if self.label[mate as usize] == Label::Unknown {
                    self.reach(mate, Label::Vertex(vertex));
                }
            }
        }
        false
    }

    /// Makes the vertex outer.
    fn reach(&mut self, vertex: u32, label: Label) {
        self.label[vertex as usize] = label;
        self.outer.push(vertex);
    }

    /// Returns the base of the blossom that contains the vertex, or the vertex itself if no blossom
    /// contains it.
    fn base(&mut self, mut vertex: u32) -> u32 {
        while self.nearer[vertex as usize] != vertex {
            let nearer = self.nearer[vertex as usize];
            self.nearer[vertex as usize] = self.nearer[nearer as usize];
            vertex = nearer;
        }
        vertex
    }

    /// Returns the next base on the path from this base to the root. A base was outer before its blossom was closed, so
    /// its label is not [`Label::Edge`].
    fn before(&mut self, base: u32) -> Option<u32> {
        match self.label[base as usize] {
            Label::Vertex(vertex) => Some(self.base(vertex)),
            Label::Root => None,
            Label::Edge(..) | Label::Unknown => unreachable!("a base is outer before its blossom is closed"),
        }
    }

    /// Makes a blossom of the odd cycle that an edge between outer vertices closes, unless the edge is within a
    /// blossom.
    fn close(&mut self, first: u32, second: u32) {
        if self.base(first) == self.base(second) {
            return;
        }
        let common = self.common(first, second);
        self.shrink(first, second, common);
        self.shrink(second, first, common);
    }

    /// Returns the first base that is on the paths of both vertices to the root. The two paths are walked in turns, so
    /// the cost is at most proportional to the size of the blossom.
    fn common(&mut self, first: u32, second: u32) -> u32 {
        self.walks += 1;
        let mut here = self.base(first);
        let mut there = Some(self.base(second));
        loop {
            if self.walked[here as usize] == self.walks {
                return here;
            }
            self.walked[here as usize] = self.walks;
            let following = self.before(here);
            // The root is on both paths, so the walk that has reached the root waits for the other
            // walk.
            (here, there) = match (there, following) {
                (Some(there), following) => (there, following),
                (None, Some(following)) => (following, None),
                (None, None) => unreachable!("both paths lead to the root"),
            };
        }
    }

    /// Adds all vertices on the path from `first` to `base` to the blossom that the edge from
    /// `first` to `second` closes.
    fn shrink(&mut self, first: u32, second: u32, base: u32) {
        let mut here = self.base(first);
        while here != base {
            let before = self.before(here).expect("the base is on the path to the root");
            let mate = self.mates[here as usize];
            self.reach(mate, Label::Edge(first, second));
            self.nearer[here as usize] = base;
            self.nearer[mate as usize] = base;
            here = before;
        }
    }

    /// Gives an outer vertex this partner, or none, and exchanges the edges on its even path.
    ///
    /// This is Gabow's procedure R, with a stack. A part of the path is finished when the procedure
    /// comes to a vertex whose former partner already has a new partner. The procedure has then
    /// returned to the vertex at which it followed a [`Label::Edge`], or to the root.
    fn rematch(&mut self, vertex: u32, mate: u32) {
        self.rematches.push((vertex, mate));
        while let Some((vertex, mate)) = self.rematches.pop() {
            let before = std::mem::replace(&mut self.mates[vertex as usize], mate);
            if before == NONE || self.mates[before as usize] != vertex {
                continue;
            }
            match self.label[vertex as usize] {
                Label::Vertex(outer) => {
                    self.mates[before as usize] = outer;
                    self.rematches.push((outer, before));
                }
                Label::Edge(first, second) => {
                    self.rematches.push((first, second));
                    self.rematches.push((second, first));
                }
                Label::Root | Label::Unknown => unreachable!("the vertex is outer, and the root had no partner"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(vertices: usize, pairs: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let mut edges = vec![Vec::new(); vertices];
        for &(one, other) in pairs {
            edges[one as usize].push(other);
            edges[other as usize].push(one);
        }
        edges
    }

    #[test]
    fn a_path_goes_through_a_blossom() {
        // A cycle of five with a tail at two of its vertices: 0-1 and 2-3 are found first, and the path from 5 to 6
        // goes around the cycle the long way.
        let edges = graph(7, &[(0, 1), (2, 3), (1, 2), (3, 4), (4, 0), (5, 4), (1, 6)]);
        assert_eq!(maximum(7, &edges).len(), 3);
        let must = [true, true, true, true, false, true, true];
        assert_eq!(covering(7, &edges, &must), None, "5 and 6 take 4 and 1, so 0 has no partner");
        let edges = graph(8, &[(0, 1), (2, 3), (1, 2), (3, 4), (4, 0), (5, 4), (1, 6), (0, 7)]);
        assert_eq!(covering(8, &edges, &[true; 8]), Some(vec![(0, 7), (1, 6), (2, 3), (4, 5)]));
    }

    #[test]
    fn an_optional_vertex_is_uncovered() {
        // A path of three vertices. In the first case, 1 is initially paired with 0, but then 2 must be covered.
        let edges = graph(3, &[(0, 1), (1, 2)]);
        assert_eq!(covering(3, &edges, &[false, true, true]), Some(vec![(1, 2)]));
        assert_eq!(covering(3, &edges, &[true, true, false]), Some(vec![(0, 1)]));
        assert_eq!(covering(3, &edges, &[true, false, true]), None);
        // A triangle: any two vertices can be covered, through a blossom, but not all three.
        let edges = graph(3, &[(0, 1), (1, 2), (2, 0)]);
        for optional in 0..3 {
            let mut must = [true; 3];
            must[optional] = false;
            assert!(covering(3, &edges, &must).is_some(), "without {optional}");
        }
        assert_eq!(covering(3, &edges, &[true; 3]), None);
    }

    #[test]
    fn nothing_is_matched_where_nothing_must_be() {
        assert_eq!(covering(2, &graph(2, &[(0, 1)]), &[false, false]), Some(vec![]));
        assert_eq!(covering(0, &[], &[]), Some(vec![]));
        assert_eq!(covering(1, &[vec![]], &[true]), None);
    }

    #[test]
    fn a_vertex_is_not_its_own_partner() {
        assert_eq!(covering(1, &[vec![0, 0]], &[true]), None);
        assert_eq!(maximum(2, &[vec![0, 1, 1], vec![0, 0]]), [(0, 1)]);
    }

    #[test]
    fn long_paths_are_no_burden() {
        // The pairs are found first. A path goes through all of them, from the second-to-last
        // vertex to the last.
        let pairs = 100_000u32;
        let (first, last) = (2 * pairs, 2 * pairs + 1);
        let mut list: Vec<(u32, u32)> = (0..pairs).map(|pair| (2 * pair, 2 * pair + 1)).collect();
        list.extend((1..pairs).map(|pair| (2 * pair - 1, 2 * pair)));
        list.extend([(first, 0), (2 * pairs - 1, last)]);
        let mut expected: Pairs = (1..pairs).map(|pair| (2 * pair - 1, 2 * pair)).collect();
        expected.extend([(0, first), (2 * pairs - 1, last)]);
        expected.sort_unstable();
        let vertices = last as usize + 1;
        assert_eq!(covering(vertices, &graph(vertices, &list), &vec![true; vertices]), Some(expected));
    }

    #[test]
    fn long_chains_of_blossoms_are_no_burden() {
        // The path from the first vertex to the last passes alternately through pairs p-q and r-s, which are found
        // first. A triangle of q, r and s is attached to q: r becomes outer only through its blossom, and r leads to
        // the next p.
        let triangles = 50_000u32;
        let (first, last) = (4 * triangles, 4 * triangles + 1);
        let (mut list, mut expected) = (vec![(first, 0)], vec![(0, first)]);
        for triangle in 0..triangles {
            let [p, q, r, s] = [0, 1, 2, 3].map(|vertex| 4 * triangle + vertex);
            let next = if triangle + 1 < triangles { p + 4 } else { last };
            list.extend([(p, q), (r, s), (q, r), (q, s), (r, next)]);
            expected.extend([(q, s), (r, next)]);
        }
        let vertices = last as usize + 1;
        let mut edges = graph(vertices, &list);
        // The partner of vertex 0 is tried before the first vertex of the path.
        edges[0].reverse();
        expected.sort_unstable();
        assert_eq!(maximum(vertices, &edges), expected);
        assert_eq!(covering(vertices, &edges, &vec![true; vertices]), Some(expected));
    }
}
