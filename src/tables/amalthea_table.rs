//! What was read of an AMALTHEA model, for people and for programs.

use serde_json::{Value, json};

use crate::formats::{CellOf, Column, DocumentWriter, Page, Report, Rows, Text, fields};
use crate::scenario::amalthea::{
    Activation, AmaltheaModel, ProcessingUnit, Requirement, RequirementOf, Runnable, Stimulus, TickEntry, TickRange,
    Ticks,
};

fn runnable_entry(runnable: &Runnable) -> Value {
    let ticks = |entry: &TickEntry| {
        let TickRange { lower, value, upper } = entry.range;
        let (of, unit) = (&entry.processing_unit, entry.unit.name());
        json!({"processing_unit": of, "unit": unit, "lower": lower, "value": value, "upper": upper})
    };
    json!({
        "name": runnable.name,
        "ticks": runnable.ticks().map(ticks).collect::<Vec<_>>(),
        "needs": runnable.needs().map(ticks).collect::<Vec<_>>(),
        "grid_size": runnable.grid_size,
        "block_size": runnable.block_size,
        "registers": runnable.registers,
        "shared_memory_bytes": runnable.shared_memory,
        "copy": runnable.copy.map(|copy| copy.direction.name()),
        "copy_bytes": runnable.copy.and_then(|copy| copy.bytes),
    })
}

impl Report for AmaltheaModel<'_> {
    /// One line for each amount of work, and one for each runnable without any; empty where the model says nothing.
    const TABLE: &'static str = "work";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.entry("version", &self.version)?;
        to.list("runnables", self.runnables.iter().map(runnable_entry))?;
        to.list("processing_units", &self.processing_units)?;
        to.list("stimuli", &self.stimuli)?;
        to.list("requirements", &self.requirements)?;
        fields!(to, self => skipped, notes);
        to.lines("work", &work_columns(), work_rows(self))
    }

    fn text(&self, page: &mut Page) {
        page.line(&format!("AMALTHEA {}, {} runnables", self.version, self.runnables.len()));
        add(page, &work_columns(), work_rows(self));
        add(page, &unit_columns(), self.processing_units.iter().collect());
        add(page, &stimulus_columns(), self.stimuli.iter().collect());
        add(page, &requirement_columns(), self.requirements.iter().collect());
        if !self.skipped.is_empty() {
            page.blank();
            page.line("skipped");
            for (kind, count) in &self.skipped {
                page.item(&format!("{count} x {kind}"));
            }
        }
    }
}

/// Adds a table, if it has rows.
fn add<R>(page: &mut Page, columns: &[Column<R>], rows: Vec<R>) {
    if !rows.is_empty() {
        page.blank();
        page.trimmed_table(columns, rows);
    }
}

/// An amount of work of a runnable; none if it has no work at all.
#[derive(Debug, Clone, Copy)]
struct WorkRow<'a> {
    runnable: &'a Runnable,
    entry: Option<&'a TickEntry>,
}

fn work_rows<'m>(model: &'m AmaltheaModel<'_>) -> Vec<WorkRow<'m>> {
    let mut rows = Vec::new();
    for runnable in &model.runnables {
        let before = rows.len();
        rows.extend(runnable.ticks().chain(runnable.needs()).map(|entry| WorkRow { runnable, entry: Some(entry) }));
        if rows.len() == before {
            rows.push(WorkRow { runnable, entry: None });
        }
    }
    rows
}

fn work_columns<'a>() -> [Column<WorkRow<'a>>; 12] {
    fn ticks<'c>(ticks: Option<Ticks>) -> CellOf<'c, Text> {
        ticks.map(|ticks| ticks.to_string()).into()
    }
    [
        Column::new("runnable", "runnable", |row: &WorkRow<'_>| row.runnable.name.as_str().into()).left(),
        Column::csv("processing_unit", |row| row.entry.and_then(|entry| entry.processing_unit.as_deref()).into()),
        Column::new("unit", "counts", |row: &WorkRow<'_>| row.entry.map(|entry| entry.unit.name()).into()).left(),
        Column::table("on", |row: &WorkRow<'_>| {
            row.entry.map(|entry| entry.processing_unit.as_deref().unwrap_or("any")).into()
        })
        .left(),
        Column::new("lower", "lower", |row| ticks(row.entry.and_then(|entry| entry.range.lower))),
        Column::new("value", "value", |row| ticks(row.entry.and_then(|entry| entry.range.value))),
        Column::new("upper", "upper", |row| ticks(row.entry.and_then(|entry| entry.range.upper))),
        Column::new("grid_size", "grid size", |row| row.runnable.grid_size.into()),
        Column::new("block_size", "block size", |row| row.runnable.block_size.into()),
        Column::csv("copy", |row| row.runnable.copy.map(|copy| copy.direction.name()).into()),
        Column::csv("copy_bytes", |row| row.runnable.copy.and_then(|copy| copy.bytes).into()),
        Column::table("copies", |row: &WorkRow<'_>| {
            let copies = row.runnable.copy.map(|copy| match copy.bytes {
                Some(bytes) => format!("{bytes} bytes {}", copy.direction.name()),
                None => copy.direction.name().to_owned(),
            });
            copies.into()
        })
        .left(),
    ]
}

fn unit_columns<'a>() -> [Column<&'a ProcessingUnit>; 4] {
    [
        Column::table("processing unit", |unit: &&ProcessingUnit| unit.name.as_str().into()).left(),
        Column::table("definition", |unit: &&ProcessingUnit| unit.definition.as_deref().into()).left(),
        Column::table("type", |unit: &&ProcessingUnit| unit.kind.as_deref().into()).left(),
        Column::table("frequency", |unit| unit.frequency.map(|frequency| frequency.to_string()).into()),
    ]
}

fn stimulus_columns<'a>() -> [Column<&'a Stimulus>; 5] {
    [
        Column::table("stimulus", |stimulus: &&Stimulus| stimulus.name.as_str().into()).left(),
        Column::table("type", |stimulus: &&Stimulus| stimulus.kind.as_str().into()).left(),
        Column::table("from", |stimulus| match stimulus.activation {
            Activation::Triggered => CellOf::MISSING,
            Activation::Periodic { offset_ns: from, .. }
            | Activation::Sporadic { offset_ns: from, .. }
            | Activation::Single { occurrence_ns: from } => from.to_string().into(),
        }),
        Column::table("every", |stimulus| match stimulus.activation {
            Activation::Periodic { period_ns, .. } => period_ns.to_string().into(),
            Activation::Sporadic { shortest_ns, longest_ns, .. } => match longest_ns {
                Some(longest) if longest == shortest_ns => shortest_ns.to_string(),
                Some(longest) => format!("{shortest_ns} to {longest}"),
                None => format!("{shortest_ns} or more"),
            }
            .into(),
            Activation::Triggered => "as triggered".into(),
            Activation::Single { .. } => CellOf::MISSING,
        }),
        Column::table("jitter up to", |stimulus| stimulus.jitter_ns.map(|jitter| jitter.to_string()).into()),
    ]
}

fn requirement_columns<'a>() -> [Column<&'a Requirement>; 4] {
    [
        Column::table("requirement", |requirement: &&Requirement| requirement.name.as_str().into()).left(),
        Column::table("of", |requirement: &&Requirement| {
            match requirement.of {
                RequirementOf::Process => "process",
                RequirementOf::Runnable => "runnable",
            }
            .into()
        })
        .left(),
        Column::table("name", |requirement: &&Requirement| requirement.target.as_str().into()).left(),
        Column::table("response time at most", |requirement| requirement.response_time_ns.to_string().into()),
    ]
}
