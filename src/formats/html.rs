//! Text and tables in HTML.

use super::columns::TextRows;

/// Rows of a table beyond which nobody reads on.
pub(super) const MAX_ROWS: usize = 200;

/// Text as the content of an element.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Appends a table of titles, each with whether its column stands to the left, and rows of cells. It scrolls by itself
/// where it is long or wide, and brings no style sheet, which would change the page around it.
pub(super) fn push_table(titles: &[(&str, bool)], rows: TextRows<'_>, text: &mut String) {
    *text += "<div style=\"max-height:30em;overflow:auto\"><table>\n<thead>";
    push_row("th", titles, titles.iter().map(|(title, _)| *title), text);
    *text += "</thead>\n<tbody>\n";
    for cells in rows {
        push_row("td", titles, cells.iter().map(String::as_str), text);
        text.push('\n');
    }
    *text += "</tbody>\n</table></div>\n";
}

fn push_row<'c>(cell: &str, titles: &[(&str, bool)], contents: impl Iterator<Item = &'c str>, text: &mut String) {
    *text += "<tr>";
    for (content, (_, is_to_the_left)) in contents.zip(titles) {
        let side = if *is_to_the_left { "left" } else { "right" };
        text.extend(["<", cell, " style=\"text-align:", side, "\">", &escaped(content), "</", cell, ">"]);
    }
    *text += "</tr>";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_to_the_left_numbers_to_the_right_and_text_is_text() {
        assert_eq!(escaped("<b>&</b>"), "&lt;b&gt;&amp;&lt;/b&gt;");
        let (mut text, row) = (String::new(), vec!["a<b".to_owned(), "1".to_owned()]);
        push_table(&[("who", true), ("n", false)], &mut std::iter::once(row), &mut text);
        let (left, right) = ("style=\"text-align:left\"", "style=\"text-align:right\"");
        let rows = [
            format!("<tr><th {left}>who</th><th {right}>n</th></tr>"),
            format!("<tr><td {left}>a&lt;b</td><td {right}>1</td></tr>"),
        ];
        for row in rows {
            assert!(text.contains(&row), "{text}");
        }
    }
}
