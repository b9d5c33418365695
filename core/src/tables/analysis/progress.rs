//! Whether kernels that wait on the GPU can stand still, as a report.

use crate::analysis::{
    CudaPromise, ProgressCondition, ProgressGroup, ProgressVerdict, ProgressVerdicts, WaitingKernel,
};
use crate::formats::{Column, DocumentWriter, Page, Report, Rows};
use crate::run::StillWait;
use crate::spelling::option;

/// The verdicts of a scenario, group by group.
#[derive(Debug)]
pub struct ProgressReport(pub ProgressVerdicts);

/// A kernel of a group, and the group, numbered from 1; or neither, of a scenario in which nothing waits.
type GroupRow<'a> = (Option<(usize, &'a ProgressGroup)>, Option<&'a WaitingKernel>);

fn columns<'a>() -> [Column<GroupRow<'a>>; 10] {
    fn verdict(row: &GroupRow<'_>) -> &'static str {
        row.0.map_or(ProgressVerdict::CannotHang, |(_, group)| group.verdict).name()
    }
    fn condition(row: &GroupRow<'_>) -> Option<&'static str> {
        row.0.map_or(Some(ProgressCondition::NeverWaits), |(_, group)| group.condition).map(ProgressCondition::name)
    }
    fn promise(row: &GroupRow<'_>) -> &'static str {
        row.0.map_or(CudaPromise::Order, |(_, group)| group.promise).name()
    }
    [
        Column::new("group", "group", |row: &GroupRow<'_>| row.0.map(|(number, _)| number).into()),
        Column::new("kernel", "kernel", |row: &GroupRow<'a>| row.1.map(|of| &*of.kernel).into()).left(),
        Column::new("stream", "stream", |row: &GroupRow<'a>| row.1.map(|of| &*of.stream).into()).left(),
        Column::new("needed", "needed", |row: &GroupRow<'_>| row.1.map(|of| of.needed).into()),
        Column::new("alone", "alone", |row: &GroupRow<'_>| row.1.map(|of| of.alone).into()),
        Column::new("sure", "sure", |row: &GroupRow<'_>| row.1.map(|of| of.sure).into()),
        Column::new("verdict", "verdict", |row: &GroupRow<'_>| verdict(row).into()).left(),
        Column::data("condition", |row: &GroupRow<'_>| condition(row).into()),
        Column::data("why", |row: &GroupRow<'_>| row.0.map(|(_, group)| group.why.join("; ")).into()),
        Column::data("cuda_promises", |row: &GroupRow<'_>| promise(row).into()),
    ]
}

fn wait_columns<'a>() -> [Column<&'a StillWait>; 5] {
    [
        Column::new("operation", "stands still", |wait: &&StillWait| wait.operation.as_str().into()).left(),
        Column::new("blocks", "blocks", |wait: &&StillWait| wait.blocks.into()),
        Column::new("on_sms", "where", |wait: &&StillWait| wait.place().into()).left(),
        Column::new("rule", "rule", |wait: &&StillWait| wait.rule.name().into()).left(),
        Column::new("what", "for what", |wait: &&StillWait| wait.what.as_str().into()).left(),
    ]
}

impl ProgressReport {
    fn rows(&self) -> impl Iterator<Item = GroupRow<'_>> {
        let groups = (1..).zip(&self.0.groups);
        let kernels = groups.flat_map(|(number, group)| {
            let nobody = group.kernels.is_empty().then_some(None);
            group.kernels.iter().map(Some).chain(nobody).map(move |kernel| (Some((number, group)), kernel))
        });
        kernels.chain(self.0.groups.is_empty().then_some((None, None)))
    }
}

impl Report for ProgressReport {
    const TABLE: &'static str = "kernels";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.rows("kernels", &columns(), self.rows())?;
        to.entry("runs_tried", &self.0.runs_tried)?;
        if let Some(run) = &self.0.hanging {
            to.entry("changed", &run.changed)?;
            to.entry("launches", &run.launches)?;
            to.entry("standstill", &run.standstill)?;
        }
        to.entry("assumptions", &self.0.assumptions)?;
        to.entry("like_persistent", &self.0.like_persistent)
    }

    fn text(&self, page: &mut Page) {
        if self.0.groups.is_empty() {
            page.line("nothing waits on the GPU for what may come later: cannot hang");
            let asked = option("grid_barrier").with("KERNEL");
            page.line(&format!("{asked} asks what if blocks of a kernel wait for all blocks of it"));
            if let [first, more @ ..] = &self.0.like_persistent[..] {
                let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
                page.line(&format!(
                    "the same number of blocks for each SM, all at once, as persistent kernels have: {first}{more}"
                ));
            }
            page.line(&format!("under the rules of the model, if {}", self.0.assumptions.join("; ")));
            return;
        }
        page.trimmed_table(&columns(), self.rows());
        page.blank();
        for (number, group) in (1..).zip(&self.0.groups) {
            let why = match group.condition {
                Some(condition) => condition.name().to_owned(),
                None => group.why.join("; "),
            };
            page.item(&format!("group {number} {}: {why}", said(group.verdict)));
            page.item(&format!("by CUDA {}", group.promise.name()));
        }
        if let Some(run) = &self.0.hanging {
            page.blank();
            page.line(&format!("the run that stands still at {}: launches, in this order:", run.standstill.at_ns));
            page.line(&run.launches.join(", "));
            page.trimmed_table(&wait_columns(), &run.standstill.waits);
            if let Some(said) = run.standstill.circle_in_words() {
                page.line(&said);
            }
        }
        page.blank();
        page.line("needed: blocks that have to be there at once; alone: that fit on an empty GPU; sure: that fit whichever SMs \
                   the others that wait take");
        page.line(&format!("under the rules of the model, if {}", self.0.assumptions.join("; ")));
    }
}

fn said(verdict: ProgressVerdict) -> &'static str {
    match verdict {
        ProgressVerdict::Open => "is open",
        known => known.name(),
    }
}
