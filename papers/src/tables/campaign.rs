//! Campaigns of random scenarios that put the merged SM to the test.

use std::io::{self, Write};

use crate::experiments::validation::{CampaignReport, FamilyReport};
use crate::formats::{Column, DocumentWriter, Page, Report, RowsPart, fields};

fn campaign_columns<'k>() -> [Column<&'k FamilyReport>; 13] {
    [
        Column::new("family", "family", |family: &&FamilyReport| family.family.into()).left(),
        Column::new("samples", "samples", |family| family.samples.into()),
        Column::data("equal", |family| family.equal.into()),
        Column::table("equal", |family| share(family, family.equal).into()),
        Column::data("optimistic", |family| family.optimistic.into()),
        Column::table("optimistic", |family| share(family, family.optimistic).into()),
        Column::data("pessimistic", |family| family.pessimistic.into()),
        Column::table("pessimistic", |family| share(family, family.pessimistic).into()),
        Column::data("max_error", |family| family.max_error.into()),
        Column::table("largest error", |family| percent(family.max_error).into()),
        Column::data("max_optimistic_error", |family| family.max_optimistic_error.into()),
        Column::table("largest unsafe error", |family| percent(family.max_optimistic_error).into()),
        Column::data("max_error_ns", |family| family.max_error_ns.into()),
    ]
}

fn share(family: &FamilyReport, count: u64) -> String {
    if count == family.samples {
        return "100 %".to_owned();
    }
    format!("{:.3} %", 100.0 * count as f64 / family.samples.max(1) as f64)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

impl Report for CampaignReport {
    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        fields!(to, self => device, placement, seed, stopped);
        to.list("families", &self.families)
    }

    fn rows(&self, part: RowsPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        part.write(&campaign_columns(), &self.families, out)
    }

    fn text(&self, page: &mut Page) {
        page.table(&campaign_columns(), &self.families);
        page.blank();
        page.line(&format!("{}, {} placement, seed {}", self.device_title, self.placement, self.seed));
        for family in &self.families {
            let found = family.smallest_counterexample.as_ref().zip(family.counterexample_direction);
            let Some((counterexample, direction)) = found else { continue };
            page.blank();
            page.line(&format!("smallest {direction} counterexample of {}:", family.family));
            page.code(&format!("{counterexample:#}\n"));
            if let Some(shrunk) = &family.shrunk_counterexample {
                page.line("with shorter blocks:");
                page.code(&format!("{shrunk:#}\n"));
            }
        }
    }
}
