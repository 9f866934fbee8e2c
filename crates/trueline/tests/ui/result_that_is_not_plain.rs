//! A result that cannot be recorded.
use std::time::Instant;

fn main() {
    trueline::test(|| ()).model(()).operation("now", (), |_, ()| Instant::now(), |_, ()| Instant::now()).run();
}
