//! `nan` and `inf`, which C writes and JSON does not know.

/// Words for numbers that are none, in lower case, the longer before the shorter.
const WORDS: [&[u8]; 3] = [b"infinity", b"nan", b"inf"];

/// Turns every `nan`, `-nan`, `inf`, … outside strings into an empty string of the same length, spaces included, so
/// that positions stay what they are. Says whether there was one.
pub(super) fn replace_non_numbers(text: &mut [u8]) -> bool {
    let (mut found, mut in_string, mut at) = (false, false, 0);
    while at < text.len() {
        match text[at] {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'n' | b'N' | b'i' | b'I' if !in_string => {
                let rest = &text[at..];
                let word =
                    WORDS.iter().find(|word| rest.get(..word.len()).is_some_and(|r| r.eq_ignore_ascii_case(word)));
                if let Some(word) = word {
                    let sign = usize::from(at > 0 && matches!(text[at - 1], b'-' | b'+'));
                    let range = at - sign..at + word.len();
                    at = range.end - 1;
                    text[range.clone()].fill(b' ');
                    text[range.start] = b'"';
                    text[range.start + 1] = b'"';
                    found = true;
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}
