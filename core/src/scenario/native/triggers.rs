//! `triggered_by`: hosts whose jobs are released by the ends of those of another host or stream.

use super::chains;
use super::reading::Reading;
use crate::json::{Node, Object, Problem};
use crate::spelling::option;

/// What such a host does not have itself.
const NOT_BESIDE: [&str; 6] = ["release", "period", "jitter", "iterations", "time_limit", "barrier"];

/// The name of the other one, if a host has one.
pub(super) fn read<'a>(entry: &mut Object<'a>) -> Result<Option<Node<'a>>, Problem> {
    let Some(trigger) = entry.optional("triggered_by")? else { return Ok(None) };
    for key in NOT_BESIDE {
        if let Some(node) = entry.optional(key)? {
            return Err(node
                .problem(format!("{key:?} has no place beside \"triggered_by\""))
                .with_help("jobs of this host come when those of the other one end, and are as many"));
        }
    }
    Ok(Some(trigger))
}

/// Says which thread releases which, once all are known; each is the number of a thread, and where the other is named.
pub(super) fn resolve(triggered: &[(usize, Node<'_>)], reading: &mut Reading<'_, '_>) -> Result<(), Problem> {
    for &(thread, node) in triggered {
        let trigger = chains::job(node, reading)?;
        let threads = reading.builder.threads();
        if threads[thread].period.is_some() {
            let (period, label) = (option("period"), &threads[thread].label);
            return Err(node.problem(format!("{period} has no place beside \"triggered_by\", which {label:?} has")));
        }
        if let Some(other) = threads.get(trigger as usize).filter(|other| !other.does_jobs()) {
            let label = &other.label;
            return Err(node
                .problem(format!("{label:?} does no jobs: it neither launches anything nor works"))
                .with_help("state a \"deadline\" of it, or let it \"work\" in place of sleeping"));
        }
        reading.builder.set_trigger(thread, trigger);
    }
    let scenario = reading.builder.so_far();
    let begins = |thread: usize| u32::try_from(thread).is_ok_and(|thread| scenario.timed(thread).is_some());
    match triggered.iter().find(|(thread, _)| !begins(*thread)) {
        Some((_, node)) => Err(node
            .problem("hosts that trigger one another in a circle never begin")
            .with_help("in the end a stream, or a host without \"triggered_by\", has to trigger them")),
        None => Ok(()),
    }
}
