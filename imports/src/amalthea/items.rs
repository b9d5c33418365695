//! What a runnable or task does, item by item, in the forms of all schema versions.

use std::collections::BTreeMap;

use roxmltree::Node;

use super::quantities::{self, TickRange, Unreadable};
use super::xml::{self, Problem, Reference};

/// Child elements that hold items, or are items.
const ITEM_ELEMENTS: [&str; 7] =
    ["runnableItems", "runnableItem", "items", "callGraph", "activityGraph", "graphEntries", "calls"];

/// What is not read of groups.
pub(super) const UNORDERED: &str = "order of a Group that is not ordered";

/// Reading the items of one runnable or task.
pub(super) struct Items<'s, 'a> {
    /// What is not read, by type.
    pub(super) skipped: &'s mut BTreeMap<String, u64>,
    /// Labels that it reads.
    pub(super) reads: Vec<&'a str>,
    /// Labels that it writes.
    pub(super) writes: Vec<&'a str>,
    /// Whether it is said how often, or in which parts, a label is accessed.
    pub(super) has_access_details: bool,
}

impl<'s, 'a> Items<'s, 'a> {
    /// Nothing is read yet.
    pub(super) const fn new(skipped: &'s mut BTreeMap<String, u64>) -> Self {
        Self { skipped, reads: Vec::new(), writes: Vec::new(), has_access_details: false }
    }

    /// The items within `node`. The depth of the document is bounded, and so is this recursion.
    pub(super) fn within<'i: 'a>(&mut self, node: Node<'a, 'i>) -> Result<Vec<Item>, Problem> {
        let mut items = Vec::new();
        for child in xml::children(node).filter(|child| ITEM_ELEMENTS.contains(&child.tag_name().name())) {
            match xml::type_of(child) {
                Some(kind) => self.item(child, kind, &mut items)?,
                // An element that only holds others.
                None => items.extend(self.within(child)?),
            }
        }
        Ok(items)
    }

    fn item<'i: 'a>(&mut self, node: Node<'a, 'i>, kind: &'a str, items: &mut Vec<Item>) -> Result<(), Problem> {
        match kind {
            "Ticks" => self.ticks(node, &CostUnit::Ticks, items)?,
            "RunnableInstructions" => self.ticks(node, &CostUnit::Instructions, items)?,
            "ExecutionNeed" => self.needs(node, items)?,
            "RunnableCall" | "TaskRunnableCall" => match xml::reference(node, "runnable") {
                Some(reference) => items.push(Item::Call(reference.name().to_owned())),
                None => self.unread("RunnableCall without runnable", node, items),
            },
            "Group" | "CallSequence" => {
                if node.attribute("ordered") == Some("false") {
                    self.skip(UNORDERED);
                }
                items.push(Item::Sequence(self.within(node)?));
            }
            "InterProcessTrigger" | "InterProcessActivation" => match xml::reference(node, "stimulus") {
                Some(stimulus) => items.push(Item::Trigger(stimulus.name().to_owned())),
                None => self.skip("InterProcessTrigger without stimulus"),
            },
            // Read only where tasks run on cores.
            "WaitEvent" => {
                self.skip(kind);
                items.push(Item::Wait(EventWait {
                    events: events(node),
                    is_for_any: node.attribute("maskType") == Some("OR"),
                    is_active: node.attribute("waitingBehaviour") == Some("active"),
                }));
            }
            "SetEvent" => {
                self.skip(kind);
                let process = xml::reference(node, "process").map(|process| process.name().to_owned());
                items.push(Item::Set(events(node), process));
            }
            "ClearEvent" => {
                self.skip(kind);
                items.push(Item::Clear(events(node)));
            }
            "ModeSwitch" | "RunnableModeSwitch" | "ProbabilitySwitch" | "RunnableProbabilitySwitch" | "Switch" => {
                items.push(self.choice(node)?);
            }
            "LabelAccess" => self.label_access(node),
            unknown => {
                // Ticks inside something unknown are listed, but how often they pass is unknown.
                let inside = self.within(node)?;
                if inside.is_empty() {
                    self.skip(unknown);
                } else {
                    self.unread(unknown, node, items);
                    items.push(Item::Sequence(inside));
                }
            }
        }
        Ok(())
    }

    /// A switch without a default may also do nothing.
    fn choice<'i: 'a>(&mut self, node: Node<'a, 'i>) -> Result<Item, Problem> {
        let mut alternatives = Vec::new();
        let is_alternative =
            |child: &Node<'_, '_>| ["entries", "defaultEntry", "elseEntry"].contains(&child.tag_name().name());
        for entry in xml::children(node).filter(is_alternative) {
            alternatives.push(self.within(entry)?);
        }
        if xml::child(node, "defaultEntry").or_else(|| xml::child(node, "elseEntry")).is_none() {
            alternatives.push(Vec::new());
        }
        Ok(Item::Choice(alternatives))
    }

    /// `default`, and `extended` for single processing unit definitions.
    fn ticks<'i: 'a>(&mut self, node: Node<'a, 'i>, unit: &CostUnit, items: &mut Vec<Item>) -> Result<(), Problem> {
        let mut work = Vec::new();
        for child in xml::children(node) {
            let (processing_unit, value) = match child.tag_name().name() {
                "default" => (None, Some(child)),
                "extended" => (Some(self.definition(child, items)), xml::child(child, "value")),
                _ => continue,
            };
            match value {
                Some(value) => self.entry(value, processing_unit, unit.clone(), &mut work, items)?,
                None => self.unread("extended without value", child, items),
            }
        }
        if !work.is_empty() {
            items.push(Item::Work(work));
        }
        Ok(())
    }

    /// Execution needs: to 0.9.2 `default` and `extended`, of which `Instructions` are ticks; from 0.9.3 `needs`.
    fn needs<'i: 'a>(&mut self, node: Node<'a, 'i>, items: &mut Vec<Item>) -> Result<(), Problem> {
        let mut by_unit: Vec<(CostUnit, Vec<TickEntry>)> = Vec::new();
        for child in xml::children(node) {
            let old = |key: &str| match key {
                "Instructions" => CostUnit::Instructions,
                other => CostUnit::Need(other.to_owned()),
            };
            let key = |node: Node<'_, '_>| node.attribute("key").unwrap_or_default().to_owned();
            let mut found: Vec<(CostUnit, Option<String>, Node<'a, 'i>)> = Vec::new();
            match child.tag_name().name() {
                "default" => found.extend(xml::child(child, "value").map(|value| (old(&key(child)), None, value))),
                "needs" => {
                    found.extend(xml::child(child, "value").map(|value| (CostUnit::Need(key(child)), None, value)));
                }
                "extended" => {
                    let definition = self.definition(child, items);
                    for entry in xml::children_named(child, "value") {
                        let unit = old(&key(entry));
                        found.extend(xml::child(entry, "value").map(|value| (unit, Some(definition.clone()), value)));
                    }
                }
                _ => {}
            }
            for (unit, processing_unit, value) in found {
                let at = by_unit.iter().position(|(known, _)| *known == unit).unwrap_or_else(|| {
                    by_unit.push((unit.clone(), Vec::new()));
                    by_unit.len() - 1
                });
                self.entry(value, processing_unit, unit, &mut by_unit[at].1, items)?;
            }
        }
        items.extend(by_unit.into_iter().filter(|(_, work)| !work.is_empty()).map(|(_, work)| Item::Work(work)));
        Ok(())
    }

    fn entry<'i: 'a>(
        &mut self,
        value: Node<'a, 'i>,
        processing_unit: Option<String>,
        unit: CostUnit,
        work: &mut Vec<TickEntry>,
        items: &mut Vec<Item>,
    ) -> Result<(), Problem> {
        match quantities::read_range(value) {
            Ok(range) => work.push(TickEntry { processing_unit, unit, range }),
            Err(Unreadable::Type(kind)) => self.unread(&kind, value, items),
            Err(Unreadable::Wrong(problem)) => return Err(problem),
        }
        Ok(())
    }

    /// The processing unit definition (to 0.9.0 core type) for which an entry holds.
    fn definition<'i: 'a>(&mut self, extended: Node<'a, 'i>, items: &mut Vec<Item>) -> String {
        let reference: Option<Reference> = xml::reference(extended, "key");
        if reference.is_none() {
            self.unread("extended without key", extended, items);
        }
        reference.map_or_else(String::new, |reference| reference.name().to_owned())
    }

    fn label_access<'i: 'a>(&mut self, node: Node<'a, 'i>) {
        self.has_access_details |= xml::children(node).next().is_some();
        match (node.attribute("data"), node.attribute("access")) {
            (Some(label), Some("read")) => self.reads.push(label),
            (Some(label), Some("write")) => self.writes.push(label),
            _ => self.skip("LabelAccess without data or access"),
        }
    }

    /// Counts work that cannot be read, and leaves a mark at which the runnable's time is refused.
    fn unread<'i: 'a>(&mut self, kind: &str, node: Node<'a, 'i>, items: &mut Vec<Item>) {
        self.skip(kind);
        items.push(Item::Unread(kind.to_owned(), node.range().start));
    }

    fn skip(&mut self, kind: &str) {
        *self.skipped.entry(kind.to_owned()).or_default() += 1;
    }
}

/// The names of the events that an item speaks of.
fn events(node: Node<'_, '_>) -> Vec<String> {
    let masks = xml::children_named(node, "eventMask").flat_map(|mask| xml::references(mask, "events"));
    masks.map(|event| event.name().to_owned()).collect()
}

/// One amount of work as the model states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TickEntry {
    /// The processing unit definition (core type) for which it holds; `None`: for all that have no entry of their own.
    pub processing_unit: Option<String>,
    /// What is counted.
    pub unit: CostUnit,
    /// How much.
    pub range: TickRange,
}

/// What an amount of work counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CostUnit {
    /// Cycles of the processing unit.
    Ticks,
    /// Instructions, which schema versions up to 0.9.2 state in place of ticks.
    Instructions,
    /// `needs` of schema versions from 0.9.3: units of a hardware feature category.
    Need(String),
}

impl CostUnit {
    /// The hardware feature category that says how many units one cycle does; `None` for cycles themselves.
    pub(crate) fn category(&self) -> Option<&str> {
        match self {
            Self::Ticks => None,
            Self::Instructions => Some("Instructions"),
            Self::Need(category) => Some(category),
        }
    }

    /// Name in reports.
    pub(crate) fn name(&self) -> &str {
        self.category().unwrap_or("ticks")
    }
}

/// One thing that a runnable does.
#[derive(Debug, Clone)]
pub(super) enum Item {
    /// Work of one unit: entries of which the one for the processing unit counts.
    Work(Vec<TickEntry>),
    /// A call of the runnable of that name.
    Call(String),
    /// Work that is stated and cannot be read: what, and where it stands \[bytes\].
    Unread(String, usize),
    /// A trigger of the stimulus of that name in tasks.
    Trigger(String),
    /// A wait for events of operating systems.
    Wait(EventWait),
    /// These events are set, of the process of that name if one is stated.
    Set(Vec<String>, Option<String>),
    /// These events are no longer set.
    Clear(Vec<String>),
    /// One after the other.
    Sequence(Vec<Item>),
    /// One of several.
    Choice(Vec<Vec<Item>>),
}

/// A wait of a task for events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EventWait {
    /// Names of the events.
    pub(super) events: Vec<String>,
    /// Whether any of them will do.
    pub(super) is_for_any: bool,
    /// Whether it keeps the core in the meantime.
    pub(super) is_active: bool,
}

impl Item {
    /// All entries in document order.
    pub(super) fn entries(items: &[Self]) -> Vec<&TickEntry> {
        let mut entries = Vec::new();
        Self::each(items, &mut |item| {
            if let Self::Work(work) = item {
                entries.extend(work);
            }
        });
        entries
    }

    /// The names of the runnables that these items call, in document order.
    pub(super) fn calls(items: &[Self]) -> Vec<&str> {
        let mut names = Vec::new();
        Self::each(items, &mut |item| {
            if let Self::Call(name) = item {
                names.push(name.as_str());
            }
        });
        names
    }

    /// The names of the stimuli that these items trigger, in document order.
    pub(super) fn triggers(items: &[Self]) -> Vec<String> {
        let mut names = Vec::new();
        Self::each(items, &mut |item| {
            if let Self::Trigger(stimulus) = item {
                names.push(stimulus.clone());
            }
        });
        names
    }

    /// Shows each of these items, and each within them.
    pub(super) fn each<'a>(items: &'a [Self], see: &mut impl FnMut(&'a Self)) {
        for item in items {
            see(item);
            match item {
                Self::Sequence(items) => Self::each(items, see),
                Self::Choice(alternatives) => alternatives.iter().for_each(|items| Self::each(items, see)),
                _ => {}
            }
        }
    }
}
