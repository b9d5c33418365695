//! Long work beside the interpreter.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors::{Failure, InternalError};

/// Between two looks at signals.
const EVERY: Duration = Duration::from_millis(50);
/// For how long work that was asked to stop is waited for. What does not look whether it is to stop goes on, and what it
/// comes to is dropped.
const GRACE: Duration = Duration::from_secs(1);
/// As large as the main thread's usually is.
const STACK_BYTES: usize = 8 << 20;

/// Does `work` on a thread of its own, without the interpreter's lock, while this thread looks for signals: after Ctrl-C
/// the flag is set, and `KeyboardInterrupt` raised. A panic becomes an exception.
pub(crate) fn aside<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, mut receiver) = channel();
    let seen = Arc::clone(&stop);
    let thread = thread::Builder::new().name("gpusched".to_owned()).stack_size(STACK_BYTES);
    thread.spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(|| work(&seen)));
        // Nobody may be there any more.
        let _ = sender.send(result);
    })?;
    loop {
        let heard;
        // A receiver may be moved to another thread, but not shared.
        (receiver, heard) = py.detach(move || {
            let heard = receiver.recv_timeout(EVERY);
            (receiver, heard)
        });
        match heard {
            Ok(Ok(result)) => return result.map_err(|failure| failure.into_exception(py)),
            Ok(Err(panic)) => return Err(defect(panic.as_ref())),
            Err(RecvTimeoutError::Disconnected) => return Err(InternalError::new_err("a thread ended early")),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(interrupt) = py.check_signals() {
            stop.store(true, Ordering::Relaxed);
            py.detach(move || {
                let _ = receiver.recv_timeout(GRACE);
            });
            return Err(interrupt);
        }
    }
}

/// What is told of a panic.
fn defect(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic");
    InternalError::new_err(format!("a defect of gpusched, please report it: {text}"))
}
