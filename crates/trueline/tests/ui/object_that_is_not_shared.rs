//! An object that threads cannot share.
use std::cell::Cell;

fn main() {
    trueline::test(|| Cell::new(0)).model(0).operation("get", (), |cell, ()| cell.get(), |model, ()| *model).run();
}
