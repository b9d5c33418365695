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
    out: impl Write,
) -> io::Result<()> {
    let shown: Vec<_> = columns.iter().filter_map(|column| Some((column.title()?, column))).collect();
    let titles: Vec<(&str, bool)> = shown.iter().map(|(title, column)| (*title, column.is_to_the_left())).collect();
    let rows = rows.into_iter().map(|row| shown.iter().map(|(_, column)| column.text(&row)).collect());
    write_rows(&titles, rows, out)
}

/// The same of columns that are known only now: titles, and whether the column stands to the left.
///
/// # Errors
/// Whatever `out` refuses.
pub(super) fn write_rows(
    titles: &[(&str, bool)],
    rows: impl Iterator<Item = Vec<String>>,
    mut out: impl Write,
) -> io::Result<()> {
    for (title, _) in titles {
        write!(out, "| {} ", escaped(title))?;
    }
    out.write_all(b"|\n")?;
    for (_, is_to_the_left) in titles {
        out.write_all(if *is_to_the_left { b"| --- " } else { b"| ---: " })?;
    }
    out.write_all(b"|\n")?;
    for row in rows {
        for cell in row {
            write!(out, "| {} ", escaped(&cell))?;
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
