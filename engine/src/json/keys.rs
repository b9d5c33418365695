//! The fields of an object whose keys are all known beforehand, taken at once, in the order of the text.

use super::error::Problem;
use super::node::Node;
use super::scan::{Field, Mark};

/// Keys that an object may have: `R` that it must have, and `O` others. What [`Node::fields`] looks for.
#[derive(Debug)]
pub struct Keys<const R: usize, const O: usize> {
    required: [&'static str; R],
    optional: [&'static str; O],
    required_marks: [Mark; R],
    optional_marks: [Mark; O],
    /// The number of a key, from 1, at the place that its mark says or else the next that is free; 0: there is none.
    slots: [u8; SLOTS],
}

/// More than any object has keys.
const SLOTS: usize = 64;

/// The values of fields that must be there, and of those that may be.
pub(crate) type Values<'a, const R: usize, const O: usize> = ([Node<'a>; R], [Option<Node<'a>>; O]);

const fn marks<const N: usize>(keys: &[&str; N]) -> [Mark; N] {
    let mut marks = [Mark::ESCAPED; N];
    let mut number = 0;
    while number < N {
        marks[number] = Mark::of(keys[number].as_bytes());
        number += 1;
    }
    marks
}

impl<const R: usize, const O: usize> Keys<R, O> {
    /// These keys, which are different ones. Made once, as a constant.
    ///
    /// # Panics
    /// If they are 64 or more; a constant of so many does not compile.
    pub const fn new(required: [&'static str; R], optional: [&'static str; O]) -> Self {
        assert!(R + O < SLOTS);
        let (required_marks, optional_marks) = (marks(&required), marks(&optional));
        let mut slots = [0; SLOTS];
        let mut number = 0;
        while number < R + O {
            let mark = if number < R { required_marks[number] } else { optional_marks[number - R] };
            let mut slot = mark.slot();
            while slots[slot] != 0 {
                slot = (slot + 1) % SLOTS;
            }
            number += 1;
            // Fewer than 64, see above.
            #[expect(clippy::cast_possible_truncation, reason = "see above")]
            let of_key = number as u8;
            slots[slot] = of_key;
        }
        Self { required, optional, required_marks, optional_marks, slots }
    }

    fn key(&self, number: usize) -> Option<(&'static str, Mark)> {
        let required = self.required.get(number).zip(self.required_marks.get(number));
        let optional = || self.optional.get(number - R).zip(self.optional_marks.get(number - R));
        required.or_else(optional).map(|(key, mark)| (*key, *mark))
    }

    /// The number of the key of a field of `object`, if it is one of these.
    #[inline]
    fn number(&self, object: Node<'_>, field: &Field) -> Option<usize> {
        if field.mark == Mark::ESCAPED {
            return (0..R + O).find(|&number| {
                self.key(number).is_some_and(|(key, _)| field.key(object.source()).is_some_and(|own| own == key))
            });
        }
        let mut slot = field.mark.slot();
        loop {
            let number = usize::from(self.slots[slot]).checked_sub(1)?;
            let (key, mark) = self.key(number)?;
            if mark == field.mark && field.is(object.source(), key) {
                return Some(number);
            }
            slot = (slot + 1) % SLOTS;
        }
    }
}

impl<'a> Node<'a> {
    /// The values of an object's fields, those that must be there and those that may be, in the order of `keys`.
    /// Comments are passed over.
    ///
    /// # Errors
    /// [`Problem`] if this is no object, a key that it must have is missing, or one stands twice, is not known or has
    /// the value `null`.
    #[inline]
    pub fn fields<const R: usize, const O: usize>(&self, keys: &Keys<R, O>) -> Result<Values<'a, R, O>, Problem> {
        if !self.is_object() {
            return Err(self.expected("an object"));
        }
        let (mut required, mut optional) = ([None; R], [None; O]);
        let mut has_schema = false;
        let (mut inside, mut next) = (self.inside(), 0);
        while let Some(start) = inside.next_start() {
            // Many files have them in the order of the keys.
            let (field, is_next) = inside.field(start, keys.key(next));
            let Some(number) = (if is_next { Some(next) } else { keys.number(*self, &field) }) else {
                if self.passes_over(&field) && !self.is_second_schema(&field, &mut has_schema) {
                    continue;
                }
                return Err(self.fields_one_by_one(keys));
            };
            next = number + 1;
            let value = Node::of_field(self.source(), &field);
            let slot = match number.checked_sub(R) {
                None => &mut required[number],
                Some(number) => &mut optional[number],
            };
            if value.is_null() || slot.replace(value).is_some() {
                return Err(self.fields_one_by_one(keys));
            }
        }
        if required.iter().any(Option::is_none) {
            return Err(self.fields_one_by_one(keys));
        }
        // None of them is missing.
        Ok((required.map(|value| value.unwrap_or(*self)), optional))
    }

    /// What is wrong with an object that should have the fields of `keys`.
    #[cold]
    fn fields_one_by_one<const R: usize, const O: usize>(&self, keys: &Keys<R, O>) -> Problem {
        let taken = self.object().and_then(|mut object| {
            object.know(&keys.required);
            object.know(&keys.optional);
            keys.required.iter().try_for_each(|key| object.required(key).map(drop))?;
            keys.optional.iter().try_for_each(|key| object.optional(key).map(drop))?;
            object.finish()
        });
        taken.err().unwrap_or_else(|| self.expected("an object"))
    }
}
