//! Tables in Markdown, with the columns and values of those for people, and all rows.

use std::io::{self, Write};

use super::columns::Column;

/// Writes a line of titles, one that says to which side each column stands, and one for each row.
///
/// # Errors
/// Whatever `out` refuses.
pub(crate) fn write_markdown<R>(
    columns: &[Column<R>],
    rows: impl IntoIterator<Item = R>,
    mut out: impl Write,
) -> io::Result<()> {
    let shown: Vec<&Column<R>> = columns.iter().filter(|column| column.title().is_some()).collect();
    for column in &shown {
        write!(out, "| {} ", escaped(column.title().unwrap_or_default()))?;
    }
    out.write_all(b"|\n")?;
    for column in &shown {
        out.write_all(if column.is_to_the_left() { b"| --- " } else { b"| ---: " })?;
    }
    out.write_all(b"|\n")?;
    for row in rows {
        for column in &shown {
            write!(out, "| {} ", escaped(&column.text(&row)))?;
        }
        out.write_all(b"|\n")?;
    }
    Ok(())
}

/// What Markdown would take for the end of a cell or of a row is written so that it does not.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_stays_one_cell_and_numbers_stand_to_the_right() {
        let columns = [
            Column::table("who", |name: &&str| (*name).into()).left(),
            Column::new("length", "long", |name| name.len().into()),
            Column::data("for_programs", |_| 1_u32.into()),
        ];
        let mut out = Vec::new();
        write_markdown(&columns, ["a|b", "c\nd"], &mut out).expect("memory takes all");
        let text = String::from_utf8(out).expect("it is text");
        assert_eq!(text, "| who | long |\n| --- | ---: |\n| a\\|b | 3 |\n| c d | 3 |\n");
    }
}
