//! Published concurrent crates, explored without a change: see the tests.
