//! How many blocks of each kernel launch are on SMs, have ended and have not begun, and how many fit at once.

use std::collections::BTreeMap;
use std::convert::Infallible;

use super::kernels::{OfLaunch, launch_columns};
use crate::analysis::{Crowd, room_alone, sure_room};
use crate::formats::{Column, DocumentWriter, Page, Report, Rows};
use crate::run::{Recorded, Summary};
use crate::scenario::KernelLaunch;
use crate::time::Instant;
use crate::trace::{SumOverTime, Trace};
use crate::workload::{KernelId, OperationId, OperationKind, StreamId};

/// A kernel launch at one instant: blocks of suspended contexts are resident until they have ended.
struct ResidentsRow<'a> {
    launch: KernelLaunch<'a>,
    at: Instant,
    blocks: u32,
    begun: u32,
    resident: u32,
    /// How many were resident at once at most, and since when.
    most: (u64, Option<Instant>),
    /// How many fit at once alone, and at worst beside the others.
    fit: [u32; 2],
}

impl OfLaunch for ResidentsRow<'_> {
    fn launch(&self) -> &KernelLaunch<'_> {
        &self.launch
    }
}

/// How many blocks of a launch were resident at once at most, and since when.
fn most_resident(trace: &Trace, id: OperationId) -> (u64, Option<Instant>) {
    let (mut sum, mut most) = (SumOverTime::default(), (0, None));
    let mut tell = |at, blocks| {
        if blocks > most.0 {
            most = (blocks, Some(at));
        }
        Ok::<_, Infallible>(())
    };
    for run in trace.block_runs(id) {
        let Ok(()) = sum.add(run.start..run.end, run.blocks.into(), &mut tell);
    }
    let Ok(()) = sum.finish(tell);
    most
}

/// How many blocks of each kernel launch of a run are on SMs, in all and at given instants.
#[derive(Debug)]
pub struct ResidentsReport<'a> {
    /// The run.
    pub summary: Summary<'a>,
    /// After all events of which instants; none: at the end of the run, and what is known of all of it.
    pub at: &'a [Instant],
}

impl<'a> ResidentsReport<'a> {
    fn columns(&self) -> Vec<Column<ResidentsRow<'a>>> {
        let mut columns = launch_columns();
        let blocks = Column::new("blocks", "blocks", |row: &ResidentsRow<'_>| row.blocks.into());
        if self.at.is_empty() {
            columns.extend([
                blocks,
                Column::new("started", "begun", |row| row.begun.into()),
                Column::new("most_resident", "most at once", |row| row.most.0.into()),
                Column::new("most_since_ns", "since", |row| row.most.1.into()),
                Column::new("resident", "at the end", |row| row.resident.into()),
                Column::new("never_started", "never started", |row| row.blocks.saturating_sub(row.begun).into()),
                Column::new("alone", "fit alone", |row| row.fit[0].into()),
                Column::new("sure", "fit surely", |row| row.fit[1].into()),
            ]);
        } else {
            columns.insert(0, Column::new("at_ns", "at", |row| row.at.into()));
            columns.extend([
                blocks,
                Column::new("resident", "resident", |row| row.resident.into()),
                Column::new("ended", "ended", |row| row.begun.saturating_sub(row.resident).into()),
                Column::new("not_started", "not started", |row| row.blocks.saturating_sub(row.begun).into()),
            ]);
        }
        columns
    }

    fn rows(&self) -> Vec<ResidentsRow<'a>> {
        let Summary { scenario, trace, .. } = self.summary;
        let (catalogue, is_whole, end) = (&scenario.catalogue, self.at.is_empty(), [trace.end()]);
        let all = Crowd::of_scenario(scenario);
        let mut known: BTreeMap<(KernelId, StreamId), [u32; 2]> = BTreeMap::new();
        let mut fit = |kind, stream| {
            let OperationKind::Kernel(kernel) = kind else { return [0; 2] };
            *known.entry((kernel, stream)).or_insert_with(|| {
                let beside = Crowd::beside(&all, scenario, kernel, stream);
                [room_alone(catalogue, kernel, stream), sure_room(catalogue, kernel, stream, &beside)]
            })
        };
        let mut rows = Vec::new();
        for at in if is_whole { &end } else { self.at } {
            for Recorded { id, record, work } in self.summary.launches() {
                let there = trace.resident_at(id, *at).chain(trace.suspended_at(id, *at));
                let fit = if is_whole { fit(record.kind, record.stream) } else { [0; 2] };
                rows.push(ResidentsRow {
                    launch: KernelLaunch::new(scenario, id.0, work, record.stream, record.origin),
                    at: *at,
                    blocks: work.blocks,
                    begun: trace.begun_by(id, *at),
                    resident: there.map(|part| u32::from(part.blocks)).sum(),
                    most: if is_whole { most_resident(trace, id) } else { (0, None) },
                    fit: fit.map(|room| room.min(work.blocks)),
                });
            }
        }
        rows
    }
}

impl Report for ResidentsReport<'_> {
    const TABLE: &'static str = "residents";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        let Summary { scenario, trace, .. } = self.summary;
        to.entry("scenario", &scenario.name)?;
        to.entry("device", &scenario.device().name)?;
        to.entry("end_ns", &trace.end())?;
        to.rows("residents", &self.columns(), self.rows())?;
        to.entry("notes", &self.summary.notes())
    }

    fn text(&self, page: &mut Page) {
        page.trimmed_table(&self.columns(), self.rows());
    }
}
