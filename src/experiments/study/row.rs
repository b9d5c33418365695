//! One line of a result file: `point,first sample,samples,values…,checksum`.

use std::fmt::Write;

use super::compute::StudyRow;
use super::layout::RowSamples;

/// The columns before the values of a command.
pub(super) const FIRST_COLUMNS: &str = "point,sample,samples";
/// The column after them.
pub(super) const LAST_COLUMN: &str = "crc32";

/// Hexadecimal digits of a checksum.
const DIGITS: usize = 8;

/// Appends the line of a row, with its end.
pub(super) fn push_line(text: &mut String, row: &StudyRow) {
    let from = text.len();
    let RowSamples { point, first, samples } = row.place;
    // Writing to a string cannot fail.
    let _ = write!(text, "{point},{first},{samples},{}", row.values);
    let sum = crc32fast::hash(&text.as_bytes()[from..]);
    let _ = writeln!(text, ",{sum:08x}");
}

/// The values of a line without its end, if its checksum is right and it stands where it should.
pub(super) fn values(line: &[u8], expected: RowSamples) -> Option<&str> {
    let (text, sum) = line.split_at_checked(line.len().checked_sub(DIGITS + 1)?)?;
    let sum = std::str::from_utf8(sum.strip_prefix(b",")?).ok()?;
    if u32::from_str_radix(sum, 16).ok()? != crc32fast::hash(text) {
        return None;
    }
    let mut text = std::str::from_utf8(text).ok()?;
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
    }
}
