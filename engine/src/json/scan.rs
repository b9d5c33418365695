//! One pass over a text: whether it is JSON, where each of its lists and objects ends, and where the fields of each
//! object begin.
//!
//! What a reader does not look into costs it nothing then, and keys are looked at once. What is wrong with a text that
//! is no JSON is left to `serde_json`.

use std::borrow::Cow;

use crate::limits::NowAndThen;

/// A list or object of a text. They are numbered in the order in which they begin.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Container {
    /// Behind its closing bracket \[bytes\].
    pub(super) end: u32,
    /// The number of the first list or object that begins after this one has ended.
    pub(super) next: u32,
    /// Of an object: the number of its first field. Those of one object stand together.
    pub(super) first_field: u32,
    /// Of an object: how many it has.
    pub(super) fields: u32,
}

/// A key of an object, and its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    /// Where the key's opening quotation mark is \[bytes\].
    pub(super) key: u32,
    /// Where the value begins \[bytes\].
    pub(super) value: u32,
    /// The number of the value, if it is a list or object.
    pub(super) container: u32,
    /// What keys are compared by first.
    pub(super) mark: Mark,
}

/// Length, first and last byte of a key: different keys mostly differ in that, which takes one comparison to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark(u32);

impl Mark {
    /// The mark of every key that is written with escapes: its length and last byte are not known before it is decoded,
    /// so such keys are compared as text.
    pub(super) const ESCAPED: Self = Self(u32::MAX);
    /// The longest length that a mark tells apart \[bytes\]; no reader asks for a key as long.
    const LONG: usize = 0x7fff;

    /// The mark of a decoded key.
    #[inline]
    pub(super) const fn of(key: &[u8]) -> Self {
        let length = if key.len() < Self::LONG { key.len() } else { Self::LONG };
        let (first, last) = if key.is_empty() { (0, 0) } else { (key[0], key[key.len() - 1]) };
        // At most 15 bits.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let length = length as u32;
        Self(length << 16 | (first as u32) << 8 | last as u32)
    }

    /// A number below 64; different keys of one object mostly have different ones.
    #[inline]
    pub(super) const fn slot(self) -> usize {
        (self.0.wrapping_mul(0x9e37_79b1) >> 26) as usize
    }

    /// The bit at [`slot`](Self::slot) in a set of 64.
    #[inline]
    pub(super) const fn bit(self) -> u64 {
        1 << self.slot()
    }
}

/// A place in a text that was scanned, or a number of things in it.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "no text is scanned that is longer than 32 bits count")]
pub(super) const fn place(at: usize) -> u32 {
    at as u32
}

/// What is known of a text that is JSON.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) containers: Vec<Container>,
    pub(super) fields: Vec<Field>,
}

/// A list or object that has not ended.
struct Open {
    number: u32,
    /// Whether it is an object, and if so, how many fields had not found their place when it began.
    pending: Option<usize>,
    /// The number of the field that the next one is likely to look like: that at its place in the last object that
    /// stood in the same list or object as this one.
    alike: usize,
    /// The number of the first field of the last object in it.
    last_inside: usize,
}

/// What a field of a scenario file mostly takes at least \[bytes\].
const BYTES_PER_FIELD: usize = 20;

/// All lists, objects and fields of a text, or `None` if it is not JSON, or longer than 32 bits count. However deep
/// they are nested, it takes no stack.
pub(super) fn scan(text: &str) -> Option<Scan> {
    u32::try_from(text.len()).ok()?;
    let bytes = text.as_bytes();
    let mut containers: Vec<Container> = Vec::new();
    // Room that is not needed is never touched; room that grew would be copied.
    let mut fields: Vec<Field> = Vec::with_capacity(text.len() / BYTES_PER_FIELD);
    let mut open: Vec<Open> = Vec::new();
    // Fields of objects that have not ended.
    let mut pending: Vec<Field> = Vec::new();
    let (mut at, mut now_and_then) = (0, NowAndThen::default());
    loop {
        now_and_then.end_if_stopped();
        at = behind_space(bytes, at);
        match *bytes.get(at)? {
            start @ (b'{' | b'[') => {
                let is_object = start == b'{';
                let (number, pending_before) = (place(containers.len()), is_object.then_some(pending.len()));
                let alike = open.last().map_or(0, |around| around.last_inside);
                open.push(Open { number, pending: pending_before, alike, last_inside: 0 });
                containers.push(Container::default());
                at = behind_space(bytes, at + 1);
                if *bytes.get(at)? != closing(is_object) {
                    if is_object {
                        at = add_field(bytes, at, containers.len(), fields.get(alike), &mut pending)?;
                    }
                    continue;
                }
            }
            b'"' => at = behind_checked_string(bytes, at)?.0,
            b'-' | b'0'..=b'9' => at = behind_checked_number(bytes, at)?,
            b't' => at = behind_word(bytes, at, b"true")?,
            b'f' => at = behind_word(bytes, at, b"false")?,
            b'n' => at = behind_word(bytes, at, b"null")?,
            _ => return None,
        }
        // A value has ended, or a list or object is about to.
        loop {
            at = behind_space(bytes, at);
            let Some(last) = open.last_mut() else {
                return (at == bytes.len()).then_some(Scan { containers, fields });
            };
            let byte = *bytes.get(at)?;
            at += 1;
            if byte == closing(last.pending.is_some()) {
                let (first, next) = (place(fields.len()), place(containers.len()));
                let own = last.pending.and_then(|first| pending.get(first..)).unwrap_or_default();
                fields.extend_from_slice(own);
                let own = own.len();
                containers[last.number as usize] =
                    Container { end: place(at), next, first_field: first, fields: place(own) };
                pending.truncate(pending.len() - own);
                open.pop();
                if let Some(around) = open.last_mut() {
                    around.last_inside = first as usize;
                }
            } else if byte == b',' {
                if last.pending.is_some() {
                    last.alike += 1;
                    let alike = fields.get(last.alike);
                    at = add_field(bytes, behind_space(bytes, at), containers.len(), alike, &mut pending)?;
                }
                break;
            } else {
                return None;
            }
        }
    }
}

const fn closing(is_object: bool) -> u8 {
    if is_object { b'}' } else { b']' }
}

/// Where the white space from `at` on ends.
#[inline]
pub(super) fn behind_space(bytes: &[u8], mut at: usize) -> usize {
    // Mostly there is none, or a single one.
    if bytes.get(at).is_some_and(|byte| *byte > b' ') {
        return at;
    }
    if bytes.get(at) == Some(&b' ') {
        at += 1;
        if bytes.get(at).is_some_and(|byte| *byte > b' ') {
            return at;
        }
    }
    while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Adds the field whose key is at `at`; says where its value begins. `containers` is how many lists and objects begin
/// before that. It is mostly `alike` in all before the value.
#[inline]
fn add_field(
    bytes: &[u8],
    at: usize,
    containers: usize,
    alike: Option<&Field>,
    pending: &mut Vec<Field>,
) -> Option<usize> {
    if let Some(alike) = alike {
        let text = bytes.get(alike.key as usize..alike.value as usize)?;
        if bytes.get(at..).is_some_and(|rest| rest.starts_with(text)) {
            let value = behind_space(bytes, at + text.len());
            pending.push(Field { key: place(at), value: place(value), container: place(containers), mark: alike.mark });
            return Some(value);
        }
    }
    if *bytes.get(at)? != b'"' {
        return None;
    }
    let (end, is_plain) = behind_checked_string(bytes, at)?;
    let colon = behind_space(bytes, end);
    if *bytes.get(colon)? != b':' {
        return None;
    }
    let value = behind_space(bytes, colon + 1);
    let mark = if is_plain { Mark::of(&bytes[at + 1..end - 1]) } else { Mark::ESCAPED };
    pending.push(Field { key: place(at), value: place(value), container: place(containers), mark });
    Some(value)
}

fn behind_word(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes[at..].starts_with(word).then_some(at + word.len())
}

/// Which bytes cannot stand in a string as they are: quotation marks, backslashes, and control characters.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        special[byte] = true;
        byte += 1;
    }
    special[b'"' as usize] = true;
    special[b'\\' as usize] = true;
    special
};

/// Where the first byte from `at` on is that cannot stand in a string as it is, or the end of the text. Eight bytes are
/// looked at together.
#[inline]
fn first_special(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const TOPS: u64 = ONES << 7;
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let word = u64::from_le_bytes(*eight);
        // A quotation mark with its second bit changed is 0x20, and control characters stay below that. Top bits are
        // those of bytes from which more was taken than they are; behind the first such byte they may be of others too.
        let below = (word ^ (ONES * 2)).wrapping_sub(ONES * 0x21);
        let backslash = (word ^ (ONES * u64::from(b'\\'))).wrapping_sub(ONES);
        let special = (below | backslash) & !word & TOPS;
        if special != 0 {
            return at + (special.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|byte| !SPECIAL[*byte as usize]) {
        at += 1;
    }
    at
}

/// Behind the string whose opening quotation mark is at `at`, and whether it has no escapes.
#[inline]
fn behind_checked_string(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    let end = first_special(bytes, at + 1);
    if *bytes.get(end)? == b'"' { Some((end + 1, true)) } else { Some((behind_escapes(bytes, end)?, false)) }
}

/// Behind a string, from the first byte on that cannot stand in it as it is.
#[cold]
fn behind_escapes(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at = first_special(bytes, at);
        match *bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => match *bytes.get(at + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                b'u' if bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit) => at += 6,
                _ => return None,
            },
            _ => return None,
        }
    }
}

/// Behind the number that begins at `at`, with a digit or a minus sign.
fn behind_checked_number(bytes: &[u8], at: usize) -> Option<usize> {
    let whole = at + usize::from(bytes[at] == b'-');
    let mut at = behind_digits(bytes, whole)?;
    if bytes[whole] == b'0' && at > whole + 1 {
        return None;
    }
    if bytes.get(at) == Some(&b'.') {
        at = behind_digits(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        at = behind_digits(bytes, at + 1 + sign)?;
    }
    Some(at)
}

/// Behind digits, of which there must be one at least.
fn behind_digits(bytes: &[u8], first: usize) -> Option<usize> {
    let mut at = first;
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    (at > first).then_some(at)
}

/// Behind the string whose opening quotation mark is at `at`, in a text that is JSON, and whether it has no escapes.
pub(super) fn behind_string(bytes: &[u8], at: usize) -> (usize, bool) {
    let (mut at, mut is_plain) = (at + 1, true);
    loop {
        at = first_special(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return (at + 1, is_plain),
            Some(_) => {
                at += 2;
                is_plain = false;
            }
            None => return (bytes.len(), false),
        }
    }
}

/// Which bytes end a number or word.
const ENDS_SCALAR: [bool; 256] = {
    let mut ends = [false; 256];
    let all = b",}] \n\t\r";
    let mut index = 0;
    while index < all.len() {
        ends[all[index] as usize] = true;
        index += 1;
    }
    ends
};

/// Behind the number or word that begins at `at`, in a text that is JSON.
pub(super) fn behind_scalar(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|byte| !ENDS_SCALAR[*byte as usize]) {
        at += 1;
    }
    at
}

// A text whose lists, objects and fields are known.

/// A text that is JSON, with its lists and objects.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) containers: Vec<Container>,
    /// The fields of each object, one after another.
    pub(super) fields: Vec<Field>,
}

impl Source<'_> {
    /// The list or object of that number.
    pub(super) fn container(&self, number: u32) -> Container {
        self.containers.get(number as usize).copied().unwrap_or_default()
    }

    /// The offset just after the value that begins at `start` \[bytes\]; `container` is the value's number if it is a
    /// list or object.
    pub(super) fn end(&self, start: usize, container: u32) -> usize {
        let bytes = self.text.as_bytes();
        match bytes.get(start) {
            Some(b'{' | b'[') => self.container(container).end as usize,
            Some(b'"') => behind_string(bytes, start).0,
            _ => behind_scalar(bytes, start),
        }
    }

    /// The fields of an object.
    pub(super) fn fields(&self, container: u32) -> &[Field] {
        let Container { first_field, fields, .. } = self.container(container);
        let first = first_field as usize;
        self.fields.get(first..first + fields as usize).unwrap_or_default()
    }
}

/// Whether what a key has is free text.
pub fn is_comment(key: &str) -> bool {
    key.starts_with("comment")
}

impl Field {
    /// Its key, borrowed from the text unless it has escapes; `None` if it contains half a surrogate pair, which is
    /// no text.
    pub(super) fn key<'a>(&self, source: &'a Source<'_>) -> Option<Cow<'a, str>> {
        let (text, start) = (source.text, self.key as usize);
        let (end, is_plain) = behind_string(text.as_bytes(), start);
        if is_plain {
            text.get(start + 1..end - 1).map(Cow::Borrowed)
        } else {
            text.get(start..end).and_then(|key| serde_json::from_str(key).ok()).map(Cow::Owned)
        }
    }

    /// Whether its key is `key`, if they are not known to have different marks.
    #[inline]
    pub(super) fn is(&self, source: &Source<'_>, key: &str) -> bool {
        if self.mark == Mark::ESCAPED {
            return self.key(source).is_some_and(|own| own == key);
        }
        let start = self.key as usize + 1;
        let own = source.text.as_bytes().get(start..=start + key.len());
        // Behind a key without escapes is a quotation mark, and there is none in it.
        own.and_then(<[u8]>::split_last).is_some_and(|(end, own)| *end == b'"' && own == key.as_bytes())
    }

    /// Whether it is free text.
    pub(super) fn is_comment(&self, source: &Source<'_>) -> bool {
        self.key(source).is_some_and(|key| is_comment(&key))
    }
}
