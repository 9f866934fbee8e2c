//! The code of the README and of the guide, compiled and run as documentation tests, with all features of the library.
//!
//! Commands and other blocks are run by a test of the command line (`crates/trueline-cli/tests/it/docs`), which also
//! checks that no page with code is missing here.

#[cfg(doctest)]
macro_rules! pages {
    ($($name:ident $path:literal)*) => {
        $(#[doc = include_str!($path)] mod $name {})*
    };
}

#[cfg(doctest)]
pages! {
    readme "../../../README.md"
    explorable "../../../docs/src/explorable.md"
    exploration "../../../docs/src/exploration.md"
    finding_bugs "../../../docs/src/finding-bugs.md"
    first_structure "../../../docs/src/first-structure.md"
    relaxed "../../../docs/src/relaxed.md"
    synchronizing "../../../docs/src/synchronizing.md"
    unmodified "../../../docs/src/unmodified.md"
}
