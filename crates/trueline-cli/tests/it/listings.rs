//! Tests `specs`, `algorithms` and the help.

use super::{json, run};

#[test]
fn specs_are_listed() {
    let listed = run(&["specs"]);
    assert_eq!(listed.code, 0);
    for expected in
        ["register[:init]", "cas-register[:init]", "set", "map", "queue", "bounded-queue:N", "mutex[:owned]"]
    {
        assert!(listed.stdout.contains(expected), "{expected}");
    }
    assert!(listed.stdout.contains("enqueue (enq,"), "{}", listed.stdout);
    assert!(!listed.stdout.contains('\x1b'), "no color off a terminal");
}

#[test]
fn every_listed_spec_can_be_used() {
    let listed = run(&["specs", "--json"]);
    assert_eq!(listed.code, 0);
    assert!(listed.stdout.lines().count() >= 8);
    for line in listed.stdout.lines() {
        let spec = json(line);
        let name = spec["name"].as_str().expect("the name is a string");
        let needs_parameter = spec["parameter"].as_str().expect("the parameter is a string").starts_with(':');
        let name = if needs_parameter { format!("{name}:2") } else { name.to_owned() };
        let operation = spec["operations"][0]["name"].as_str().expect("a name");
        let works = ["[1,2]", "1", r#"[["w",1,2]]"#].iter().any(|value| {
            let input = format!(r#"{{"process":0,"type":"invoke","f":"{operation}","value":{value}}}"#);
            super::run_with_input(&["check", "--spec", &name, "-"], input.as_bytes()).code == 0
        });
        assert!(works, "{operation} of {name}");
    }
}

#[test]
fn every_listed_algorithm_can_be_used() {
    let listed = run(&["algorithms", "--json"]);
    assert_eq!(listed.code, 0);
    let names: Vec<String> =
        listed.stdout.lines().map(|line| json(line)["name"].as_str().expect("a name").to_owned()).collect();
    assert!(names.iter().any(|name| name == "auto"));
    for name in &names {
        let name = if name.starts_with("compete:") { "compete:jit-graph,linear" } else { name };
        let args = ["check", "--spec", "queue", "--algorithm", name, "-"];
        assert_eq!(super::run_with_input(&args, super::REJECTED.as_bytes()).code, 1, "{name}");
        // Lowe's queue algorithm refuses operations that never returned.
        let code = if name == "queue-lowe" { 3 } else { 0 };
        assert_eq!(super::run_with_input(&args, super::ACCEPTED.as_bytes()).code, code, "{name}");
    }
    assert!(run(&["algorithms"]).stdout.contains("compete:A,B"));
}

#[test]
fn defaults_are_told() {
    assert!(run(&["check", "--help"]).stdout.contains("[default: 4GiB]"));
}
