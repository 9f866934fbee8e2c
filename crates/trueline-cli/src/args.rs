//! What can be typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use trueline::drive::Clock;
use trueline::drive::systematic::Search;
use trueline::history::codec;
use trueline::judge::{Algorithm, Rules};
use trueline::named::QuasiFactors;
use trueline::test::{Calls, Token};

/// The help of a command: what it does, examples, then everything that can be said.
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
  trueline check --spec register:0 --json recorded/     every history below a directory
  record | trueline check --spec set -                  standard input
  trueline check --spec stack --timeout 10s --memory 1GiB a.jsonl b.jsonl
  trueline check --spec queue --core long.jsonl         the few operations that a rejection rests on, and why
  trueline check --spec map --algorithm compete:jit-graph,linear --threads 2 c.jsonl
  trueline check --spec cas-register:0 --nil-wildcard store/latest/history.edn
  trueline check --spec quasi-queue:2 d.jsonl           not linearizable, but not far from it
  trueline check --spec queue --factor enq=0,deq=4 d.jsonl
  trueline check --spec cas-register --independent --format jepsen-log jepsen.log
  trueline check --spec queue --view page.html a.jsonl  and a page to look at, in a browser
  trueline check --spec queue --view pages/ recorded/   a page for each

A file holds JSON lines, of events or of whole operations:
  {\"process\":0,\"type\":\"invoke\",\"f\":\"enqueue\",\"value\":5}   (then \"ok\", \"fail\" or \"info\")
  {\"process\":0,\"f\":\"dequeue\",\"result\":5,\"call\":10,\"return\":20}
or a history in one of the other formats that --format names, or one that --map describes;
all of them may be compressed by gzip or zstd. Of a directory, files that end in .jsonl, .json
and .edn are read, and those in .log and .txt that look like histories.";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  trueline explain --spec queue history.jsonl           why it is not linearizable, in words
  trueline explain --spec register:0 --json history.jsonl

It says which operation had to come before which, because it returned before the other was called or
because of what they put in, took out or saw, until there is no order left. What it says has been
checked against all orders of these operations, if they are not too many to try.";

const VIEW_EXAMPLES: &str = "\
Examples:
  trueline view --spec queue history.jsonl                        in the terminal
  trueline view --spec queue history.jsonl --output history.html  a page to zoom, search and filter, for a browser
  trueline view --spec queue history.jsonl --output history.svg   a picture of what is near the problem
  trueline view --spec queue history.jsonl --core                 only what the rejection rests on";

const VIEW_EXIT_CODES: &str = "\
Exit codes:
  0  the history was drawn, whatever the verdict on it
  2  wrong usage, or an input that cannot be read, or an output that cannot be written
  3  a limit was reached before the history was read or drawn";

const TEST_EXAMPLES: &str = "\
Examples:
  trueline test --list                                  the objects, and what is wrong with them
  trueline test laarman-map-faulty-delete               runs it until a run goes wrong
  trueline test ms-queue --threads 4 --ops 200 --runs 1000 --seed 7
  trueline test sharded-map --time 60 --chaos 16 --noise 2
  trueline test ms-queue --weights enqueue=3,dequeue=1 --values 20
  trueline test register-faulty-relaxed --clock counter
  trueline test laarman-map-faulty-delete --replay s2a.t2.o1-3.c16.f2.p1
  trueline test treiber-stack --program 'push 1 (pop | push 2, pop) pop'
                                                        two threads, and what is called before and after

Without --threads and --ops, runs are of many shapes: small ones, with few keys, first.";

const EXPLORE_EXAMPLES: &str = "\
Examples:
  trueline explore treiber-stack --calls 2*2+4          two children, and what main does before and after
  trueline explore ms-queue-faulty-aba --preemptions 2  schedules with at most two preemptions
  trueline explore ms-queue --calls 2*2 --against itself
                                                        without a specification: against serial runs
  trueline explore men-women-faulty-notify-one --threads 3 --ops 1
  trueline explore treiber-stack-faulty-aba --program 'push 1, push 2 | pop, pop'
  trueline explore ms-queue-faulty-late-read --replay q2x2x0.n0.z3-1_17-0
  trueline explore shann-queue --search pct:3           at random, for large programs

If nothing is said, schedules without preemptions come first, then those with one, then all that differ. A switch between
two operations is no preemption.";

const EXPLORE_EXIT_CODES: &str = "\
Exit codes:
  0  all that was asked for was explored, and nothing went wrong
  1  something did
  2  wrong usage
  3  not all was explored in time, and nothing is known to be wrong";

const CONVERT_EXAMPLES: &str = "\
Examples:
  trueline convert store/latest/history.edn --to jsonl          to standard output
  trueline convert log.jsonl.gz --to porcupine-json -o log.json
  trueline convert jepsen.log --independent --to jsonl-operations
  trueline convert foreign.jsonl --map mapping.toml --to jsonl

Operations, processes, keys, objects and the order of calls and returns stay the same. Operations
that failed, times and other fields are left out. What a format cannot hold is an error.";

const CONVERT_EXIT_CODES: &str = "\
Exit codes:
  0  it was written
  2  wrong usage, or the input cannot be read, or the format cannot hold it
  3  a limit was reached before it was written";

const MAP_EXAMPLES: &str = "\
Examples:
  trueline map --guess foreign.jsonl > proposal.toml    a proposal, with the first operations as comments
  trueline map foreign.jsonl --map mapping.toml         what a mapping makes of the log
  trueline check --spec queue foreign.jsonl --map mapping.toml
  trueline check --spec register --map otlp traces.json presets: csv, otlp, jaeger

A proposal is a guess from names and values of fields. Look at the operations before you use it.";

const MAP_EXIT_CODES: &str = "\
Exit codes:
  0  the mapping reads the file
  2  wrong usage, or the input cannot be read, or not with this mapping
  3  a limit was reached before the file was read";

const LINT_EXAMPLES: &str = "\
Examples:
  trueline lint history.jsonl                           pairing, times, and how hard it is
  trueline lint --spec cas-register:0 history.edn       what reads of nil mean, too, and values
  trueline lint --json recorded/

Problems make `check` refuse the file. Warnings say where a verdict may not mean what one thinks.
Notes say how the file is read, and are no findings. The forecast is of the search: a monitor may
judge what looks hard.";

const LINT_EXIT_CODES: &str = "\
Exit codes:
  0  no problem and no warning
  1  there are some
  2  wrong usage, or an input that cannot be read (counts before 1 and 3)
  3  a limit was reached before all of an input was read (counts before 1)";

const GENERATE_EXAMPLES: &str = "\
Examples:
  trueline generate --spec queue > good.jsonl
  trueline generate --spec register:0 --operations 1000 --processes 16 --contention 1
  trueline generate --spec kv --violation --seed 7 --format porcupine-kv -o bad.edn
  trueline generate --spec map --pending 5 | trueline check --spec map -

The same seed gives the same history. One with --violation was judged, and is rejected.";

const GENERATE_EXIT_CODES: &str = "\
Exit codes:
  0  it was written
  2  wrong usage, or there is no such history
  3  Ctrl-C or a limit ended it: the operations until then were written, or no violation was found yet";

const COLLECT_EXAMPLES: &str = "\
Examples:
  trueline collect -o history.jsonl                     listens on 127.0.0.1:7878
  trueline collect --listen 0.0.0.0:9000 -o history.jsonl

Clients send a line before each call and one behind each return, and read the answer to each; a
call is made only when its line was answered, or the log is wrong. In Python:

  import json, socket
  log = socket.create_connection((\"127.0.0.1\", 7878)).makefile(\"rw\")
  def say(type, f, value):
      log.write(json.dumps({\"type\": type, \"f\": f, \"value\": value}) + \"\\n\")
      log.flush()
      answer = json.loads(log.readline())
      assert \"error\" not in answer, answer
  say(\"invoke\", \"write\", 5)
  register.write(5)               # if nobody knows how it ended: say(\"info\", ..)
  say(\"ok\", \"write\", 5)

Each connection is a process; one that does several things at once gives each its own `process`, a
number or a name. `object` and `key` are as in files. What is open when a client goes away may have
happened, or not.";

const COLLECT_EXIT_CODES: &str = "\
Exit codes:
  0  it was ended by Ctrl-C, and everything is written
  2  wrong usage, or the file cannot be written";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  trueline completions bash > ~/.local/share/bash-completion/completions/trueline
  trueline completions zsh > ~/.zfunc/_trueline
  trueline completions fish > ~/.config/fish/completions/trueline.fish";

const MAN_EXAMPLES: &str = "\
Examples:
  trueline man | man -l -
  trueline man --directory ~/.local/share/man/man1      a page for each command, too";

const LIST_EXAMPLES: &str = "\
Examples:
  trueline specs                 trueline algorithms
  trueline specs --json          trueline algorithms --json";

const TEST_EXIT_CODES: &str = "\
Exit codes:
  0  no run went wrong
  1  one did: it was not linearizable, or got stuck, or the object panicked
  2  wrong usage
  3  none is known to be wrong, but one was not judged";

const CHECK_EXIT_CODES: &str = "\
Exit codes:
  0  every history is linearizable
  1  one is not, or its versions contradict it with --versions strict
  2  wrong usage, or an input that cannot be read (counts before 1 and 3)
  3  one was not decided within the limits, and none is known to be wrong";

/// Tells whether recorded histories of concurrent objects are linearizable.
#[derive(Debug, Parser)]
#[command(name = "trueline", version, before_help = EXAMPLES, help_template = HELP, after_help = "\
`trueline <COMMAND> --help` says more.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Judges recorded histories.
    #[command(before_help = CHECK_EXAMPLES, after_help = CHECK_EXIT_CODES, help_template = HELP)]
    Check(Box<CheckArgs>),
    /// Tells in words why a recorded history is not linearizable.
    #[command(before_help = EXPLAIN_EXAMPLES, after_help = CHECK_EXIT_CODES, help_template = HELP)]
    #[command(mut_arg("view", |arg| arg.hide(true)), mut_arg("ascii", |arg| arg.hide(true)))]
    #[command(mut_arg("junit", |arg| arg.hide(true)), mut_arg("github", |arg| arg.hide(true)))]
    Explain(Box<CheckArgs>),
    /// Draws a recorded history: who called what when, an order that works, and where none does.
    #[command(before_help = VIEW_EXAMPLES, after_help = VIEW_EXIT_CODES, help_template = HELP)]
    #[command(mut_arg("json", |arg| arg.hide(true)), mut_arg("quiet", |arg| arg.hide(true)), mut_arg("view", |arg| arg.hide(true)))]
    #[command(mut_arg("junit", |arg| arg.hide(true)), mut_arg("github", |arg| arg.hide(true)))]
    View(Box<ViewArgs>),
    /// Runs a built-in object under real threads, and judges what it did.
    #[command(before_help = TEST_EXAMPLES, after_help = TEST_EXIT_CODES, help_template = HELP)]
    Test(Box<TestArgs>),
    /// Explores all schedules of small programs of a built-in object.
    #[command(before_help = EXPLORE_EXAMPLES, after_help = EXPLORE_EXIT_CODES, help_template = HELP)]
    Explore(Box<ExploreArgs>),
    /// Writes a history in another format.
    #[command(before_help = CONVERT_EXAMPLES, after_help = CONVERT_EXIT_CODES, help_template = HELP)]
    Convert(ConvertArgs),
    /// Proposes a mapping for a foreign log, and prints the first operations as the mapping reads them.
    #[command(before_help = MAP_EXAMPLES, after_help = MAP_EXIT_CODES, help_template = HELP)]
    #[command(mut_arg("format", |arg| arg.hide(true)))]
    Map(MapArgs),
    /// Tells what may surprise in a history, and how hard it will be to judge.
    #[command(before_help = LINT_EXAMPLES, after_help = LINT_EXIT_CODES, help_template = HELP)]
    Lint(LintArgs),
    /// Makes up a history of a specification, a right one or one with a violation.
    #[command(before_help = GENERATE_EXAMPLES, after_help = GENERATE_EXIT_CODES, help_template = HELP)]
    Generate(GenerateArgs),
    /// Writes down what clients of a distributed system say over TCP, in one order.
    #[command(before_help = COLLECT_EXAMPLES, after_help = COLLECT_EXIT_CODES, help_template = HELP)]
    Collect(CollectArgs),
    /// Lists the specifications, their operations, and what values and results mean.
    #[command(before_help = LIST_EXAMPLES, help_template = HELP)]
    Specs(ListArgs),
    /// Lists the algorithms.
    #[command(before_help = LIST_EXAMPLES, help_template = HELP)]
    Algorithms(ListArgs),
    /// Prints what a shell needs to complete commands and options.
    #[command(before_help = COMPLETIONS_EXAMPLES, help_template = HELP)]
    Completions(CompletionsArgs),
    /// Prints the manual page.
    #[command(before_help = MAN_EXAMPLES, help_template = HELP)]
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Files or directories to judge; `-` is standard input.
    #[arg(required = true, value_name = "FILES_OR_DIRS")]
    pub(crate) inputs: Vec<PathBuf>,

    /// What the object should do, such as `queue` or `register:0`; `trueline specs` lists them.
    #[arg(long)]
    pub(crate) spec: String,

    /// How to judge, such as `jit-graph` or `compete:jit-graph,linear`; `trueline algorithms` lists them.
    #[arg(long, default_value = "auto")]
    pub(crate) algorithm: Algorithm,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// The most configurations that a search visits.
    #[arg(long, value_name = "N")]
    pub(crate) configurations: Option<u64>,

    /// The number of threads that judge partitions of a history.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: u16,

    /// The rules that cut the search, separated by commas; or `all`, or `none`.
    #[arg(long, value_name = "LIST")]
    pub(crate) rules: Option<Rules>,

    /// The seed of algorithms that choose at random.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Do not judge keys apart, even where that can be done.
    #[arg(long)]
    pub(crate) no_partition: bool,

    /// A read of null matches any value (register and cas-register).
    #[arg(long)]
    pub(crate) nil_wildcard: bool,

    /// What versions of operations are: hints to the order of updates, which are verified (`hint`); the same, and it is an error
    /// if they contradict the history (`strict`); or nothing (`ignore`).
    #[arg(long, value_enum, default_value_t = Versions::Hint, hide_default_value = true)]
    pub(crate) versions: Versions,

    #[command(flatten)]
    pub(crate) read: ReadArgs,

    /// By how much the clocks of the processes may differ, in the unit of `call` and `return`: an operation is before
    /// another only if it was on all clocks. This also drops the order of a process's own operations, where one is called
    /// within D of the return of the one before.
    #[arg(long, value_name = "D", default_value_t = 0, hide_default_value = true, value_parser = clap::value_parser!(i64).range(0..))]
    pub(crate) clock_skew: i64,

    /// What is judged: what returned (`safety`), or also whether operations that wait for others and are stuck at the end
    /// should have returned (`progress`), or whether operations are not far out of order (`quasi`, by --factor).
    #[arg(long, value_enum, default_value_t = Criterion::Safety, hide_default_value = true)]
    pub(crate) criterion: Criterion,

    /// By how many places operations may be out of order: a number for all of them together, or one for each operation,
    /// each a class of its own, such as `enq=0,deq=4`. It means --criterion quasi.
    #[arg(long, value_name = "FACTORS")]
    pub(crate) factor: Option<QuasiFactors>,

    /// Of a history that is not linearizable, print the few operations that this rests on.
    #[arg(long)]
    pub(crate) core: bool,

    /// The most time to find them, for each file.
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "5s", requires = "core")]
    pub(crate) core_timeout: Duration,

    /// Draw the history, in a file that ends in .html or .svg; or each in a page of its own, in a folder.
    #[arg(long, value_name = "FILE_OR_DIR")]
    pub(crate) view: Option<PathBuf>,

    /// Draw lines in the terminal with plain letters.
    #[arg(long)]
    pub(crate) ascii: bool,

    /// Print one JSON object for each file.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print no results: only the exit code tells.
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,

    /// Write the results as JUnit's XML to this file, too: a case for each file.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Print annotations for GitHub's workflows, too.
    #[arg(long, conflicts_with = "json")]
    pub(crate) github: bool,
}

/// What the work on each file may take.
#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    /// The most time, such as `200ms`, `10s` or `2m`, for each file from its first byte to the last line about it; unlimited by
    /// default.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) timeout: Option<Duration>,

    /// The most memory, such as `64MiB`.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "4GiB")]
    pub(crate) memory: u64,
}

/// How files are read.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// The format of the files; without it, it is detected.
    #[arg(long, value_name = "FORMAT", default_value = "auto", hide_default_value = true)]
    pub(crate) format: Format,

    /// Values are pairs [key value] (Jepsen's independent keys): each key is an object of its own, or a key of the spec.
    #[arg(long, value_name = "WHAT")]
    pub(crate) tuples: Option<Tuples>,

    /// The same as `--tuples objects`.
    #[arg(long, conflicts_with = "tuples")]
    pub(crate) independent: bool,

    /// Reads foreign logs: a preset (`csv`, `otlp` or `jaeger`), or a file in TOML or JSON that says which fields mean what:
    /// process = "who", f = "what.name", value, key, result, object; type and a table [types] (begin = "invoke", end = "ok") for
    /// events, or call and return for whole operations. `trueline map --guess FILE` proposes one.
    #[arg(long, value_name = "PRESET_OR_FILE", conflicts_with = "format")]
    pub(crate) map: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[group(id = "how", required = true, multiple = false, args = ["guess", "map"])]
pub(crate) struct MapArgs {
    /// The file; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,

    /// Propose a mapping, from the first records of the file.
    #[arg(long)]
    pub(crate) guess: bool,

    /// Print at most N operations.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) show: usize,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The file; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,

    /// The format to write.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: To,

    /// The file to write; without it, standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LintArgs {
    /// Files or directories; `-` is standard input.
    #[arg(required = true, value_name = "FILES_OR_DIRS")]
    pub(crate) inputs: Vec<PathBuf>,

    /// What the object should do; without it, values are not looked at.
    #[arg(long)]
    pub(crate) spec: Option<String>,

    /// A read of null matches any value (register, cas-register and multi-register).
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
    /// What the object does; `trueline specs` lists them.
    #[arg(long)]
    pub(crate) spec: String,

    /// How many operations are called.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) operations: u32,

    /// How many processes call them.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) processes: u32,

    /// How much they overlap: from 0, one after the other, to 1, all the time.
    #[arg(long, value_name = "X", default_value_t = 0.5, value_parser = parse_share)]
    pub(crate) contention: f64,

    /// How many operations never return.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) pending: u32,

    /// Change one result, so that the history is no longer right.
    #[arg(long)]
    pub(crate) violation: bool,

    /// The seed of all that is random.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    /// The format to write.
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    pub(crate) format: To,

    /// The file to write; without it, standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CollectArgs {
    /// The address and port to listen on.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    pub(crate) listen: String,

    /// The file to write. A log that is there is continued; its last line is removed if it was cut off.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Answer an event only when it would survive a loss of power; by default, it survives the end of this process.
    #[arg(long)]
    pub(crate) sync: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write a page for each command into this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// Where to draw: a file that ends in .html or .svg, or `-` for the terminal.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) check: CheckArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// The object; `--list` names them.
    #[arg(required_unless_present = "list")]
    pub(crate) name: Option<String>,

    /// List the objects, and what to expect of them.
    #[arg(long, conflicts_with = "name")]
    pub(crate) list: bool,

    /// The number of threads.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) threads: Option<u32>,

    /// The number of operations of each thread.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) ops: Option<u32>,

    /// The most runs; without it, the time alone counts.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: Option<u64>,

    /// The most time for runs, in seconds or with a unit; 10 if --runs is not given.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub(crate) time: Option<Duration>,

    /// The seed of all that is random.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// At one in how many schedule points threads give way; 0 for never.
    #[arg(long, value_name = "N")]
    pub(crate) chaos: Option<u32>,

    /// The clock: tsc, instant, or counter, which hides faults of memory orderings.
    #[arg(long, value_name = "CLOCK")]
    pub(crate) clock: Option<Clock>,

    /// How many threads make noise meanwhile.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) noise: u32,

    /// Suspect that a run is stuck if no thread gets anywhere for this long, in seconds or with a unit; report it after ten
    /// times as long. Runs whose threads are all blocked in trueline's own primitives are reported at once.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "100ms")]
    pub(crate) watchdog: Duration,

    /// For how long one run is judged, in seconds or with a unit; one that takes longer is passed over, and counted.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "500ms")]
    pub(crate) timeout: Duration,

    /// Go on after a failing run until so many were found.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) collect: u32,

    /// How to judge; `trueline algorithms` lists them.
    #[arg(long, default_value = "auto")]
    pub(crate) algorithm: Algorithm,

    /// Of objects that synchronise threads: call what lets all return (`safety`), or anything (`progress`).
    #[arg(long, value_enum, default_value_t = Criterion::Safety, hide_default_value = true)]
    pub(crate) criterion: Criterion,

    /// How many testers make runs at once.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) testers: u32,

    /// Make only this run, as a report names it; with the other options as they were.
    #[arg(long, value_name = "TOKEN")]
    pub(crate) replay: Option<Token>,

    /// Run only this program: threads are apart by `|`, and what is before and after them is around parentheses.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["replay", "ops", "weights"])]
    pub(crate) program: Option<String>,

    /// For how long the program of a failing run is made smaller, in seconds or with a unit; 0 for not at all.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "2s")]
    pub(crate) shrink_time: Duration,

    /// Draw failing runs as pages in this folder, to be looked at in a browser.
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) pages: Option<PathBuf>,

    /// Run it under real threads, or explore its schedules, which `trueline explore` does with more options.
    #[arg(long, value_enum, default_value_t = Engine::Threads, hide_default_value = true)]
    pub(crate) engine: Engine,

    /// How often operations are called, such as `enqueue=3,dequeue=1`.
    #[arg(long, value_name = "LIST", value_parser = parse_weights)]
    pub(crate) weights: Option<Weights>,

    /// How many keys or items there are.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) keys: Option<u64>,

    /// How many values there are; without it, each is used once.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) values: Option<u64>,

    /// Print one JSON object for each.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What runs an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    Threads,
    Systematic,
}

#[derive(Debug, Args)]
pub(crate) struct ExploreArgs {
    /// The object; `trueline test --list` names them. Those whose order is relaxed may have their factor behind the name,
    /// such as quasi-queue:3; else it is 2.
    pub(crate) name: String,

    /// All well-formed programs in which children make so many calls and the main thread makes so many, such as 2*2+4.
    #[arg(long, value_name = "A*B+C")]
    pub(crate) calls: Option<Calls>,

    /// Only this program, such as `push 1, pop | pop`; with --calls, the number of one of theirs.
    #[arg(long, value_name = "PROGRAM", conflicts_with = "replay")]
    pub(crate) program: Option<String>,

    /// For how long the program of a failing execution is made smaller, in seconds or with a unit; 0 for not at all.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "2s")]
    pub(crate) shrink_time: Duration,

    /// Draw failing executions as pages in this folder, to be looked at in a browser.
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) pages: Option<PathBuf>,

    /// How many programs are made up, where they are.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) programs: Option<u32>,

    /// Without --calls: the number of threads of programs that are made up.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16), conflicts_with = "calls")]
    pub(crate) threads: Option<u32>,

    /// Without --calls: the number of operations of each thread.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "calls")]
    pub(crate) ops: Option<u32>,

    /// By how many places operations may be out of order, as Round-Up has it: the same as `--factor K`.
    #[arg(long, value_name = "K", conflicts_with = "factor")]
    pub(crate) k: Option<u32>,

    /// By how many places operations of a name may be out of order among themselves: a number for each operation, such as
    /// `enq=0,deq=2`, or one for all. Programs are compared with their serial histories, those of what they are --against.
    #[arg(long, value_name = "FACTORS")]
    pub(crate) factor: Option<QuasiFactors>,

    /// Only schedules with at most so many preemptions.
    #[arg(long, value_name = "N")]
    pub(crate) preemptions: Option<u32>,

    /// Which schedules: `exhaustive`, `unreduced`, `serial`, `uniform`, or `pct:D` for faults of depth D.
    #[arg(long, value_name = "SEARCH", value_parser = parse_search, conflicts_with = "preemptions")]
    pub(crate) search: Option<Search>,

    /// The object's random choices: `explore` them, or draw them: `seed:N`.
    #[arg(long, value_name = "CHOICES", default_value = "explore", value_parser = parse_choices)]
    pub(crate) choices: Choices,

    /// What histories are compared with: `spec`, the object `itself` run one operation at a time, or `itself:0`, which is the
    /// same object with factor 0, or another object.
    #[arg(long, value_name = "WHAT", default_value = "spec")]
    pub(crate) against: String,

    /// How often each thread may wake for nothing from a condition variable.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) spurious: u32,

    /// How many steps an execution may take.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) steps: u64,

    /// How many threads of the operating system explore; with more than one, it is chance what is found first.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) threads_os: u32,

    /// The most time, in seconds or with a unit.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "60s")]
    pub(crate) time: Duration,

    /// The most executions.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) executions: Option<u64>,

    /// The seed of programs that are made up, and of random searches.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Go on after a failing execution until so many were found.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) collect: u32,

    /// Of objects that synchronise threads: call what lets all return (`safety`), or anything (`progress`). `quasi` is
    /// `--factor` with the factor of the object.
    #[arg(long, value_enum, default_value_t = Criterion::Safety, hide_default_value = true)]
    pub(crate) criterion: Criterion,

    /// How many keys or items there are.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) keys: Option<u64>,

    /// How many values there are; without it, each is used once.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) values: Option<u64>,

    /// Make only this execution, as a report names it; with the other options as they were.
    #[arg(long, value_name = "TOKEN")]
    pub(crate) replay: Option<Token>,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where random choices of an object come from.
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

/// What is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Criterion {
    #[value(alias = "linearizable", alias = "synchronisation")]
    Safety,
    Progress,
    Quasi,
}

/// How often operations are called.
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
    /// Print one JSON object for each.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The formats of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Whichever of these the file looks like.
    Auto,
    /// JSON lines of events or of whole operations.
    Jsonl,
    /// Jepsen's history.edn: a vector, a list, or maps one after another.
    Jepsen,
    /// Jepsen's log lines, or history.txt.
    JepsenLog,
    /// Porcupine's key-value histories: an EDN map with :key on each line.
    PorcupineKv,
    /// Porcupine's operations as JSON lines: ClientId, Input, Call, Output, Return.
    PorcupineJson,
    /// Start and finish events as JSON lines.
    Events,
    /// Comma- or tab-separated values, with the names of JSON lines' fields in the first row.
    Csv,
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
    /// Jepsen's history.txt; no keys.
    JepsenLog,
    /// Porcupine's key-value histories; every operation has a key.
    PorcupineKv,
    /// Porcupine's operations as JSON lines.
    PorcupineJson,
    /// Start and finish events as JSON lines.
    Events,
    /// Comma-separated values: a row for each operation.
    Csv,
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
        }
    }
}

/// What versions of operations are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Versions {
    /// Hints to the order of updates.
    Hint,
    /// Hints, and exit code 1 if they contradict the history.
    Strict,
    /// Nothing.
    Ignore,
}

/// What the key of a pair is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tuples {
    /// Each key is an object of its own, such as a register.
    Objects,
    /// The key of an operation on a map.
    Keys,
}

impl ReadArgs {
    /// What pairs mean, if values are pairs.
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

/// A number and its unit.
fn split_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    Some((text[..end].parse().ok()?, text[end..].trim_start()))
}

/// A time that may be without a unit.
fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = split_unit(text).filter(|(_, unit)| unit.is_empty());
    let time = match seconds {
        Some((seconds, _)) => Duration::try_from_secs_f64(seconds).ok(),
        None => parse_time(text).ok(),
    };
    time.ok_or_else(|| "write a number of seconds, or a number and a unit, such as 200ms or 2m".to_owned())
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
