//! Notes to the user, of which those of one kind are counted instead of filling the screen.

use std::collections::HashMap;

/// So many notes of one kind are all told.
const TOLD: usize = 3;

/// Tells notes in their order; of a kind that has many, the first one and how many more there are.
pub(crate) fn show_abridged<T: AsRef<str>>(notes: impl IntoIterator<Item = T>, note: impl Fn(&str)) {
    let notes: Vec<(String, T)> = notes.into_iter().map(|text| (kind(text.as_ref()), text)).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (kind, _) in &notes {
        *counts.entry(kind).or_default() += 1;
    }
    for (kind, text) in &notes {
        // Of a kind that was summed up already nothing is left to tell.
        let Some(&count) = counts.get(&**kind) else { continue };
        note(text.as_ref());
        if count > TOLD {
            counts.remove(&**kind);
            note(&format!("and {} more like this one", count - 1));
        }
    }
}

/// What notes of one kind have in common: all but numbers, names in quotation marks, and a name before a colon.
fn kind(note: &str) -> String {
    let mut kind = String::with_capacity(note.len());
    let (mut is_quoted, mut letters) = (false, note.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if is_quoted => _ = letters.next(),
            '"' => {
                is_quoted = !is_quoted;
                kind.push('"');
            }
            _ if is_quoted => {}
            '0'..='9' => {
                if !kind.ends_with('0') {
                    kind.push('0');
                }
            }
            _ => kind.push(letter),
        }
    }
    match kind.split_once(": ") {
        Some((_, behind)) => behind.to_owned(),
        None => kind,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn told(notes: &[String]) -> Vec<String> {
        let said = RefCell::new(Vec::new());
        show_abridged(notes, |text| said.borrow_mut().push(text.to_owned()));
        said.into_inner()
    }

    #[test]
    fn many_notes_of_one_kind_are_counted_and_few_are_told() {
        let unused = |name: &str| format!("kernel {name:?} is never launched");
        let few = ["a", "b", "\"", "no \\ effect"].map(unused);
        assert_eq!(told(&few[..3]), few[..3]);
        assert_eq!(told(&few), [few[0].clone(), "and 3 more like this one".to_owned()]);
        let other = "several contexts ran".to_owned();
        let mixed = [std::slice::from_ref(&other), &few[..], std::slice::from_ref(&other)].concat();
        assert_eq!(told(&mixed), [other.clone(), few[0].clone(), "and 3 more like this one".to_owned(), other]);
    }

    #[test]
    fn names_and_numbers_make_no_kinds() {
        assert_eq!(kind("camera: slower on 12 SMs than on 11"), kind("a b: slower on 2 SMs than on 1"));
        assert_eq!(kind("\"S\" misses 2 of 30 jobs"), kind("\"a \\\" misses\" misses 17 of 9 jobs"));
        assert_ne!(kind("kernel \"K\" is never launched"), kind("event \"K\" is never launched"));
    }
}
