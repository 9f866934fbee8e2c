//! Locks and semaphores.

use super::{DONE, Written, not_in_table, record, whether, without_key};
use crate::history::{ProcessId, Record, Value};
use crate::spec::{LockRet, Mutex, MutexOp, RwLock, RwLockOp, Semaphore, SemaphoreOp};

/// Reads the result of an operation that blocks until it succeeds; `attempt` is the name of the operation that does not
/// block.
fn waited(record: &Record, result: &Value, attempt: &str) -> Result<LockRet, String> {
    if *result == Value::Bool(false) {
        return Err(format!(
            "{record} returned false, but in this spec it waits until it succeeds; call one that may fail `{attempt}`, or log what did not happen as `fail`"
        ));
    }
    Ok(LockRet::Done)
}

/// Reads the result of an operation that does not block, and may fail.
fn tried(record: &Record, result: &Value) -> Result<LockRet, String> {
    whether(record, result).map(LockRet::Taken)
}

fn show_lock_ret(ret: &LockRet) -> String {
    match ret {
        LockRet::Done => DONE.to_owned(),
        LockRet::Taken(taken) => taken.to_string(),
    }
}

impl Written for Mutex {
    fn read_op(name: &str, process: Option<ProcessId>, record: &Record) -> Result<MutexOp, String> {
        without_key(record)?;
        let by = process.map(|process| process.0);
        Ok(match name {
            "acquire" => MutexOp::Acquire { by },
            "try-acquire" => MutexOp::TryAcquire { by },
            "release" => MutexOp::Release { by },
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, op: &MutexOp, result: &Value) -> Result<LockRet, String> {
        match op {
            MutexOp::Acquire { .. } => waited(record, result, "try-acquire"),
            MutexOp::TryAcquire { .. } => tried(record, result),
            MutexOp::Release { .. } => Ok(LockRet::Done),
        }
    }

    fn show_op(op: &MutexOp) -> Record {
        match op {
            MutexOp::Acquire { .. } => record("acquire", Value::Null),
            MutexOp::TryAcquire { .. } => record("try-acquire", Value::Null),
            MutexOp::Release { .. } => record("release", Value::Null),
        }
    }

    fn show_ret(ret: &LockRet) -> String {
        show_lock_ret(ret)
    }
}

impl Written for RwLock {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        without_key(record)?;
        Ok(match name {
            "read-lock" => RwLockOp::ReadLock,
            "try-read-lock" => RwLockOp::TryReadLock,
            "read-unlock" => RwLockOp::ReadUnlock,
            "write-lock" => RwLockOp::WriteLock,
            "try-write-lock" => RwLockOp::TryWriteLock,
            "write-unlock" => RwLockOp::WriteUnlock,
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        match op {
            RwLockOp::ReadLock => waited(record, result, "try-read-lock"),
            RwLockOp::WriteLock => waited(record, result, "try-write-lock"),
            RwLockOp::TryReadLock | RwLockOp::TryWriteLock => tried(record, result),
            RwLockOp::ReadUnlock | RwLockOp::WriteUnlock => Ok(LockRet::Done),
        }
    }

    fn show_op(op: &Self::Op) -> Record {
        let f = match op {
            RwLockOp::ReadLock => "read-lock",
            RwLockOp::TryReadLock => "try-read-lock",
            RwLockOp::ReadUnlock => "read-unlock",
            RwLockOp::WriteLock => "write-lock",
            RwLockOp::TryWriteLock => "try-write-lock",
            RwLockOp::WriteUnlock => "write-unlock",
        };
        record(f, Value::Null)
    }

    fn show_ret(ret: &Self::Ret) -> String {
        show_lock_ret(ret)
    }
}

impl Written for Semaphore {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        without_key(record)?;
        Ok(match name {
            "acquire" => SemaphoreOp::Acquire,
            "try-acquire" => SemaphoreOp::TryAcquire,
            "release" => SemaphoreOp::Release,
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        match op {
            SemaphoreOp::Acquire => waited(record, result, "try-acquire"),
            SemaphoreOp::TryAcquire => tried(record, result),
            SemaphoreOp::Release => Ok(LockRet::Done),
        }
    }

    fn show_op(op: &Self::Op) -> Record {
        let f = match op {
            SemaphoreOp::Acquire => "acquire",
            SemaphoreOp::TryAcquire => "try-acquire",
            SemaphoreOp::Release => "release",
        };
        record(f, Value::Null)
    }

    fn show_ret(ret: &Self::Ret) -> String {
        show_lock_ret(ret)
    }
}
