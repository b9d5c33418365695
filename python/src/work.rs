//! Long work beside the interpreter.

use std::any::Any;
use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use gpusched::effort::Effort;
use gpusched::limits::Allowance;
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

use crate::errors::{Failure, InternalError};

/// Between two looks at signals and the memory.
pub(crate) const EVERY: Duration = Duration::from_millis(20);
/// For how long work that Ctrl-C stopped is waited for. It ends far earlier, unless it is at something that does not
/// look whether it is to end: that goes on, and what it comes to is dropped.
const GRACE: Duration = Duration::from_secs(2);
/// As large as the main thread's usually is.
const STACK_BYTES: usize = 8 << 20;

/// Memory that a call may take \[bytes\]; 0: what is usual.
static MOST_MEMORY: AtomicU64 = AtomicU64::new(0);

/// Limits the memory that one call may take; None: three quarters of what this machine has free when the call begins.
#[pyfunction]
#[pyo3(signature = (limit))]
pub(crate) fn set_memory_limit(limit: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let wrong = || PyValueError::new_err("expected a whole number of bytes from 1, or None");
    let bytes = match limit {
        None => 0,
        Some(limit) => match limit.extract::<u64>() {
            Ok(0) => return Err(wrong()),
            Ok(bytes) => bytes,
            // More than there is anywhere is as good as no limit.
            Err(error) if error.is_instance_of::<PyOverflowError>(limit.py()) && limit.gt(0)? => u64::MAX,
            Err(error) if error.is_instance_of::<PyOverflowError>(limit.py()) => return Err(wrong()),
            Err(error) => return Err(error),
        },
    };
    MOST_MEMORY.store(bytes, Ordering::Relaxed);
    Ok(())
}

/// What a call may take from now on; `None` where the system does not tell how much memory there is.
pub(crate) fn allowance() -> Option<Allowance> {
    let most = MOST_MEMORY.load(Ordering::Relaxed);
    Allowance::new((most > 0).then_some(most))
}

/// What is told of work that took more.
pub(crate) fn took_too_much(allowance: &Allowance) -> Failure {
    Failure::Memory(format!(
        "it took more than {} MiB; gpusched.set_memory_limit(bytes) allows it more",
        allowance.bytes() >> 20
    ))
}

/// Refuses what is known beforehand to take more memory than there may be.
pub(crate) fn refuse_beyond_memory(bytes: u64, what: &str) -> Result<(), Failure> {
    /// Less is there anyway, and asking takes longer than most work.
    const WORTH_ASKING: u64 = 64 << 20;
    if bytes < WORTH_ASKING {
        return Ok(());
    }
    let Some(allowance) = allowance().filter(|allowance| bytes > allowance.bytes()) else { return Ok(()) };
    Err(Failure::Memory(format!(
        "{what} takes {} MiB at least, and {} MiB are allowed; gpusched.set_memory_limit(bytes) allows it more",
        bytes >> 20,
        allowance.bytes() >> 20
    )))
}

/// Does `work` on a thread of its own, without the interpreter's lock, while this thread looks for signals and at the
/// memory: after Ctrl-C, and when it takes too much, the work is stopped and an exception raised once it has ended.
/// A panic becomes an exception.
pub(crate) fn aside<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    on_threads(py, 1, work)
}

/// As [`aside`], for work that divides itself, on one thread for each core.
pub(crate) fn on_all_cores<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    on_threads(py, 0, work)
}

/// As [`aside`], on so many threads; 0: one for each core.
pub(crate) fn on_threads<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let effort = Arc::new(Effort::all_or_nothing());
    let (sender, mut receiver) = channel();
    let own = Arc::clone(&effort);
    let thread = thread::Builder::new().name("gpusched".to_owned());
    let thread = thread.spawn(move || {
        let all = || own.on_own_threads(threads, STACK_BYTES, work);
        let result = catch_unwind(AssertUnwindSafe(all));
        // Nobody may be there any more.
        let _ = sender.send(result);
    })?;
    let allowance = OnceCell::new();
    let mut took_too_much_of = None;
    let result = loop {
        let heard;
        // A receiver may be moved to another thread, but not shared.
        (receiver, heard) = py.detach(move || {
            let heard = receiver.recv_timeout(EVERY);
            (receiver, heard)
        });
        match heard {
            Ok(result) => break result,
            Err(RecvTimeoutError::Disconnected) => return Err(InternalError::new_err("a thread ended early")),
            Err(RecvTimeoutError::Timeout) => {}
        }
        // Work that lasts no longer than that is not worth asking the system.
        let allowance = allowance.get_or_init(self::allowance);
        if took_too_much_of.is_none()
            && let Some(allowance) = allowance.filter(Allowance::is_exceeded)
        {
            took_too_much_of = Some(allowance);
            effort.stop();
        }
        if let Err(interrupt) = py.check_signals() {
            effort.stop();
            py.detach(move || {
                if receiver.recv_timeout(GRACE).is_ok() {
                    let _ = thread.join();
                }
            });
            return Err(interrupt);
        }
    };
    // A moment later it is gone, and a process that is forked now has one thread.
    py.detach(move || thread.join()).map_err(|panic| defect(panic.as_ref()))?;
    match (result, took_too_much_of) {
        (Err(panic), _) => Err(defect(panic.as_ref())),
        // Part of a result is none.
        (Ok(_), Some(allowance)) => Err(took_too_much(&allowance).into_exception(py)),
        (Ok(Ok(result)), None) => result.map_err(|failure| failure.into_exception(py)),
        (Ok(Err(error)), None) => Err(Failure::run(&error).into_exception(py)),
    }
}

/// What is told of a panic.
fn defect(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic");
    InternalError::new_err(format!("a defect of gpusched, please report it: {text}"))
}
