//! Files of every kind that is read, with something changed: whatever it is, the file is refused with an error that
//! says where and what, or it is read and run to an answer that is JSON. The same mutants are given to the readers in
//! this process, to the command, to the Python package (`python/tests/test_mutants.py`) and to the page
//! (`page_browser`).

#![allow(clippy::print_stdout, reason = "what came of a campaign is to be read")]

mod bytes;
pub(crate) mod every_place;
mod json;
#[cfg(feature = "nsight")]
mod nsight;
pub(crate) mod readers;
mod seeds;
mod shown;
mod text;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use gpusched::effort::{EarlyEnd, Effort, Limits};
use gpusched::spelling::{self, Spelling};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::de::IgnoredAny;
use serde_json::json;

use self::readers::{Answer, Reader, Refusal};
use self::seeds::{Seed, seeds};
use crate::common::{directory, gpusched_in, stderr};

/// A file that was changed.
pub(crate) struct Mutant {
    pub(crate) reader: Reader,
    /// Its name, which no other mutant has.
    pub(crate) file: String,
    pub(crate) content: Vec<u8>,
    /// What was done to it.
    changes: Vec<&'static str>,
    /// Whether it has to be refused, for a key that there is not, or one that stands twice.
    has_unknown_key: bool,
}

/// What came of a mutant.
pub(crate) enum Outcome {
    Answered(Vec<u8>),
    Refused(Refusal),
    /// It asks for more work than is done here.
    TooMuch,
}

/// A hundredth of what `--limits strict` allows.
const LIMITS: Limits = Limits { operations: 2_000, blocks: 10_000, states: 20_000, shapes: 20_000, bytes: 4 << 20 };

impl Mutant {
    /// The one of this number, with up to three changes.
    fn new(seeds: &[Seed], number: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(number);
        let seed = &seeds[random.random_range(0..seeds.len())];
        let file = format!("{number:06}-{}", seed.name);
        let (content, changes) = (seed.content.clone(), Vec::new());
        let mut mutant = Self { reader: seed.reader, file, content, changes, has_unknown_key: false };
        for _ in 0..[1, 1, 1, 2, 3][random.random_range(0..5)] {
            mutant.change(&mut random);
        }
        mutant
    }

    fn change(&mut self, random: &mut ChaCha8Rng) {
        // What was put in before may be gone after it.
        self.has_unknown_key = false;
        #[cfg(feature = "nsight")]
        if self.file.ends_with(".sqlite") && self.changes.is_empty() && random.random() {
            let (content, what) = nsight::changed(random);
            (self.content, self.changes) = (content, vec![what]);
            return;
        }
        let kind = random.random_range(0..20);
        if let Ok(text) = str::from_utf8(&self.content) {
            if kind < 14
                && let Some(json::Change { range, with, what, is_unknown_key }) = json::change(text, random)
            {
                self.content.splice(range, with.into_bytes());
                self.changes.push(what);
                self.has_unknown_key = is_unknown_key && self.reader.knows_all_keys;
                return;
            }
            if kind < 17
                && let Some((changed, what)) = text::changed(text, random)
            {
                self.content = changed.into_bytes();
                self.changes.push(what);
                return;
            }
        }
        let (content, what) = bytes::changed(&self.content, random);
        self.content = content;
        self.changes.push(what);
    }

    /// What the reader makes of it, in this process.
    pub(crate) fn outcome(&self) -> Outcome {
        let effort = Arc::new(Effort::new(LIMITS, Arc::default()));
        let answer: Result<Answer, EarlyEnd> = effort.within(|| (self.reader.answer)(&self.file, &self.content));
        match answer {
            Ok(Err(refusal)) if !refusal.was_read => Outcome::Refused(refusal),
            Err(_) => Outcome::TooMuch,
            Ok(_) if effort.check().is_err() => Outcome::TooMuch,
            Ok(Err(refusal)) => Outcome::Refused(refusal),
            Ok(Ok(bytes)) => Outcome::Answered(bytes),
        }
    }

    /// What is wrong with an outcome.
    fn wrong(&self, outcome: &Outcome) -> Option<String> {
        match outcome {
            Outcome::Answered(bytes) => {
                if let Err(error) = serde_json::from_slice::<IgnoredAny>(bytes) {
                    return Some(format!("no JSON is printed: {error}"));
                }
            }
            Outcome::Refused(refusal) if !refusal.was_read => return self.wrong_refusal(refusal),
            Outcome::Refused(Refusal { message, .. }) if message.is_empty() => return Some("no message".to_owned()),
            Outcome::Refused(_) | Outcome::TooMuch => {}
        }
        self.has_unknown_key.then(|| "a key that there is not, or that stands twice, is accepted".to_owned())
    }

    /// What is wrong with how it is refused.
    fn wrong_refusal(&self, refusal: &Refusal) -> Option<String> {
        let Refusal { message, place, .. } = refusal;
        if !message.contains(&self.file) {
            return Some(format!("the file is not named: {message}"));
        }
        // Of what was packed, the place is in what is unpacked.
        let (line, column) = place.filter(|_| !self.content.starts_with(b"\x1f\x8b"))?;
        let text = String::from_utf8_lossy(&self.content);
        let found = line.checked_sub(1).and_then(|line| text.split('\n').nth(line));
        let is_within = found.is_some_and(|line| (1..=line.chars().count() + 1).contains(&column));
        (!is_within).then(|| format!("line {line}, column {column} is outside of the file: {message}"))
    }

    /// What is wrong with what the command does with it, compared with an outcome in this process.
    fn wrong_command(&self, folder: &Path) -> Option<String> {
        let outcome = spelling::within(Spelling::Flag, || self.outcome());
        fs::write(folder.join(&self.file), &self.content).expect("it can be written");
        let of_command = self.reader.command.iter().map(|word| if *word == "FILE" { &*self.file } else { *word });
        let arguments: Vec<&str> = of_command.chain(["--format", "json", "--limits", "strict"]).collect();
        let output = gpusched_in(folder, &arguments);
        let (status, said) = (output.status.code(), stderr(&output));
        let is_right = match &outcome {
            Outcome::Answered(bytes) => matches!(status, Some(0 | 1)) && output.stdout == *bytes,
            Outcome::Refused(refusal) => {
                status == Some(2) && format!("\n{said}").ends_with(&format!("\nerror: {}\n", refusal.message))
            }
            Outcome::TooMuch => match status {
                Some(0 | 1) => serde_json::from_slice::<IgnoredAny>(&output.stdout).is_ok(),
                Some(2) => said.contains("error: "),
                Some(3) => said.contains("--limits strict"),
                _ => false,
            },
        };
        fs::remove_file(folder.join(&self.file)).expect("it was written");
        (!is_right).then(|| format!("{arguments:?} ends with {status:?}, here {}: {said}", outcome.describe()))
    }
}

impl Outcome {
    fn describe(&self) -> String {
        match self {
            Self::Answered(bytes) => format!("answered by {} bytes", bytes.len()),
            Self::Refused(refusal) => format!("refused: {}", refusal.message),
            Self::TooMuch => "too much".to_owned(),
        }
    }
}

/// Mutants by their numbers.
pub(crate) fn mutants() -> impl Iterator<Item = Mutant> {
    let seeds = seeds();
    (0..).map(move |number| Mutant::new(&seeds, number))
}

/// Gives so many mutants to their readers, and every so many-th to the command; what went wrong.
fn attack(name: &str, numbers: std::ops::Range<u64>, every: u64) -> Vec<String> {
    let (seeds, folder, next) = (seeds(), directory(name), AtomicU64::new(numbers.start));
    let (findings, counts) = (Mutex::new(Vec::new()), Mutex::new(BTreeMap::<(&str, &str), u64>::new()));
    let slowest = Mutex::new((0.0, String::new()));
    let one = |number: u64| {
        let begin = Instant::now();
        let mutant = Mutant::new(&seeds, number);
        let outcome = catch_unwind(AssertUnwindSafe(|| mutant.outcome()));
        let seconds = begin.elapsed().as_secs_f64();
        let mut slowest = slowest.lock().expect("nobody panics here");
        if seconds > slowest.0 {
            *slowest = (seconds, mutant.file.clone());
        }
        drop(slowest);
        let (how, wrong) = match &outcome {
            Err(_) => ("broken", Some("panicked".to_owned())),
            Ok(outcome) => {
                let how = match outcome {
                    Outcome::Answered(_) => "answered",
                    Outcome::Refused(_) => "refused",
                    Outcome::TooMuch => "too much",
                };
                let by_command = || number.is_multiple_of(every).then(|| mutant.wrong_command(&folder)).flatten();
                (how, mutant.wrong(outcome).or_else(by_command))
            }
        };
        *counts.lock().expect("nobody panics here").entry((mutant.reader.name, how)).or_default() += 1;
        if let Some(wrong) = wrong {
            // The file is kept.
            fs::write(folder.join(&mutant.file), &mutant.content).expect("it can be written");
            let finding = format!("{} ({}): {wrong}", mutant.file, mutant.changes.join(", "));
            println!("{finding}");
            findings.lock().expect("nobody panics here").push(finding);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end {
                        break;
                    }
                    one(number);
                }
            });
        }
    });
    println!("{numbers:?}: {:?}, slowest {:?}", counts.into_inner(), slowest.into_inner());
    findings.into_inner().expect("nobody panics here")
}

#[test]
fn every_seed_is_read_and_answered() {
    for Seed { reader, name, content } in seeds() {
        let mutant = Mutant { reader, file: name, content, changes: Vec::new(), has_unknown_key: false };
        let outcome = mutant.outcome();
        assert!(matches!(outcome, Outcome::Answered(_)), "{}: {}", mutant.file, outcome.describe());
        assert_eq!(mutant.wrong_command(&directory("mutant_seeds")), None, "{}", mutant.file);
    }
}

#[test]
fn no_reader_takes_a_key_that_there_is_not_or_that_stands_twice_anywhere() {
    let mut tried = 0;
    for Seed { reader, name, content } in seeds().into_iter().filter(|seed| seed.reader.knows_all_keys) {
        let text = String::from_utf8(content).expect("text");
        for json::Change { range, with, what, .. } in json::unknown_keys(&text) {
            let changed = format!("{}{with}{}", &text[..range.start], &text[range.end..]);
            let refusal = (reader.answer)(&name, changed.as_bytes()).expect_err(&changed);
            assert!(!refusal.was_read && refusal.place.is_some(), "{name} ({what}): {}: {changed}", refusal.message);
            tried += 1;
        }
    }
    assert!(tried > 1_000, "{tried}");
}

#[test]
fn mutants_are_answered_or_refused_with_a_place_by_every_reader_and_by_the_command() {
    let findings = attack("mutants", 0..600, 20);
    assert!(findings.is_empty(), "{findings:#?}");
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[test]
#[ignore = "long: GPUSCHED_MUTANTS of them, 100,000 if that is not set, from number GPUSCHED_FIRST_MUTANT on"]
fn long_mutants() {
    let (count, first) = (number("GPUSCHED_MUTANTS").unwrap_or(100_000), number("GPUSCHED_FIRST_MUTANT").unwrap_or(0));
    let findings = attack("mutants_long", first..first + count, 50);
    assert!(findings.is_empty(), "{} findings: {findings:#?}", findings.len());
}

/// For those who give them to another door: the files, what comes of each in `index.jsonl`, and what is answered in a
/// file that ends in `.answer`.
#[test]
fn mutants_are_written_for_whom_asks_for_them() {
    let asked = std::env::var_os("GPUSCHED_MUTANT_FOLDER").map(PathBuf::from);
    let count = if asked.is_some() { 1_000 } else { 5 };
    let folder = asked.unwrap_or_else(|| directory("mutants_written"));
    fs::create_dir_all(&folder).expect("it can be made");
    let mut index = Vec::new();
    let done = mutants().filter_map(|mutant| match mutant.outcome() {
        Outcome::Answered(bytes) => Some((mutant, Ok(bytes))),
        Outcome::Refused(refusal) => Some((mutant, Err(refusal.message))),
        Outcome::TooMuch => None,
    });
    for (mutant, outcome) in done.take(count) {
        fs::write(folder.join(&mutant.file), &mutant.content).expect("it can be written");
        if let Ok(bytes) = &outcome {
            fs::write(folder.join(format!("{}.answer", mutant.file)), bytes).expect("it can be written");
        }
        index.push(json!({"file": mutant.file, "reader": mutant.reader.name, "refused": outcome.err()}).to_string());
    }
    assert_eq!(index.len(), count);
    fs::write(folder.join("index.jsonl"), index.join("\n")).expect("it can be written");
}
