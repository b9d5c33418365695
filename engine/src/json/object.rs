//! The fields of one JSON object, taken out one by one; what is left over is unknown.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use smallvec::SmallVec;

use super::error::Problem;
use super::node::Node;
use super::scan::{Field, Mark};
use crate::limits::end_if_stopped;
use crate::words::{did_you_mean, near_names};

/// The fields of an object. Take what is known with [`Object::required`] and [`Object::optional`], then call
/// [`Object::finish`], which refuses whatever nobody asked for.
#[derive(Debug)]
pub struct Object<'a> {
    node: Node<'a>,
    fields: SmallVec<[Field; USUAL_KEYS]>,
    /// A bit for each of its keys, see [`Mark::bit`]; all of them if a key has escapes.
    bits: u64,
    /// The bits of keys of which there may be more than one.
    repeated: u64,
    /// Behind the field that was taken last: mostly, that is the one asked for next.
    next: usize,
    /// Which of its first 64 fields were taken.
    taken: u64,
    /// Numbers of the others that were.
    also_taken: Vec<usize>,
    known: SmallVec<[&'static str; USUAL_KEYS]>,
}

/// The key by which editors find the schema of a file; it changes nothing.
const SCHEMA: &str = "$schema";

/// So many keys are asked for at most, for which it needs no memory elsewhere.
const USUAL_KEYS: usize = 16;

/// What is wrong with an object that has a key that is no text, for half a surrogate pair stands in it.
fn key_that_is_no_text(node: Node<'_>) -> Problem {
    let why = serde_json::from_str::<BTreeMap<String, &RawValue>>(node.raw()).err();
    node.problem(why.map_or_else(String::new, |why| format!("expected an object: {why}")))
}

fn stands_twice(key: &str) -> String {
    format!("the key {key:?} stands twice in one object")
}

impl<'a> Object<'a> {
    fn parse(node: Node<'a>) -> Result<Self, Problem> {
        end_if_stopped();
        let fields: SmallVec<[Field; USUAL_KEYS]> = node.inside().collect();
        let (mut bits, mut repeated) = (0, 0);
        for field in &fields {
            let bit = field.mark.bit();
            repeated |= bits & bit;
            bits |= bit;
        }
        let has_escapes = fields.iter().any(|field| field.mark == Mark::ESCAPED);
        if has_escapes {
            (bits, repeated) = (u64::MAX, u64::MAX);
        }
        if has_escapes && fields.iter().any(|field| field.key(node.source()).is_none()) {
            return Err(key_that_is_no_text(node));
        }
        let (known, also_taken) = (SmallVec::new(), Vec::new());
        Ok(Self { node, fields, bits, repeated, next: 0, taken: 0, also_taken, known })
    }

    /// The object as a value, for errors that concern it as a whole.
    pub fn node(&self) -> Node<'a> {
        self.node
    }

    /// The number of the field with that key, or of the first if there are several.
    ///
    /// # Errors
    /// [`Problem`] with the second of several.
    #[inline]
    fn find(&self, key: &str, mark: Mark) -> Result<Option<usize>, Problem> {
        if self.bits & mark.bit() == 0 {
            return Ok(None);
        }
        if self.repeated & mark.bit() != 0 {
            return self.find_among_alike(key);
        }
        let (before, behind) = self.fields.split_at_checked(self.next).unwrap_or((&self.fields, &[]));
        let found = behind.iter().position(|field| field.mark == mark).map(|number| number + self.next);
        let found = found.or_else(|| before.iter().position(|field| field.mark == mark));
        // No other has its mark.
        Ok(found.filter(|&number| self.fields[number].is(self.node.source(), key)))
    }

    /// As [`Self::find`], where several keys may be the same, or have escapes.
    #[cold]
    fn find_among_alike(&self, key: &str) -> Result<Option<usize>, Problem> {
        let mut all = (0..self.fields.len()).filter(|&number| self.fields[number].is(self.node.source(), key));
        let first = all.next();
        match all.next() {
            None => Ok(first),
            Some(second) => Err(Node::of_field(self.node.source(), &self.fields[second]).problem(stands_twice(key))),
        }
    }

    /// Whether `key` is there, without taking it.
    pub fn has(&self, key: &str) -> bool {
        self.find(key, Mark::of(key.as_bytes())).map_or(true, |found| found.is_some())
    }

    /// The value of `key`, if it is there.
    ///
    /// # Errors
    /// [`Problem`] if the key stands twice, or its value is `null`.
    #[inline]
    pub fn optional(&mut self, key: &'static str) -> Result<Option<Node<'a>>, Problem> {
        self.take(key, Mark::of(key.as_bytes()))
    }

    fn take(&mut self, key: &'static str, mark: Mark) -> Result<Option<Node<'a>>, Problem> {
        self.known.push(key);
        let Some(number) = self.find(key, mark)? else { return Ok(None) };
        self.next = number + 1;
        if number < 64 {
            self.taken |= 1 << number;
        } else if !self.also_taken.contains(&number) {
            self.also_taken.push(number);
        }
        let value = Node::of_field(self.node.source(), &self.fields[number]);
        if value.is_null() { Err(value.expected("a value, or an object without this key")) } else { Ok(Some(value)) }
    }

    /// The value of `key`.
    ///
    /// # Errors
    /// [`Problem`] if it is missing, `null`, or stands twice.
    #[inline]
    pub fn required(&mut self, key: &'static str) -> Result<Node<'a>, Problem> {
        self.optional(key)?.ok_or_else(|| self.missing(key))
    }

    /// Counts keys among the known ones that are asked for later.
    pub(super) fn know(&mut self, keys: &[&'static str]) {
        self.known.extend_from_slice(keys);
    }

    /// What is said of a key that is missing, with those that are here, unknown so far, and may be meant for it.
    #[cold]
    fn missing(&self, key: &str) -> Problem {
        let others = self.fields.iter().filter(|field| !self.node.passes_over(field));
        let others: Vec<_> = others.filter_map(|field| field.key(self.node.source())).collect();
        let unknown = others.iter().map(|other| &**other).filter(|other| *other != key && !self.known.contains(other));
        let meant = match near_names(key, unknown).as_slice() {
            [] => String::new(),
            near => format!(
                "; is {} meant for it?",
                near.iter().map(|key| format!("{key:?}")).collect::<Vec<_>>().join(" or ")
            ),
        };
        self.node.problem(format!("the key {key:?} is missing{meant}"))
    }

    /// Refuses every key that was not asked for.
    ///
    /// # Errors
    /// [`Problem`] naming the first unknown key and the allowed ones.
    #[inline]
    pub fn finish(self) -> Result<(), Problem> {
        let first = u64::MAX.checked_shr(64 - u32::try_from(self.fields.len()).unwrap_or(64).min(64)).unwrap_or(0);
        let all = self.taken == first && self.also_taken.len() == self.fields.len().saturating_sub(64);
        if all { Ok(()) } else { self.refuse_others() }
    }

    /// Refuses fields that were not taken, unless they are comments.
    #[cold]
    fn refuse_others(self) -> Result<(), Problem> {
        let is_taken = |number: usize| {
            if number < 64 { self.taken >> number & 1 == 1 } else { self.also_taken.contains(&number) }
        };
        let others = self.fields.iter().enumerate().filter(|(number, _)| !is_taken(*number));
        let mut has_schema = false;
        for (_, field) in others {
            if self.node.passes_over(field) {
                if self.node.is_second_schema(field, &mut has_schema) {
                    return Err(Node::of_field(self.node.source(), field).problem(stands_twice(SCHEMA)));
                }
            } else {
                let key = field.key(self.node.source()).unwrap_or_default();
                let value = Node::of_field(self.node.source(), field);
                if self.node.is_root() && key == SCHEMA {
                    return Err(value.expected("a string, the address or path of this file's schema"));
                }
                let mut known = self.known.clone();
                known.sort_unstable();
                known.dedup();
                let near = did_you_mean(&key, known.iter().copied());
                let help = format!("known keys here: {}, comment", known.join(", "));
                return Err(value.problem(format!("unknown key {key:?}{near}")).with_help(help));
            }
        }
        Ok(())
    }

    /// All fields but comments, for objects whose keys are names that the author chose.
    pub fn into_entries(self) -> impl IntoIterator<Item = (Cow<'a, str>, Node<'a>)> {
        let (fields, source) = (self.fields, self.node.source());
        let others = fields.into_iter().filter(|field| !field.is_comment(source));
        others.filter_map(|field| Some((field.key(source)?, Node::of_field(source, &field))))
    }

    /// The same, where no key may stand twice.
    ///
    /// # Errors
    /// [`Problem`] if one does.
    pub fn into_distinct_entries(self) -> Result<Vec<(Cow<'a, str>, Node<'a>)>, Problem> {
        let entries: Vec<_> = self.into_entries().into_iter().collect();
        let mut known = BTreeSet::new();
        match entries.iter().find(|(key, _)| !known.insert(&**key)) {
            Some((key, node)) => Err(node.problem(stands_twice(key))),
            None => Ok(entries),
        }
    }
}

impl<'a> Node<'a> {
    /// Whether a field of this object is no value of it: a comment, or at the root what editors find the schema by.
    pub(super) fn passes_over(&self, field: &Field) -> bool {
        let source = self.source();
        let is_schema = || {
            let value = Node::of_field(source, field);
            field.is(source, SCHEMA) && value.is_string()
        };
        field.is_comment(source) || (self.is_root() && is_schema())
    }

    /// Whether a field that is passed over is the schema, and one was there before.
    pub(super) fn is_second_schema(&self, field: &Field, has_schema: &mut bool) -> bool {
        field.is(self.source(), SCHEMA) && std::mem::replace(has_schema, true)
    }

    /// The fields of an object.
    ///
    /// # Errors
    /// [`Problem`] if this is no object, or has a key that is no text.
    pub fn object(&self) -> Result<Object<'a>, Problem> {
        if !self.is_object() {
            return Err(self.expected("an object"));
        }
        Object::parse(*self)
    }
}

impl<'a> Node<'a> {
    /// The elements of a list.
    ///
    /// # Errors
    /// [`Problem`] if this is no list.
    pub fn list(&self) -> Result<Vec<Node<'a>>, Problem> {
        if !self.is_list() {
            return Err(self.expected("a list"));
        }
        let mut inside = self.inside();
        let element = |(start, container)| Node::new(self.source(), start, container);
        Ok(std::iter::from_fn(|| inside.next_element().map(element)).collect())
    }

    /// The elements of a list that must not be empty.
    ///
    /// # Errors
    /// [`Problem`] if this is no list, or an empty one.
    pub fn filled_list(&self) -> Result<Vec<Node<'a>>, Problem> {
        let list = self.list()?;
        if list.is_empty() { Err(self.problem("expected at least one entry, found an empty list")) } else { Ok(list) }
    }
}
