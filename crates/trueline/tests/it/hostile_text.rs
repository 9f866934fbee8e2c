//! Asserts that hostile text in names, arguments, results, states and panics of a test is escaped in all reports.

use std::time::Duration;

use trueline::drive::made_by;
use trueline::spec::{Outcomes, Spec, outcome};
use trueline::test::{Failure, Outcome, call};

/// Line breaks followed by commands for CI systems, escape sequences, direction marks, line separators, control
/// characters of both kinds, characters without width, tags, and markup.
const HOSTILE: &str = "\n::error::INJ\r\u{1b}[35mINJ\u{1b}]0;INJ\u{7}\u{202e}\u{2066}\u{2028}INJ\u{2029}::INJ \u{9b}5mINJ\u{85}::INJ\u{7f}\u{200b}\u{feff}\u{e0041}##[error]INJ ::INJ::##vso[x]<script>INJ</script>&\"'\\]]>\u{1}";

#[track_caller]
fn assert_harmless(what: &str, text: &str) {
    assert!(text.contains("INJ"), "{what} does not contain the hostile text: {text}");
    let is_hidden = |c: &char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    let hidden = text.chars().find(|c| is_hidden(c) && *c != '\n');
    assert_eq!(hidden, None, "{what}: {text}");
    for line in text.lines().map(str::trim_start) {
        assert!(!line.starts_with("INJ") && !line.starts_with("::"), "{what}: a forged line in {text}");
    }
    assert!(!text.contains("##[") && !text.contains("##vso"), "{what}: a command in {text}");
}

/// Checks all texts about a failure.
#[track_caller]
fn assert_told_harmlessly(outcome: Outcome) -> Failure {
    let failure = outcome.failure.expect("the test fails");
    assert_harmless("the failure", &failure.to_string());
    assert_harmless("the report", failure.report());
    assert_harmless("the kind", &format!("it {} INJ", failure.kind));
    if let Some(test) = failure.regression_test() {
        assert_harmless("the test to keep", &test);
    }
    for path in [&failure.saved, &failure.saved_steps, &failure.page].into_iter().flatten() {
        let text = std::fs::read_to_string(path).expect("the file was written");
        let is_page = path.extension().is_some_and(|extension| extension == "html");
        if is_page {
            assert!(!text.contains("<script>INJ"), "{}", path.display());
        } else {
            assert_harmless(&path.display().to_string(), &format!("the file, beside INJ: {text}"));
        }
        std::fs::remove_file(path).expect("the file can be removed");
    }
    failure
}

fn text() -> trueline::drive::MadeBy<impl Fn(&mut trueline::drive::Random) -> String + Send + Sync + 'static> {
    made_by(|_| HOSTILE.to_owned())
}

fn name(test: &str) -> String {
    format!("{test}{HOSTILE}{}", std::process::id())
}

#[test]
fn names_arguments_results_and_states() {
    // The operation returns its argument, and should not return anything.
    let pages = std::env::temp_dir().join(format!("trueline-hostile-text-{}", std::process::id()));
    let test = || {
        trueline::test(|| ())
            .model(vec![HOSTILE.to_owned()])
            .operation(HOSTILE, text(), |_, x: String| format!("{x}2"), |model, _| model[0].clone())
            .forgetful()
            .name(&name("names"))
            .threads(2)
            .calls(2)
            .runs(1)
            .pages(&pages)
    };
    let failure = assert_told_harmlessly(test().outcome());
    assert!(failure.page.is_some() && failure.saved.is_some());
    #[cfg(feature = "systematic")]
    {
        use trueline::primitives::{AtomicU64, Ordering::SeqCst};
        let explored = trueline::test(|| AtomicU64::new(0))
            .model(0_u64)
            .operation(
                HOSTILE,
                text(),
                |count, _: String| {
                    let seen = count.load(SeqCst);
                    count.store(seen + 1, SeqCst);
                    format!("{HOSTILE}{seen}")
                },
                |model, _| {
                    *model += 1;
                    format!("{HOSTILE}{}", *model - 1)
                },
            )
            .forgetful()
            .name(&name("explored"))
            .calls(2)
            .seed(1)
            .shrink_for(Duration::MAX)
            .explore(trueline::test::Exploration::new());
        let failure = assert_told_harmlessly(explored.outcome());
        assert!(!failure.steps.is_empty() && failure.smallest.is_some());
    }
    let _ = std::fs::remove_dir_all(&pages);
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Op(String);

/// A specification whose operations and states are shown by their `Debug` output.
struct Own;

impl Spec for Own {
    type Op = Op;
    type Ret = String;
    type State = String;
    type Key = ();
    type Value = ();

    fn initial(&self) -> String {
        HOSTILE.to_owned()
    }

    fn step(&self, state: &String, _: &Op, _: Option<&String>) -> Outcomes<String, String> {
        outcome(state.clone(), format!("{state}3"))
    }

    fn describe_operation(&self, op: &Op) -> String {
        op.0.clone()
    }
}

#[test]
fn specifications_of_ones_own() {
    let test = trueline::test(|| ()).own_spec(Own).operation(HOSTILE, text(), |_, x: String| x + "2", Op, |ret| ret);
    assert_told_harmlessly(test.forgetful().name(&name("own")).threads(2).calls(2).runs(1).outcome());
}

#[test]
fn panics() {
    // A panic may print a long trace before it unwinds.
    const LONG: Duration = Duration::from_secs(86_400);
    let test = || trueline::test(|| ()).model(()).watchdog(LONG).forgetful();
    let panics = test().operation(HOSTILE, (), |_, ()| panic!("{HOSTILE}"), |(), ()| ());
    assert_told_harmlessly(panics.name(&name("panics")).runs(1).outcome());
    let model = test().operation(HOSTILE, (), |_, ()| (), |(), ()| panic!("{HOSTILE}"));
    assert_told_harmlessly(model.name(&name("model")).runs(1).outcome());
    let constructor = trueline::test(|| -> () { panic!("{HOSTILE}") }).model(()).watchdog(LONG).forgetful();
    let constructor = constructor.operation("go", (), |_, ()| (), |(), ()| ());
    assert_told_harmlessly(constructor.name(&name("constructor")).runs(1).outcome());
}

/// Mistakes in a test itself are reported by a panic, whose message is printed unescaped.
#[test]
fn mistakes_in_tests() {
    let test = || trueline::test(|| ()).model(()).operation(HOSTILE, (), |_, ()| (), |(), ()| ()).forgetful();
    type Mistake<'m> = (&'m str, Box<dyn FnOnce() + std::panic::UnwindSafe + 'm>);
    let mistakes: Vec<Mistake<'_>> = vec![
        ("a program", Box::new(|| test().program([[call(&format!("{HOSTILE}2"), ())]]).run())),
        ("an argument", Box::new(|| test().program([[call(HOSTILE, HOSTILE.to_owned())]]).run())),
        ("a written program", Box::new(|| test().only(HOSTILE).run())),
        ("a token", Box::new(|| test().replay(HOSTILE).run())),
        ("a worker", Box::new(|| test().worker(|worker| worker.call(&format!("{HOSTILE}2"), ())).runs(1).run())),
        (
            "what is never called",
            Box::new(|| test().when(|_| false).operation("go", (), |_, ()| (), |(), ()| ()).runs(300).run()),
        ),
    ];
    for (what, mistake) in mistakes {
        let payload = std::panic::catch_unwind(mistake).expect_err(what);
        let message = payload.downcast::<String>().map(|text| *text);
        assert_harmless(
            what,
            &message.unwrap_or_else(|payload| (*payload.downcast::<&str>().expect("text")).to_owned()),
        );
    }
    #[cfg(feature = "named")]
    for spec in [HOSTILE, "queue"] {
        let payload = std::panic::catch_unwind(|| {
            trueline::test(|| ()).spec(spec).operation(HOSTILE, (), |_, ()| ()).run();
        });
        let message = payload.expect_err("the test has a mistake").downcast::<String>().expect("text");
        assert_harmless("a specification", &format!("{message} INJ"));
    }
}
