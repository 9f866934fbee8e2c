//! The function of `std::hint` for threads that wait.

/// Signals that this thread waits in a loop: `std::hint::spin_loop`, as a schedule point.
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
