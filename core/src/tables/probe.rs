//! What a card says of the rules, as a report.

use crate::formats::{Column, DocumentWriter, Page, Report, Rows};
use crate::probe::{ProbeReport, ProbeRow, ProbeVerdict};
use crate::words::counted;

fn columns<'a>() -> [Column<&'a ProbeRow>; 8] {
    [
        Column::new("question", "question", |row: &&ProbeRow| row.name.as_str().into()).left(),
        Column::data("asks", |row: &&ProbeRow| row.asks.as_str().into()),
        Column::new("answer", "answer", |row: &&ProbeRow| row.answer.as_str().into()).left(),
        Column::new("agreeing_runs", "in runs", |row: &&ProbeRow| row.agreeing.into()),
        Column::new("runs", "of", |row: &&ProbeRow| row.runs.into()),
        Column::new("taken", "gpusched", |row: &&ProbeRow| row.taken.as_str().into()).left(),
        Column::new("verdict", "verdict", |row: &&ProbeRow| row.verdict.name().into()).left(),
        Column::new("switch", "to take it", |row: &&ProbeRow| row.switch.as_deref().into()).left(),
    ]
}

impl Report for ProbeReport {
    const TABLE: &'static str = "questions";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.entry("card", &self.card)?;
        to.entry("simulated_on", &self.base)?;
        to.rows("questions", &columns(), &self.rows)?;
        to.entry("notes", &self.notes)
    }

    fn text(&self, page: &mut Page) {
        page.line(&format!("{}; compared with {}", self.card, self.base));
        page.blank();
        page.trimmed_table(&columns(), &self.rows);
        // In full what is not as it is taken.
        let is_as_taken = |row: &&ProbeRow| matches!(row.verdict, ProbeVerdict::Agrees | ProbeVerdict::NotAsked);
        for row in self.rows.iter().filter(|row| !is_as_taken(row)) {
            let ProbeRow { name, asks, answer, taken, verdict, .. } = row;
            page.line(&format!("{name}: {asks} {}: {answer}; gpusched takes: {taken}", verdict.name()));
        }
        let of = |verdict: ProbeVerdict| self.rows.iter().filter(|row| row.verdict == verdict).count();
        let count = |verdict: ProbeVerdict| format!("{} {}", of(verdict), verdict.name());
        let counts: Vec<String> = ProbeVerdict::ALL.into_iter().filter(|verdict| of(*verdict) > 0).map(count).collect();
        page.line(&format!("{}: {}", counted(self.rows.len(), "answer"), counts.join(", ")));
        page.line(
            "in runs: those in which this answer was seen, or a number as gpusched takes it; gpusched: what it takes without \
             any option; none of the answers: nothing that gpusched can simulate does what was measured",
        );
    }
}
