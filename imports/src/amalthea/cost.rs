//! How much work a runnable is in all, on one processing unit.

use std::collections::HashMap;

use super::hardware::ProcessingUnit;
use super::items::{CostUnit, Item, TickEntry};
use super::model::AmaltheaModel;
use super::quantities::{TickRange, Ticks};
use super::xml::Problem;
use crate::spelling::option;

/// Calls of runnables by runnables may be nested this deep.
pub(super) const MAX_CALLS: usize = 128;

/// Cycles of runnables on one processing unit.
pub(super) struct Costs<'m, 't> {
    model: &'m AmaltheaModel<'t>,
    /// `None`: nothing is known but the frequency.
    unit: Option<&'m ProcessingUnit>,
    /// By name; `None` for a name that more than one runnable has.
    indices: HashMap<&'m str, Option<usize>>,
    /// What was found already, and what is being looked at.
    known: HashMap<usize, CostState>,
}

#[derive(Clone, Copy)]
enum CostState {
    BeingSummed,
    Cycles(Option<TickRange>),
}

impl<'m, 't> Costs<'m, 't> {
    pub(super) fn new(model: &'m AmaltheaModel<'t>, unit: Option<&'m ProcessingUnit>) -> Self {
        Self { model, unit, indices: model.indices(), known: HashMap::new() }
    }

    /// The runnable of that name; `Ok(None)` if there is none.
    pub(super) fn find(&self, name: &str) -> Result<Option<usize>, Problem> {
        match self.indices.get(name) {
            None => Ok(None),
            Some(Some(index)) => Ok(Some(*index)),
            Some(None) => {
                let mut places = self.model.runnables.iter().filter(|runnable| runnable.name == name).skip(1);
                let offset = places.next().map_or(0, |second| second.offset);
                Err(Problem::at(offset, format!("more than one runnable is called {name:?}, this one among them")))
            }
        }
    }

    /// Cycles of runnable `index` and of all that it calls; `None` if neither states any work.
    pub(super) fn cycles(&mut self, index: usize) -> Result<Option<TickRange>, Problem> {
        self.runnable(index, 0)
    }

    /// Cycles of items of runnable `index` and of all that they call; `None` if they state no work.
    pub(super) fn cycles_of(&mut self, items: &[Item], index: usize) -> Result<Option<TickRange>, Problem> {
        self.sequence(items, index, 0)
    }

    fn runnable(&mut self, index: usize, depth: usize) -> Result<Option<TickRange>, Problem> {
        let model = self.model;
        let Some(runnable) = model.runnables.get(index) else { return Ok(None) };
        match self.known.get(&index) {
            Some(CostState::Cycles(cycles)) => return Ok(*cycles),
            Some(CostState::BeingSummed) => {
                let what = format!("runnable {:?} calls itself, directly or through others", runnable.name);
                return Err(Problem::at(runnable.offset, what));
            }
            None => {}
        }
        if depth > MAX_CALLS {
            let what = format!("calls of runnables by runnables are nested more than {MAX_CALLS} deep");
            return Err(Problem::at(runnable.offset, what));
        }
        self.known.insert(index, CostState::BeingSummed);
        let cycles = self.sequence(&runnable.items, index, depth)?;
        self.known.insert(index, CostState::Cycles(cycles));
        Ok(cycles)
    }

    fn sequence(&mut self, items: &[Item], index: usize, depth: usize) -> Result<Option<TickRange>, Problem> {
        let mut sum: Option<TickRange> = None;
        for item in items {
            let cycles = match item {
                Item::Work(entries) => self.work(entries, index)?,
                Item::Trigger(_) | Item::Wait(_) | Item::Set(..) | Item::Clear(_) => None,
                Item::Sequence(items) => self.sequence(items, index, depth)?,
                Item::Choice(alternatives) => self.choice(alternatives, index, depth)?,
                Item::Call(name) => match self.find(name)? {
                    Some(called) => self.runnable(called, depth + 1)?,
                    None => {
                        return Err(self.unusable(index, &format!("calls {name:?}, which is not in this model"), None));
                    }
                },
                Item::Unread(what, offset) => {
                    return Err(self.unusable(
                        index,
                        &format!("states work as {what}, which is not read"),
                        Some(*offset),
                    ));
                }
            };
            sum = match (sum, cycles) {
                (Some(sum), Some(cycles)) => Some(sum.then(cycles)),
                (one, other) => one.or(other),
            };
        }
        Ok(sum)
    }

    /// Where a runnable stands, and its name.
    fn runnable_at(&self, index: usize) -> (usize, &'m str) {
        let runnable = self.model.runnables.get(index);
        runnable.map_or((0, ""), |runnable| (runnable.offset, runnable.name.as_str()))
    }

    /// Why no time can be given for a runnable, or for one that calls it: part of its work is unknown.
    fn unusable(&self, index: usize, why: &str, offset: Option<usize>) -> Problem {
        let (start, name) = self.runnable_at(index);
        Problem::at(offset.unwrap_or(start), format!("runnable {name:?} {why}, so its time is unknown")).with_help(
            format!(
                "state the time of one block of the launched runnable with {}",
                option("block_duration").of("NAME", "TIME")
            ),
        )
    }

    fn choice(&mut self, alternatives: &[Vec<Item>], index: usize, depth: usize) -> Result<Option<TickRange>, Problem> {
        let found: Vec<Option<TickRange>> =
            alternatives.iter().map(|items| self.sequence(items, index, depth)).collect::<Result<_, _>>()?;
        if found.iter().all(Option::is_none) {
            return Ok(None);
        }
        // An alternative without any work takes no time.
        Ok(found.into_iter().map(|cycles| cycles.unwrap_or(TickRange::ZERO)).reduce(TickRange::or))
    }

    /// The entry for this processing unit's definition, or else the default one, in cycles.
    fn work(&self, entries: &[TickEntry], index: usize) -> Result<Option<TickRange>, Problem> {
        let definition = self.unit.and_then(|unit| unit.definition.as_deref());
        let own = entries
            .iter()
            .find(|entry| entry.processing_unit.is_some() && entry.processing_unit.as_deref() == definition);
        let entry = own.or_else(|| entries.iter().find(|entry| entry.processing_unit.is_none()));
        let (offset, name) = self.runnable_at(index);
        let Some(entry) = entry else {
            let stated: Vec<&str> = entries.iter().filter_map(|entry| entry.processing_unit.as_deref()).collect();
            let on = definition.map_or_else(String::new, |definition| format!(" for {definition:?}"));
            return Err(Problem::at(offset, format!("runnable {name:?} states no {}{on}", entries_unit(entries)))
                .with_help(format!(
                    "it states some for {}; choose with {}",
                    stated.join(", "),
                    option("processing_unit").with("NAME")
                )));
        };
        let too_large = || Problem::at(offset, format!("the work of runnable {name:?} is more than can be counted"));
        match self.per_cycle(&entry.unit) {
            Ok(None) => Ok(Some(entry.range)),
            Ok(Some(per_cycle)) => {
                let cycles = |ticks: Ticks| {
                    let scaled = ticks.millionths().checked_mul(1_000_000)?;
                    Some(Ticks::from_millionths(scaled.div_ceil(u128::from(per_cycle))))
                };
                entry.range.map(cycles).map(Some).ok_or_else(too_large)
            }
            Err(category) => {
                let on = self.unit.map_or_else(String::new, |unit| format!(" of processing unit {:?}", unit.name));
                Err(Problem::at(
                    offset,
                    format!(
                        "runnable {name:?} needs {category}, and no feature{on} says how many of them a cycle does"
                    ),
                ))
            }
        }
    }

    /// Units per cycle \[10^-6\]; `None` for cycles themselves. A processing unit that says nothing of instructions
    /// does one in each cycle.
    fn per_cycle<'u>(&self, unit: &'u CostUnit) -> Result<Option<u64>, &'u str> {
        let Some(category) = unit.category() else { return Ok(None) };
        match self.unit.and_then(|unit| unit.per_cycle.get(category)) {
            Some(&per_cycle) => Ok(Some(per_cycle)),
            None if category == "Instructions" => Ok(None),
            None => Err(category),
        }
    }
}

fn entries_unit(entries: &[TickEntry]) -> &str {
    entries.first().map_or("ticks", |entry| entry.unit.name())
}
