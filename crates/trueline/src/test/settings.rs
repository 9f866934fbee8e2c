//! What can be set for a test, with its types or without.

/// Setters for whatever has `options`.
macro_rules! settings {
    () => {
        /// The name of the test, instead of that of its thread.
        pub fn name(mut self, name: &str) -> Self {
            self.options.name = Some(name.to_owned());
            self.options.remembers = true;
            self
        }

        /// The number of threads, in all runs.
        pub fn threads(mut self, threads: u32) -> Self {
            self.options.threads = Some(threads.max(1));
            self
        }

        /// The number of operations of each thread, in all runs.
        pub fn calls(mut self, calls: u32) -> Self {
            self.options.operations = Some((calls, calls));
            self
        }

        /// At one in how many schedule points threads give way, in all runs; 0 for never. It has most effect on objects
        /// that are written on [`primitives`](crate::primitives).
        pub fn chaos(mut self, one_in: u32) -> Self {
            self.options.chaos = Some(one_in);
            self
        }

        /// Into how many phases, in which operations are called more or less often, a run is divided; 0 for the weights as
        /// they are.
        pub fn phases(mut self, phases: u32) -> Self {
            self.options.phases = Some(phases);
            self
        }

        /// Draws arguments from all that their generators make, in all runs; else some runs have few of them, so that keys
        /// meet.
        pub fn all_arguments(mut self) -> Self {
            self.options.all_arguments = true;
            self
        }

        /// For how long runs are made: a second, if neither this nor the number of [runs](Self::runs) is said.
        pub fn time(mut self, time: Duration) -> Self {
            self.options.time = Some(time);
            self
        }

        /// How many runs are made, however long that takes, unless the [time](Self::time) is limited too.
        pub fn runs(mut self, runs: u64) -> Self {
            self.options.runs = Some(runs.max(1));
            self
        }

        /// How many runs must be judged, at least, for the test to pass: ten, if nothing is said, or as many as are made if
        /// those are fewer. See [`TooLittle`](crate::test::TooLittle).
        pub fn min_runs(mut self, runs: u64) -> Self {
            self.options.min_runs = runs;
            self
        }

        /// The seed of all that is random; without one, each test run has another.
        pub fn seed(mut self, seed: u64) -> Self {
            self.options.seed = Some(seed);
            self
        }

        /// The clock, instead of the best that the machine has.
        pub fn clock(mut self, clock: Clock) -> Self {
            self.options.clock = Some(clock);
            self
        }

        /// After how long without progress of any thread a run is suspected to be stuck; defaults to 100 ms. It is reported
        /// as stuck if nothing has happened after ten times this time. Threads that are all blocked in
        /// [`primitives`](crate::primitives) are reported at once, unless the process has other threads that might wake them.
        pub fn watchdog(mut self, time: Duration) -> Self {
            self.options.watchdog = time;
            self
        }

        /// How long one history is judged, at most: half a second, if nothing is said. One that takes longer is passed over,
        /// and counted as undecided.
        pub fn timeout(mut self, time: Duration) -> Self {
            self.options.timeout = time;
            self
        }

        /// Goes on after a failing run, until this many were found or the test is over.
        pub fn collect(mut self, failures: usize) -> Self {
            self.options.collect = failures.max(1);
            self
        }

        /// How many threads make noise meanwhile: they keep the processors busy.
        pub fn noise(mut self, threads: u32) -> Self {
            self.options.noise = threads;
            self
        }

        /// How many testers make runs at once, each with objects and threads of its own.
        pub fn testers(mut self, testers: u32) -> Self {
            self.options.testers = testers.max(1);
            self
        }

        /// The algorithm that judges, instead of the automatic choice.
        pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
            self.options.algorithm = algorithm;
            self
        }

        /// Draws failing runs as pages in this folder, to be looked at in a browser: see [`view`](crate::view).
        pub fn pages(mut self, folder: impl Into<std::path::PathBuf>) -> Self {
            self.options.pages = Some(folder.into());
            self
        }

        /// For how long the program of a failing run is made smaller: two seconds, if nothing is said; not at all, if it is
        /// zero.
        ///
        /// Calls, threads and arguments are taken away as long as what is left is seen going wrong in the same way. The
        /// report is about the smallest program that did, and has a test of it to be kept. Under real threads that is a
        /// matter of chance, and of time. What is explored is exact: with one call less, no schedule goes wrong that was
        /// looked at.
        pub fn shrink_for(mut self, time: Duration) -> Self {
            self.options.shrink_for = time;
            self
        }

        /// Neither keeps failing runs in a file nor tries those that are there.
        pub fn forgetful(mut self) -> Self {
            self.options.remembers = false;
            self
        }
    };
}

pub(super) use settings;
