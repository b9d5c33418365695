//! What print says beside what comes out here: one value a line, each with its place in print.

use std::io;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::formats::{Column, JsonDocument, Objects, Page, RowsPart, TableStyle};
use crate::printed::Printed;

/// A value of print with the paper that it is of.
pub type OfPaper<'p> = (&'static str, &'p Printed);

fn columns<'p>() -> [Column<OfPaper<'p>>; 7] {
    [
        Column::new("paper", "paper", |(paper, _): &OfPaper<'_>| (*paper).into()).left(),
        Column::new("place", "place", |(_, one): &OfPaper<'_>| one.place.as_str().into()).left(),
        Column::new("what", "what", |(_, one): &OfPaper<'_>| one.what.as_str().into()).left(),
        Column::new("printed", "printed", |(_, one): &OfPaper<'_>| one.printed.to_string().into()),
        Column::data("tolerance", |(_, one)| one.tolerance.into()),
        Column::new("here", "here", |(_, one): &OfPaper<'_>| {
            one.here.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string).into()
        }),
        Column::new("agrees", "agrees", |(_, one): &OfPaper<'_>| one.agrees().into()).left(),
    ]
}

/// Values of print beside what comes out here, for people.
#[must_use]
pub fn printed_table(values: &[OfPaper<'_>], style: TableStyle) -> String {
    let mut page = Page::new(style);
    page.trimmed_table(&columns(), values.iter().copied());
    let agree = values.iter().filter(|(_, one)| one.agrees()).count();
    page.line(&format!("{agree} of {} printed values agree", values.len()));
    page.finish()
}

/// The same for programs.
///
/// # Errors
/// Whatever `out` refuses.
pub fn printed_rows(values: &[OfPaper<'_>], part: RowsPart<'_>, out: impl io::Write) -> io::Result<()> {
    part.write(&columns(), values.iter().copied(), out)
}

/// The same as one JSON document.
#[derive(Debug)]
pub struct PrintedDocument<'p>(pub &'p [OfPaper<'p>]);

impl Serialize for PrintedDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("agree", &self.0.iter().all(|(_, one)| one.agrees()))?;
        map.serialize_entry("values", &Objects::new(&columns(), || self.0.iter().copied()))?;
        map.end()
    }
}

impl JsonDocument for PrintedDocument<'_> {}
