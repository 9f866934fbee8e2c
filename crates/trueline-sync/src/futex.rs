//! Handles the futex calls of code that is not instrumented, on Linux: the locks of `std` itself, and those of crates
//! that call the kernel directly.
//!
//! Such code waits in the system call `futex`, which it makes through the function `syscall` of the C library. In a
//! program that `cargo trueline` builds, the function [`syscall`] of this module replaces the function of the C
//! library. In a world that blocks threads, a task that would wait in the kernel waits in the world instead, because
//! other tasks run on the same thread. All other calls are passed on to the kernel.
#![expect(unsafe_code, reason = "this module defines `syscall` in place of the C library, and calls the kernel")]

use std::ffi::{c_int, c_long};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::world::{self, Access, AccessKind, Blocking, Named, Place, Wake};

#[cfg(target_arch = "x86_64")]
const FUTEX: c_long = 202;
#[cfg(target_arch = "aarch64")]
const FUTEX: c_long = 98;

// The operations of `futex`, without the bits for private futexes and for the clock.
const OPERATION: c_long = 0x7f;
const WAIT: c_long = 0;
const WAKE: c_long = 1;
const WAIT_BITSET: c_long = 9;
const WAKE_BITSET: c_long = 10;

const EAGAIN: c_int = 11;
const ETIMEDOUT: c_int = 110;

unsafe extern "C" {
    safe fn __errno_location() -> *mut c_int;
}

/// Replaces the function of the C library that calls the kernel.
///
/// # Safety
/// The caller must uphold the requirements of the system call.
// SAFETY: this function has the name and the effect of the function in the C library. The C library declares its
// function with a variable number of arguments. But both functions take their arguments from the same places: from
// registers and, on x86-64, the last argument from the stack.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscall(
    number: c_long,
    first: c_long,
    second: c_long,
    third: c_long,
    fourth: c_long,
    fifth: c_long,
    sixth: c_long,
) -> c_long {
    if number == FUTEX && world::is_inside() {
        if let Some(result) = in_world(first, second, third, fourth) {
            match result {
                Ok(woken) if woken > 0 || second & OPERATION == WAIT || second & OPERATION == WAIT_BITSET => {
                    return woken;
                }
                // Calls the kernel, too, because an operating-system thread may be waiting on this word.
                Ok(_) => {}
                Err(error) => return fail(error),
            }
        }
    }
    // SAFETY: the caller upholds the requirements of the system call.
    let result = unsafe { kernel(number, [first, second, third, fourth, fifth, sixth]) };
    if (-4095..0).contains(&result) { fail(c_int::try_from(-result).unwrap_or(EAGAIN)) } else { result }
}

fn fail(error: c_int) -> c_long {
    // SAFETY: in the C library, each thread has an error number, which lives as long as the thread.
    unsafe { *__errno_location() = error };
    -1
}

/// Handles a call in the world, if the world blocks threads. Returns the number of threads that were woken, or an error
/// number; `None` if the kernel must handle the call.
fn in_world(word: c_long, operation: c_long, value: c_long, timeout: c_long) -> Option<Result<c_long, c_int>> {
    if std::thread::panicking() {
        return None;
    }
    let world = world::current()?;
    let blocking = world.blocking()?;
    let pointer = std::ptr::with_exposed_provenance::<AtomicU32>(usize::try_from(word).ok()?);
    // SAFETY: the caller of `futex` passes the address of an aligned word. The word lives as long
    // as the caller waits, and other threads access it atomically.
    let word = unsafe { pointer.as_ref() }?;
    let place = Place::of(word);
    let point = |name| world::point_of_std(Access::new(AccessKind::Update, place), Named::new(name, "futex"));
    match operation & OPERATION {
        WAIT | WAIT_BITSET => {
            point("wait");
            let expected = value.to_ne_bytes();
            let expected = u32::from_ne_bytes([expected[0], expected[1], expected[2], expected[3]]);
            if word.load(Ordering::SeqCst) != expected {
                return Some(Err(EAGAIN));
            }
            if timeout != 0 {
                return Some(if blocking.block_for_a_while(place) { Err(ETIMEDOUT) } else { Ok(0) });
            }
            let address = pointer.expose_provenance();
            blocking.block_unless(place, Rc::new(move || has_changed(address, expected)));
            Some(Ok(0))
        }
        WAKE | WAKE_BITSET => {
            point("wake");
            Some(Ok(wake(blocking, place, value)))
        }
        _ => None,
    }
}

/// Returns whether the word at `address`, on which a task is waiting, no longer has the value
/// `expected`. An operating-system thread may have changed the word.
fn has_changed(address: usize, expected: u32) -> bool {
    let pointer = std::ptr::with_exposed_provenance::<AtomicU32>(address);
    // SAFETY: this is called while the task waits, so the word is alive.
    unsafe { &*pointer }.load(Ordering::SeqCst) != expected
}

fn wake(blocking: &dyn Blocking, place: Place, most: c_long) -> c_long {
    let blocked = blocking.blocked(place);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    if most >= blocked {
        blocking.wake(place, Wake::All);
    } else {
        (0..most).for_each(|_| blocking.wake(place, Wake::One));
    }
    c_long::try_from(blocked.min(most)).unwrap_or(c_long::MAX)
}

/// Calls the kernel.
///
/// # Safety
/// The caller must uphold the requirements of the system call.
#[cfg(target_arch = "x86_64")]
unsafe fn kernel(number: c_long, arguments: [c_long; 6]) -> c_long {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    let result;
    // SAFETY: this is the calling convention of the kernel: arguments are in these registers, and `rcx` and `r11` are
    // overwritten.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") first,
            in("rsi") second,
            in("rdx") third,
            in("r10") fourth,
            in("r8") fifth,
            in("r9") sixth,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack)
        );
    }
    result
}

/// Calls the kernel.
///
/// # Safety
/// The caller must uphold the requirements of the system call.
#[cfg(target_arch = "aarch64")]
unsafe fn kernel(number: c_long, arguments: [c_long; 6]) -> c_long {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    let result;
    // SAFETY: this is the calling convention of the kernel: arguments are in these registers.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") first => result,
            in("x1") second,
            in("x2") third,
            in("x3") fourth,
            in("x4") fifth,
            in("x5") sixth,
            options(nostack)
        );
    }
    result
}

/// Makes the linker include this module, because `enter` calls this function.
#[inline(never)]
pub(crate) fn link() {
    std::hint::black_box(syscall as *const ());
}
