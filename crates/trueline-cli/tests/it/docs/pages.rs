//! The pages of the README and the guide, and their contents.

use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Returns the folder of the repository.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A page of Markdown.
#[derive(Debug)]
pub(super) struct Page {
    /// The path of the page in the repository.
    pub(super) name: String,
    pub(super) text: String,
    pub(super) blocks: Vec<Block>,
    /// The targets of links and images.
    pub(super) links: Vec<String>,
    /// The anchors of the headings.
    pub(super) anchors: Vec<String>,
    /// The inline code.
    pub(super) spans: Vec<String>,
}

/// A block of code.
#[derive(Debug)]
pub(super) struct Block {
    /// The first word after the fence; empty if there is no fence.
    pub(super) language: String,
    /// The other words.
    pub(super) attributes: Vec<String>,
    /// The comment before the block: `<!-- file: NAME -->`, `<!-- same as: PATH -->` or `<!-- report: NAME -->`.
    pub(super) comment: Option<String>,
    pub(super) text: String,
    /// The range of the text in the page.
    pub(super) range: Range<usize>,
    /// The line of the page on which the text begins.
    pub(super) line: usize,
}

impl Block {
    /// Returns the name of the file that the block shows, which later commands read.
    pub(super) fn file(&self) -> Option<&str> {
        self.comment.as_deref()?.strip_prefix("file:").map(str::trim)
    }

    /// Returns the test whose report the block shows.
    pub(super) fn report(&self) -> Option<&str> {
        self.comment.as_deref()?.strip_prefix("report:").map(str::trim)
    }

    /// Returns the file of the repository that contains the same text.
    pub(super) fn same_as(&self) -> Option<&str> {
        self.comment.as_deref()?.strip_prefix("same as:").map(str::trim)
    }
}

/// Returns the README, and all pages of the guide.
pub(super) fn pages() -> Vec<Page> {
    let mut names = vec!["README.md".to_owned()];
    names.extend(chapters().into_iter().map(|name| format!("docs/src/{name}")));
    names.iter().map(|name| Page::read(name)).collect()
}

/// Returns the files of the guide, by their paths in its folder.
pub(super) fn chapters() -> Vec<String> {
    fn find(folder: &Path, base: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).expect("the folder of the guide can be read") {
            let path = entry.expect("the folder of the guide can be read").path();
            if path.is_dir() {
                find(&path, base, found);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let name =
                    path.strip_prefix(base).expect("the path is below the base").to_str().expect("the path is UTF-8");
                found.push(name.replace('\\', "/"));
            }
        }
    }
    let base = root().join("docs/src");
    let mut found = Vec::new();
    find(&base, &base, &mut found);
    found.sort();
    found
}

impl Page {
    pub(super) fn read(name: &str) -> Self {
        let text = fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        Self::parse(name, text)
    }

    pub(super) fn parse(name: &str, text: String) -> Self {
        let mut page = Self {
            name: name.to_owned(),
            text: String::new(),
            blocks: Vec::new(),
            links: Vec::new(),
            anchors: Vec::new(),
            spans: Vec::new(),
        };
        let mut comment = None;
        let mut block: Option<Block> = None;
        let mut heading: Option<String> = None;
        let mut used = HashMap::new();
        for (event, range) in Parser::new_ext(&text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Html(html) => {
                    let inner = html.trim().strip_prefix("<!--").and_then(|html| html.strip_suffix("-->"));
                    comment = inner.map(|inner| inner.trim().to_owned());
                }
                Event::Start(Tag::CodeBlock(kind)) => {
                    let info = match kind {
                        CodeBlockKind::Fenced(info) => info.to_string(),
                        CodeBlockKind::Indented => String::new(),
                    };
                    let mut words = info.split([',', ' ']).map(str::to_owned);
                    block = Some(Block {
                        language: words.next().unwrap_or_default(),
                        attributes: words.collect(),
                        comment: comment.take(),
                        text: String::new(),
                        range: range.end..range.end,
                        line: 0,
                    });
                }
                Event::End(TagEnd::CodeBlock) => page.blocks.extend(block.take()),
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let anchor = anchor(&heading.take().expect("a heading begins before it ends"));
                    let times = used.entry(anchor.clone()).and_modify(|times| *times += 1).or_insert(0);
                    page.anchors.push(if *times == 0 { anchor } else { format!("{anchor}-{times}") });
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.to_string());
                }
                Event::Text(part) => {
                    if let Some(block) = &mut block {
                        if block.text.is_empty() {
                            block.range = range.clone();
                            block.line = text[..range.start].matches('\n').count() + 1;
                        }
                        block.range.end = range.end;
                        block.text.push_str(&part);
                    } else if let Some(heading) = &mut heading {
                        heading.push_str(&part);
                    }
                }
                Event::Code(code) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&code);
                    }
                    page.spans.push(code.to_string());
                }
                Event::Start(Tag::Paragraph | Tag::List(_) | Tag::Table(_) | Tag::BlockQuote(_)) => comment = None,
                _ => {}
            }
        }
        page.text = text;
        page
    }
}

/// Returns the anchor of a heading, which is the same in mdBook and on GitHub.
fn anchor(heading: &str) -> String {
    heading
        .trim()
        .chars()
        .filter_map(|c| match c {
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
            c if c.is_whitespace() => Some('-'),
            _ => None,
        })
        .collect()
}

#[test]
fn what_is_on_a_page() {
    let text = "# A page: `one` & two\n\n<!-- file: a.jsonl -->\n```json\n{}\n```\n\n- in a list\n\n  ```console\n  \
                $ trueline specs\n  ```\n\nwords\n\n    indented\n\n## A page: one & two\n\n[here](x.md#y) `code`\n";
    let page = Page::parse("page.md", text.to_owned());
    let blocks: Vec<(&str, &str, Option<&str>, usize)> = page
        .blocks
        .iter()
        .map(|block| (block.language.as_str(), block.text.as_str(), block.file(), block.line))
        .collect();
    assert_eq!(
        blocks,
        [
            ("json", "{}\n", Some("a.jsonl"), 5),
            ("console", "$ trueline specs\n", None, 11),
            ("", "indented\n", None, 16)
        ]
    );
    assert_eq!(page.anchors, ["a-page-one--two", "a-page-one--two-1"]);
    assert_eq!(page.links, ["x.md#y"]);
    assert_eq!(page.spans, ["one", "code"]);
}
