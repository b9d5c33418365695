//! What was read of an AMALTHEA model, for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use serde::{Serialize, Serializer};

use super::columns::plain_table;
use super::csv::{field, optional};
use crate::scenario::amalthea::{
    Activation, AmaltheaModel, ProcessingUnit, Requirement, RequirementOf, Runnable, Stimulus, TickEntry, Ticks,
};

#[derive(Serialize)]
struct Document<'a> {
    version: &'a str,
    #[serde(serialize_with = "runnables")]
    runnables: &'a [Runnable],
    processing_units: &'a [ProcessingUnit],
    stimuli: &'a [Stimulus],
    requirements: &'a [Requirement],
    skipped: &'a BTreeMap<String, u64>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct RunnableEntry<'a> {
    name: &'a str,
    ticks: Vec<TickRow<'a>>,
    needs: Vec<TickRow<'a>>,
    grid_size: Option<u32>,
    block_size: Option<u32>,
    registers: Option<u32>,
    shared_memory_bytes: Option<u32>,
    copy: Option<&'static str>,
    copy_bytes: Option<u64>,
}

#[derive(Serialize)]
struct TickRow<'a> {
    processing_unit: Option<&'a str>,
    unit: &'a str,
    lower: Option<Ticks>,
    value: Option<Ticks>,
    upper: Option<Ticks>,
}

impl<'a> From<&'a TickEntry> for TickRow<'a> {
    fn from(entry: &'a TickEntry) -> Self {
        let range = entry.range;
        Self {
            processing_unit: entry.processing_unit.as_deref(),
            unit: entry.unit.name(),
            lower: range.lower,
            value: range.value,
            upper: range.upper,
        }
    }
}

fn runnables<S: Serializer>(runnables: &[Runnable], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(runnables.iter().map(|runnable| RunnableEntry {
        name: &runnable.name,
        ticks: runnable.ticks().map(TickRow::from).collect(),
        needs: runnable.needs().map(TickRow::from).collect(),
        grid_size: runnable.grid_size,
        block_size: runnable.block_size,
        registers: runnable.registers,
        shared_memory_bytes: runnable.shared_memory,
        copy: runnable.copy.map(|copy| copy.direction.name()),
        copy_bytes: runnable.copy.and_then(|copy| copy.bytes),
    }))
}

/// The model as one JSON document.
///
/// # Errors
/// Whatever `out` refuses.
pub fn json(model: &AmaltheaModel<'_>, mut out: impl Write) -> io::Result<()> {
    let document = Document {
        version: &model.version,
        runnables: &model.runnables,
        processing_units: &model.processing_units,
        stimuli: &model.stimuli,
        requirements: &model.requirements,
        skipped: &model.skipped,
        notes: &model.notes,
    };
    serde_json::to_writer(&mut out, &document)?;
    out.write_all(b"\n")
}

/// One line for each amount of work, and one for each runnable without any; empty where the model says nothing.
///
/// # Errors
/// Whatever `out` refuses.
pub fn csv(model: &AmaltheaModel<'_>, mut out: impl Write) -> io::Result<()> {
    writeln!(out, "runnable,processing_unit,unit,lower,value,upper,grid_size,block_size,copy,copy_bytes")?;
    for runnable in &model.runnables {
        let name = field(&runnable.name);
        let end = format!(
            "{},{},{},{}",
            optional(runnable.grid_size),
            optional(runnable.block_size),
            optional(runnable.copy.map(|copy| copy.direction.name())),
            optional(runnable.copy.and_then(|copy| copy.bytes))
        );
        let mut entries = runnable.ticks().chain(runnable.needs()).peekable();
        if entries.peek().is_none() {
            writeln!(out, "{name},,,,,,{end}")?;
        }
        for TickEntry { processing_unit, unit, range } in entries {
            let processing_unit = processing_unit.as_deref().map_or_else(String::new, |unit| field(unit).into_owned());
            let unit = field(unit.name());
            let (lower, value, upper) = (optional(range.lower), optional(range.value), optional(range.upper));
            writeln!(out, "{name},{processing_unit},{unit},{lower},{value},{upper},{end}")?;
        }
    }
    Ok(())
}

/// The model as text.
#[must_use]
pub fn text(model: &AmaltheaModel<'_>) -> String {
    let dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let number = |number: Option<u32>| dash(number.map(|number| number.to_string()));
    let mut text = format!("AMALTHEA {}, {} runnables\n", model.version, model.runnables.len());
    if !model.runnables.is_empty() {
        let header = ["runnable", "counts", "on", "lower", "value", "upper", "grid size", "block size", "copies"];
        let mut table = plain_table(&header, 3..8);
        for runnable in &model.runnables {
            let copies = dash(runnable.copy.map(|copy| match copy.bytes {
                Some(bytes) => format!("{bytes} bytes {}", copy.direction.name()),
                None => copy.direction.name().to_owned(),
            }));
            let row = |head: [String; 5]| {
                let [counts, on, lower, value, upper] = head;
                let (grid, block) = (number(runnable.grid_size), number(runnable.block_size));
                vec![runnable.name.clone(), counts, on, lower, value, upper, grid, block, copies.clone()]
            };
            let mut entries = runnable.ticks().chain(runnable.needs()).peekable();
            if entries.peek().is_none() {
                table.add_row(row(std::array::from_fn(|_| "-".to_owned())));
            }
            for TickEntry { processing_unit, unit, range } in entries {
                let ticks = |ticks: Option<Ticks>| dash(ticks.map(|ticks| ticks.to_string()));
                let on = processing_unit.clone().unwrap_or_else(|| "any".to_owned());
                let (lower, value, upper) = (ticks(range.lower), ticks(range.value), ticks(range.upper));
                table.add_row(row([unit.name().to_owned(), on, lower, value, upper]));
            }
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{}", table.trim_fmt());
    }
    if !model.processing_units.is_empty() {
        let mut table = plain_table(&["processing unit", "definition", "type", "frequency"], 3..4);
        for unit in &model.processing_units {
            table.add_row(vec![
                unit.name.clone(),
                dash(unit.definition.clone()),
                dash(unit.kind.clone()),
                dash(unit.frequency.map(|frequency| frequency.to_string())),
            ]);
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{}", table.trim_fmt());
    }
    if !model.stimuli.is_empty() {
        let mut table = plain_table(&["stimulus", "type", "from", "every", "jitter up to"], 2..5);
        for stimulus in &model.stimuli {
            let (from, every) = match stimulus.activation {
                Activation::Periodic { offset_ns, period_ns } => (offset_ns, period_ns.to_string()),
                Activation::Sporadic { offset_ns, shortest_ns, longest_ns } => match longest_ns {
                    Some(longest) if longest == shortest_ns => (offset_ns, shortest_ns.to_string()),
                    Some(longest) => (offset_ns, format!("{shortest_ns} to {longest}")),
                    None => (offset_ns, format!("{shortest_ns} or more")),
                },
                Activation::Single { occurrence_ns } => (occurrence_ns, "-".to_owned()),
            };
            let jitter = dash(stimulus.jitter_ns.map(|jitter| jitter.to_string()));
            table.add_row(vec![stimulus.name.clone(), stimulus.kind.clone(), from.to_string(), every, jitter]);
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{}", table.trim_fmt());
    }
    if !model.requirements.is_empty() {
        let mut table = plain_table(&["requirement", "of", "name", "response time at most"], 3..4);
        for requirement in &model.requirements {
            let of = match requirement.of {
                RequirementOf::Process => "process",
                RequirementOf::Runnable => "runnable",
            };
            let limit = requirement.response_time_ns.to_string();
            table.add_row(vec![requirement.name.clone(), of.to_owned(), requirement.target.clone(), limit]);
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{}", table.trim_fmt());
    }
    if !model.skipped.is_empty() {
        text += "\nskipped\n";
        for (kind, count) in &model.skipped {
            let _ = writeln!(text, "  {count} x {kind}");
        }
    }
    text
}
