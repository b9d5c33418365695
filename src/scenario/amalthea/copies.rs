//! Copy runnables, and which runnable on the GPU they belong to.

use super::model::{AmaltheaModel, Runnable};
use crate::device::CopyDirection;

/// Ends of names of copy runnables, as letters and digits only.
const ENDINGS: [(&str, CopyDirection); 4] = [
    ("hosttodevice", CopyDirection::HostToDevice),
    ("h2d", CopyDirection::HostToDevice),
    ("devicetohost", CopyDirection::DeviceToHost),
    ("d2h", CopyDirection::DeviceToHost),
];

/// Ends of names of the functions between copies, which their copies' names may lack.
const FUNCTIONS: [&str; 2] = ["function", "kernel"];

/// A name without anything but letters and digits, in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The direction of the copy that a runnable of this name does, and what is left of the name.
fn by_name(name: &str) -> Option<(CopyDirection, String)> {
    let plain = plain(name);
    ENDINGS.iter().find_map(|(ending, direction)| Some((*direction, plain.strip_suffix(ending)?.to_owned())))
}

/// The direction of the copy that a runnable of this name does: `SFM_host_to_device`, `Detection D2H`.
pub(super) fn direction_of(name: &str) -> Option<CopyDirection> {
    by_name(name).map(|(direction, _)| direction)
}

/// Copies of one runnable, by index: those before it and those after it.
#[derive(Debug, Default)]
pub(super) struct Around {
    pub(super) before: Vec<usize>,
    pub(super) after: Vec<usize>,
}

/// The copies around runnable `index`: in the first task that calls it next to copies, or else those of its name.
pub(super) fn around(model: &AmaltheaModel<'_>, index: usize) -> Around {
    let is = |runnable: &usize, direction| {
        let copy = model.runnables.get(*runnable).and_then(|runnable| runnable.copy);
        copy.is_some_and(|copy| copy.direction == direction)
    };
    for task in model.tasks.iter().map(|task| &task.calls) {
        for (at, _) in task.iter().enumerate().filter(|(_, called)| **called == index) {
            let before = task[..at].iter().rev().take_while(|called| is(called, CopyDirection::HostToDevice));
            let after = task[at + 1..].iter().take_while(|called| is(called, CopyDirection::DeviceToHost));
            let mut found = Around { before: before.copied().collect(), after: after.copied().collect() };
            found.before.reverse();
            if !found.before.is_empty() || !found.after.is_empty() {
                return found;
            }
        }
    }
    let Some(runnable) = model.runnables.get(index) else { return Around::default() };
    let named = |direction| {
        let belongs = |(_, copy): &(usize, &Runnable)| {
            copy.copy.is_some_and(|copy| copy.direction == direction)
                && by_name(&copy.name).is_some_and(|(_, stem)| is_stem(&stem, &runnable.name))
        };
        model.runnables.iter().enumerate().filter(belongs).map(|(index, _)| index).collect()
    };
    Around { before: named(CopyDirection::HostToDevice), after: named(CopyDirection::DeviceToHost) }
}

/// Whether copies called `stem…` belong to a runnable called `name`.
fn is_stem(stem: &str, name: &str) -> bool {
    let name = plain(name);
    !stem.is_empty() && (name == stem || FUNCTIONS.iter().any(|ending| name.strip_suffix(ending) == Some(stem)))
}
