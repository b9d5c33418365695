//! The points of a study: every combination of the values in its grid. And the files that it names, of which some are
//! samples.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::device::{BUILTIN_NAMES, Device};
use crate::json::{Node, Object, Problem};
use crate::limits::count_turn;
use crate::time::Duration;
use crate::words::did_you_mean;

const MAX_POINTS: usize = 100_000;

/// Reads files that a study names, and remembers what was in them.
pub(super) struct Files<'a> {
    read: &'a dyn Fn(&str) -> io::Result<Vec<u8>>,
    contents: RefCell<BTreeMap<String, Vec<u8>>>,
}

impl<'a> Files<'a> {
    pub(super) fn new(read: &'a dyn Fn(&str) -> io::Result<Vec<u8>>) -> Self {
        Self { read, contents: RefCell::default() }
    }

    /// The content of a file, which stands in the study as `node`.
    pub(super) fn bytes(&self, node: Node<'_>, name: &str) -> Result<Vec<u8>, Problem> {
        if let Some(content) = self.contents.borrow().get(name) {
            return Ok(content.clone());
        }
        let content = (self.read)(name).map_err(|error| node.problem(format!("cannot read {name}: {error}")))?;
        self.contents.borrow_mut().insert(name.to_owned(), content.clone());
        Ok(content)
    }

    /// The text of a file, which stands in the study as `node`.
    pub(super) fn text(&self, node: Node<'_>, name: &str) -> Result<String, Problem> {
        let text = String::from_utf8(self.bytes(node, name)?);
        text.map_err(|_| node.problem(format!("cannot read {name}: it is no text")))
    }

    /// All that was read, by name.
    pub(super) fn into_contents(self) -> BTreeMap<String, Vec<u8>> {
        self.contents.into_inner()
    }
}

/// What a value in the study file does to a point.
pub(super) type Change<P> = Arc<dyn Fn(&mut P) + Send + Sync>;

/// How the value of a key is read.
pub(super) type Read<P> = fn(Node<'_>, &Files<'_>) -> Result<Change<P>, Problem>;

/// The parameters of one point of a command.
pub(super) trait Parameters: Clone + 'static {
    /// The keys that there are, without the seed and those of others, and what their values do: see [`keys`].
    const KEYS: &'static [(&'static str, Read<Self>)];

    /// The keys of others that it has too.
    fn others() -> Vec<&'static str> {
        Vec::new()
    }

    /// What a value of one of those does, if it is one.
    fn read_other(_key: &str, _value: Node<'_>, _files: &Files<'_>) -> Option<Result<Change<Self>, Problem>> {
        None
    }

    /// The names of all keys, in the order of the alphabet.
    fn keys() -> Vec<&'static str> {
        let mut keys = Self::others();
        keys.extend(Self::KEYS.iter().map(|(key, _)| *key));
        keys.sort_unstable();
        keys
    }

    /// What a value does, if there is such a key.
    fn read(key: &str, value: Node<'_>, files: &Files<'_>) -> Option<Result<Change<Self>, Problem>> {
        let own = Self::KEYS.iter().find(|(known, _)| *known == key).map(|(_, read)| read(value, files));
        own.or_else(|| Self::read_other(key, value, files))
    }

    /// Sets the seed, if it draws anything.
    fn set_seed(&mut self, _seed: u64) {}

    /// The change that gives a point a value, if that could be read.
    fn set<T: Clone + Send + Sync + 'static>(
        value: Result<T, Problem>,
        put: impl Fn(&mut Self, T) + Send + Sync + 'static,
    ) -> Result<Change<Self>, Problem> {
        let value = value?;
        Ok(Arc::new(move |point| put(point, value.clone())))
    }
}

/// The [`KEYS`](Parameters::KEYS) of parameters: of each the field that its value goes into, and how that is read.
macro_rules! keys {
    (|$value:ident, $files:ident| $($key:expr => $($field:ident).+: $read:expr;)+) => {
        &[$(($key, |$value, $files| {
            let _ = $files;
            Self::set($read, |point, it| point.$($field).+ = it.into())
        })),+]
    };
}

pub(super) use keys;

/// What a change of a part does to the whole.
pub(super) fn within<P: 'static, Q: 'static>(
    change: Result<Change<P>, Problem>,
    part: impl Fn(&mut Q) -> &mut P + Send + Sync + 'static,
) -> Result<Change<Q>, Problem> {
    change.map(|change| -> Change<Q> { Arc::new(move |whole| change(part(whole))) })
}

/// One key of a grid.
#[derive(Debug, Clone, PartialEq)]
pub struct GridAxis {
    /// The key.
    pub key: String,
    /// Its values.
    pub values: Vec<AxisValue>,
}

/// A value on an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisValue {
    /// As rows and documents have it.
    pub text: String,
    /// As people read it: an object without braces and quotes.
    pub words: String,
    /// As a number, if it is one; times in milliseconds.
    pub number: Option<f64>,
    /// Whether the number is a time.
    pub is_time: bool,
    /// Of what the number is, if it is the value of the only name of an object.
    pub of: Option<String>,
}

impl AxisValue {
    fn of(node: Node<'_>) -> Self {
        let text = node.string().unwrap_or_else(|_| node.raw().split_whitespace().collect());
        let entries = node.object().into_iter().flat_map(Object::into_entries);
        let named: Vec<(String, Self)> = entries.map(|(name, value)| (name.into_owned(), Self::of(value))).collect();
        let words = match &*named {
            [] if node.is_object() => "none".to_owned(),
            [] => text.clone(),
            named => named.iter().map(|(name, value)| format!("{name} {}", value.words)).collect::<Vec<_>>().join(", "),
        };
        if let [(name, Self { number: Some(number), is_time, of: None, .. })] = &*named {
            return Self { text, words, number: Some(*number), is_time: *is_time, of: Some(name.clone()) };
        }
        let time = node.time().ok().filter(|_| node.is_string());
        let number = node.raw().parse().ok().or_else(|| time.map(|time| time.as_ns() as f64 / 1e6));
        Self { text, words, number, is_time: time.is_some(), of: None }
    }

    /// Whether the one can stand beside the other on an axis of numbers.
    pub(crate) fn is_commensurable(&self, other: &Self) -> bool {
        self.number.is_some() && other.number.is_some() && self.is_time == other.is_time && self.of == other.of
    }
}

/// The grid of a study, and what its points have in common.
pub(super) struct Grid<'a> {
    pub(super) root: Node<'a>,
    pub(super) seed: Option<Node<'a>>,
    pub(super) parameters: Option<Node<'a>>,
    pub(super) axes: Option<Node<'a>>,
}

impl<'a> Grid<'a> {
    /// All keys of the study's parameters and of its grid.
    pub(super) fn keys(&self) -> Result<Vec<(String, Node<'a>)>, Problem> {
        let mut keys = Vec::new();
        for node in [self.parameters, self.axes].into_iter().flatten() {
            keys.extend(node.object()?.into_entries().into_iter().map(|(key, value)| (key.into_owned(), value)));
        }
        Ok(keys)
    }

    /// All points, the last axis changing fastest, and the axes.
    pub(super) fn points<P: Parameters>(
        &self,
        default: P,
        files: &Files<'_>,
    ) -> Result<(Vec<P>, Vec<GridAxis>), Problem> {
        let mut base = default;
        let mut used = BTreeSet::new();
        if let Some(node) = self.seed {
            used.insert("seed".to_owned());
            change("seed", node, files)?(&mut base);
        }
        if let Some(node) = self.parameters {
            for (key, value) in node.object()?.into_entries() {
                is_new(&mut used, &key, value)?;
                change(&key, value, files)?(&mut base);
            }
        }
        let (mut points, mut axes) = (vec![base], Vec::new());
        let entries = self.axes.map(|node| node.object()).transpose()?;
        for (key, list) in entries.into_iter().flat_map(Object::into_entries) {
            is_new(&mut used, &key, list)?;
            let nodes = list.filled_list()?;
            if nodes.len().saturating_mul(points.len()) > MAX_POINTS {
                return Err(list.problem(format!("the grid has more than {MAX_POINTS} points")));
            }
            let values: Vec<AxisValue> = nodes.iter().map(|node| AxisValue::of(*node)).collect();
            if let Some((_, twice)) = values
                .iter()
                .zip(&nodes)
                .enumerate()
                .find_map(|(index, pair)| values[..index].contains(pair.0).then_some(pair))
            {
                return Err(twice.problem(format!("{} stands twice in the grid", twice.found())));
            }
            let changes =
                nodes.iter().map(|node| change::<P>(&key, *node, files)).collect::<Result<Vec<_>, Problem>>()?;
            points = points
                .iter()
                .flat_map(|point| {
                    changes.iter().map(|change| {
                        let mut changed = point.clone();
                        change(&mut changed);
                        changed
                    })
                })
                .collect();
            axes.push(GridAxis { key: key.into_owned(), values });
        }
        if !used.contains("seed") {
            return Err(self.root.problem("the key \"seed\" is missing, and the grid has none"));
        }
        Ok((points, axes))
    }
}

fn is_new(used: &mut BTreeSet<String>, key: &str, value: Node<'_>) -> Result<(), Problem> {
    if used.insert(key.to_owned()) { Ok(()) } else { Err(value.problem(format!("{key:?} stands twice in the study"))) }
}

fn change<P: Parameters>(key: &str, value: Node<'_>, files: &Files<'_>) -> Result<Change<P>, Problem> {
    if key == "seed" {
        let seed = value.whole_number(0, u64::MAX)?;
        return Ok(Arc::new(move |point| point.set_seed(seed)));
    }
    if let Some(read) = P::read(key, value, files) {
        return read;
    }
    let near = did_you_mean(key, P::keys().iter().copied());
    let help = format!("known keys here: {}, seed, comment", P::keys().join(", "));
    Err(value.problem(format!("unknown key {key:?}{near}")).with_help(help))
}

/// One of some values, by its name.
pub(super) fn one_of<T: Copy>(node: Node<'_>, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T, Problem> {
    let found = node.string().ok().and_then(|stated| all.iter().find(|one| name(**one) == stated));
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
        node.expected_name(&format!("one of {}", names.join(", ")), &names)
    })
}

/// A value of a table by its name.
pub(super) fn named<T: Copy>(value: Node<'_>, table: &[(&'static str, T)]) -> Result<T, Problem> {
    one_of(value, table, |(name, _)| name).map(|(_, value)| value)
}

/// A list of the least number and the most, or one number for both.
pub(super) fn range<T: TryFrom<u64> + Copy>(
    value: Node<'_>,
    (least, most): (u64, u64),
) -> Result<RangeInclusive<T>, Problem> {
    let number = |node: &Node<'_>| node.whole_number(least, most);
    let ends =
        if value.is_list() { value.list()?.iter().map(number).collect() } else { number(&value).map(|one| vec![one]) };
    let wrong = || value.expected("a number, or a list of the least and the most");
    let (first, last) = match ends?[..] {
        [one] if !value.is_list() => (one, one),
        [first, last] if first <= last => (first, last),
        _ => return Err(wrong()),
    };
    match (T::try_from(first), T::try_from(last)) {
        (Ok(first), Ok(last)) => Ok(first..=last),
        _ => Err(wrong()),
    }
}

/// A time above zero.
pub(super) fn positive(value: &Node<'_>) -> Result<Duration, Problem> {
    match value.time()? {
        Duration::ZERO => Err(value.expected("a time above zero")),
        time => Ok(time),
    }
}

/// A list of names, each of which stands there once.
pub(super) fn distinct<T: Copy + PartialEq>(
    list: Node<'_>,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<Vec<T>, Problem> {
    let found = list.filled_list()?.into_iter().map(|node| one_of(node, all, name));
    let found = found.collect::<Result<Vec<T>, Problem>>()?;
    if (1..found.len()).any(|index| found[..index].contains(&found[index])) {
        return Err(list.problem("a test stands twice"));
    }
    Ok(found)
}

/// The GPU of studies that name none.
const DEFAULT_DEVICE: &str = "tx2";

/// The GPU of studies that name none.
pub(super) fn default_device() -> Result<Device, String> {
    let found = Device::builtin(DEFAULT_DEVICE).map_err(|error| error.to_string())?;
    found.ok_or_else(|| format!("there is no device {DEFAULT_DEVICE}"))
}

/// A built-in device, or one from a file.
pub(super) fn device(node: Node<'_>, files: &Files<'_>) -> Result<Device, Problem> {
    let name = node.string()?;
    if let Some(device) = Device::builtin(&name).map_err(|error| node.problem(error.to_string()))? {
        return Ok(device);
    }
    let text = files.text(node, &name).map_err(|problem| {
        let near = did_you_mean(&name, BUILTIN_NAMES);
        problem.with_help(format!("built-in devices are {}{near}", BUILTIN_NAMES.join(", ")))
    })?;
    Device::from_json(&name, &text).map_err(|error| node.problem(error.to_string()))
}

/// The key that names them.
pub(super) const FILES: &str = "files";

/// How the files of a folder end that are samples.
const EXTENSION: &str = ".json";

/// The files of the key, with what `of` makes of their names and contents.
pub(super) fn each_file<T>(
    value: Node<'_>,
    files: &Files<'_>,
    of: impl Fn(&str, Vec<u8>) -> Result<T, String>,
) -> Result<Vec<T>, Problem> {
    let named = if value.is_list() { of_list(value)? } else { of_folder(value, files)? };
    let made = named.into_iter().map(|(node, name)| {
        let content = files.bytes(node, &name)?;
        of(&name, content).map_err(|what| node.problem(what))
    });
    made.collect()
}

/// The same of files that are text.
pub(super) fn each_text_file<T>(
    value: Node<'_>,
    files: &Files<'_>,
    of: impl Fn(&str, &str) -> Result<T, String>,
) -> Result<Vec<T>, Problem> {
    each_file(value, files, |name, content| {
        let text = String::from_utf8(content).map_err(|_| format!("{name} is no text"))?;
        of(name, &text)
    })
}

fn of_list(value: Node<'_>) -> Result<Vec<(Node<'_>, String)>, Problem> {
    let mut named: Vec<(Node<'_>, String)> = Vec::new();
    for node in value.filled_list()? {
        let name = node.string()?;
        if named.iter().any(|(_, known)| *known == name) {
            return Err(node.problem(format!("{name:?} stands twice: samples are independent")));
        }
        named.push((node, name));
    }
    Ok(named)
}

fn of_folder<'a>(value: Node<'a>, files: &Files<'_>) -> Result<Vec<(Node<'a>, String)>, Problem> {
    let name = value.string().map_err(|_| value.expected("the name of a folder, or a list of files"))?;
    let folder = format!("{}/", name.trim_end_matches('/'));
    let help = "a string is a folder; a list has the names of files";
    let listed = files.text(value, &folder).map_err(|problem| problem.with_help(help))?;
    let mut names: Vec<&str> = listed.lines().filter(|name| name.ends_with(EXTENSION)).collect();
    if names.is_empty() {
        return Err(value.problem(format!("{folder} has no file that ends in {EXTENSION}")));
    }
    names.sort_by(|one, other| by_numbers(one, other));
    Ok(names.into_iter().map(|name| (value, format!("{folder}{name}"))).collect())
}

/// By name, where numbers in it count as numbers: sample-2 comes before sample-10.
fn by_numbers(one: &str, other: &str) -> Ordering {
    let key = |name: &str| -> Vec<(String, usize, String)> {
        let is_digit = |character: char| character.is_ascii_digit();
        let mut parts = Vec::new();
        let mut rest = name;
        while !rest.is_empty() {
            count_turn();
            let (text, behind) = rest.split_at(rest.find(is_digit).unwrap_or(rest.len()));
            let (number, behind) = behind.split_at(behind.find(|it| !is_digit(it)).unwrap_or(behind.len()));
            let number = number.trim_start_matches('0');
            parts.push((text.to_owned(), number.len(), number.to_owned()));
            rest = behind;
        }
        parts
    };
    key(one).cmp(&key(other)).then_with(|| one.cmp(other))
}

/// Refuses keys that say how samples are drawn where they are files; `others` are those that say something else.
pub(super) fn check_keys(grid: &Grid<'_>, others: &[&str]) -> Result<(), Problem> {
    let keys = grid.keys()?;
    let is_drawn = |(key, _): &&(String, Node<'_>)| key != FILES && key != "seed" && !others.contains(&&**key);
    match keys.iter().find(is_drawn).filter(|_| keys.iter().any(|(key, _)| key == FILES)) {
        Some((key, node)) => {
            Err(node.problem(format!("{key:?} is for samples that are drawn, and {FILES:?} names those there are")))
        }
        None => Ok(()),
    }
}

/// Refuses more samples than there are files at some point.
pub(super) fn check_count(
    counts: impl Iterator<Item = Option<usize>>,
    (samples, node): (u64, Node<'_>),
) -> Result<(), Problem> {
    match counts.flatten().min() {
        Some(files) if samples > files as u64 => {
            Err(node.problem(format!("there are {samples} samples, and {FILES:?} has {files} of them")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_as_numbers() {
        let mut names = ["s-10.json", "a.json", "s-2.json", "s-02.json", "s-1-9.json", "s.json", "s-1-10.json"];
        names.sort_by(|one, other| by_numbers(one, other));
        let order = ["a.json", "s-1-9.json", "s-1-10.json", "s-02.json", "s-2.json", "s-10.json", "s.json"];
        assert_eq!(names, order);
    }
}
