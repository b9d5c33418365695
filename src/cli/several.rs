//! Several scenarios in one command: run so many at once, told of one after the other in the order in which they were
//! given.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Arg;
use gpusched::formats::{Report, RowFormat, RowsPart, escaped_markdown};

use super::Answer;
use super::ending::{self, Reason};
use super::output::{self, Format, Out, note};
use super::progress::{self, Unit};

/// What a directory stands for: its files with these extensions.
const EXTENSIONS: [&str; 2] = ["json", "amxmi"];

/// Between two looks whether the command is to stop.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long the scenario whose turn it is has to come to the end of what it is at when the command is stopped.
const GRACE: Duration = Duration::from_secs(5);

/// Lets a command that takes a scenario take several.
pub(crate) fn accept(scenario: Arg) -> Arg {
    scenario.num_args(1..)
}

/// The scenario files that a command was given.
#[derive(Debug)]
pub(crate) struct Files {
    /// Their paths, in the order given; those of a directory by name.
    pub(crate) paths: Vec<PathBuf>,
    /// Whether more than one was asked for: by name, or by a directory.
    are_several: bool,
}

impl Files {
    /// Of what was given, with directories read.
    pub(crate) fn new(given: &[PathBuf]) -> anyhow::Result<Self> {
        let mut paths = Vec::new();
        for path in given {
            if path.is_dir() {
                paths.extend(files_in(path)?);
            } else {
                paths.push(path.clone());
            }
        }
        Ok(Self { paths, are_several: given.len() > 1 || given.iter().any(|path| path.is_dir()) })
    }

    /// One of them, or what was made of several.
    pub(crate) fn one(path: &Path) -> Self {
        Self { paths: vec![path.to_path_buf()], are_several: false }
    }

    /// Refuses options that write one file, if there is more than one scenario.
    pub(crate) fn refuse_options(&self, given: &[(&str, bool)]) -> anyhow::Result<()> {
        match given.iter().find(|(_, is_given)| *is_given && self.are_several) {
            Some((option, _)) => bail!("{option} is about one scenario: run those that it is wanted of one by one"),
            None => Ok(()),
        }
    }

    /// Says of which of them an error is, if it is not the only one.
    pub(crate) fn about<T>(&self, path: &Path, result: anyhow::Result<T>) -> anyhow::Result<T> {
        if self.are_several { result.with_context(|| path.display().to_string()) } else { result }
    }

    /// Runs `one` for each of the `inputs`, which are those of the files, at most `jobs` at once; it tells what it has
    /// to tell once it has its [`Part::turn`]. Ends at the first that fails, after everything before it is told.
    pub(crate) fn run<I: Send>(
        &self,
        inputs: Vec<I>,
        jobs: usize,
        format: Format,
        one: impl Fn(I, &Part<'_>) -> anyhow::Result<Answer> + Sync,
    ) -> anyhow::Result<Answer> {
        let names: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        let turns = Turns::default();
        let part = |index: usize| {
            let file = self.are_several.then(|| &*names[index]);
            Part { file, index, format, turns: &turns, is_first: AtomicBool::new(true), is_cut: AtomicBool::new(false) }
        };
        let mut inputs = inputs.into_iter();
        if !self.are_several {
            return inputs.next().map_or(Ok(Answer::Done), |input| one(input, &part(0)));
        }
        // What is told of those before it stands, whenever the command is stopped.
        ending::keep_results_of_several();
        // Each is taken once, so that its memory is given back when it is done.
        let inputs: Vec<Mutex<Option<I>>> = inputs.map(|input| Mutex::new(Some(input))).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some((index, input)) = take(&inputs, &next) {
                let part = part(index);
                let answer = ending::per_input(|| one(input, &part)).with_context(|| names[index].clone());
                if !turns.end(index, answer) {
                    return;
                }
                progress::advance(1);
            }
        };
        progress::hold("running", Unit::Of("scenarios"), Some(inputs.len() as u64));
        std::thread::scope(|scope| {
            for _ in 0..jobs.clamp(1, inputs.len().max(1)) {
                scope.spawn(work);
            }
            // Whoever works may be at something that takes long; nobody tells anything from then on.
            if let (Some(outcome), Some(reason)) = (turns.stopped(inputs.len()), ending::reason()) {
                // If it cannot be printed there is nobody left to tell.
                let _ = close(&outcome, format, inputs.len());
                ending::end(reason, true);
            }
        });
        ending::stop_working_on_several();
        let outcome = turns.outcome();
        close(&outcome, format, inputs.len())?;
        match outcome.failed {
            Some(error) => Err(error),
            None => Ok(if outcome.is_no { Answer::No } else { Answer::Done }),
        }
    }
}

/// Writes what stands behind the last of them, and says how many there are if that is not all.
fn close(outcome: &Outcome, format: Format, all: usize) -> anyhow::Result<()> {
    progress::end();
    let reason = ending::reason();
    let cut = |reason: Reason| {
        let (reason, complete) = (reason.name(), outcome.complete);
        format!(r#"{{"cut":{{"reason":"{reason}","complete":{complete},"of":{all}}}}}"#)
    };
    let text = match (format, reason) {
        (Format::Json, Some(reason)) => format!("{}{}]\n", if outcome.told > 0 { "," } else { "[" }, cut(reason)),
        (Format::Json, None) if outcome.told > 0 => "]\n".to_owned(),
        (Format::Jsonl, Some(reason)) => cut(reason).replacen('{', r#"{"row":"document","#, 1) + "\n",
        (Format::Table | Format::Markdown, Some(reason)) => {
            format!("\ncut: {reason}; {} of {all} scenarios are complete\n", outcome.complete)
        }
        _ => String::new(),
    };
    output::print(text.as_bytes())?;
    if format == Format::Arrow && outcome.told > 0 {
        output::print(RowFormat::Arrow.end())?;
    }
    Ok(())
}

fn files_in(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let cannot = || format!("cannot read {}", directory.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(directory).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_file() && extension.is_some_and(|extension| EXTENSIONS.contains(&extension)) {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        bail!("{} holds nothing to read: no file that ends in .json or .amxmi", directory.display());
    }
    paths.sort();
    Ok(paths)
}

fn take<I>(inputs: &[Mutex<Option<I>>], next: &AtomicUsize) -> Option<(usize, I)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    let input = inputs.get(index)?.lock().unwrap_or_else(PoisonError::into_inner).take()?;
    Some((index, input))
}

/// Whose turn it is to tell what came of it.
#[derive(Debug, Default)]
struct Turns {
    outcome: Mutex<Outcome>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Outcome {
    /// Whose turn it is.
    next: usize,
    /// Who was done before the command was stopped, and waits for the turn or has had it.
    ready: BTreeSet<usize>,
    /// How many have told all of it.
    complete: usize,
    /// How many have told something.
    told: usize,
    /// Whether one of them is at it.
    is_telling: bool,
    is_no: bool,
    failed: Option<anyhow::Error>,
    /// Whether the command was stopped, and all has been told that was done by then.
    is_stopped: bool,
}

impl Outcome {
    fn is_over(&self) -> bool {
        self.failed.is_some() || self.is_stopped
    }

    /// The turn of `index` is over. Of a command that was stopped, only those have theirs that were done by then.
    fn pass(&mut self, index: usize) {
        self.is_telling = false;
        self.next = index + 1;
        if ending::reason().is_some() {
            match self.ready.range(self.next..).next() {
                Some(&ready) => self.next = ready,
                None => self.is_stopped = true,
            }
        }
    }
}

impl Turns {
    fn lock(&self) -> MutexGuard<'_, Outcome> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, index: usize) -> MutexGuard<'_, Outcome> {
        let is_later = |outcome: &mut Outcome| outcome.next < index && !outcome.is_over();
        self.changed.wait_while(self.lock(), is_later).unwrap_or_else(PoisonError::into_inner)
    }

    /// The turn is over; whether there is another.
    fn end(&self, index: usize, answer: anyhow::Result<Answer>) -> bool {
        let mut outcome = self.wait(index);
        if outcome.is_over() || outcome.next > index {
            return false;
        }
        let is_stopped = ending::reason().is_some();
        match answer {
            Ok(answer) if !is_stopped || outcome.ready.contains(&index) => {
                outcome.complete += 1;
                outcome.is_no |= answer == Answer::No;
            }
            Err(error) if !is_stopped => outcome.failed = Some(error),
            // It was stopped in its midst.
            _ => {}
        }
        outcome.pass(index);
        let goes_on = outcome.failed.is_none() && !is_stopped;
        drop(outcome);
        self.changed.notify_all();
        goes_on
    }

    /// Waits until `all` have had their turn or one has failed; if the command is stopped before that, what came of
    /// them until then. The one whose turn it is has a moment to come to the end of what it is at, and tell it.
    fn stopped(&self, all: usize) -> Option<MutexGuard<'_, Outcome>> {
        let mut outcome = self.lock();
        let mut asked: Option<Instant> = None;
        while outcome.next < all && outcome.failed.is_none() {
            if ending::reason().is_some() {
                ending::stop_working_on_several();
                let is_slow = asked.get_or_insert_with(Instant::now).elapsed() > GRACE;
                if is_slow && !outcome.is_telling && !outcome.ready.contains(&outcome.next) {
                    let slow = outcome.next;
                    outcome.pass(slow);
                    self.changed.notify_all();
                }
                if outcome.is_stopped {
                    return Some(outcome);
                }
            }
            outcome = self.changed.wait_timeout(outcome, LOOK_EVERY).unwrap_or_else(PoisonError::into_inner).0;
        }
        None
    }

    fn outcome(self) -> Outcome {
        self.outcome.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is told of one scenario.
pub(crate) struct Part<'a> {
    /// The file, if there are several.
    file: Option<&'a str>,
    index: usize,
    format: Format,
    turns: &'a Turns,
    /// Whether nothing is told before it.
    is_first: AtomicBool,
    /// Whether the command was stopped before it was done.
    is_cut: AtomicBool,
}

impl Part<'_> {
    /// Waits until everything before it is told, and begins with what stands between two of them.
    pub(crate) fn turn(&self) -> anyhow::Result<Out> {
        if self.file.is_none() {
            ending::stop_working()?;
        }
        let is_cut = ending::reason().is_some();
        if !is_cut {
            self.turns.lock().ready.insert(self.index);
        }
        let mut outcome = self.turns.wait(self.index);
        if outcome.is_over() || outcome.next > self.index {
            // Nobody hears of it: the first that failed is what the command says, or that it was stopped.
            bail!("an earlier scenario failed");
        }
        let is_first = outcome.told == 0;
        self.is_first.store(is_first, Ordering::Relaxed);
        self.is_cut.store(is_cut, Ordering::Relaxed);
        outcome.told += 1;
        outcome.is_telling = true;
        drop(outcome);
        let mut out = output::stdout();
        if let Some(file) = self.file {
            match self.format {
                Format::Json => out.write_all(if is_first { b"[" } else { b"," })?,
                Format::Table if is_first => writeln!(out, "{file}")?,
                Format::Table => writeln!(out, "\n{file}")?,
                Format::Markdown if is_first => writeln!(out, "## {}\n", escaped_markdown(file))?,
                Format::Markdown => writeln!(out, "\n## {}\n", escaped_markdown(file))?,
                Format::Csv | Format::Arrow | Format::Jsonl => {}
            }
        }
        Ok(out)
    }

    /// Whether it is the only one.
    pub(crate) fn is_alone(&self) -> bool {
        self.file.is_none()
    }

    /// Prints its report, when it has its turn.
    pub(crate) fn print(&self, report: &impl Report, mut out: Out) -> io::Result<()> {
        let (begins, ends) = (self.is_first.load(Ordering::Relaxed), self.file.is_none());
        let part = RowsPart { file: self.file, begins, ends, ..self.format.rows() };
        let reason = ending::reason().filter(|_| self.is_cut.load(Ordering::Relaxed));
        output::write_report(report, self.format, part, reason, &mut out)?;
        match self.file {
            Some(_) => out.flush(),
            None => output::end(self.format, &mut out),
        }
    }

    /// Has no more use for what is known of the scenario. Of a single one, that is left to the end of the command,
    /// which gives all memory back at once.
    pub(crate) fn done_with<T>(&self, what: T) {
        if self.file.is_none() {
            std::mem::forget(what);
        }
    }

    /// A note to the user, on stderr.
    pub(crate) fn note(&self, text: &str) {
        match self.file {
            Some(file) => note(&format!("{file}: {text}")),
            None => note(text),
        }
    }
}
