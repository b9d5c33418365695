//! How a command ends: its exit status, and what ends it before its time (Ctrl-C, SIGTERM, and the limits that it was
//! given).
//!
//! One thread watches. A command that keeps what is complete is asked to stop, and tells it; any other ends at once.
//! Either way no file is left half-written, and the exit status says what happened.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration as StdDuration, Instant as StdInstant};

use anyhow::{Context, bail};
use gpusched::effort::{self, EarlyEnd, Effort, Limits};
use gpusched::limits::Memory;
use gpusched::time::Duration;

/// Between two looks at the clock and the memory.
const EVERY: StdDuration = StdDuration::from_millis(20);
/// How long a command has to come to the end of what it is at, and tell what is complete. Most take a few milliseconds.
const GRACE: StdDuration = StdDuration::from_secs(10);

/// Why a command was asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Ctrl-C, or a signal to end.
    Signal,
    /// `--max-time`
    Time(Duration),
    /// `--max-memory`, or what the machine has \[bytes\]
    Memory(u64),
    /// Half of the addresses that the system allows.
    Addresses,
    /// Processor time of each input that `--limits strict` promises, though less was counted than it allows.
    Work(Duration),
}

impl Reason {
    /// As programs read it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Signal => "signal",
            Self::Time(_) => "max-time",
            Self::Memory(_) | Self::Addresses => "max-memory",
            Self::Work(_) => "limits",
        }
    }

    fn status(self) -> ExitStatus {
        if self == Self::Signal { ExitStatus::Stopped } else { ExitStatus::Limited }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signal => f.write_str("stopped by a signal"),
            Self::Time(time) => write!(f, "stopped by --max-time {time}"),
            Self::Memory(bytes) => write!(f, "stopped at {} MiB of memory (--max-memory)", bytes >> 20),
            Self::Addresses => f.write_str("stopped at half of the address space that was free (ulimit -v)"),
            Self::Work(time) => write!(f, "stopped after {time} of processor time (--limits strict)"),
        }
    }
}

/// What a command does, as far as that decides how it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Activity {
    /// Work of which nothing can be told before it is done.
    Work,
    /// Work of which what is complete is told when it is stopped.
    Keep,
    /// The same for several inputs, one after the other.
    KeepSeveral,
    /// It tells what it has.
    Report,
}

impl Activity {
    fn keeps(self) -> bool {
        matches!(self, Self::Keep | Self::KeepSeveral)
    }
}

/// What the thread that watches and those that work share.
struct EndState {
    activity: Activity,
    reason: Option<Reason>,
    /// Whether there is a reason, for work that looks often.
    stop: Arc<AtomicBool>,
    work: Limits,
    memory: Option<u64>,
    /// How many inputs were begun, each time that one was, the command as a whole among them.
    inputs: u64,
    /// Whether there is a limit of time or work.
    is_limited: bool,
    /// Files that are being written under temporary names.
    temporaries: BTreeSet<PathBuf>,
}

impl EndState {
    fn keep(&mut self, activity: Activity) {
        if self.activity != Activity::KeepSeveral {
            self.activity = activity;
        }
    }
}

static END_STATE: LazyLock<Mutex<EndState>> = LazyLock::new(|| {
    Mutex::new(EndState {
        activity: Activity::Work,
        reason: None,
        stop: Arc::default(),
        work: Limits::NONE,
        memory: None,
        inputs: 0,
        is_limited: false,
        temporaries: BTreeSet::new(),
    })
});

fn end_state() -> MutexGuard<'static, EndState> {
    END_STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn activity() -> Activity {
    end_state().activity
}

/// Looks at the files under temporary names, or changes them. The command does not end meanwhile.
pub(crate) fn temporaries<T>(change: impl FnOnce(&mut BTreeSet<PathBuf>) -> T) -> T {
    change(&mut end_state().temporaries)
}

/// The command keeps what is complete when it is asked to stop; it has a moment to come to the end of what it is at.
pub(crate) fn keep_complete_results() {
    end_state().keep(Activity::Keep);
}

/// Nothing can be told of what the command does from now on before it is done.
pub(crate) fn keep_nothing() {
    end_state().keep(Activity::Work);
}

/// [`keep_complete_results`] of several inputs, whatever the command is at with each of them until
/// [`stop_working_on_several`].
pub(crate) fn keep_results_of_several() {
    end_state().keep(Activity::KeepSeveral);
}

/// The command has stopped working, and tells what it has: only a signal ends it from now on.
///
/// # Errors
/// [`EarlyEnd::TooMuch`]
pub(crate) fn stop_working() -> anyhow::Result<()> {
    end_state().keep(Activity::Report);
    match effort::check() {
        Err(over) if over != EarlyEnd::Stopped => Err(over.into()),
        _ => Ok(()),
    }
}

/// The command has come to the end of several inputs.
pub(crate) fn stop_working_on_several() {
    end_state().activity = Activity::Report;
}

/// Why the command was asked to stop, if it was.
pub(crate) fn reason() -> Option<Reason> {
    end_state().reason
}

/// Does what one input asks for, within the limits of work and until it is asked to stop.
pub(crate) fn per_input<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let effort = {
        let mut state = end_state();
        state.inputs += 1;
        Arc::new(Effort::new(state.work, Arc::clone(&state.stop)))
    };
    let done = effort.within(work);
    match effort.check() {
        // What could not go on for it may say so in other words.
        Err(over) if over != EarlyEnd::Stopped => Err(over.into()),
        _ => {
            let done = done??;
            effort.check_whole()?;
            Ok(done)
        }
    }
}

/// Does work of which nothing can be told before it is done, within what is left of the limits of work; `None` if the
/// command was asked to stop before.
pub(crate) fn unless_stopped<T>(work: impl FnOnce() -> T) -> anyhow::Result<Option<T>> {
    let stop = Arc::clone(&end_state().stop);
    match Arc::new(Effort::all_or_nothing_until(stop)).within(work) {
        Ok(done) => Ok(Some(done)),
        Err(EarlyEnd::Stopped) => Ok(None),
        Err(over) => Err(over.into()),
    }
}

/// Whether it may not last as long, or do as much, as it likes.
pub(crate) fn is_limited() -> bool {
    end_state().is_limited
}

/// Refuses what is known to take more memory than there may be.
pub(crate) fn refuse_beyond_memory(bytes: u64, what: impl FnOnce() -> String) -> anyhow::Result<()> {
    match end_state().memory {
        Some(allowed) if bytes > allowed => bail!(
            "{} at least {} MiB of memory, and {} MiB are allowed here; --max-memory allows it more",
            what(),
            bytes >> 20,
            allowed >> 20
        ),
        _ => Ok(()),
    }
}

/// Ends the process that was stopped, and says whether it has told what was complete. The lock is kept, so that no file
/// is made or named meanwhile.
pub(crate) fn end(reason: Reason, has_told: bool) -> ! {
    let state = end_state();
    let told = if has_told { "what is told is what was complete by then" } else { "nothing more is told" };
    for path in &state.temporaries {
        let _ = fs::remove_file(path);
    }
    // If stderr is closed there is nobody left to tell.
    let _ = writeln!(io::stderr(), "{reason}: {told}");
    std::process::exit(reason.status().code().into())
}

/// Watches over the command from now on: how long it may last, how much memory it may hold \[bytes\], and how much work
/// each of its inputs may ask for, in what is counted and in processor time.
pub(crate) fn watch(
    time: Option<Duration>,
    memory: Option<u64>,
    (work, most_computing): (Limits, Option<Duration>),
) -> anyhow::Result<()> {
    let (signals, received) = channel();
    // The receiver lives as long as the process.
    ctrlc::set_handler(move || _ = signals.send(())).context("cannot watch for Ctrl-C")?;
    {
        let mut state = end_state();
        (state.work, state.memory) = (work, memory);
        state.is_limited = time.is_some() || work != Limits::NONE;
    }
    let deadline = time.map(|time| (StdInstant::now() + StdDuration::from_nanos(time.as_ns()), time));
    let addresses = Memory::now().map(|memory| memory.addresses).filter(|&addresses| addresses < u64::MAX);
    let least_addresses = addresses.map(|addresses| addresses / 2);
    let watcher = Watcher { signals: received, deadline, memory, least_addresses, most_computing };
    let thread = std::thread::Builder::new().name("watch".to_owned());
    exit_where_memory_is_refused()?;
    thread.spawn(move || watcher.run()).context("cannot start a thread")?;
    Ok(())
}

/// Ends the process with the status of a limit where the system refuses memory, behind the message of Rust's allocator:
/// else that is an abort. Panics, of which one within another aborts too, stay what they are.
fn exit_where_memory_is_refused() -> anyhow::Result<()> {
    #[cfg(unix)]
    {
        let without_panic = Arc::new(AtomicBool::new(true));
        let abort = signal_hook::consts::SIGABRT;
        signal_hook::flag::register_conditional_shutdown(
            abort,
            ExitStatus::Limited.code().into(),
            Arc::clone(&without_panic),
        )
        .context("cannot watch for memory that is refused")?;
        let told = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            without_panic.store(false, Ordering::Relaxed);
            told(panic);
        }));
    }
    Ok(())
}

/// How long this process has computed, all its threads together. Zero where the system does not tell as Linux does.
fn processor_time() -> Duration {
    /// In which Linux counts it on every machine but one that Rust does not know.
    const NS_OF_A_TICK: u64 = 10_000_000;
    let told = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name of the program, which may hold anything, and eleven others.
    let numbers = told.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    Duration::from_ns(numbers.filter_map(|number| number.parse::<u64>().ok()).sum::<u64>() * NS_OF_A_TICK)
}

struct Watcher {
    signals: Receiver<()>,
    /// By when the command is to end, which is after how long; `None` without one, or once it was told.
    deadline: Option<(StdInstant, Duration)>,
    memory: Option<u64>,
    /// What has to be left of addresses: as much again, for a list that grows stands twice for a moment.
    least_addresses: Option<u64>,
    /// How long each input may compute.
    most_computing: Option<Duration>,
}

impl Watcher {
    fn run(mut self) {
        loop {
            match self.signals.recv_timeout(EVERY) {
                Ok(()) => self.ask(Reason::Signal),
                Err(RecvTimeoutError::Timeout) => {}
                // The handler is never taken away.
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if let Some((_, time)) = self.deadline.take_if(|(deadline, _)| StdInstant::now() >= *deadline)
                && activity() != Activity::Report
            {
                self.ask(Reason::Time(time));
            }
            if let Some(most) = self.most_computing
                && processor_time().as_ns() > most.as_ns().saturating_mul(end_state().inputs.max(2) - 1)
            {
                end(Reason::Work(most), false);
            }
            if let Some(least) = self.least_addresses
                && Memory::now().is_some_and(|memory| memory.addresses < least)
            {
                end(Reason::Addresses, false);
            }
            let Some(allowed) = self.memory else { continue };
            // Where the system does not tell, nothing is limited.
            let held = memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem as u64);
            if held > allowed {
                end(Reason::Memory(allowed), false);
            }
            // The last third is for telling what is complete.
            if held > allowed / 3 * 2 && activity().keeps() && reason().is_none() {
                self.ask(Reason::Memory(allowed));
            }
        }
    }

    /// Asks the command to stop, and ends it if it does not, or was asked before.
    fn ask(&self, reason: Reason) {
        let (keeps, was_asked) = {
            let mut state = end_state();
            let was_asked = state.reason.is_some();
            // Of what is told already, nothing is cut but the telling.
            if state.activity != Activity::Report {
                state.reason.get_or_insert(reason);
                state.stop.store(true, Ordering::Relaxed);
            }
            (state.activity.keeps(), was_asked)
        };
        let asked = StdInstant::now();
        while !was_asked && keeps && asked.elapsed() < GRACE {
            if activity() == Activity::Report {
                return;
            }
            if self.signals.recv_timeout(EVERY / 4).is_ok() {
                break;
            }
        }
        end(reason, false)
    }
}

/// How a command ended, by its number. A fault has that of `sysexits.h` for software (`EX_SOFTWARE`), and a stop that
/// of a shell for what Ctrl-C ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    Done = 0,
    No = 1,
    Refused = 2,
    Limited = 3,
    Fault = 70,
    Stopped = 130,
}

impl ExitStatus {
    const MEANINGS: [(Self, &str); 6] = [
        (Self::Done, "done"),
        (Self::No, "done, and what was to be checked does not hold (--check, audit)"),
        (Self::Refused, "a wrong option, a bad input, or an output that cannot be written"),
        (Self::Limited, "stopped by a limit: --max-time, --max-memory, --limits strict, ulimit -v"),
        (Self::Fault, "a fault of gpusched: a run is above a bound on all runs; please report it"),
        (Self::Stopped, "stopped by Ctrl-C or a signal to end"),
    ];

    const fn code(self) -> u8 {
        self as u8
    }

    /// All of them, as help has them.
    pub(crate) fn help() -> String {
        let lines = Self::MEANINGS.map(|(status, meaning)| format!("\n  {:>3}  {meaning}", status.code()));
        format!("Exit status:{}", lines.concat())
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.code())
    }
}
