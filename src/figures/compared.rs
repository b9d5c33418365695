//! What print gives in values: of shipped scenarios, and of tables and examples that are nothing else.

use super::analysed::read;
use super::made::{Failure, File, Made};
use super::paper::Paper;
use super::timeline::Published;
use crate::formats::{TableStyle, csv_of, text_of};
use crate::hosts::simulate;
use crate::printed::Printed;
use crate::run::against_expected;
use crate::tables::{OfPaper, PrintedDocument};

/// What the file of a shipped scenario expects of its run, value by value.
pub(super) fn with_expected(published: Published) -> Result<Vec<Printed>, Failure> {
    let scenario = read(published)?;
    let Some(expected) = &scenario.expected else { return Ok(Vec::new()) };
    let run = simulate(&scenario)?;
    let compared = against_expected(expected, &run.trace)?;
    let named = compared.into_iter().map(|(kernel, value)| {
        let what = format!("{}: {}", kernel.name, value.what);
        Printed { what, ..value }
    });
    Ok(named.collect())
}

/// The values of a table or an example as its only file.
pub(super) fn make(name: &'static str, paper: Paper, values: &[Printed]) -> Made {
    let of_paper: Vec<OfPaper<'_>> = values.iter().map(|value| (paper.name(), value)).collect();
    let report = PrintedDocument(&of_paper);
    Made {
        files: vec![File { name: format!("{name}.csv"), text: csv_of(&report) }],
        finding: text_of(&report, TableStyle::Markdown),
    }
}
