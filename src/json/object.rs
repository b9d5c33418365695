//! The fields of one JSON object, taken out one by one; what is left over is unknown.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use super::error::Problem;
use super::node::Node;

/// The fields of an object. Take what is known with [`Object::required`] and [`Object::optional`], then call
/// [`Object::finish`], which refuses whatever nobody asked for.
#[derive(Debug)]
pub struct Object<'a> {
    node: Node<'a>,
    entries: Vec<Entry<'a>>,
    known: Vec<&'static str>,
}

#[derive(Debug)]
struct Entry<'a> {
    key: Cow<'a, str>,
    value: Node<'a>,
    taken: bool,
}

impl<'a> Object<'a> {
    fn parse(node: Node<'a>) -> Result<Self, Problem> {
        let Fields(fields) =
            serde_json::from_str(node.raw()).map_err(|error| node.problem(format!("expected an object: {error}")))?;
        let mut entries: Vec<Entry<'a>> = Vec::with_capacity(fields.len());
        for (key, raw) in fields {
            let value = node.within(raw.get());
            let is_comment = key.starts_with("comment");
            entries.push(Entry { key, value, taken: is_comment });
        }
        Ok(Self { node, entries, known: Vec::new() })
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
    pub fn optional(&mut self, key: &'static str) -> Result<Option<Node<'a>>, Problem> {
        self.known.push(key);
        let mut found = None;
        for entry in self.entries.iter_mut().filter(|entry| entry.key == key) {
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

/// Keys and values in the order of the text, repeated keys included.
struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    fields.push((key, value));
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(Collect)
    }
}

/// A key, borrowed from the text unless it has escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
