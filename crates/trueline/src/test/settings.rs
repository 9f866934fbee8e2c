//! The setters that [`Test`](super::Test) and [`Plan`](super::Plan) share. A plan is a test with
//! its types erased.

/// Generates setters for a type with a field `options`.
macro_rules! settings {
    () => {
        /// Sets the name of the test. Defaults to the name of its thread.
        pub fn name(mut self, name: &str) -> Self {
            self.options.name = Some(name.to_owned());
            self.options.remembers = true;
            self
        }

        /// Sets the number of threads of each run.
        pub fn threads(mut self, threads: u32) -> Self {
            self.options.threads = Some(threads.max(1));
            self
        }

        /// Sets the number of operations of each thread, in all runs.
        pub fn calls(mut self, calls: u32) -> Self {
            self.options.operations = Some((calls, calls));
            self
        }

        /// Makes threads yield at one in `one_in` schedule points, in all runs; 0 disables
        /// yielding. Schedule points are the beginning and the end of each operation, and each
        /// access to [`primitives`](crate::primitives). So yielding is most effective for objects
        /// that use these primitives.
        pub fn chaos(mut self, one_in: u32) -> Self {
            self.options.chaos = Some(one_in);
            self
        }

        /// Divides each run into this many phases, which differ in how often each operation is
        /// called. With 0, the given weights apply throughout the run.
        #[doc(hidden)]
        pub fn phases(mut self, phases: u32) -> Self {
            self.options.phases = Some(phases);
            self
        }

        /// Draws arguments from the whole range of their generators, in all runs. By default, some runs use only a few
        /// different arguments, so that operations use the same keys more often.
        #[doc(hidden)]
        pub fn all_arguments(mut self) -> Self {
            self.options.all_arguments = true;
            self
        }

        /// Sets the time for executing runs. The test takes up to three seconds longer if fewer
        /// than [`min_runs`](Self::min_runs) runs have been judged by then. If neither this time
        /// nor the number of [runs](Self::runs) is set, the time defaults to one second, or to five
        /// seconds for explorations.
        pub fn time(mut self, time: Duration) -> Self {
            self.options.time = Some(time);
            self
        }

        /// Sets the number of runs. The test executes all of these runs, however long they take,
        /// unless its [time](Self::time) is limited, too.
        pub fn runs(mut self, runs: u64) -> Self {
            self.options.runs = Some(runs.max(1));
            self
        }

        /// Sets the minimum number of runs that must be judged for the test to pass. Defaults to ten, or to the number
        /// of [runs](Self::runs) if that is smaller. See [`TooLittle`](crate::test::TooLittle).
        pub fn min_runs(mut self, runs: u64) -> Self {
            self.options.min_runs = runs;
            self
        }

        /// Seeds all randomness. Defaults to a fresh seed for each execution of the test.
        pub fn seed(mut self, seed: u64) -> Self {
            self.options.seed = Some(seed);
            self
        }

        /// Sets the clock. Defaults to the best clock of the machine.
        pub fn clock(mut self, clock: Clock) -> Self {
            self.options.clock = Some(clock);
            self
        }

        /// Sets the time of the watchdog. If no thread makes progress for this time, the run is
        /// suspected to be stuck. If no thread makes progress for ten times as long, the run is
        /// reported as stuck. Defaults to 100 ms. A run whose threads are all blocked in
        /// [`primitives`](crate::primitives) is reported immediately, unless the process has other
        /// threads that might wake them.
        pub fn watchdog(mut self, time: Duration) -> Self {
            self.options.watchdog = time;
            self
        }

        /// Sets the time limit for judging one history. Defaults to half a second. A history that takes longer is
        /// skipped, and counted as undecided.
        pub fn timeout(mut self, time: Duration) -> Self {
            self.options.timeout = time;
            self
        }

        /// Keeps running after a failure, until this many failures have been found or the test is over. Defaults to 1.
        pub fn collect(mut self, failures: usize) -> Self {
            self.options.collect = failures.max(1);
            self
        }

        /// Sets the number of additional threads that keep the processors busy during the runs. Defaults to 0.
        pub fn noise(mut self, threads: u32) -> Self {
            self.options.noise = threads;
            self
        }

        /// Sets the number of testers that execute runs at the same time, each with its own objects and threads.
        /// Defaults to 1.
        #[doc(hidden)]
        pub fn testers(mut self, testers: u32) -> Self {
            self.options.testers = testers.max(1);
            self
        }

        /// Sets the algorithm that judges. By default, it is chosen automatically.
        pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
            self.options.algorithm = algorithm;
            self
        }

        /// Draws failing runs as HTML pages in this folder: see [`view`](crate::view).
        pub fn pages(mut self, folder: impl Into<std::path::PathBuf>) -> Self {
            self.options.pages = Some(folder.into());
            self
        }

        /// Sets the time limit for shrinking the program of a failing run. Defaults to two seconds; zero disables
        /// shrinking.
        ///
        /// Shrinking removes calls and threads and simplifies arguments, as long as the remaining
        /// program is observed to fail in the same way. The report is about the smallest failing
        /// program, and contains a regression test for it. On real threads, the result depends on
        /// chance and on time. With exploration, the result is exact: if any one call of the
        /// smallest program is left out, none of the explored schedules fails.
        pub fn shrink_for(mut self, time: Duration) -> Self {
            self.options.shrink_for = time;
            self
        }

        /// Does not record failing runs in a file, and does not repeat the runs that the file
        /// already contains.
        pub fn forgetful(mut self) -> Self {
            self.options.remembers = false;
            self
        }
    };
}

pub(super) use settings;
