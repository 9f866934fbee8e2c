//! Matchings that cover given vertices.
//!
//! Two executions can synchronize if they overlap and their values agree: they are joined by an
//! edge of a graph. A set of such pairs explains the history of a stateless object if no two pairs
//! share an execution, and the pairs cover every execution that returned. Executions that never
//! returned may be covered or not. [`hopcroft_karp`] finds such a set if executions have two roles
//! (senders and receivers), [`general`] if they have only one role (exchangers). If partners are
//! interchangeable, a greedy scan is enough; these algorithms are for arbitrary relations.
//!
//! Both algorithms are deterministic. In their results, an execution that never returned is paired
//! only with one that returned.

pub(crate) mod general;
pub(crate) mod hopcroft_karp;

/// Pairs of vertices; no vertex is in two of them.
pub(crate) type Pairs = Vec<(u32, u32)>;

/// Marks a vertex without a partner.
pub(crate) const NONE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Random;

    /// A graph. If it is bipartite, the vertices of one side come first.
    struct Graph {
        edges: Vec<Vec<u32>>,
    }

    impl Graph {
        fn new(vertices: u32) -> Self {
            Graph { edges: vec![Vec::new(); vertices as usize] }
        }

        fn join(&mut self, one: u32, other: u32) {
            self.edges[one as usize].push(other);
            self.edges[other as usize].push(one);
        }

        fn vertices(&self) -> usize {
            self.edges.len()
        }

        /// Returns a graph with random edges between vertices for which `may` holds.
        fn random(random: &mut Random, vertices: u32, may: impl Fn(u32, u32) -> bool) -> Self {
            let mut graph = Graph::new(vertices);
            let density = 1 + random.below(7);
            for one in 0..vertices {
                for other in (one + 1)..vertices {
                    if may(one, other) && random.chance(density, 8) {
                        graph.join(one, other);
                    }
                }
            }
            for edges in &mut graph.edges {
                shuffle(random, edges);
            }
            graph
        }

        /// Returns the edges of the first `left` vertices, with the other vertices counted from 0.
        fn sides(&self, left: u32) -> Vec<Vec<u32>> {
            let from_left = &self.edges[..left as usize];
            from_left.iter().map(|edges| edges.iter().map(|other| other - left).collect()).collect()
        }

        /// Returns, for each set of vertices, whether some matching covers exactly this set.
        fn brute(&self) -> Vec<bool> {
            fn matchings(graph: &Graph, from: usize, covered: usize, found: &mut Vec<bool>) {
                if from == graph.vertices() {
                    found[covered] = true;
                    return;
                }
                matchings(graph, from + 1, covered, found);
                for &other in graph.edges[from].iter().filter(|other| **other as usize > from) {
                    if covered & (1 << from | 1 << other) == 0 {
                        matchings(graph, from + 1, covered | 1 << from | 1 << other, found);
                    }
                }
            }
            let mut found = vec![false; 1 << self.vertices()];
            matchings(self, 0, 0, &mut found);
            found
        }

        /// Asserts that `pairs` is a matching that covers the vertices in `must`, and has no unnecessary pair.
        fn verify(&self, pairs: &Pairs, must: &[bool]) {
            let mut is_covered = vec![false; self.vertices()];
            for &(one, other) in pairs {
                assert!(self.edges[one as usize].contains(&other), "{one} and {other} are not joined");
                assert!(must[one as usize] || must[other as usize], "neither {one} nor {other} had to be covered");
                for vertex in [one, other] {
                    assert!(!is_covered[vertex as usize], "{vertex} is used twice");
                    is_covered[vertex as usize] = true;
                }
            }
            for vertex in 0..self.vertices() {
                assert!(is_covered[vertex] || !must[vertex], "{vertex} is not covered");
            }
        }

        /// Returns the matching found for a graph whose first `left` vertices are one side, after verifying it and
        /// comparing both algorithms.
        fn bipartite_covering(&self, left: u32, must: &[bool]) -> Option<Pairs> {
            let (must_left, must_right) = must.split_at(left as usize);
            let (edges, right) = (self.sides(left), must_right.len());
            let pairs = hopcroft_karp::covering(must_left.len(), right, &edges, must_left, must_right);
            let pairs: Option<Pairs> =
                pairs.map(|pairs| pairs.into_iter().map(|(one, other)| (one, other + left)).collect());
            if let Some(pairs) = &pairs {
                self.verify(pairs, must);
            }
            assert_eq!(pairs.is_some(), self.general_covering(must).is_some(), "the algorithms disagree");
            pairs
        }

        fn general_covering(&self, must: &[bool]) -> Option<Pairs> {
            let pairs = general::covering(self.vertices(), &self.edges, must);
            if let Some(pairs) = &pairs {
                self.verify(pairs, must);
                assert!(pairs.iter().all(|(one, other)| one < other), "the smaller vertex is first");
            }
            pairs
        }

        fn maximum(&self) -> Pairs {
            let pairs = general::maximum(self.vertices(), &self.edges);
            self.verify(&pairs, &self.covered(&pairs));
            pairs
        }

        fn covered(&self, pairs: &Pairs) -> Vec<bool> {
            let mut covered = vec![false; self.vertices()];
            for &(one, other) in pairs {
                covered[one as usize] = true;
                covered[other as usize] = true;
            }
            covered
        }
    }

    fn shuffle<T>(random: &mut Random, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, random.below(u32::try_from(last).expect("a test has few items") + 1) as usize);
        }
    }

    /// Chooses at random which vertices must be covered: sometimes many, sometimes few.
    fn musts(random: &mut Random, vertices: usize) -> Vec<bool> {
        let often = 1 + random.below(8);
        (0..vertices).map(|_| random.chance(often, 8)).collect()
    }

    fn bits(must: &[bool]) -> usize {
        must.iter().enumerate().map(|(vertex, must)| usize::from(*must) << vertex).sum()
    }

    /// Compares `maximum` with brute force, and `covering` for some sets of vertices that must be covered. Returns how
    /// many of these sets can be covered and how many cannot.
    fn compare(
        random: &mut Random,
        seed: u64,
        graph: &Graph,
        covering: impl Fn(&[bool]) -> Option<Pairs>,
        maximum: usize,
    ) -> (u32, u32) {
        let brute = graph.brute();
        let largest = (0..brute.len()).filter(|set| brute[*set]).map(usize::count_ones).max();
        assert_eq!(largest, Some(2 * u32::try_from(maximum).expect("a small graph")), "seed {seed}: the maximum");
        let (mut yes, mut no) = (0, 0);
        for _ in 0..3 {
            let must = musts(random, graph.vertices());
            let wanted = bits(&must);
            let expected = (0..brute.len()).any(|set| brute[set] && set & wanted == wanted);
            assert_eq!(covering(&must).is_some(), expected, "seed {seed}: {must:?}");
            if expected {
                yes += 1;
            } else {
                no += 1;
            }
        }
        (yes, no)
    }

    /// Calls `test` for each seed. `test` returns how many sets could be covered and how many could
    /// not. Asserts that neither number is much smaller than the other.
    fn for_seeds(count: u64, mut test: impl FnMut(&mut Random, u64) -> (u32, u32)) {
        let (mut yes, mut no) = (0, 0);
        for seed in 0..count {
            let (more_yes, more_no) = test(&mut Random::new(seed), seed);
            yes += more_yes;
            no += more_no;
        }
        assert!(
            5 * yes > no && 5 * no > yes,
            "{yes} sets could be covered and {no} could not: one of these answers is too rare"
        );
    }

    #[test]
    fn general_graphs_agree_with_brute_force() {
        for_seeds(100_000, |random, seed| {
            let vertices = random.below(10);
            let graph = Graph::random(random, vertices, |_, _| true);
            compare(random, seed, &graph, |must| graph.general_covering(must), graph.maximum().len())
        });
    }

    #[test]
    fn bipartite_graphs_agree_with_brute_force_and_each_other() {
        for_seeds(100_000, |random, seed| {
            let vertices = random.below(10);
            let left = random.below(vertices + 1);
            let graph = Graph::random(random, vertices, |one, other| one < left && other >= left);
            let matching = hopcroft_karp::maximum(left as usize, (vertices - left) as usize, &graph.sides(left));
            let pairs: Pairs = matching.pairs().map(|(one, other)| (one, other + left)).collect();
            graph.verify(&pairs, &graph.covered(&pairs));
            for (one, other) in matching.pairs() {
                assert_eq!(matching.right[other as usize], one, "seed {seed}: the sides agree");
            }
            assert_eq!(matching.right.iter().filter(|mate| **mate != NONE).count(), pairs.len(), "seed {seed}");
            assert_eq!(graph.maximum().len(), pairs.len(), "seed {seed}: the maxima agree");
            compare(random, seed, &graph, |must| graph.bipartite_covering(left, must), pairs.len())
        });
    }

    /// Returns a sparse graph, in which paths are long and blossoms nested. It has fewer than two
    /// edges for each vertex.
    fn sparse(random: &mut Random, vertices: u32, may: impl Fn(u32, u32) -> bool) -> Graph {
        let mut graph = Graph::new(vertices);
        for _ in 0..(vertices + random.below(vertices)) {
            let (one, other) = (random.below(vertices), random.below(vertices));
            if may(one, other) {
                graph.join(one, other);
            }
        }
        graph
    }

    /// Returns whether a covering exists, by looking for a perfect matching of a larger graph:
    /// optional vertices are joined with each other, and with a new vertex if the number of
    /// vertices is odd.
    fn by_perfect_matching(graph: &Graph, must: &[bool]) -> bool {
        let mut joined = Graph { edges: graph.edges.clone() };
        let mut optional: Vec<u32> = (0u32..).zip(must).filter(|(_, must)| !**must).map(|(vertex, _)| vertex).collect();
        if joined.vertices() % 2 == 1 {
            optional.push(u32::try_from(joined.vertices()).expect("a small graph"));
            joined.edges.push(Vec::new());
        }
        for (index, &one) in optional.iter().enumerate() {
            for &other in &optional[..index] {
                joined.join(one, other);
            }
        }
        2 * joined.maximum().len() == joined.vertices()
    }

    #[test]
    fn sparse_graphs_agree_with_perfect_matchings() {
        for_seeds(5_000, |random, seed| {
            let vertices = 10 + random.below(60);
            let graph = sparse(random, vertices, |one, other| one != other);
            // Require most of the vertices that a maximum matching covers, and sometimes another vertex, so that both
            // answers are likely.
            let mut must = graph.covered(&graph.maximum());
            for _ in 0..random.below(12) {
                must[random.below(vertices) as usize] ^= true;
            }
            let is_covered = graph.general_covering(&must).is_some();
            assert_eq!(is_covered, by_perfect_matching(&graph, &must), "seed {seed}");
            (u32::from(is_covered), u32::from(!is_covered))
        });
    }

    #[test]
    fn sparse_bipartite_graphs_agree_with_each_other() {
        for_seeds(5_000, |random, seed| {
            let vertices = 10 + random.below(150);
            let left = vertices / 2;
            let graph = sparse(random, vertices, |one, other| (one < left) != (other < left));
            let maximum = graph.maximum();
            let right = (vertices - left) as usize;
            let size = hopcroft_karp::maximum(left as usize, right, &graph.sides(left)).pairs().count();
            assert_eq!(maximum.len(), size, "seed {seed}");
            let mut must = graph.covered(&maximum);
            for _ in 0..random.below(8) {
                must[random.below(vertices) as usize] ^= true;
            }
            let is_covered = graph.bipartite_covering(left, &must).is_some();
            (u32::from(is_covered), u32::from(!is_covered))
        });
    }

    #[test]
    fn a_covering_that_was_planted_is_found() {
        for seed in 0..2_000 {
            let random = &mut Random::new(seed);
            let vertices = 2 * (5 + random.below(60));
            let mut graph = sparse(random, vertices, |one, other| one != other);
            let mut order: Vec<u32> = (0..vertices).collect();
            shuffle(random, &mut order);
            for pair in order.chunks(2) {
                graph.join(pair[0], pair[1]);
            }
            for edges in &mut graph.edges {
                shuffle(random, edges);
            }
            assert!(graph.general_covering(&vec![true; vertices as usize]).is_some(), "seed {seed}");
        }
    }
}
