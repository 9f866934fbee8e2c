//! Tests the output for continuous integration, shells and `man`.

use std::fs;

use super::{ACCEPTED, REJECTED, Scratch, run};

#[test]
fn junit_and_annotations() {
    let scratch = Scratch::new("ci");
    let good = scratch.file("good.jsonl", ACCEPTED);
    let bad = scratch.file("bad.jsonl", REJECTED);
    let broken = scratch.file("broken.jsonl", "{\"a\":1}\n<&\"\n");
    let xml = scratch.0.join("out.xml");
    let judged =
        run(&["check", "--spec", "queue", "--github", "--junit", xml.to_str().expect("plain"), &good, &bad, &broken]);
    assert_eq!(judged.code, 2, "{judged:?}");
    let xml = fs::read_to_string(xml).expect("the file was written");
    assert!(
        xml.contains("<testsuite name=\"trueline queue\" tests=\"3\" failures=\"1\" errors=\"1\" skipped=\"0\">"),
        "{xml}"
    );
    assert!(xml.contains(&format!("<testcase classname=\"queue\" name=\"{good}\"")), "{xml}");
    assert!(
        xml.contains(
            "<failure message=\"dequeue() of process 1 (lines 4-6) returned 2, but could only have returned 1\">"
        ),
        "{xml}"
    );
    assert!(xml.contains("\n    lines 3-5  process 0  enqueue(2) -&gt; ok</failure></testcase>\n"), "{xml}");
    assert!(xml.contains("<error type=\"unreadable\" message=\"line 1: "), "{xml}");
    assert_eq!(xml.matches("<testcase").count(), 3);
    let annotation = format!(
        "::error file={bad},line=6,title=not linearizable::dequeue() of process 1 (lines 4-6) returned 2, but could only have returned 1"
    );
    assert!(judged.stdout.lines().any(|line| line == annotation), "{judged:?}");
    assert!(judged.stdout.contains(&format!("::error file={broken},line=1,title=unreadable::")), "{judged:?}");
    assert!(!judged.stdout.contains(&format!("file={good}")), "{judged:?}");
    let nowhere = run(&["check", "--spec", "queue", "--junit", "/no/such/dir/x.xml", &good]);
    assert!(nowhere.code == 2 && nowhere.stderr.contains("cannot write"), "{nowhere:?}");
    assert_eq!(run(&["check", "--spec", "queue", "--github", "--json", &good]).code, 2);
}

#[test]
fn completions() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(&["completions", shell]);
        assert_eq!(script.code, 0, "{shell}");
        // The completions for PowerShell and Elvish do not contain values.
        let values = !["powershell", "elvish"].contains(&shell);
        for word in ["convert", "nil-wildcard", if values { "porcupine-kv" } else { "format" }] {
            assert!(script.stdout.contains(word), "{word} for {shell}");
        }
    }
    assert_eq!(run(&["completions", "command.com"]).code, 2);
}

#[test]
fn manual_pages() {
    let page = run(&["man"]);
    assert_eq!(page.code, 0);
    assert!(page.stdout.contains(".TH trueline 1"), "{}", &page.stdout[..200]);
    let scratch = Scratch::new("man");
    assert_eq!(run(&["man", "--directory", scratch.path()]).code, 0);
    for name in ["trueline", "trueline-check", "trueline-collect", "trueline-convert"] {
        let page = fs::read_to_string(scratch.0.join(format!("{name}.1"))).unwrap_or_else(|_| panic!("{name}"));
        assert!(page.contains("Examples"), "{name}");
    }
    let file = scratch.file("file", "");
    let nowhere = run(&["man", "--directory", &format!("{file}/below")]);
    assert!(nowhere.code == 2 && nowhere.stderr.contains("cannot write"), "{nowhere:?}");
}
