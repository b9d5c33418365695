//! What a runnable does.

use super::ticks::TickRange;

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
    pub(super) fn collect<'a>(items: &'a [Self], entries: &mut Vec<&'a TickEntry>) {
        for item in items {
            match item {
                Self::Work(work) => entries.extend(work),
                Self::Call(_)
                | Self::Unread(..)
                | Self::Trigger(_)
                | Self::Wait(_)
                | Self::Set(..)
                | Self::Clear(_) => {}
                Self::Sequence(items) => Self::collect(items, entries),
                Self::Choice(alternatives) => alternatives.iter().for_each(|items| Self::collect(items, entries)),
            }
        }
    }

    /// The names of the runnables that these items call, in document order.
    pub(super) fn calls<'a>(items: &'a [Self], names: &mut Vec<&'a str>) {
        for item in items {
            match item {
                Self::Call(name) => names.push(name),
                Self::Sequence(items) => Self::calls(items, names),
                Self::Choice(alternatives) => alternatives.iter().for_each(|items| Self::calls(items, names)),
                Self::Work(_)
                | Self::Unread(..)
                | Self::Trigger(_)
                | Self::Wait(_)
                | Self::Set(..)
                | Self::Clear(_) => {}
            }
        }
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
