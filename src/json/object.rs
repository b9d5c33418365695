//! The fields of one JSON object, taken out one by one; what is left over is unknown.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use smallvec::SmallVec;

use super::children::Children;
use super::error::Problem;
use super::node::Node;

/// The fields of an object. Take what is known with [`Object::required`] and [`Object::optional`], then call
/// [`Object::finish`], which refuses whatever nobody asked for.
#[derive(Debug)]
pub struct Object<'a> {
    node: Node<'a>,
    entries: SmallVec<[Entry<'a>; USUAL_FIELDS]>,
    known: SmallVec<[&'static str; USUAL_KEYS]>,
}

#[derive(Debug)]
struct Entry<'a> {
    key: Cow<'a, str>,
    /// Of the key.
    mark: Mark,
    value: Node<'a>,
    taken: bool,
}

/// Objects have about as many fields, for which they need no memory elsewhere.
const USUAL_FIELDS: usize = 8;
/// And so many keys are asked for at most.
const USUAL_KEYS: usize = 16;

/// Length, first and last byte of a key: different keys mostly differ in that, which takes one comparison to see.
type Mark = u64;

#[inline]
fn mark(key: &str) -> Mark {
    let bytes = key.as_bytes();
    let (first, last) = (bytes.first().copied().unwrap_or(0), bytes.last().copied().unwrap_or(0));
    // What is lost of a length that no key has is compared with the key.
    (bytes.len() as u64) << 16 | u64::from(first) << 8 | u64::from(last)
}

/// What is wrong with an object that has such a key.
fn key_that_is_no_text(node: Node<'_>) -> Problem {
    let why = serde_json::from_str::<BTreeMap<String, &RawValue>>(node.raw()).err();
    node.problem(why.map_or_else(String::new, |why| format!("expected an object: {why}")))
}

impl<'a> Object<'a> {
    fn parse(node: Node<'a>) -> Result<Self, Problem> {
        let mut entries = SmallVec::new();
        let mut children = Children::of(node);
        while let Some((key, value)) = children.next_entry() {
            let Some(key) = key else { return Err(key_that_is_no_text(node)) };
            let (mark, is_comment) = (mark(&key), key.starts_with("comment"));
            entries.push(Entry { key, mark, value, taken: is_comment });
        }
        Ok(Self { node, entries, known: SmallVec::new() })
    }

    /// The object as a value, for errors that concern it as a whole.
    #[must_use]
    pub fn node(&self) -> Node<'a> {
        self.node
    }

    /// Whether `key` is there, without taking it.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// The value of `key`, if it is there and not `null`.
    ///
    /// # Errors
    /// [`Problem`] if the key stands twice.
    #[inline]
    pub fn optional(&mut self, key: &'static str) -> Result<Option<Node<'a>>, Problem> {
        self.take(key, mark(key))
    }

    fn take(&mut self, key: &'static str, mark: Mark) -> Result<Option<Node<'a>>, Problem> {
        self.known.push(key);
        let mut found = None;
        for entry in self.entries.iter_mut().filter(|entry| entry.mark == mark && entry.key == key) {
            entry.taken = true;
            if found.is_some() {
                return Err(entry.value.problem(format!("the key {key:?} stands twice in one object")));
            }
            found = Some(entry.value);
        }
        Ok(found.filter(|value| !value.is_null()))
    }

    /// The value of `key`.
    ///
    /// # Errors
    /// [`Problem`] if it is missing, `null`, or stands twice.
    #[inline]
    pub fn required(&mut self, key: &'static str) -> Result<Node<'a>, Problem> {
        self.optional(key)?.ok_or_else(|| self.node.problem(format!("the key {key:?} is missing")))
    }

    /// Refuses every key that was not asked for.
    ///
    /// # Errors
    /// [`Problem`] naming the first unknown key and the allowed ones.
    pub fn finish(self) -> Result<(), Problem> {
        match self.entries.iter().find(|entry| !entry.taken) {
            None => Ok(()),
            Some(entry) => {
                let mut known = self.known;
                known.sort_unstable();
                known.dedup();
                let help = format!("known keys here: {}, comment", known.join(", "));
                Err(entry.value.problem(format!("unknown key {:?}", entry.key)).with_help(help))
            }
        }
    }

    /// All fields but comments, for objects whose keys are names that the author chose.
    #[must_use]
    pub fn into_entries(self) -> impl IntoIterator<Item = (Cow<'a, str>, Node<'a>)> {
        self.entries.into_iter().filter(|entry| !entry.key.starts_with("comment")).map(|entry| (entry.key, entry.value))
    }
}

impl<'a> Node<'a> {
    /// The fields of an object.
    ///
    /// # Errors
    /// [`Problem`] if this is no object, or has a key twice.
    pub fn object(&self) -> Result<Object<'a>, Problem> {
        if !self.is_object() {
            return Err(self.expected("an object"));
        }
        Object::parse(*self)
    }
}
