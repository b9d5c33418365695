//! How the value of an option is read, from whatever it is told in.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::{OptionFile, OptionKind, ScenarioOption, ScenarioOptions, SetByName, SetOption};
use crate::amalthea::Frequency;
use crate::device::SmMask;
use crate::json::{Document, JsonError, Node, Problem};
use crate::proven::OrMost;
use crate::scenario::{Deadline, NewTime, ReadOptions};
use crate::time::Duration;

/// A value as one door has it: a word of the command, a value of JSON or of Python. What is read of it is refused if it
/// is something else.
#[expect(clippy::missing_errors_doc, reason = "it is the same of all of them")]
pub trait OptionValue: Sized {
    /// What is said of a wrong value, and where it stands.
    type Error;

    /// That something else was expected.
    fn wrong(&self, expected: &str) -> Self::Error;

    /// That it cannot be taken, and why.
    fn refused(&self, why: String) -> Self::Error;

    /// Yes or no.
    fn flag(&self) -> Result<bool, Self::Error>;

    /// A whole number from `least` to `most`.
    fn whole(&self, least: i64, most: u64) -> Result<i128, Self::Error>;

    /// A time.
    fn time(&self) -> Result<Duration, Self::Error>;

    /// A text.
    fn text(&self) -> Result<String, Self::Error>;

    /// A list of texts.
    fn texts(&self) -> Result<Vec<String>, Self::Error>;

    /// Texts, each of which is a list.
    fn lists(&self) -> Result<Vec<String>, Self::Error> {
        self.texts()
    }

    /// Values by name; each name stands once.
    fn entries(&self) -> Result<Vec<(String, Self)>, Self::Error>;

    /// A file.
    fn file(&self) -> Result<OptionFile, Self::Error>;
}

/// What one option says, to be said to any number of [`ScenarioOptions`].
#[derive(Clone)]
pub struct Setting {
    key: &'static str,
    set: Arc<dyn Fn(&mut ScenarioOptions) + Send + Sync>,
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Setting").field(&self.key).finish()
    }
}

impl Setting {
    /// The option.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// Says it.
    pub fn apply(&self, options: &mut ScenarioOptions) {
        (self.set)(options);
        options.given.insert(self.key);
    }
}

type Set = Arc<dyn Fn(&mut ScenarioOptions) + Send + Sync>;

/// One value for one place.
fn one<T: Clone + Send + Sync + 'static>(value: T, set: SetOption<T>) -> Set {
    Arc::new(move |options| set(options, value.clone()))
}

/// Values for one place, one by one.
fn each(values: Vec<String>, set: SetOption<String>) -> Set {
    Arc::new(move |options| values.iter().cloned().for_each(|value| set(options, value)))
}

/// Values by name, each for its own place.
fn by_name<V: OptionValue, T: Clone + Send + Sync + 'static>(
    value: &V,
    read: impl Fn(&V) -> Result<T, V::Error>,
    set: SetByName<T>,
) -> Result<Set, V::Error> {
    let entries = value.entries()?.into_iter().map(|(name, value)| Ok((name, read(&value)?)));
    let entries = entries.collect::<Result<Vec<(String, T)>, V::Error>>()?;
    Ok(Arc::new(move |options| entries.iter().cloned().for_each(|(name, value)| set(options, name, value))))
}

fn time_above_zero<V: OptionValue>(value: &V) -> Result<Duration, V::Error> {
    match value.time()? {
        Duration::ZERO => Err(value.wrong("a time above zero")),
        time => Ok(time),
    }
}

fn block_time<V: OptionValue>(value: &V) -> Result<NewTime, V::Error> {
    match value.text().ok().filter(|text| text.ends_with('%')) {
        Some(text) => NewTime::parse_share(&text)
            .ok_or_else(|| value.wrong(&format!("a percentage up to {}, for example \"80%\"", NewTime::MOST_PERCENT))),
        None => value.time().map(NewTime::To),
    }
}

fn deadline<V: OptionValue>(value: &V) -> Result<Deadline, V::Error> {
    let text = value.text();
    if text.as_ref().is_ok_and(|text| *text == Deadline::NEVER) {
        return Ok(Deadline::Never);
    }
    match value.time() {
        // A number with a wrong unit, or with none: what is wrong with it says more than what may stand there.
        Err(error) if text.is_ok_and(|text| text.starts_with(|first: char| first.is_ascii_digit())) => Err(error),
        Ok(Duration::ZERO) | Err(_) => Err(value.wrong("a time above zero, for example \"40 ms\", or \"none\"")),
        Ok(time) => Ok(Deadline::After(time)),
    }
}

fn priority<V: OptionValue>(value: &V) -> Result<i32, V::Error> {
    let number = value.whole(i32::MIN.into(), 0).ok().and_then(|number| i32::try_from(number).ok());
    number.ok_or_else(|| value.wrong("a whole number of at most 0; more negative is more urgent"))
}

fn size<V: OptionValue>(value: &V) -> Result<u32, V::Error> {
    let number = value.whole(1, u32::MAX.into())?;
    u32::try_from(number).map_err(|_| value.wrong("a number of 32 bits"))
}

/// What a text is parsed into.
fn parsed<V: OptionValue, T, E: fmt::Display>(value: &V, parse: fn(&str) -> Result<T, E>) -> Result<T, V::Error> {
    parse(&value.text()?).map_err(|error| value.refused(error.to_string()))
}

fn frequency(text: &str) -> Result<Frequency, String> {
    const EXPECTED: &str = "expected a number above 0 followed by Hz, kHz, MHz or GHz, for example 1.3GHz";
    Frequency::parse(text).ok_or_else(|| format!("{text:?} is no frequency; {EXPECTED}"))
}

const PERCENTS: &str = "two whole percentages up to 10000, the first not above the second, as \"80..100\"";

impl ScenarioOption {
    /// What a value says that is written in JSON; `file` is what errors call it.
    ///
    /// # Errors
    /// [`JsonError`] with the position of what is wrong.
    pub fn read_json(&'static self, file: &str, value: &str) -> Result<Setting, JsonError> {
        let document = Document::parse(file, value)?;
        self.read(&document.root()).map_err(|problem| document.locate(problem))
    }

    /// What a value says.
    ///
    /// # Errors
    /// What is wrong with it, in the words of the door.
    pub fn read<V: OptionValue>(&'static self, value: &V) -> Result<Setting, V::Error> {
        let set = match self.kind {
            OptionKind::Flag(set) => one(value.flag()?, set),
            OptionKind::Time(set) => one(value.time()?, set),
            OptionKind::TimeAboveZero(set) => one(time_above_zero(value)?, set),
            OptionKind::Number(least, most, set) => {
                let number = value.whole(i64::try_from(least).or_most(), most)?;
                one(u64::try_from(number).map_err(|_| value.wrong("a whole number from 0"))?, set)
            }
            OptionKind::Percents(set) => {
                let percents = value.text().ok().and_then(|text| ReadOptions::parse_vary(&text));
                one(percents.ok_or_else(|| value.wrong(PERCENTS))?, set)
            }
            OptionKind::OneOf(names, set) => {
                let expected = || value.wrong(&format!("one of {}", names().join(", ")));
                let name = value.text().ok().filter(|name| names().contains(&&**name)).ok_or_else(expected)?;
                Arc::new(move |options: &mut ScenarioOptions| set(options, &name))
            }
            OptionKind::Name(set) => one(value.text()?, set),
            OptionKind::Names(set) => each(value.texts()?, set),
            OptionKind::Lists(set) => each(value.lists()?, set),
            OptionKind::Frequency(set) => one(parsed(value, frequency)?, set),
            OptionKind::File(set) => one(value.file()?, set),
            OptionKind::TimeOf(set) => by_name(value, V::time, set)?,
            OptionKind::TimeOrShareOf(set) => by_name(value, block_time, set)?,
            OptionKind::TimeAboveZeroOf(set) => by_name(value, time_above_zero, set)?,
            OptionKind::DeadlineOf(set) => by_name(value, deadline, set)?,
            OptionKind::PriorityOf(set) => by_name(value, priority, set)?,
            OptionKind::NameOf(set) => by_name(value, V::text, set)?,
            OptionKind::MaskOf(set) => by_name(value, |mask| parsed(mask, SmMask::parse), set)?,
            OptionKind::SizeOf(set) => by_name(value, size, set)?,
        };
        Ok(Setting { key: self.key, set })
    }
}

impl OptionValue for Node<'_> {
    type Error = Problem;

    fn wrong(&self, expected: &str) -> Problem {
        self.expected(expected)
    }

    fn refused(&self, why: String) -> Problem {
        self.problem(why)
    }

    fn flag(&self) -> Result<bool, Problem> {
        self.boolean()
    }

    fn whole(&self, least: i64, most: u64) -> Result<i128, Problem> {
        match u64::try_from(least) {
            Ok(least) => self.whole_number(least, most).map(i128::from),
            Err(_) => self.signed_number(least, i64::try_from(most).or_most()).map(i128::from),
        }
    }

    fn time(&self) -> Result<Duration, Problem> {
        Node::time(self)
    }

    fn text(&self) -> Result<String, Problem> {
        self.string()
    }

    fn texts(&self) -> Result<Vec<String>, Problem> {
        self.list()?.iter().map(Node::string).collect()
    }

    fn entries(&self) -> Result<Vec<(String, Self)>, Problem> {
        let mut entries: Vec<(String, Self)> = Vec::new();
        for (name, node) in self.object()?.into_entries() {
            if entries.iter().any(|(known, _)| **known == *name) {
                return Err(node.problem(format!("{name:?} stands twice")));
            }
            entries.push((name.into_owned(), node));
        }
        Ok(entries)
    }

    fn file(&self) -> Result<OptionFile, Problem> {
        self.string().map(|name| OptionFile::Path(PathBuf::from(name)))
    }
}
