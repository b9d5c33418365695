//! What a command is at, shown on a terminal once it has lasted a second: how much of it is done, how fast, and how
//! long it still takes. Elsewhere nothing is shown.

use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use gpusched::effort::{self, Counted as Work, EarlyEnd, Progress};
use gpusched::formats::RowsPart;
use gpusched::hosts::{AnyLength, HeldAtMost, SimulateOptions, simulate_any_length, simulate_with};
use gpusched::run::Run;
use gpusched::scenario::{HostThread, Scenario};
use gpusched::tables::simulate_to_rows;
use gpusched::time::Duration as Time;
use indicatif::{ProgressBar, ProgressStyle};

use super::ending;

/// What lasts less shows nothing.
const LASTING: Duration = Duration::from_secs(1);
/// Between two looks.
const EVERY: Duration = Duration::from_millis(100);

/// What is counted of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    None,
    Bytes,
    /// Things of this name, in the plural.
    Of(&'static str),
}

/// A part of what a command does.
#[derive(Debug, Clone, Copy)]
struct Stage {
    what: &'static str,
    unit: Unit,
    /// How much there is, if that is known.
    total: Option<u64>,
    /// How much of it was done before it began.
    before: u64,
    began: Instant,
    /// When it is expected to end, if something better is known than its rate so far.
    ends: Option<Instant>,
}

static STAGE: Mutex<Option<Stage>> = Mutex::new(None);
static DONE: AtomicU64 = AtomicU64::new(0);
/// Whether a stage is shown until it ends, whatever else begins meanwhile.
static HELD: AtomicBool = AtomicBool::new(false);
/// What it is shown with; none unless standard error is a terminal.
static LINE: OnceLock<ProgressBar> = OnceLock::new();

/// Shows from now on what the command is at, if standard error is a terminal.
pub(crate) fn show() {
    if !io::stderr().is_terminal() {
        return;
    }
    let line = LINE.get_or_init(|| {
        let style = ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
        ProgressBar::no_length().with_style(style)
    });
    let began = Instant::now();
    let draw = move || loop {
        thread::sleep(EVERY);
        let stage = STAGE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stage) = stage.as_ref().filter(|_| began.elapsed() >= LASTING) {
            line.set_message(stage.text(DONE.load(Ordering::Relaxed), stage.began.elapsed()));
        }
    };
    // Without it nothing is shown, and nothing else is lost.
    let _ = thread::Builder::new().name("progress".to_owned()).spawn(draw);
}

/// Whether there is a terminal to show it on.
pub(crate) fn is_shown() -> bool {
    LINE.get().is_some()
}

/// The command begins with something.
pub(crate) fn begin(what: &'static str, unit: Unit, total: Option<u64>) {
    resume(what, unit, total, 0);
}

/// The command goes on with something of which so much is done already.
pub(crate) fn resume(what: &'static str, unit: Unit, total: Option<u64>, before: u64) {
    if LINE.get().is_none() || HELD.load(Ordering::Relaxed) {
        return;
    }
    let mut stage = STAGE.lock().unwrap_or_else(PoisonError::into_inner);
    DONE.store(before, Ordering::Relaxed);
    *stage = Some(Stage { what, unit, total, before, began: Instant::now(), ends: None });
}

/// The command begins with something that is shown until its end, whatever it consists of.
pub(crate) fn hold(what: &'static str, unit: Unit, total: Option<u64>) {
    begin(what, unit, total);
    HELD.store(true, Ordering::Relaxed);
}

/// So much more of what is held, or else of the present stage, is done.
pub(crate) fn advance(amount: u64) {
    DONE.fetch_add(amount, Ordering::Relaxed);
}

/// Where what is held, or else the present stage, is counted.
pub(crate) fn own() -> Progress<'static> {
    Progress::counted_in(&DONE)
}

/// What is held, or else the present stage, is expected to take so much longer.
pub(crate) fn expect(left: Duration) {
    if LINE.get().is_some()
        && let Some(stage) = STAGE.lock().unwrap_or_else(PoisonError::into_inner).as_mut()
    {
        stage.ends = Instant::now().checked_add(left);
    }
}

/// So much of the present stage is done in all, if that is what is shown.
pub(crate) fn reach(amount: u64) {
    if !HELD.load(Ordering::Relaxed) {
        DONE.store(amount, Ordering::Relaxed);
    }
}

/// So much more of the present stage is done, if that is what is shown.
fn advance_stage(amount: usize) {
    if !HELD.load(Ordering::Relaxed) {
        advance(amount as u64);
    }
}

/// Nothing is shown from now on until something begins.
pub(crate) fn end() {
    HELD.store(false, Ordering::Relaxed);
    if let Some(line) = LINE.get() {
        *STAGE.lock().unwrap_or_else(PoisonError::into_inner) = None;
        line.set_message("");
        line.finish_and_clear();
        line.reset();
    }
}

/// Writes something else to the terminal, without what is shown getting in between.
pub(crate) fn aside<T>(write: impl FnOnce() -> T) -> T {
    match LINE.get() {
        Some(line) => line.suspend(write),
        None => write(),
    }
}

/// The command does something that counts itself how much of it is done.
pub(crate) fn counted<T>(
    what: &'static str,
    unit: Unit,
    total: Option<u64>,
    work: impl FnOnce(Progress<'static>) -> T,
) -> T {
    if LINE.get().is_none() || HELD.load(Ordering::Relaxed) {
        return work(Progress::NONE);
    }
    begin(what, unit, total);
    work(own())
}

/// Simulates a scenario, with or without details in its record, and shows how far it is. If that is stopped, `note` is
/// told how far it came.
pub(crate) fn simulated(scenario: &Scenario, keeps_details: bool, note: impl FnOnce(&str)) -> anyhow::Result<Run<'_>> {
    ending::keep_complete_results();
    let mut options = SimulateOptions::of(scenario);
    (options.gpu.may_be_cut, options.gpu.keeps_details) = (true, keeps_details);
    let run = simulating(scenario, |progress| simulate_with(scenario, SimulateOptions { progress, ..options }))?;
    if ending::reason().is_some() {
        let at = Time::from_ns(run.trace.end().as_ns());
        note(&format!("the scenario's own run had come to {at}; --horizon '{at}' tells what is complete by then"));
        return Err(EarlyEnd::Stopped.into());
    }
    ending::keep_nothing();
    Ok(run)
}

/// The same of a run that is told of also if it is stopped, of which so much is held, and of which it is said whether
/// what repeats is run again. With `rows` the table of its kernel launches is written at once, if it is long.
pub(crate) fn simulated_until_stopped<'s>(
    scenario: &'s Scenario,
    held: HeldAtMost,
    skip_repeats: bool,
    rows: Option<(RowsPart<'_>, &mut (dyn Write + Send))>,
) -> anyhow::Result<AnyLength<'s>> {
    let mut options = SimulateOptions { skip_repeats, ..SimulateOptions::of(scenario) };
    options.gpu.may_be_cut = true;
    simulating(scenario, |progress| {
        let options = SimulateOptions { progress, ..options };
        match rows {
            Some((part, out)) => Ok(simulate_to_rows(scenario, options, held, part, out)??),
            None => Ok(simulate_any_length(scenario, options, held)?),
        }
    })
}

fn simulating<T>(scenario: &Scenario, simulate: impl FnOnce(Progress<'static>) -> T) -> T {
    counted("simulating", Unit::Of("operations"), operations(scenario), simulate)
}

/// How many operations a run has; unknown with a horizon, a time limit or a repetition.
pub(crate) fn operations(scenario: &Scenario) -> Option<u64> {
    let is_certain = |thread: &HostThread| !thread.may_end_early() && thread.iterations.is_some();
    let submitted = || scenario.threads.iter().map(HostThread::submissions).fold(0, u64::saturating_add);
    (scenario.horizon.is_none() && scenario.threads.iter().all(is_certain)).then(submitted)
}

/// Reads all that is left of a source, and counts it. Piece by piece, as a source that counts would be given room that
/// was overwritten for it.
pub(crate) fn read_to_end(mut source: impl Read, bytes: &mut Vec<u8>) -> io::Result<()> {
    const PIECE: u64 = 1 << 20;
    loop {
        let read = source.by_ref().take(PIECE).read_to_end(bytes)?;
        if read == 0 {
            return Ok(());
        }
        advance_stage(read);
    }
}

/// Counts what is read or written through it, as the present stage unless another is held.
#[derive(Debug)]
pub(crate) struct Counted<T>(T);

impl<T> Counted<T> {
    pub(crate) fn reader(source: T) -> Self {
        Self(source)
    }

    /// The command begins to write, to a terminal, where that is not shown, or elsewhere.
    pub(crate) fn writer(out: T, is_terminal: bool) -> Self {
        if is_terminal {
            end();
        } else {
            begin("writing", Unit::Bytes, None);
        }
        Self(out)
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(bytes)?;
        advance_stage(read);
        Ok(read)
    }
}

impl<R: Seek> Seek for Counted<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = self.0.seek(to)?;
        reach(position);
        Ok(position)
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(over @ EarlyEnd::TooMuch { .. }) = effort::spend(Work::Bytes, bytes.len() as u64) {
            return Err(io::Error::other(over));
        }
        let written = self.0.write(bytes)?;
        advance_stage(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Stage {
    /// What is shown of it after some time.
    fn text(&self, done: u64, elapsed: Duration) -> String {
        let Self { what, unit, total, before, .. } = *self;
        let amount = |number: u64| match unit {
            Unit::Bytes => format!("{:.1} MB", number as f64 / 1e6),
            Unit::None | Unit::Of(_) => number.to_string(),
        };
        let name = if let Unit::Of(name) = unit { format!(" {name}") } else { String::new() };
        let now = done.saturating_sub(before);
        match total {
            _ if unit == Unit::None || done == 0 && total.is_none() => what.to_owned(),
            Some(total) if now == 0 => format!("{what} {}{name}", amount(total)),
            _ => {
                let per_second = now as f64 / elapsed.as_secs_f64().max(1e-3);
                let rate = match unit {
                    Unit::Bytes => format!("{:.1} MB/s", per_second / 1e6),
                    Unit::None | Unit::Of(_) => format!("{per_second:.0}/s"),
                };
                let of = total.map(|total| format!(" of {}", amount(total))).unwrap_or_default();
                let until = |end: Instant| end.saturating_duration_since(self.began + elapsed).as_secs_f64();
                let at_this_rate = || total.map(|total| total.saturating_sub(done) as f64 / per_second);
                let left = self.ends.map(until).or_else(at_this_rate);
                let left = left.map(|left| format!(", {left:.0} s left")).unwrap_or_default();
                format!("{what}: {}{of}{name}, {rate}{left}", amount(done))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_tells_amount_rate_and_time_left_as_far_as_they_are_known() {
        let began = Instant::now();
        let stage = |unit, total, before| Stage { what: "at it", unit, total, before, began, ends: None };
        let after = |stage: Stage, done| stage.text(done, Duration::from_secs(2));
        assert_eq!(after(stage(Unit::Of("runs"), Some(100), 0), 40), "at it: 40 of 100 runs, 20/s, 3 s left");
        assert_eq!(after(stage(Unit::Of("runs"), Some(100), 40), 60), "at it: 60 of 100 runs, 10/s, 4 s left");
        let known = Stage { ends: Some(began + Duration::from_secs(9)), ..stage(Unit::Of("runs"), Some(100), 0) };
        assert_eq!(after(known, 40), "at it: 40 of 100 runs, 20/s, 7 s left");
        assert_eq!(after(stage(Unit::Of("runs"), None, 0), 40), "at it: 40 runs, 20/s");
        assert_eq!(after(stage(Unit::Bytes, Some(86_000_000), 0), 0), "at it 86.0 MB");
        assert_eq!(after(stage(Unit::Bytes, None, 0), 5_000_000), "at it: 5.0 MB, 2.5 MB/s");
        assert_eq!(after(stage(Unit::None, None, 0), 7), "at it");
    }
}
