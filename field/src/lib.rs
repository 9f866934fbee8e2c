//! Explores published concurrent crates without changing their code: see the tests.
