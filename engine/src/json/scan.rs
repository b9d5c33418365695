//! One pass over a text: whether it is JSON, and where each of its lists and objects ends.
//!
//! What a reader does not look into costs it nothing then, and what is in a list or object is found in the text again:
//! of millions of small objects an index would take as much memory as their text. What is wrong with a text that is no
//! JSON is left to `serde_json`.

use std::borrow::Cow;

use crate::limits::NowAndThen;

/// A list or object of a text. They are numbered in the order in which they begin.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Container {
    /// Behind its closing bracket \[bytes\].
    pub(super) end: u32,
    /// The number of the first list or object that begins after this one has ended.
    pub(super) next: u32,
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

/// All lists and objects of a text, and whether any object has a comment; or `None` if it is not JSON, or longer than
/// 32 bits count. However deep they are nested, it takes no stack.
pub(super) fn scan(text: &str) -> Option<Source<'_>> {
    u32::try_from(text.len()).ok()?;
    let bytes = text.as_bytes();
    let mut source = Source { text, containers: Vec::new(), has_comments: false };
    // The numbers of lists and objects that have not ended, and whether each is an object.
    let mut open: Vec<(u32, bool)> = Vec::new();
    let (mut at, mut now_and_then) = (0, NowAndThen::default());
    loop {
        now_and_then.end_if_stopped();
        at = behind_space(bytes, at);
        match *bytes.get(at)? {
            start @ (b'{' | b'[') => {
                let is_object = start == b'{';
                open.push((place(source.containers.len()), is_object));
                source.containers.push(Container::default());
                at = behind_space(bytes, at + 1);
                if *bytes.get(at)? != closing(is_object) {
                    if is_object {
                        at = behind_checked_key(bytes, at, &mut source.has_comments)?;
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
            let Some(&(number, is_object)) = open.last() else {
                return (at == bytes.len()).then_some(source);
            };
            let byte = *bytes.get(at)?;
            at += 1;
            if byte == closing(is_object) {
                let next = place(source.containers.len());
                source.containers[number as usize] = Container { end: place(at), next };
                open.pop();
            } else if byte == b',' {
                if is_object {
                    at = behind_checked_key(bytes, behind_space(bytes, at), &mut source.has_comments)?;
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

/// Where the value of the field begins whose key is at `at`; notes whether it is a comment.
#[inline]
fn behind_checked_key(bytes: &[u8], at: usize, has_comments: &mut bool) -> Option<usize> {
    if *bytes.get(at)? != b'"' {
        return None;
    }
    let (end, is_plain) = behind_checked_string(bytes, at)?;
    *has_comments |= if is_plain {
        bytes[at + 1] == COMMENT.as_bytes()[0] && bytes[at + 1..].starts_with(COMMENT.as_bytes())
    } else {
        serde_json::from_slice(&bytes[at..end]).is_ok_and(|key: String| is_comment(&key))
    };
    let colon = behind_space(bytes, end);
    (*bytes.get(colon)? == b':').then(|| behind_space(bytes, colon + 1))
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
    containers: Vec<Container>,
    /// Whether any object has a comment.
    pub(super) has_comments: bool,
}

impl Source<'_> {
    /// The offset just after the value that begins at `start` \[bytes\], and the number that the next list or object
    /// has; `container` is the value's number if it is one.
    #[inline]
    pub(super) fn behind(&self, start: usize, container: u32) -> (usize, u32) {
        let bytes = self.text.as_bytes();
        match bytes.get(start) {
            Some(b'{' | b'[') => {
                let Container { end, next } = self.containers.get(container as usize).copied().unwrap_or_default();
                (end as usize, next)
            }
            Some(b'"') => (behind_string(bytes, start).0, container),
            _ => (behind_scalar(bytes, start), container),
        }
    }
}

/// A cursor on the inside of a list or object.
#[derive(Debug)]
pub(super) struct Inside<'a> {
    source: &'a Source<'a>,
    /// Behind the opening bracket, or the last value \[bytes\].
    at: usize,
    /// The number that the next list or object has.
    container: u32,
}

impl<'a> Inside<'a> {
    /// That of number `container`, which begins at `start`.
    #[inline]
    pub(super) fn new(source: &'a Source<'a>, start: usize, container: u32) -> Self {
        Self { source, at: start + 1, container: container + 1 }
    }

    /// Where the next element or key is.
    #[inline]
    pub(super) fn next_start(&mut self) -> Option<usize> {
        let bytes = self.source.text.as_bytes();
        let mut at = behind_space(bytes, self.at);
        if bytes.get(at) == Some(&b',') {
            at = behind_space(bytes, at + 1);
        }
        bytes.get(at).filter(|byte| !matches!(byte, b']' | b'}')).map(|_| at)
    }

    /// Passes over the value at `start`; gives its number, if it is a list or object.
    #[inline]
    fn pass(&mut self, start: usize) -> u32 {
        let number = self.container;
        (self.at, self.container) = self.source.behind(start, number);
        number
    }

    /// Where the next element of a list is, and its number if it is a list or object.
    #[inline]
    pub(super) fn next_element(&mut self) -> Option<(u32, u32)> {
        let start = self.next_start()?;
        Some((place(start), self.pass(start)))
    }
}

impl Inside<'_> {
    /// The field whose key is at `key`. If that is `likely`, which has that mark, nothing of it is looked for; says
    /// whether it is.
    #[inline]
    pub(super) fn field(&mut self, key: usize, likely: Option<(&str, Mark)>) -> (Field, bool) {
        let bytes = self.source.text.as_bytes();
        let own = likely.filter(|(likely, _)| is_key(bytes, key, likely));
        let (end, mark) = own.map_or_else(
            || match behind_string(bytes, key) {
                (end, true) => (end, Mark::of(&bytes[key + 1..end - 1])),
                (end, false) => (end, Mark::ESCAPED),
            },
            |(likely, mark)| (key + likely.len() + 2, mark),
        );
        let value = behind_space(bytes, behind_space(bytes, end) + 1);
        (Field { key: place(key), value: place(value), container: self.pass(value), mark }, own.is_some())
    }
}

/// The fields of an object.
impl Iterator for Inside<'_> {
    type Item = Field;

    #[inline]
    fn next(&mut self) -> Option<Field> {
        let key = self.next_start()?;
        Some(self.field(key, None).0)
    }
}

/// Whether `key` stands in quotation marks at `at`, without escapes.
#[inline]
fn is_key(bytes: &[u8], at: usize, key: &str) -> bool {
    // Behind a key without escapes is a quotation mark, and there is none in it.
    let own = bytes.get(at + 1..=at + 1 + key.len()).and_then(<[u8]>::split_last);
    own.is_some_and(|(end, own)| *end == b'"' && own == key.as_bytes())
}

/// With this begin the keys of free text.
const COMMENT: &str = "comment";

/// Whether what a key has is free text.
pub fn is_comment(key: &str) -> bool {
    key.starts_with(COMMENT)
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
        is_key(source.text.as_bytes(), self.key as usize, key)
    }

    /// Whether it is free text.
    pub(super) fn is_comment(&self, source: &Source<'_>) -> bool {
        self.key(source).is_some_and(|key| is_comment(&key))
    }
}
