//! Changes of one place of a JSON text. Places are found in the text, so that a key may stand twice and a value be no
//! JSON.

use std::ops::Range;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::de::IgnoredAny;

use crate::odd_names::ODD_NAMES;

/// A value of a text, with its key if it is a field of an object.
struct Place {
    key: Option<Range<usize>>,
    value: Range<usize>,
    /// Whether it is a comment or remark, or within one, where any key may stand.
    is_comment: bool,
}

impl Place {
    fn whole(&self) -> Range<usize> {
        self.key.as_ref().unwrap_or(&self.value).start..self.value.end
    }
}

/// What is put in place of a piece of text.
pub(super) struct Change {
    pub(super) range: Range<usize>,
    pub(super) with: String,
    pub(super) what: &'static str,
    /// Whether a reader that knows all keys has to refuse it: a key that there is not, or one that stands twice.
    pub(super) is_unknown_key: bool,
}

/// Values of other kinds, at the ends of ranges, and beyond them.
const VALUES: &[&str] = &[
    "0",
    "-0",
    "-1",
    "1",
    "2",
    "2147483647",
    "2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "1e18",
    "1e19",
    "1e308",
    "-1e308",
    "1e309",
    "1e-320",
    "0.5",
    "0.1",
    "1E2",
    "1.0",
    "null",
    "true",
    "false",
    "[]",
    "{}",
    "[[]]",
    "[{}]",
    "{\"a\": {}}",
    "[0]",
    "[1, 2, 3, 4]",
    "[null]",
    "\"NaN\"",
    "NaN",
    "Infinity",
    "-Infinity",
    "+1",
    "01",
    ".5",
    "0x10",
    "\"\"",
    "\" \"",
    "\"0\"",
    "\"-1\"",
    "\"1\"",
    "\"1e308 s\"",
    "\"0 ns\"",
    "\"1 ns\"",
    "\"9223372036854775807 ns\"",
    "\"9223372036854775808 ns\"",
    "\"0.5 ns\"",
    "\"-1 ms\"",
    "\"1ms\"",
    "\"1 MS\"",
    "\"1 parsec\"",
    "\"NaN s\"",
    "\"inf s\"",
    "\"1,5 ms\"",
    "\"١ ms\"",
    "\"all\"",
    "\"device\"",
    "\"NULL\"",
    "\"~0x0\"",
    "\"0xffffffffffffffffffff\"",
    "\"x\"",
    "\"../../x\"",
    "\"/\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\\ud83d\\ude00\"",
    "\"\\x\"",
    "\"\t\"",
    "'a'",
    "nul",
    "",
];

/// How keys begin within which anything may stand: comments, and remarks on fields of devices.
const FREE: [&str; 3] = ["comment", "sources", "assumptions"];

/// A key that no format has.
const UNKNOWN: &str = "no such key";

/// A change of a text; none of what is no JSON.
pub(super) fn change(text: &str, random: &mut ChaCha8Rng) -> Option<Change> {
    let places = places(text)?;
    let chosen = random.random_range(0..places.len());
    let place = &places[chosen];
    let value = &text[place.value.clone()];
    let whole = place.whole();
    let with = |range: &Range<usize>, with: String, what: &'static str| {
        Some(Change { range: range.clone(), with, what, is_unknown_key: false })
    };
    match random.random_range(0..20) {
        0 => with(&with_comma(text, &whole), String::new(), "left out"),
        1 => Some(twice(text, place)),
        2 => {
            let key = place.key.as_ref()?;
            let name = &text[key.start + 1..key.end - 1];
            let keys: Vec<&str> = places.iter().filter_map(|place| Some(&text[place.key.clone()?])).collect();
            let renamed = match random.random_range(0..5) {
                0 => format!("\"{}\"", name.to_uppercase()),
                1 => format!("\"{name} \""),
                2 => "\"\"".to_owned(),
                3 => quoted(random),
                _ => keys[random.random_range(0..keys.len())].to_owned(),
            };
            with(key, renamed, "another key")
        }
        3 | 4 => one_more(text, place, valid(random)),
        5 => {
            let other = &places[random.random_range(0..places.len())];
            with(&place.value, text[other.value.clone()].to_owned(), "a value of elsewhere")
        }
        6 => {
            let nested = match random.random_range(0..4) {
                0 => format!("[{value}]"),
                1 => format!("{{\"a\": {value}}}"),
                2 => format!("\"{}\"", value.replace('"', "")),
                _ => {
                    let depth = random.random_range(2..300);
                    format!("{}{value}{}", "[".repeat(depth), "]".repeat(depth))
                }
            };
            with(&place.value, nested, "nested")
        }
        7 => {
            let inner = value.strip_prefix('[')?.strip_suffix(']').filter(|inner| !inner.trim().is_empty())?;
            let many = vec![inner; random.random_range(2..40)].join(", ");
            with(&place.value, format!("[{many}]"), "repeated")
        }
        8 => with(&place.value, quoted(random), "odd text"),
        9 => {
            let long = ["a", "9", "é", "\\n", "👩‍💻", " ", "-"][random.random_range(0..7)];
            let long = long.repeat(random.random_range(100..3_000));
            let long = if long.starts_with('9') && random.random() { long } else { format!("\"{long}\"") };
            with(&place.value, long, "very long")
        }
        10..14 => {
            // A number within a text keeps its unit.
            let digits = value.find(|c: char| c.is_ascii_digit())?;
            let end = value[digits..].find(|c: char| !c.is_ascii_digit()).map_or(value.len(), |length| digits + length);
            let range = place.value.start + digits..place.value.start + end;
            with(&range, VALUES[random.random_range(0..26)].to_owned(), "another number")
        }
        _ => with(&place.value, VALUES[random.random_range(0..VALUES.len())].to_owned(), "another value"),
    }
}

/// The same member once more.
fn twice(text: &str, place: &Place) -> Change {
    let whole = place.whole();
    let with = format!("{0}, {0}", &text[whole.clone()]);
    let is_unknown_key = !place.is_comment && place.key.is_some();
    Change { range: whole, with, what: "stands twice", is_unknown_key }
}

/// A key more in an object.
fn one_more(text: &str, place: &Place, value: &str) -> Option<Change> {
    let inner = text[place.value.clone()].strip_prefix('{')?;
    let comma = if inner.trim_start().starts_with('}') { "" } else { ", " };
    let (at, with) = (place.value.start + 1, format!("\"{UNKNOWN}\": {value}{comma}"));
    Some(Change { range: at..at, with, what: "a key more", is_unknown_key: !place.is_comment })
}

/// Each change of a text by which a key stands there that there is not, or one stands twice.
pub(super) fn unknown_keys(text: &str) -> Vec<Change> {
    let places = places(text).unwrap_or_default();
    let changes = places.iter().flat_map(|place| [Some(twice(text, place)), one_more(text, place, "1")]);
    changes.flatten().filter(|change| change.is_unknown_key).collect()
}

/// A value that is JSON.
fn valid(random: &mut ChaCha8Rng) -> &'static str {
    ["1", "null", "[]", "{}", "\"x\"", "true", "-0.5"][random.random_range(0..7)]
}

fn quoted(random: &mut ChaCha8Rng) -> String {
    serde_json::to_string(ODD_NAMES[random.random_range(0..ODD_NAMES.len())]).expect("text")
}

/// A member of a list or object and the comma that is not needed without it.
fn with_comma(text: &str, whole: &Range<usize>) -> Range<usize> {
    let (before, behind) = (&text[..whole.start], &text[whole.end..]);
    let blanks = behind.len() - behind.trim_start().len();
    match (behind.trim_start().starts_with(','), before.trim_end().strip_suffix(',')) {
        (true, _) => whole.start..whole.end + blanks + 1,
        (false, Some(before)) => before.len()..whole.end,
        (false, None) => whole.clone(),
    }
}

/// All places of a text that is JSON, in their order.
fn places(text: &str) -> Option<Vec<Place>> {
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let bytes = text.as_bytes();
    let (mut places, mut open, mut key): (Vec<Place>, Vec<usize>, Option<Range<usize>>) =
        (Vec::new(), Vec::new(), None);
    let mut at = 0;
    while at < bytes.len() {
        let begin = at;
        at += 1;
        match bytes[begin] {
            b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' => continue,
            b'}' | b']' => {
                places[open.pop()?].value.end = at;
                continue;
            }
            b'{' | b'[' => {}
            b'"' => {
                while bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            _ => at += bytes[at..].iter().take_while(|byte| !b" \t\r\n,:]}".contains(byte)).count(),
        }
        let within = open.last().map(|&place| &places[place]);
        let is_in_object = within.is_some_and(|place| bytes[place.value.start] == b'{');
        if is_in_object && key.is_none() {
            key = Some(begin..at);
            continue;
        }
        let is_free = |key: &Range<usize>| FREE.iter().any(|free| text[key.start + 1..].starts_with(free));
        let is_comment = within.is_some_and(|place| place.is_comment) || key.as_ref().is_some_and(is_free);
        if matches!(bytes[begin], b'{' | b'[') {
            open.push(places.len());
        }
        places.push(Place { key: key.take(), value: begin..at, is_comment });
    }
    Some(places)
}

#[test]
fn places_are_all_values_with_their_keys() {
    let text = r#"{"a": [1, {"b\"": "x}"}], "comment 1": {"c": null}}"#;
    let found: Vec<(Option<&str>, &str, bool)> = places(text)
        .expect("it is JSON")
        .iter()
        .map(|place| (place.key.clone().map(|key| &text[key]), &text[place.value.clone()], place.is_comment))
        .collect();
    let expected = [
        (None, text, false),
        (Some("\"a\""), r#"[1, {"b\"": "x}"}]"#, false),
        (None, "1", false),
        (None, r#"{"b\"": "x}"}"#, false),
        (Some(r#""b\"""#), "\"x}\"", false),
        (Some("\"comment 1\""), "{\"c\": null}", true),
        (Some("\"c\""), "null", true),
    ];
    assert_eq!(found, expected);
    assert_eq!(with_comma("[1 , 2]", &(1..2)), 1..4);
    assert_eq!(with_comma("[1 , 2]", &(5..6)), 3..6);
}
