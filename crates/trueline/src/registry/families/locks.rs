//! Locks and semaphores.

use super::notation::{ArgumentNotation, IGNORED, NOTHING, ResultNotation, Return, WHETHER, operations, without_key};
use crate::history::Value;
use crate::spec::{LockRet, Mutex, MutexOp, RwLock, RwLockOp, Semaphore, SemaphoreOp};

/// The result of an operation that blocks until it succeeds. The nonblocking variant of such an
/// operation has the same name with the prefix `try-`.
const WAITED: ResultNotation<()> = ResultNotation {
    read: |Return { name, record, result }| {
        if **result == Value::Bool(false) {
            return Err(format!(
                "{record} returned false, but in this spec `{name}` waits until it succeeds; if it may fail, rename it to \
                 `try-{name}`, or log a failed attempt as `fail`"
            ));
        }
        Ok(())
    },
    ..IGNORED
};

/// The result of an operation that fails instead of waiting if it cannot succeed at once.
const TAKEN: ResultNotation<bool> = WHETHER.meaning("true if it succeeded");

/// For operations without an argument. Reads the process that calls the operation, or `None` if the
/// process does not matter.
const CALLER: ArgumentNotation<Option<u32>> = ArgumentNotation {
    text: NOTHING.text,
    read: |call| without_key(call.record).map(|_| call.process.map(|process| process.0)),
    write: |_| (None, Value::Null),
};

operations! {
    Mutex: MutexOp, LockRet;
    "acquire" ["lock"] CALLER(by) [MutexOp::Acquire { by }] -> WAITED() [LockRet::Done];
    "try-acquire" ["try-lock"] CALLER(by) [MutexOp::TryAcquire { by }] -> TAKEN(taken) [LockRet::Taken(taken)];
    "release" ["unlock"] CALLER(by) [MutexOp::Release { by }] -> IGNORED() [LockRet::Done];
}

operations! {
    RwLock: RwLockOp, LockRet;
    "read-lock" ["lock-read", "lock-shared", "rlock", "acquire-read"]
        NOTHING() [RwLockOp::ReadLock] -> WAITED() [LockRet::Done];
    "try-read-lock" ["try-lock-read", "try-lock-shared", "try-rlock", "try-acquire-read"]
        NOTHING() [RwLockOp::TryReadLock] -> TAKEN(taken) [LockRet::Taken(taken)];
    "read-unlock" ["unlock-read", "unlock-shared", "runlock", "release-read"]
        NOTHING() [RwLockOp::ReadUnlock] -> IGNORED() [LockRet::Done];
    "write-lock" ["lock-write", "lock-exclusive", "wlock", "acquire-write"]
        NOTHING() [RwLockOp::WriteLock] -> WAITED() [LockRet::Done];
    "try-write-lock" ["try-lock-write", "try-lock-exclusive", "try-wlock", "try-acquire-write"]
        NOTHING() [RwLockOp::TryWriteLock] -> TAKEN(taken) [LockRet::Taken(taken)];
    "write-unlock" ["unlock-write", "unlock-exclusive", "wunlock", "release-write"]
        NOTHING() [RwLockOp::WriteUnlock] -> IGNORED() [LockRet::Done];
}

operations! {
    Semaphore: SemaphoreOp, LockRet;
    "acquire" ["wait", "down", "p"] NOTHING() [SemaphoreOp::Acquire] -> WAITED() [LockRet::Done];
    "try-acquire" ["try-wait", "try-down"]
        NOTHING() [SemaphoreOp::TryAcquire] -> TAKEN(taken) [LockRet::Taken(taken)];
    "release" ["signal", "post", "up", "v"] NOTHING() [SemaphoreOp::Release] -> IGNORED() [LockRet::Done];
}
