//! The command-line arguments and their help texts.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use trueline::drive::Clock;
use trueline::drive::systematic::Search;
use trueline::history::codec;
use trueline::judge::{Algorithm, Rules};
use trueline::registry::QuasiFactors;
use trueline::test::{Calls, Token};

/// The layout of a command's help: description, examples, arguments and options, exit codes.
const HELP: &str = "\
{about-with-newline}
{before-help}{usage-heading} {usage}

{all-args}{after-help}
";

const EXAMPLES: &str = "\
Examples:
  trueline check --spec queue history.jsonl
  trueline check --spec cas-register:0 --timeout 10s --json recorded/
  trueline explain --spec queue history.jsonl
  trueline view --spec queue history.jsonl --output history.html
  trueline test ms-queue --threads 4 --ops 200 --runs 1000
  trueline explore treiber-stack --calls 2*2+4
  trueline convert history.edn --to jsonl -o history.jsonl
  trueline lint --spec cas-register:0 history.edn
  trueline generate --spec queue --violation --seed 7
  trueline specs";

const CHECK_EXAMPLES: &str = "\
Examples:
  trueline check --spec queue history.jsonl             one file
  trueline check --spec register:0 --json recorded/     all histories under a directory
  record | trueline check --spec set -                  standard input
  trueline check --spec stack --timeout 10s --memory 1GiB a.jsonl b.jsonl
  trueline check --spec queue --core long.jsonl         also prints why a history is rejected
  trueline check --spec map --algorithm compete:jit-graph,linear --threads 2 c.jsonl
  trueline check --spec cas-register:0 --nil-wildcard store/latest/history.edn
  trueline check --spec quasi-queue:2 d.jsonl           a queue that may be out of order by 2 places
  trueline check --spec queue --factor enq=0,deq=4 d.jsonl
  trueline check --spec cas-register --independent --format jepsen-log jepsen.log
  trueline check --spec queue --notes faults.csv timed.jsonl
                                                        also shows notes, such as injected faults
  trueline check --spec queue --view page.html a.jsonl  also writes a page for a browser
  trueline check --spec queue --view pages/ recorded/   also draws a page for each history
  record | trueline check --spec set --follow --fail-fast
                                                        judges while the test is running

A file contains JSON lines, of events or of whole operations:
  {\"process\":0,\"type\":\"invoke\",\"f\":\"enqueue\",\"value\":5}   (then \"ok\", \"fail\" or \"info\")
  {\"process\":0,\"f\":\"dequeue\",\"result\":5,\"call\":10,\"return\":20}
Other formats can be selected with --format or described with --map. Files may be compressed with
gzip or zstd. In a directory, the files read are those that end in .jsonl, .json, .edn, .parquet,
.arrow or .feather, and .log and .txt files that look like histories.";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  trueline explain --spec queue history.jsonl           why it is not linearizable, in words
  trueline explain --spec register:0 --json history.jsonl

Each step of the explanation names two operations, and says which one must have taken effect first
and why: this operation returned before the other was called, or their values require this order.
The explanation ends when no order of the operations agrees with all steps. If a rejection cannot
be explained this way, the explanation lists the states in which an operation may have taken effect,
and what the operation would have returned in each. The explanation is verified against all orders
of the listed operations, unless there are too many orders.";

const VIEW_EXAMPLES: &str = "\
Examples:
  trueline view --spec queue history.jsonl                        in the terminal
  trueline view --spec queue history.jsonl --output history.html  an interactive page for a browser
  trueline view --spec queue history.jsonl --output history.svg   a picture of the problem
  trueline view --spec queue history.jsonl --core                 only the causes of a rejection";

const VIEW_EXIT_CODES: &str = "\
Exit codes:
  0  the history was drawn, whatever the verdict
  2  wrong usage, an unreadable input, or an output that cannot be written
  3  a limit was reached before the history was read or drawn";

const TEST_EXAMPLES: &str = "\
Examples:
  trueline test --list                                  lists the objects and their faults
  trueline test laarman-map-faulty-delete               runs the object until a run fails
  trueline test ms-queue --threads 4 --ops 200 --runs 1000 --seed 7
  trueline test sharded-map --time 60 --chaos 16 --noise 2
  trueline test ms-queue --weights enqueue=3,dequeue=1 --values 20
  trueline test register-faulty-relaxed --clock counter
  trueline test laarman-map-faulty-delete --replay s2a.t2.o1-3.c16.f2.p1
  trueline test treiber-stack --program 'push 1 (pop | push 2, pop) pop'
                                                        two threads, and calls before and after

By default, the number of threads and operations varies. Small runs with few keys come first.";

const EXPLORE_EXAMPLES: &str = "\
Examples:
  trueline explore treiber-stack --calls 2*2+4          2 child threads of 2 calls, main thread of 4
  trueline explore ms-queue-faulty-aba --preemptions 2  schedules with at most two preemptions
  trueline explore ms-queue --calls 2*2 --against itself
                                                        compared with serial runs, not the spec
  trueline explore men-women-faulty-notify-one --threads 3 --ops 1
  trueline explore treiber-stack-faulty-aba --program 'push 1, push 2 | pop, pop'
  trueline explore ms-queue-faulty-late-read --replay q2x2x0.n0.z3-1_17-0
  trueline explore shann-queue --search pct:3           random schedules, for large programs

By default, schedules without preemptions are explored first, then those with one, then all. A
preemption is a switch away from a thread that could continue, in the middle of an operation.";

const EXPLORE_EXIT_CODES: &str = "\
Exit codes:
  0  all requested schedules were explored, and no execution failed
  1  an execution failed
  2  wrong usage
  3  some schedules were not explored or judged, and no execution failed";

const CONVERT_EXAMPLES: &str = "\
Examples:
  trueline convert store/latest/history.edn --to jsonl          to standard output
  trueline convert log.jsonl.gz --to porcupine-json -o log.json
  trueline convert jepsen.log --independent --to jsonl-operations
  trueline convert foreign.jsonl --map mapping.toml --to jsonl

Operations, processes, keys, objects and the order of calls and returns are preserved. Failed
operations, times and other fields are left out. A history that the format cannot hold is an error.";

const CONVERT_EXIT_CODES: &str = "\
Exit codes:
  0  the history was written
  2  wrong usage, an unreadable input, or a history that the format cannot hold
  3  a limit was reached before the history was written";

const MAP_EXAMPLES: &str = "\
Examples:
  trueline map --guess foreign.jsonl > proposal.toml    a proposal, and the first operations
  trueline map foreign.jsonl --map mapping.toml         the operations that a mapping reads
  trueline check --spec queue foreign.jsonl --map mapping.toml
  trueline check --spec register --map otlp traces.json  presets: csv, parquet, arrow, otlp, jaeger

A proposal is guessed from the names and values of fields. Check the operations before you use it.";

const MAP_EXIT_CODES: &str = "\
Exit codes:
  0  the file was read with the mapping
  2  wrong usage, an unreadable file, or a mapping that does not fit the file
  3  a limit was reached before the file was read";

const LINT_EXAMPLES: &str = "\
Examples:
  trueline lint history.jsonl                           checks pairing and times; forecasts the cost
  trueline lint --spec cas-register:0 history.edn       also checks values and reads of nil
  trueline lint --json recorded/

`check` refuses files with problems. Warnings show where a verdict may not mean what you expect.
A finding that is a note describes how the file is read, and does not affect the exit code. The
forecast assumes a search; a monitor (a fast algorithm for one type of object) may judge a history
quickly even if the forecast is bad.";

const LINT_EXIT_CODES: &str = "\
Exit codes:
  0  no problem and no warning was found
  1  a problem or warning was found
  2  wrong usage, or an unreadable input (takes precedence over 1 and 3)
  3  a limit was reached before an input was read completely (takes precedence over 1)";

const GENERATE_EXAMPLES: &str = "\
Examples:
  trueline generate --spec queue > good.jsonl
  trueline generate --spec register:0 --operations 1000 --processes 16 --contention 1
  trueline generate --spec kv --violation --seed 7 --format porcupine-kv -o bad.edn
  trueline generate --spec map --pending 5 | trueline check --spec map -

The same seed generates the same history. With --violation, the history is known to be rejected.";

const GENERATE_EXIT_CODES: &str = "\
Exit codes:
  0  the history was written
  2  wrong usage, or no history with these options could be generated
  3  a limit was reached, or Ctrl-C was pressed; after Ctrl-C, a shorter history may be written";

const GENERATE_TIMEOUT: &str = "Time limit, such as `200ms`, `10s` or `2m`. Unlimited by default";

const COLLECT_EXAMPLES: &str = "\
Examples:
  trueline collect -o history.jsonl                     listens on 127.0.0.1:7878
  trueline collect --listen 0.0.0.0:9000 -o history.jsonl
  trueline collect --check --spec kv --fail-fast -o history.jsonl

Clients send a line before each call and a line after each return, and read the answer to each line.
A client must not make a call before it has read the answer to the line of that call; otherwise the
order of events in the log may be wrong. In Python:

  import json, socket
  log = socket.create_connection((\"127.0.0.1\", 7878)).makefile(\"rw\")
  def say(type, f, value):
      log.write(json.dumps({\"type\": type, \"f\": f, \"value\": value}) + \"\\n\")
      log.flush()
      answer = json.loads(log.readline())
      assert \"error\" not in answer, answer
  say(\"invoke\", \"write\", 5)
  register.write(5)               # if the outcome is not known: say(\"info\", ..)
  say(\"ok\", \"write\", 5)

Each connection to trueline is a process. A client that makes concurrent calls over one connection
adds a `process` to each line, a number or a name. A line may also have an `object` and a `key`, as
in history files. A call that is open when the client disconnects may or may not have taken effect.";

const COLLECT_EXIT_CODES: &str = "\
Exit codes:
  0  ended by Ctrl-C, and all events are written; with --check, the events are linearizable
  1  with --check: the events are not linearizable
  2  wrong usage; the file cannot be written; or with --check: an event cannot be judged, for example
     because the specification has no such operation
  3  with --check: a key was not decided within the limits, and no key was rejected";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  trueline completions bash > ~/.local/share/bash-completion/completions/trueline
  trueline completions zsh > ~/.zfunc/_trueline
  trueline completions fish > ~/.config/fish/completions/trueline.fish";

const MAN_EXAMPLES: &str = "\
Examples:
  trueline man | man -l -
  trueline man --directory ~/.local/share/man/man1      writes this page and one for each command";

const LIST_EXAMPLES: &str = "\
Examples:
  trueline specs
  trueline specs --json
  trueline algorithms
  trueline algorithms --json";

const TEST_EXIT_CODES: &str = "\
Exit codes:
  0  no run failed
  1  a run failed: its history was rejected, it got stuck, or the object panicked
  2  wrong usage
  3  no run failed, but some runs were not judged, the report says that too little was tested, or
     Ctrl-C ended the test";

const CHECK_EXIT_CODES: &str = "\
Exit codes:
  0  every history is linearizable
  1  a history is not linearizable or, with --versions strict, contradicts its versions
  2  wrong usage, or an unreadable input (takes precedence over 1 and 3)
  3  a history was not decided within the limits, and no history was rejected";

/// Check whether recorded histories of concurrent objects are linearizable.
#[derive(Debug, Parser)]
#[command(name = "trueline", version, before_help = EXAMPLES, help_template = HELP, after_help = "\
`trueline <COMMAND> --help` describes a command in detail.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Judge recorded histories.
    #[command(before_help = CHECK_EXAMPLES, after_help = CHECK_EXIT_CODES, help_template = HELP)]
    Check(Box<CheckArgs>),
    /// Explain in words why a recorded history is not linearizable.
    #[command(before_help = EXPLAIN_EXAMPLES, after_help = CHECK_EXIT_CODES, help_template = HELP)]
    #[command(mut_arg("view", |arg| arg.hide(true)), mut_arg("ascii", |arg| arg.hide(true)))]
    #[command(mut_arg("junit", |arg| arg.hide(true)), mut_arg("github", |arg| arg.hide(true)))]
    #[command(mut_arg("follow", |arg| arg.hide(true)), mut_arg("fail_fast", |arg| arg.hide(true)))]
    #[command(mut_arg("every", |arg| arg.hide(true)), mut_arg("late", |arg| arg.hide(true)))]
    #[command(mut_arg("idle", |arg| arg.hide(true)))]
    Explain(Box<CheckArgs>),
    /// Draw a recorded history, with a linearization or with the first return that no order of the
    /// operations allows.
    #[command(before_help = VIEW_EXAMPLES, after_help = VIEW_EXIT_CODES, help_template = HELP)]
    #[command(mut_arg("core", |arg| arg.help("Draw only the few operations that cause a rejection")))]
    #[command(mut_arg("json", |arg| arg.hide(true)), mut_arg("quiet", |arg| arg.hide(true)), mut_arg("view", |arg| arg.hide(true)))]
    #[command(mut_arg("junit", |arg| arg.hide(true)), mut_arg("github", |arg| arg.hide(true)))]
    #[command(mut_arg("follow", |arg| arg.hide(true)), mut_arg("fail_fast", |arg| arg.hide(true)))]
    #[command(mut_arg("every", |arg| arg.hide(true)), mut_arg("late", |arg| arg.hide(true)))]
    #[command(mut_arg("idle", |arg| arg.hide(true)))]
    View(Box<ViewArgs>),
    /// Run a built-in object on real threads, and judge its histories.
    #[command(before_help = TEST_EXAMPLES, after_help = TEST_EXIT_CODES, help_template = HELP)]
    Test(Box<TestArgs>),
    /// Explore all schedules of small programs of a built-in object.
    #[command(before_help = EXPLORE_EXAMPLES, after_help = EXPLORE_EXIT_CODES, help_template = HELP)]
    Explore(Box<ExploreArgs>),
    /// Convert a history to another format.
    #[command(before_help = CONVERT_EXAMPLES, after_help = CONVERT_EXIT_CODES, help_template = HELP)]
    Convert(ConvertArgs),
    /// Propose a mapping for a foreign log, or show the first operations that a mapping reads from it.
    #[command(before_help = MAP_EXAMPLES, after_help = MAP_EXIT_CODES, help_template = HELP)]
    #[command(mut_arg("format", |arg| arg.hide(true)))]
    Map(MapArgs),
    /// Find problems in a history, and predict how hard it is to judge.
    #[command(before_help = LINT_EXAMPLES, after_help = LINT_EXIT_CODES, help_template = HELP)]
    Lint(LintArgs),
    /// Generate a random history of a specification, correct or with a violation.
    #[command(before_help = GENERATE_EXAMPLES, after_help = GENERATE_EXIT_CODES, help_template = HELP)]
    #[command(mut_arg("timeout", |arg| arg.help(GENERATE_TIMEOUT)))]
    #[command(mut_arg("memory", |arg| arg.help("Memory limit, such as `64MiB`")))]
    Generate(GenerateArgs),
    /// Record the events of the clients of a distributed system over TCP, in a single log.
    #[command(before_help = COLLECT_EXAMPLES, after_help = COLLECT_EXIT_CODES, help_template = HELP)]
    Collect(CollectArgs),
    /// List the specifications, their operations, and the meaning of values and results.
    #[command(before_help = LIST_EXAMPLES, help_template = HELP)]
    Specs(ListArgs),
    /// List the algorithms.
    #[command(before_help = LIST_EXAMPLES, help_template = HELP)]
    Algorithms(ListArgs),
    /// Print a completion script for a shell.
    #[command(before_help = COMPLETIONS_EXAMPLES, help_template = HELP)]
    Completions(CompletionsArgs),
    /// Print the manual page.
    #[command(before_help = MAN_EXAMPLES, help_template = HELP)]
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Files or directories to judge, or `-` for standard input.
    #[arg(required_unless_present = "follow", value_name = "FILES_OR_DIRS")]
    pub(crate) inputs: Vec<PathBuf>,

    /// Specification of the object, such as `queue` or `register:0`; `trueline specs` lists all.
    #[arg(long)]
    pub(crate) spec: String,

    /// Judge a history while it is being written. The input is a growing file, a pipe, standard
    /// input, or `tcp:ADDRESS`, which listens on this address for one connection. Ends when the
    /// pipe or connection is closed, or with Ctrl-C.
    ///
    /// Registers, counters, sets, maps and locks are judged key by key, event by event: a violation
    /// is reported as soon as the return that causes the violation has been read. All other objects
    /// are judged as a whole, at the end and at each interval given by --every.
    #[arg(long)]
    pub(crate) follow: bool,

    /// With --follow, end at the first violation, with exit code 1.
    #[arg(long, requires = "follow")]
    pub(crate) fail_fast: bool,

    /// With --follow, how often to judge a history that cannot be judged event by event: after
    /// every N lines, such as `1000`, or at intervals, such as `10s`.
    #[arg(long, value_name = "N_OR_TIME", requires = "follow", value_parser = parse_every)]
    pub(crate) every: Option<Every>,

    /// With --follow, accept records of whole operations that are not sorted by time: a call may be
    /// up to D earlier than the latest time read so far. D is in the unit of `call` and `return`. If
    /// a call is even earlier, its key is left undecided.
    #[arg(long, value_name = "D", requires = "follow", value_parser = clap::value_parser!(i64).range(0..))]
    pub(crate) late: Option<i64>,

    /// With --follow, end when nothing has been appended to a file for this long, such as `5s`.
    #[arg(long, value_name = "TIME", requires = "follow", value_parser = parse_time)]
    pub(crate) idle: Option<Duration>,

    /// Algorithm, such as `jit-graph` or `compete:jit-graph,linear`; `trueline algorithms` lists all.
    #[arg(long, default_value = "auto")]
    pub(crate) algorithm: Algorithm,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Maximum number of configurations (states of a search) to visit. Unlimited by default.
    #[arg(long, value_name = "N")]
    pub(crate) configurations: Option<u64>,

    /// Number of threads that judge the partitions of a history.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: u16,

    /// Rules that prune the search, separated by commas: `just-in-time`, `observers`, `identical`, `dominance`,
    /// `counters`, `absorption` and `foresight`; or `all` or `none`.
    ///
    /// Rules change the time that a search takes, but not its verdict. The guide describes each rule.
    /// Defaults to the rules of the algorithm.
    #[arg(long, value_name = "LIST")]
    pub(crate) rules: Option<Rules>,

    /// Seed for shuffling the order in which depth-first searches try operations. By default, most algorithms
    /// do not shuffle.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Judge all keys together, even if they could be judged separately.
    #[arg(long)]
    pub(crate) no_partition: bool,

    /// Let a read of null match any value (register, cas-register and multi-register).
    #[arg(long)]
    pub(crate) nil_wildcard: bool,

    /// How to use the versions that a store returned with its results (the field `version` of a
    /// record): `hint`, `strict` or `ignore`. Defaults to `hint`.
    ///
    /// `hint` guesses the order of updates from the versions, and verifies the guess. `strict` does
    /// the same, and exits with code 1 if the versions contradict the history. `ignore` does not
    /// use versions.
    #[arg(long, value_enum, default_value_t = Versions::Hint, hide_default_value = true)]
    pub(crate) versions: Versions,

    #[command(flatten)]
    pub(crate) read: ReadArgs,

    /// Maximum difference between the clocks of the processes, in the unit of `call` and `return`. Defaults to 0.
    ///
    /// With a difference of D, one operation precedes another only if the first returned more than
    /// D before the second was called. This rule also applies to two operations of the same
    /// process.
    #[arg(long, value_name = "D", default_value_t = 0, hide_default_value = true, value_parser = clap::value_parser!(i64).range(0..))]
    pub(crate) clock_skew: i64,

    /// Correctness criterion: `safety`, `progress` or `quasi`. Defaults to `safety`.
    ///
    /// `safety` judges the operations that returned. `progress` also judges whether operations that
    /// were still waiting for others at the end should have returned. `quasi` judges whether
    /// operations are out of order by at most the number of places given by --factor.
    #[arg(long, value_enum, default_value_t = Criterion::Safety, hide_default_value = true)]
    pub(crate) criterion: Criterion,

    /// Number of places by which operations may be out of order, such as `4` or `enq=0,deq=4`. Implies --criterion
    /// quasi.
    ///
    /// A single number counts places among all operations. With names, places are counted only among
    /// the operations of the same name.
    #[arg(long, value_name = "FACTORS")]
    pub(crate) factor: Option<QuasiFactors>,

    /// Print the few operations that cause a rejection.
    #[arg(long)]
    pub(crate) core: bool,

    /// Time limit for --core, for each file, such as `500ms` or `5s`.
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "5s", requires = "core")]
    pub(crate) core_timeout: Duration,

    /// Also draw the history to this .html or .svg file. If this is a directory, write a page for each
    /// history into it.
    #[arg(long, value_name = "FILE_OR_DIR")]
    pub(crate) view: Option<PathBuf>,

    /// Use only ASCII characters for drawings in the terminal.
    #[arg(long)]
    pub(crate) ascii: bool,

    /// Print one JSON object for each file.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print no results; only the exit code reports the verdict.
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,

    /// Also write the results to this file as JUnit XML, with a test case for each file.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Also print annotations for GitHub workflows.
    #[arg(long, conflicts_with = "json")]
    pub(crate) github: bool,
}

/// Limits for the work on each file.
#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    /// Time limit for each file, from reading to printing, such as `200ms`, `10s` or `2m`. Unlimited by default.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) timeout: Option<Duration>,

    /// Memory limit for each file, such as `64MiB`.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "4GiB")]
    pub(crate) memory: u64,
}

/// Options for reading files.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// Format of the input. Detected by default.
    #[arg(long, value_name = "FORMAT", default_value = "auto", hide_default_value = true)]
    pub(crate) format: Format,

    /// Read values as pairs [key value], as in Jepsen's independent tests: `objects` if each key names a separate
    /// object, `keys` if all keys belong to one map.
    #[arg(long, value_name = "WHAT")]
    pub(crate) tuples: Option<Tuples>,

    /// Short for `--tuples objects`.
    #[arg(long, conflicts_with = "tuples")]
    pub(crate) independent: bool,

    /// Read foreign logs with a mapping: a preset (`csv`, `parquet`, `arrow`, `otlp` or `jaeger`), or a file in TOML or JSON.
    ///
    /// For each field of trueline, a mapping file names the field of the log that has its value, such
    /// as process = "who" or f = "what.name". The fields of trueline are process, f, value, key,
    /// result and object. For a log of events, also map type; a table [types] translates the types of
    /// the log, such as begin = "invoke" and end = "ok". For a log of whole operations, also map call
    /// and return. `trueline map --guess FILE` proposes a mapping.
    #[arg(long, value_name = "PRESET_OR_FILE", conflicts_with = "format")]
    pub(crate) map: Option<PathBuf>,

    /// Add notes, such as injected faults, from a CSV file. Its column `time` has the time of each
    /// note, and its other columns describe the note.
    ///
    /// Times are numbers in the unit of the history's times, or ISO 8601 dates, which are converted
    /// to nanoseconds since 1970. The records of the history need times: `time` for events, `call`
    /// and `return` for whole operations.
    #[arg(long, value_name = "FILE")]
    pub(crate) notes: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[group(id = "how", required = true, multiple = false, args = ["guess", "map"])]
pub(crate) struct MapArgs {
    /// File to read, or `-` for standard input.
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,

    /// Propose a mapping, based on the first records of the file.
    #[arg(long)]
    pub(crate) guess: bool,

    /// Maximum number of operations to print.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) show: usize,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// File to convert, or `-` for standard input.
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,

    /// Format to write.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: To,

    /// File to write. Defaults to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LintArgs {
    /// Files or directories to examine, or `-` for standard input.
    #[arg(required = true, value_name = "FILES_OR_DIRS")]
    pub(crate) inputs: Vec<PathBuf>,

    /// Specification of the object; `trueline specs` lists all. Without it, values are not examined.
    #[arg(long)]
    pub(crate) spec: Option<String>,

    /// Let a read of null match any value (register, cas-register and multi-register).
    #[arg(long, requires = "spec")]
    pub(crate) nil_wildcard: bool,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) read: ReadArgs,

    /// Print one JSON object for each file.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// Specification of the object; `trueline specs` lists all.
    #[arg(long)]
    pub(crate) spec: String,

    /// Number of operations to generate.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) operations: u32,

    /// Number of processes that call operations.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) processes: u32,

    /// Amount of overlap between operations, from 0 (one after the other) to 1 (as much as possible).
    #[arg(long, value_name = "X", default_value_t = 0.5, value_parser = parse_share)]
    pub(crate) contention: f64,

    /// Number of operations that never return.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) pending: u32,

    /// Change one result so that the history violates the specification.
    #[arg(long)]
    pub(crate) violation: bool,

    /// Seeds all randomness.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Format to write.
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    pub(crate) format: To,

    /// File to write. Defaults to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CollectArgs {
    /// Address and port to listen on.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    pub(crate) listen: String,

    /// File to write. If it is an existing log, new events are appended, and an incomplete last line is removed.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Acknowledge an event only after it is on disk, so that it survives a power failure. By default, an acknowledged
    /// event survives a crash of this process, but not a power failure.
    #[arg(long)]
    pub(crate) sync: bool,

    /// Judge the events while they are recorded, as `check --follow` does; needs --spec.
    #[arg(long, requires = "spec")]
    pub(crate) check: bool,

    /// With --check, the specification of the object, such as `register:0`; `trueline specs` lists all.
    #[arg(long, requires = "check")]
    pub(crate) spec: Option<String>,

    /// With --check, end at the first violation, with exit code 1.
    #[arg(long, requires = "check")]
    pub(crate) fail_fast: bool,

    /// With --check, memory limit for judging, such as `64MiB`. When it is exceeded, the oldest operations
    /// with unknown outcomes are forgotten.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "4GiB", requires = "check")]
    pub(crate) memory: u64,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to print the script for.
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Directory for the main page and a page for each command. By default, only the main page is printed.
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// File to write, ending in .html or .svg, or `-` to draw in the terminal.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) check: CheckArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Name of the object; `--list` lists all.
    #[arg(required_unless_present = "list")]
    pub(crate) name: Option<String>,

    /// List the objects, their specifications, expected verdicts and faults.
    #[arg(long, conflicts_with = "name")]
    pub(crate) list: bool,

    /// Number of threads of each run. By default, the number varies.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) threads: Option<u32>,

    /// Number of operations of each thread. By default, the number varies.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) ops: Option<u32>,

    /// Maximum number of runs. By default, only the time is limited.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: Option<u64>,

    /// Time limit for all runs, in seconds or with a unit. Defaults to 10 seconds, or to no limit with --runs.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub(crate) time: Option<Duration>,

    /// Seeds all randomness. Defaults to a fresh seed for each test.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Yield at one in N schedule points (accesses to trueline's primitives); 0 disables yielding.
    /// By default, N varies.
    #[arg(long, value_name = "N")]
    pub(crate) chaos: Option<u32>,

    /// Clock that orders operations: `tsc` (the processor's time stamp counter), `instant` (`std::time::Instant`) or
    /// `counter` (a shared atomic counter). Defaults to `tsc` if this machine has a reliable one, else to `instant`.
    ///
    /// `counter` hides faults that are due to weak memory orderings.
    #[arg(long, value_name = "CLOCK")]
    pub(crate) clock: Option<Clock>,

    /// Number of additional threads that keep the processors busy.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) noise: u32,

    /// Time without progress after which a run is suspected to be stuck, in seconds or with a unit.
    ///
    /// After ten times this time, the run is reported as stuck. Runs whose threads are all blocked in trueline's own
    /// primitives are reported immediately.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "100ms")]
    pub(crate) watchdog: Duration,

    /// Time limit for judging one run, in seconds or with a unit. Runs that take longer are skipped and counted as
    /// undecided.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "500ms")]
    pub(crate) timeout: Duration,

    /// Keep running until N failures have been found.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) collect: u32,

    /// Algorithm that judges the runs; `trueline algorithms` lists all.
    #[arg(long, default_value = "auto")]
    pub(crate) algorithm: Algorithm,

    /// Maximum number of configurations (states of a search) to visit for each run. Runs that need more are counted as
    /// undecided. Unlimited by default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) configurations: Option<u64>,

    /// Rules that prune the search, as for `trueline check`. Defaults to the rules of the algorithm.
    #[arg(long, value_name = "LIST")]
    pub(crate) rules: Option<Rules>,

    /// Judge all keys together, even if they could be judged separately.
    #[arg(long)]
    pub(crate) no_partition: bool,

    /// Write the histories of accepted runs to this directory, each to a file such as `run-000001.jsonl`.
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) save: Option<PathBuf>,

    /// Correctness criterion, for objects whose operations wait for each other. `safety` generates
    /// only programs in which every call can return. `progress` generates any programs, and judges
    /// whether stuck calls should have returned. Defaults to `safety`.
    #[arg(long, value_enum, default_value_t = Criterion::Safety, hide_default_value = true)]
    pub(crate) criterion: Criterion,

    /// Number of testers that work in parallel, each with its own objects and threads.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) testers: u32,

    /// Repeat the run with this token, which the report of a failure prints.
    ///
    /// The other options must be the same as in the original test.
    #[arg(long, value_name = "TOKEN")]
    pub(crate) replay: Option<Token>,

    /// Run only this program, such as `push 1 (pop | push 2, pop) pop`.
    ///
    /// `|` separates threads. Calls before the parentheses are made before the threads start; calls
    /// after the parentheses are made after the threads have ended.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["replay", "ops", "weights"])]
    pub(crate) program: Option<String>,

    /// Time limit for shrinking the program of a failing run, in seconds or with a unit; 0 disables shrinking.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "2s")]
    pub(crate) shrink_time: Duration,

    /// Draw failing runs as HTML pages in this directory.
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) pages: Option<PathBuf>,

    /// Engine that runs the object: real `threads`, or `systematic` exploration of schedules. Defaults to `threads`.
    ///
    /// `trueline explore` has more options for exploration.
    #[arg(long, value_enum, default_value_t = Engine::Threads, hide_default_value = true)]
    pub(crate) engine: Engine,

    /// Relative frequencies of operations, such as `enqueue=3,dequeue=1`.
    #[arg(long, value_name = "LIST", value_parser = parse_weights)]
    pub(crate) weights: Option<Weights>,

    /// Number of different keys or items. Defaults to the number in the paper that describes the object.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) keys: Option<u64>,

    /// Number of different values. By default, most objects use each value only once.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) values: Option<u64>,

    /// Print JSON: one line for the test, or one for each object with --list.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The engine that runs an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    Threads,
    Systematic,
}

#[derive(Debug, Args)]
pub(crate) struct ExploreArgs {
    /// Name of the object; `trueline test --list` lists all.
    ///
    /// A relaxed object may have its quasi factor after the name, such as quasi-queue:3. The factor defaults to 2.
    pub(crate) name: String,

    /// Explore all well-formed programs with these numbers of calls: one number for each child
    /// thread, separated by `*`, then `+` and the number for the main thread. For example, `2*2+4`
    /// has two child threads with two calls each, and a main thread with four calls.
    #[arg(long, value_name = "A*B+C")]
    pub(crate) calls: Option<Calls>,

    /// Explore only this program, such as `push 1, pop | pop`. With --calls, give the number of one of the programs
    /// that --calls enumerates.
    #[arg(long, value_name = "PROGRAM", conflicts_with = "replay")]
    pub(crate) program: Option<String>,

    /// Time limit for shrinking the program of a failing execution, in seconds or with a unit; 0 disables shrinking.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "2s")]
    pub(crate) shrink_time: Duration,

    /// Draw failing executions as HTML pages in this directory.
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) pages: Option<PathBuf>,

    /// Number of programs to generate if neither --calls nor --program is given. Defaults to 20.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) programs: Option<u32>,

    /// Number of threads of generated programs. Defaults to 2 for most objects.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16), conflicts_with = "calls")]
    pub(crate) threads: Option<u32>,

    /// Number of operations of each thread in generated programs. Defaults to 2 or 3 for most objects.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "calls")]
    pub(crate) ops: Option<u32>,

    /// Number of places by which operations may be out of order, as in the Round-Up paper. Short for `--factor K`.
    #[arg(long, value_name = "K", conflicts_with = "factor")]
    pub(crate) k: Option<u32>,

    /// Number of places by which operations may be out of order, such as `2` or `enq=0,deq=2`.
    /// Places are counted only among the operations of the same name.
    ///
    /// The histories of each program are compared with the serial histories of the program;
    /// --against selects the specification or object that produces the serial histories.
    #[arg(long, value_name = "FACTORS")]
    pub(crate) factor: Option<QuasiFactors>,

    /// Maximum number of preemptions in a schedule.
    #[arg(long, value_name = "N")]
    pub(crate) preemptions: Option<u32>,

    /// Schedules to explore: `exhaustive`, `unreduced`, `serial`, `uniform` or `pct:D`.
    ///
    /// `exhaustive` explores one schedule of each group of schedules that differ only in the order
    /// of independent steps. `unreduced` explores all schedules. `serial` explores the schedules in
    /// which operations do not overlap. `uniform` and `pct:D` draw random schedules; `pct:D` favors
    /// faults that need D steps of different threads in a certain order. By default, schedules without
    /// preemptions are explored first, then those with one preemption, then all.
    #[arg(long, value_name = "SEARCH", value_parser = parse_search, conflicts_with = "preemptions")]
    pub(crate) search: Option<Search>,

    /// How to make the object's random choices: `explore` all of them, or draw them with `seed:N`.
    #[arg(long, value_name = "CHOICES", default_value = "explore", value_parser = parse_choices)]
    pub(crate) choices: Choices,

    /// What to compare histories with: `spec`, `itself`, `itself:0`, or the name of another object.
    ///
    /// `spec` is the specification. `itself` is the same object, run one operation at a time.
    /// `itself:0` is the same object with factor 0. Any other name is the name of another object.
    #[arg(long, value_name = "WHAT", default_value = "spec")]
    pub(crate) against: String,

    /// Maximum number of spurious wake-ups of each thread from condition variables.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) spurious: u32,

    /// Maximum number of steps of an execution. An execution that takes more is reported as stuck.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) steps: u64,

    /// Number of operating system threads that explore. With more than one, the first failure found may vary.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) threads_os: u32,

    /// Time limit, in seconds or with a unit.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "60s")]
    pub(crate) time: Duration,

    /// Maximum number of executions. Unlimited by default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) executions: Option<u64>,

    /// Seeds the generation of programs and random searches.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Keep exploring until N failures have been found.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) collect: u32,

    /// Correctness criterion, for objects whose operations wait for each other. `safety` generates
    /// only programs in which every call can return. `progress` generates any programs, and judges
    /// whether stuck calls should have returned. Defaults to `safety`.
    ///
    /// `quasi` is short for `--factor` with the quasi factor of the object.
    #[arg(long, value_enum, default_value_t = Criterion::Safety, hide_default_value = true)]
    pub(crate) criterion: Criterion,

    /// Number of different keys or items. Defaults to the number in the paper that describes the object.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) keys: Option<u64>,

    /// Number of different values. By default, most objects use each value only once.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) values: Option<u64>,

    /// Repeat the execution with this token, which the report of a failure prints.
    ///
    /// The other options must be the same as in the original exploration.
    #[arg(long, value_name = "TOKEN")]
    pub(crate) replay: Option<Token>,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How the random choices of an object are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choices {
    Explore,
    Seed(u64),
}

fn parse_choices(text: &str) -> Result<Choices, String> {
    match text.strip_prefix("seed:").map(str::parse) {
        None if text == "explore" => Ok(Choices::Explore),
        Some(Ok(seed)) => Ok(Choices::Seed(seed)),
        _ => Err("write `explore`, or a seed such as `seed:7`".to_owned()),
    }
}

fn parse_search(text: &str) -> Result<Search, String> {
    match (text, text.strip_prefix("pct:").map(str::parse)) {
        ("exhaustive", _) => Ok(Search::Exhaustive),
        ("unreduced", _) => Ok(Search::Unreduced),
        ("serial", _) => Ok(Search::Serial),
        ("uniform", _) => Ok(Search::Uniform),
        (_, Some(Ok(depth))) => Ok(Search::Pct { depth }),
        _ => Err("write exhaustive, unreduced, serial, uniform, or pct:D, such as pct:3".to_owned()),
    }
}

/// A correctness criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Criterion {
    #[value(alias = "linearizable", alias = "synchronization", alias = "synchronisation")]
    Safety,
    Progress,
    Quasi,
}

/// The relative frequencies of operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Weights(pub(crate) Vec<(String, u32)>);

fn parse_weights(text: &str) -> Result<Weights, String> {
    let weight = |part: &str| {
        let (name, weight) = part.split_once('=')?;
        let weight = weight.trim().parse().ok().filter(|weight| *weight <= 1_000_000)?;
        (!name.trim().is_empty()).then(|| (name.trim().to_owned(), weight))
    };
    let weights: Option<Vec<(String, u32)>> = text.split(',').map(weight).collect();
    weights
        .map(Weights)
        .ok_or_else(|| "write names and numbers up to a million, such as enqueue=3,dequeue=1".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print one JSON object for each entry of the list.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One of the formats below, detected from the content of the file.
    Auto,
    /// JSON lines of events or of whole operations.
    Jsonl,
    /// Jepsen's history.edn: a vector, a list, or a sequence of maps.
    Jepsen,
    /// Lines of Jepsen's log or of its history.txt.
    JepsenLog,
    /// Porcupine's key-value histories: an EDN map with :key on each line.
    PorcupineKv,
    /// Porcupine's operations as JSON lines: ClientId, Input, Call, Output, Return.
    PorcupineJson,
    /// JSON lines with `event` (start or finish), `client` and `op`.
    Events,
    /// Comma- or tab-separated values, with a header row that has the field names of JSON lines.
    Csv,
    /// Parquet, with columns that have the field names of JSON lines.
    Parquet,
    /// Arrow IPC (a file, Feather V2, or a stream), with columns that have the field names of JSON lines.
    Arrow,
}

impl From<Format> for codec::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Auto => Self::Auto,
            Format::Jsonl => Self::Jsonl,
            Format::Jepsen => Self::Jepsen,
            Format::JepsenLog => Self::JepsenLog,
            Format::PorcupineKv => Self::PorcupineKv,
            Format::PorcupineJson => Self::PorcupineJson,
            Format::Events => Self::Events,
            Format::Csv => Self::Csv,
            Format::Parquet => Self::Parquet,
            Format::Arrow => Self::Arrow,
        }
    }
}

/// The formats that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum To {
    /// JSON lines of events.
    #[value(alias = "jsonl-events")]
    Jsonl,
    /// JSON lines of whole operations.
    JsonlOperations,
    /// Jepsen's history.edn.
    Jepsen,
    /// Jepsen's history.txt, which cannot hold keys.
    JepsenLog,
    /// Porcupine's key-value histories, in which every operation has a key.
    PorcupineKv,
    /// Porcupine's operations as JSON lines.
    PorcupineJson,
    /// JSON lines with `event` (start or finish), `client` and `op`.
    Events,
    /// Comma-separated values, with a row for each operation.
    Csv,
    /// Parquet, with a row for each operation.
    Parquet,
}

impl From<To> for codec::Target {
    fn from(to: To) -> Self {
        match to {
            To::Jsonl => Self::Jsonl,
            To::JsonlOperations => Self::Operations,
            To::Jepsen => Self::Jepsen,
            To::JepsenLog => Self::JepsenLog,
            To::PorcupineKv => Self::PorcupineKv,
            To::PorcupineJson => Self::PorcupineJson,
            To::Events => Self::Events,
            To::Csv => Self::Csv,
            To::Parquet => Self::Parquet,
        }
    }
}

/// How the versions that operations carry are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Versions {
    /// Guess the order of updates from the versions, and verify the guess.
    Hint,
    /// Do the same as `hint`, and exit with code 1 if the versions contradict the history.
    Strict,
    /// Do not use versions.
    Ignore,
}

/// The meaning of the keys in pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tuples {
    /// Each key names a separate object, such as a register.
    Objects,
    /// Each key is a key of one map.
    Keys,
}

impl ReadArgs {
    /// Returns the meaning of pairs; `None` if values are not read as pairs.
    pub(crate) fn tuples(&self) -> Option<codec::Tuples> {
        match self.tuples {
            Some(Tuples::Objects) => Some(codec::Tuples::Objects),
            Some(Tuples::Keys) => Some(codec::Tuples::Keys),
            None => self.independent.then_some(codec::Tuples::Objects),
        }
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.trim().parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "write a number from 0 to 1, such as 0.5".to_owned())
}

/// Splits text into a number and its unit.
fn split_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    Some((text[..end].parse().ok()?, text[end..].trim_start()))
}

/// Parses a time with a unit, or a number of seconds without one.
fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = split_unit(text).filter(|(_, unit)| unit.is_empty());
    let time = match seconds {
        Some((seconds, _)) => Duration::try_from_secs_f64(seconds).ok(),
        None => parse_time(text).ok(),
    };
    time.ok_or_else(|| "write a number of seconds, or a number and a unit, such as 200ms or 2m".to_owned())
}

/// How often to judge a history that is not judged event by event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Every {
    Lines(u64),
    Time(Duration),
}

fn parse_every(text: &str) -> Result<Every, String> {
    match text.parse() {
        Ok(0) => Err("write a number of lines that is at least 1, or a time such as 10s".to_owned()),
        Ok(lines) => Ok(Every::Lines(lines)),
        Err(_) => parse_time(text)
            .map(Every::Time)
            .map_err(|_| "write a number of lines, such as 10000, or a time, such as 10s".to_owned()),
    }
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let seconds = split_unit(text).and_then(|(number, unit)| {
        let unit = match unit {
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        Duration::try_from_secs_f64(number * unit).ok()
    });
    seconds.ok_or_else(|| "write a number and a unit, such as 200ms, 10s, 2m or 1h".to_owned())
}

fn parse_size(text: &str) -> Result<u64, String> {
    let bytes = split_unit(text).and_then(|(number, unit)| {
        let unit: f64 = match unit.to_ascii_lowercase().as_str() {
            "b" => 1.0,
            "k" | "kib" => 1024.0,
            "m" | "mib" => 1024.0 * 1024.0,
            "g" | "gib" => 1024.0 * 1024.0 * 1024.0,
            "t" | "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
            "kb" => 1e3,
            "mb" => 1e6,
            "gb" => 1e9,
            "tb" => 1e12,
            _ => return None,
        };
        let bytes = number * unit;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
        (1.0..=1e18).contains(&bytes).then_some(bytes as u64)
    });
    bytes.ok_or_else(|| "write a number and a unit, such as 64MiB or 4GiB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn times() {
        assert_eq!(parse_time("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(parse_time("1.5 s"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_time("2m"), Ok(Duration::from_secs(120)));
        for wrong in ["", "5", "s", "-1s", "1e9s", "10 parsecs", "1..2s", "99999999999999999999999h"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn seconds() {
        assert_eq!(parse_seconds("5"), Ok(Duration::from_secs(5)));
        assert_eq!(parse_seconds("0.25"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_seconds("200ms"), Ok(Duration::from_millis(200)));
        for wrong in ["", "-1", "s", "5 parsecs", "99999999999999999999999"] {
            assert!(parse_seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn weights() {
        let weights = |text| parse_weights(text).map(|Weights(weights)| weights);
        assert_eq!(weights("add=3, remove=0"), Ok(vec![("add".to_owned(), 3), ("remove".to_owned(), 0)]));
        for wrong in ["", "add", "add=", "=3", "add=-1", "add=x", "add=1,", "add=1000001"] {
            assert!(weights(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_size("64MiB"), Ok(64 << 20));
        assert_eq!(parse_size("1gb"), Ok(1_000_000_000));
        assert_eq!(parse_size("0.5k"), Ok(512));
        for wrong in ["", "5", "MiB", "-1MiB", "0B", "5 elephants", "99999999999GiB"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
