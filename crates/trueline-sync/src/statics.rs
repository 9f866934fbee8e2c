//! Restores static atomics to the values that they had when an exploration began.
//!
//! All executions of an exploration must begin in the same state. Each execution creates its own objects, but a
//! `static` keeps its value from one execution to the next. So the value of a static atomic is saved at its first
//! access, and restored before each execution.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use crate::primitives::Place;

/// The values of static atomics when an exploration began.
///
/// Static memory is recognized on Linux only; on other systems, no values are saved.
pub struct Statics {
    segments: &'static [Range<usize>],
    kept: RefCell<HashMap<Place, Kept>>,
}

struct Kept {
    value: u64,
    restore: fn(usize, u64),
}

impl Statics {
    /// Creates an empty store. Call it when an exploration begins.
    #[expect(clippy::new_without_default, reason = "a store belongs to one exploration, so it has no default")]
    pub fn new() -> Self {
        static SEGMENTS: OnceLock<Vec<Range<usize>>> = OnceLock::new();
        let segments = SEGMENTS.get_or_init(|| {
            let maps = std::fs::read_to_string("/proc/self/maps");
            maps.map_or_else(|_| Vec::new(), |maps| segments(&maps))
        });
        Self { segments, kept: RefCell::default() }
    }

    /// Returns whether a primitive is in static memory.
    pub fn contains(&self, place: Place) -> bool {
        self.segments.iter().any(|segment| segment.contains(&place.address()))
    }

    pub(crate) fn keep(&self, place: Place, value: &dyn Fn() -> u64, restore: fn(usize, u64)) {
        if self.contains(place) {
            self.kept.borrow_mut().entry(place).or_insert_with(|| Kept { value: value(), restore });
        }
    }

    /// Returns the saved value of a static.
    pub(crate) fn value(&self, place: Place) -> Option<u64> {
        self.kept.borrow().get(&place).map(|kept| kept.value)
    }

    /// Restores all saved values. No task of the exploration may be running.
    #[expect(clippy::iter_over_hash_type, reason = "each value is restored at its own place, in any order")]
    pub fn restore(&self) {
        for (place, Kept { value, restore }) in &*self.kept.borrow() {
            restore(place.address(), *value);
        }
    }
}

impl fmt::Debug for Statics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statics").field("kept", &self.kept.borrow().len()).finish_non_exhaustive()
    }
}

/// Returns the memory of `static` variables, according to `/proc/self/maps`: the writable mappings of files, and the
/// anonymous memory directly after each of them, which contains the variables that are initially zero.
fn segments(maps: &str) -> Vec<Range<usize>> {
    let mut segments: Vec<Range<usize>> = Vec::new();
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let (Some(range), Some(access)) = (words.next(), words.next()) else { continue };
        let path = words.nth(3);
        let Some((from, to)) = range.split_once('-') else { continue };
        let address = |text| usize::from_str_radix(text, 16).ok();
        let (Some(from), Some(to)) = (address(from), address(to)) else { continue };
        if !access.starts_with("rw") {
            continue;
        }
        match path {
            Some(path) if path.starts_with('/') => segments.push(from..to),
            None => {
                if let Some(last) = segments.last_mut().filter(|last| last.end == from) {
                    last.end = to;
                }
            }
            Some(_) => {}
        }
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_what_is_written_of_files_and_what_follows() {
        let maps = "\
55d0-55d8 r--p 00000000 fe:00 12  /bin/test
55d8-55e0 r-xp 00008000 fe:00 12  /bin/test
55e0-55e8 rw-p 00010000 fe:00 12  /bin/test
55e8-55f0 rw-p 00000000 00:00 0
5600-5700 rw-p 00000000 00:00 0  [heap]
7f00-7f10 rw-p 00000000 00:00 0
7f20-7f30 rw-p 00010000 fe:00 13  /lib/libc.so.6
7f30-7f40 rw-p 00000000 00:00 0
";
        assert_eq!(segments(maps), [0x55e0..0x55f0, 0x7f20..0x7f40]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn statics_are_told_from_the_heap_and_the_stack() {
        use std::sync::atomic::AtomicU32;
        static DATA: AtomicU32 = AtomicU32::new(7);
        static ZERO: AtomicU32 = AtomicU32::new(0);
        let (boxed, local) = (Box::new(AtomicU32::new(0)), AtomicU32::new(0));
        let statics = Statics::new();
        assert!(statics.contains(Place::of(&DATA)) && statics.contains(Place::of(&ZERO)));
        assert!(!statics.contains(Place::of(&*boxed)) && !statics.contains(Place::of(&local)));
    }
}
