//! Tests that the links and images of the pages lead somewhere, and that the guide is complete.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::pages::{Page, chapters, pages, root};

/// The prefix of links to files of the repository that are not part of the guide.
const REPOSITORY: &str = "https://github.com/trueline/trueline/blob/main/";

/// The prefix of links to the documentation of the library.
const LIBRARY: &str = "https://docs.rs/trueline/latest/trueline/";

#[test]
fn links_lead_somewhere() {
    let mut faults = Vec::new();
    let mut seen = 0;
    for page in pages() {
        for link in &page.links {
            seen += 1;
            if let Err(fault) = follow(&page, link) {
                faults.push(format!("{}: {link}: {fault}", page.name));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(seen > 20, "{seen}");
}

fn follow(page: &Page, link: &str) -> Result<(), String> {
    if let Some(path) = link.strip_prefix(LIBRARY) {
        return of_library(path);
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let path = match path.strip_prefix(REPOSITORY) {
        Some(path) => PathBuf::from(path),
        None if path.starts_with("https://") => return Ok(()),
        None if path.contains("://") => return Err("only https".to_owned()),
        None if path.is_empty() => PathBuf::from(&page.name),
        None => plain(&Path::new(&page.name).parent().expect("a file is in a folder").join(path)),
    };
    if page.name.starts_with("docs/") && !link.starts_with(REPOSITORY) && !path.starts_with("docs/src") {
        return Err(format!("it leaves the guide; write {REPOSITORY}{}", path.display()));
    }
    if !root().join(&path).exists() {
        return Err(format!("there is no {}", path.display()));
    }
    if anchor.is_empty() {
        return Ok(());
    }
    let there = Page::read(path.to_str().expect("the path is UTF-8"));
    match there.anchors.iter().any(|known| known == anchor) {
        true => Ok(()),
        false => Err(format!("there is no such heading, only {:?}", there.anchors)),
    }
}

/// Checks a link to the library's documentation: its modules exist, and the last one contains the item.
fn of_library(path: &str) -> Result<(), String> {
    let (path, _) = path.split_once('#').unwrap_or((path, ""));
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != "index.html").collect();
    let item = parts.last().copied().filter(|last| last.ends_with(".html"));
    parts.truncate(parts.len() - usize::from(item.is_some()));
    let folder = root().join("crates/trueline/src").join(parts.iter().collect::<PathBuf>());
    let file = folder.with_extension("rs");
    if !folder.is_dir() && !file.is_file() {
        return Err(format!("there is no module {}", parts.join("::")));
    }
    let Some(item) = item else { return Ok(()) };
    let name = item.trim_end_matches(".html").split_once('.').map_or(item, |(_, name)| name);
    let is_in = |path: &Path| std::fs::read_to_string(path).is_ok_and(|text| text.contains(name));
    match is_in(&file) || is_in(&folder.join("mod.rs")) || is_in(&folder.join("lib.rs")) {
        true => Ok(()),
        false => Err(format!("there is no {name}")),
    }
}

/// Returns the path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[test]
fn the_summary_names_every_chapter_once() {
    let summary = Page::read("docs/src/SUMMARY.md");
    let named: BTreeSet<&str> = summary.links.iter().map(String::as_str).collect();
    assert_eq!(named.len(), summary.links.len(), "one is named twice: {:?}", summary.links);
    let chapters = chapters();
    let there: BTreeSet<&str> = chapters.iter().map(String::as_str).filter(|name| *name != "SUMMARY.md").collect();
    assert_eq!(named, there);
    assert!(there.len() >= 10, "{there:?}");
    let book = std::fs::read_to_string(root().join("docs/book.toml")).expect("the file can be read");
    let book: toml::Table = book.parse().expect("the file is TOML");
    assert_eq!(book["book"]["src"].as_str(), Some("src"));
}

#[test]
fn links_that_lead_nowhere_are_found() {
    let page = Page::parse("docs/src/a.md", String::new());
    for wrong in [
        "no-such-page.md",
        "SUMMARY.md#no-such-heading",
        "../../README.md",
        "http://example.org",
        "https://github.com/trueline/trueline/blob/main/NO-SUCH.md",
        "https://docs.rs/trueline/latest/trueline/no_such_module/",
        "https://docs.rs/trueline/latest/trueline/judge/struct.NoSuchItem.html",
    ] {
        assert!(follow(&page, wrong).is_err(), "{wrong}");
    }
    for right in [
        "SUMMARY.md",
        "https://example.org",
        "https://github.com/trueline/trueline/blob/main/README.md",
        "https://docs.rs/trueline/latest/trueline/judge/quasi/",
        "https://docs.rs/trueline/latest/trueline/judge/struct.Config.html",
    ] {
        assert_eq!(follow(&page, right), Ok(()), "{right}");
    }
}
