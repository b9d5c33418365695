//! What print says beside what comes out here: one value a line, each with its place in print.

use crate::formats::{Column, DocumentWriter, Page, Report, Rows};
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

/// Values of print beside what comes out here.
#[derive(Debug)]
pub struct PrintedDocument<'p>(pub &'p [OfPaper<'p>]);

impl Report for PrintedDocument<'_> {
    const TABLE: &'static str = "values";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.entry("agree", &self.0.iter().all(|(_, one)| one.agrees()))?;
        to.rows("values", &columns(), self.0.iter().copied())
    }

    fn text(&self, page: &mut Page) {
        page.trimmed_table(&columns(), self.0.iter().copied());
        let agree = self.0.iter().filter(|(_, one)| one.agrees()).count();
        page.line(&format!("{agree} of {} printed values agree", self.0.len()));
    }
}
