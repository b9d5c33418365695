//! How a command ends before its time: Ctrl-C, SIGTERM, too much memory, too long.
//!
//! A command ends in memory and processor time that its input explains, unless it is told to go on: whoever runs it on a
//! file of somebody else's is told that the file asks for more, and with which option it goes on.
//!
//! One thread watches, whatever the others are at. A command that keeps what is complete is asked to stop and has a moment
//! for it; any other ends at once. Either way no file is left half-written.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration as StdDuration, Instant as StdInstant};

use anyhow::Context;
use clap::Args;
use gpusched::time::Duration;

/// How far a command may go.
#[derive(Debug, Args)]
pub(crate) struct Limits {
    /// End the command once it holds more memory than this, for example 500M or 8G
    /// [default: 1G and 32 times the size of its input files]
    #[arg(long, global = true, help_heading = "Limits", value_name = "SIZE", value_parser = parse_size)]
    max_memory: Option<u64>,
    /// End the command after this time, for example 60s [default: 8 s of processor time and 1 ms for each byte of its
    /// input files; no limit for what is to last as long as it does, such as figures, tours, curves, studies, numbers of
    /// samples]
    #[arg(long, global = true, help_heading = "Limits", value_name = "TIME", value_parser = Duration::parse)]
    max_time: Option<Duration>,
}

/// Memory that a command may take if nobody says otherwise \[bytes\]: the same on every machine, so that the same
/// command ends alike everywhere.
const DEFAULT_MEMORY: u64 = 1 << 30;
/// And so many times the size of its input files.
const TIMES_INPUT: u64 = 32;

/// Processor time that a command may take if nobody says otherwise. What small inputs ask for is done in a fraction of it.
#[cfg(unix)]
const DEFAULT_TIME: StdDuration = StdDuration::from_secs(8);
/// And so much for each byte of its input files.
#[cfg(unix)]
const TIME_PER_BYTE: StdDuration = StdDuration::from_millis(1);

/// Between two looks at the clock and the memory.
const EVERY: StdDuration = StdDuration::from_millis(20);

/// How long a command that was asked to stop goes on at most if it has nothing to keep: Ctrl-C may come before it has said
/// so.
const GRACE: StdDuration = StdDuration::from_millis(20);
/// How long a command has to come to the end of what it is at, and keep what is complete. Most take a few milliseconds.
const GRACE_TO_KEEP: StdDuration = StdDuration::from_secs(2);

/// Exit status after Ctrl-C or a signal to end.
const INTERRUPTED: i32 = 130;
/// Exit status for what a command refuses.
const REFUSED: i32 = 2;

/// Bytes that were read from input files.
static INPUT: AtomicU64 = AtomicU64::new(0);
/// Files that are being written under temporary names.
static TEMPORARIES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// Set once the command is asked to stop.
static STOP: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// Whether the command looks at it.
static LOOKS: AtomicBool = AtomicBool::new(false);
/// Whether its options say how long the command lasts.
static IS_ASKED_FOR: AtomicBool = AtomicBool::new(false);
/// Set once the command has stopped because it was asked to, and tells what it has.
static FINISHING: AtomicBool = AtomicBool::new(false);

fn parse_size(text: &str) -> Result<u64, String> {
    let trimmed = text.trim();
    let units = [("K", 10), ("M", 20), ("G", 30)];
    let unit = units.iter().find_map(|(unit, shift)| Some((trimmed.strip_suffix(unit)?, *shift)));
    let (number, shift) = unit.unwrap_or((trimmed, 0));
    let bytes = number.trim_end().parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| "expected bytes, or a whole number with K, M or G, for example 500M".to_owned())
}

/// Tells that so many bytes of input were read; a command may take more memory for more of it.
pub(crate) fn has_read(bytes: usize) {
    INPUT.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// What the command was asked for takes the time that it takes, whatever its input.
pub(crate) fn lasts_as_asked() {
    IS_ASKED_FOR.store(true, Ordering::Relaxed);
}

/// What a command looks at that keeps what is complete when it is asked to stop. It is ended a moment after that unless it
/// is [`finishing`] by then, as are commands that do not look.
pub(crate) fn stop_flag() -> Arc<AtomicBool> {
    LOOKS.store(true, Ordering::Relaxed);
    Arc::clone(&STOP)
}

/// The command has stopped working, and tells what it has: if it was asked to stop, it is ended only if it is asked again.
/// Says whether it was.
pub(crate) fn finishing() -> bool {
    let was_asked = STOP.load(Ordering::Relaxed);
    FINISHING.store(was_asked, Ordering::Relaxed);
    was_asked
}

/// A file under a temporary name, which is gone unless it is given its own.
pub(crate) struct Temporary(PathBuf);

impl Temporary {
    /// Makes the file.
    pub(crate) fn create(path: PathBuf) -> io::Result<(Self, File)> {
        // Within the lock, so that a file is made or removed, and not made after it was to be removed.
        let mut known = TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner);
        let file = File::create_new(&path)?;
        known.insert(path.clone());
        Ok((Self(path), file))
    }

    /// Gives the file its name.
    pub(crate) fn rename(&self, to: &Path) -> io::Result<()> {
        Self::rename_all([(self, to)]).map_err(|(_, error)| error)
    }

    /// Gives several files their names. The command does not end between two of them.
    ///
    /// # Errors
    /// The name that the system refuses to give, and why.
    pub(crate) fn rename_all<'t>(
        files: impl IntoIterator<Item = (&'t Self, &'t Path)>,
    ) -> Result<(), (&'t Path, io::Error)> {
        let _known = TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner);
        files.into_iter().try_for_each(|(file, to)| fs::rename(&file.0, to).map_err(|error| (to, error)))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut known = TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(&self.0);
        // It may have its name, and what is left of a failed attempt is of no use.
        let _ = fs::remove_file(&self.0);
    }
}

/// Ends the process. The lock of the files is kept, so that none is made or named meanwhile.
fn end(text: &str, status: i32) -> ! {
    let known = TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner);
    for path in &*known {
        let _ = fs::remove_file(path);
    }
    // If stderr is closed there is nobody left to tell.
    let _ = writeln!(io::stderr(), "{text}");
    std::process::exit(status)
}

impl Limits {
    /// Watches over the command from now on.
    pub(crate) fn watch(&self) -> anyhow::Result<()> {
        let (signals, received) = channel();
        // The receiver lives as long as the process.
        ctrlc::set_handler(move || _ = signals.send(())).context("cannot watch for Ctrl-C")?;
        let watcher = Watcher {
            signals: received,
            max_memory: self.max_memory,
            deadline: self.max_time.map(|time| (StdInstant::now() + StdDuration::from_nanos(time.as_ns()), time)),
            has_default: self.max_time.is_none(),
        };
        let thread = std::thread::Builder::new().name("watch".to_owned());
        thread.spawn(move || watcher.run()).context("cannot start a thread")?;
        Ok(())
    }
}

struct Watcher {
    signals: Receiver<()>,
    max_memory: Option<u64>,
    /// By when the command is to end, which is after how long; `None` without one, or once it was told.
    deadline: Option<(StdInstant, Duration)>,
    /// Whether there is a limit of processor time, which was not told yet.
    has_default: bool,
}

impl Watcher {
    fn run(mut self) {
        loop {
            match self.signals.recv_timeout(EVERY) {
                Ok(()) => self.ask("stopped", INTERRUPTED),
                Err(RecvTimeoutError::Timeout) => {}
                // The handler is never taken away.
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if let Some((_, time)) = self.deadline.take_if(|(deadline, _)| StdInstant::now() >= *deadline)
                && !FINISHING.load(Ordering::Relaxed)
            {
                self.ask(&format!("error: the command was ended after {time} (--max-time)"), REFUSED);
            }
            self.look_at_processor_time();
            self.look_at_memory();
        }
    }

    #[cfg(unix)]
    fn look_at_processor_time(&mut self) {
        use nix::sys::resource::{UsageWho, getrusage};

        if !self.has_default || IS_ASKED_FOR.load(Ordering::Relaxed) || FINISHING.load(Ordering::Relaxed) {
            return;
        }
        let input = u32::try_from(INPUT.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
        let allowed = DEFAULT_TIME + TIME_PER_BYTE * input;
        // Where the system does not tell, nothing is limited.
        let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return };
        let [user, system] = [usage.user_time(), usage.system_time()].map(|time| {
            StdDuration::from_secs(u64::try_from(time.tv_sec()).unwrap_or(0))
                + StdDuration::from_micros(u64::try_from(time.tv_usec()).unwrap_or(0))
        });
        if user + system <= allowed {
            return;
        }
        self.has_default = false;
        let spent = format!(
            "{:.1} s of processor time, more than its input explains; with --max-time, for example --max-time 3600s, it goes on",
            allowed.as_secs_f64()
        );
        if LOOKS.load(Ordering::Relaxed) {
            // If stderr is closed there is nobody left to tell.
            let _ = writeln!(io::stderr(), "note: stopped after {spent}");
        }
        self.ask(&format!("error: the command was ended after {spent}"), REFUSED);
    }

    #[cfg(not(unix))]
    fn look_at_processor_time(&mut self) {}

    fn look_at_memory(&self) {
        let by_input = || TIMES_INPUT.saturating_mul(INPUT.load(Ordering::Relaxed)).saturating_add(DEFAULT_MEMORY);
        let allowed = self.max_memory.unwrap_or_else(by_input);
        // Where the system does not tell, nothing is limited.
        let held = memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem as u64);
        if held > allowed {
            let allowed = allowed >> 20;
            end(
                &format!("error: the command was ended at {allowed} MiB of memory; --max-memory allows it more"),
                REFUSED,
            );
        }
    }

    /// Asks the command to stop, and ends it if it does not, or was asked before.
    fn ask(&self, text: &str, status: i32) {
        let was_asked = STOP.swap(true, Ordering::Relaxed);
        let asked = StdInstant::now();
        let grace = || if LOOKS.load(Ordering::Relaxed) { GRACE_TO_KEEP } else { GRACE };
        while !was_asked && asked.elapsed() < grace() {
            if FINISHING.load(Ordering::Relaxed) {
                return;
            }
            if self.signals.recv_timeout(EVERY / 4).is_ok() {
                break;
            }
        }
        end(text, status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_bytes_or_have_a_unit() {
        let sizes = ["1", "4K", "500M", "8G", " 2 G "].map(parse_size);
        assert_eq!(sizes, [1, 4 << 10, 500 << 20, 8 << 30, 2 << 30].map(Ok));
        for wrong in ["", "0", "G", "1.5G", "-1", "1T", "17179869184G"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
