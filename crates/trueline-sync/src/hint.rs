//! A replacement for `std::hint::spin_loop`.

/// Signals that this thread is waiting in a loop. Replaces `std::hint::spin_loop`, and is a schedule
/// point.
///
/// ```
/// trueline_sync::hint::spin_loop();
/// ```
#[inline]
pub fn spin_loop() {
    if !crate::world::spin_in_world() {
        std::hint::spin_loop();
    }
}
