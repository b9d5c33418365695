//! One line of a result file: `point,first sample,samples,values…,checksum`.

use std::fmt::Write;

use super::compute::StudyRow;
use super::layout::RowSamples;

/// The columns before the values of a command.
pub(super) const FIRST_COLUMNS: &str = "point,sample,samples";
/// The column after them.
pub const CHECKSUM_COLUMN: &str = "crc32";

/// Hexadecimal digits of a checksum.
const DIGITS: usize = 8;

/// Appends the line of a row, with its end.
pub(super) fn push_line(text: &mut String, row: &StudyRow) {
    let from = text.len();
    let RowSamples { point, first, samples } = row.place;
    // Writing to a string cannot fail.
    let _ = write!(text, "{point},{first},{samples},{}", row.values);
    let sum = checksum(&text.as_bytes()[from..]);
    let _ = writeln!(text, ",{sum}");
}

/// The checksum of a line, as the last column has it.
fn checksum(line: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(line))
}

/// A line, without its end, with its checksum behind it.
pub fn with_checksum(line: &str) -> String {
    format!("{line},{}", checksum(line.as_bytes()))
}

/// What [`with_checksum`] was given; `None` if it is no such line, to the letter.
pub fn without_checksum(line: &[u8]) -> Option<&str> {
    let (text, sum) = line.split_at_checked(line.len().checked_sub(DIGITS + 1)?)?;
    let is_sound = sum.strip_prefix(b",")? == checksum(text).as_bytes();
    std::str::from_utf8(text).ok().filter(|_| is_sound)
}

/// The values of a line without its end, if its checksum is right and it stands where it should.
pub(super) fn values(line: &[u8], expected: RowSamples) -> Option<&str> {
    let mut text = without_checksum(line)?;
    for number in [expected.point, expected.first, expected.samples] {
        let (field, rest) = text.split_once(',')?;
        if field.parse() != Ok(number) {
            return None;
        }
        text = rest;
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::study::Layout;

    #[test]
    fn a_line_is_read_back_and_no_shorter_or_changed_one_is_taken_for_it() {
        let layout = Layout { points: 3, samples: 25, per_row: 10 };
        let row = StudyRow { number: 5, place: layout.place(5), values: "1,2;3,x".to_owned() };
        assert_eq!(row.place, RowSamples { point: 1, first: 20, samples: 5 });
        let mut text = String::new();
        push_line(&mut text, &row);
        let line = text.trim_end().as_bytes();
        assert_eq!(values(line, row.place), Some("1,2;3,x"));
        assert_eq!(values(line, layout.place(4)), None);
        for end in 0..line.len() {
            assert_eq!(values(&line[..end], row.place), None, "{end}");
            let mut changed = line.to_vec();
            changed[end] ^= 1;
            assert_eq!(values(&changed, row.place), None, "{end}");
        }
        let upper = String::from_utf8_lossy(line).to_uppercase().replace('X', "x");
        assert_ne!(upper.as_bytes(), line);
        assert_eq!(values(upper.as_bytes(), row.place), None);
    }
}
