//! One pass over a text: whether it is JSON, and where each of its lists and objects ends.
//!
//! With the ends known, what a reader does not look into costs it nothing, and what it looks into is gone through once
//! more, by the list or object in which it stands. What is wrong with a text that is no JSON is left to `serde_json`.

/// A list or object of a text. They are numbered in the order in which they begin.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Container {
    /// Behind its closing bracket \[bytes\].
    pub(super) end: usize,
    /// The number of the first list or object that begins after this one has ended.
    pub(super) next: usize,
}

/// All lists and objects of a text, or `None` if it is not JSON. However deep they are nested, it takes no stack.
pub(super) fn containers(text: &str) -> Option<Vec<Container>> {
    let bytes = text.as_bytes();
    let mut containers = Vec::new();
    // Numbers of those that have not ended, and whether each is an object.
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut at = 0;
    loop {
        at = behind_space(bytes, at);
        match *bytes.get(at)? {
            start @ (b'{' | b'[') => {
                let is_object = start == b'{';
                open.push((containers.len(), is_object));
                containers.push(Container::default());
                at = behind_space(bytes, at + 1);
                if *bytes.get(at)? != closing(is_object) {
                    if is_object {
                        at = behind_key(bytes, at)?;
                    }
                    continue;
                }
            }
            b'"' => at = behind_checked_string(bytes, at)?,
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
                return (at == bytes.len()).then_some(containers);
            };
            let byte = *bytes.get(at)?;
            at += 1;
            if byte == closing(is_object) {
                containers[number] = Container { end: at, next: containers.len() };
                open.pop();
            } else if byte == b',' {
                if is_object {
                    at = behind_key(bytes, behind_space(bytes, at))?;
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
    // Mostly there is none.
    if bytes.get(at).is_some_and(|byte| *byte > b' ') {
        return at;
    }
    while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Behind the key at `at` and its colon.
fn behind_key(bytes: &[u8], at: usize) -> Option<usize> {
    if *bytes.get(at)? != b'"' {
        return None;
    }
    let colon = behind_space(bytes, behind_checked_string(bytes, at)?);
    (*bytes.get(colon)? == b':').then_some(colon + 1)
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
    // The top bit of each byte that is zero; of those behind the first such one it may be set too.
    const fn zeros(word: u64) -> u64 {
        word.wrapping_sub(ONES) & !word & TOPS
    }
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let word = u64::from_le_bytes(*eight);
        let controls = word.wrapping_sub(ONES * 0x20) & !word & TOPS;
        let special = controls | zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\')));
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

/// Behind the string whose opening quotation mark is at `at`.
fn behind_checked_string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
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
