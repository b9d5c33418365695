//! The longest way of data through a chain, from lane to lane.

use serde::Serialize;

use super::instants::Instants;
use crate::run::LongestWay;
use crate::scenario::Scenario;
use crate::time::Instant;

#[derive(Debug, Serialize)]
pub(super) struct ChainData {
    said: String,
    jobs: Vec<ChainJob>,
}

/// A job of it, in the lane of its core, or else in the row of its stream.
#[derive(Debug, Serialize)]
struct ChainJob {
    core: Option<u32>,
    stream: Option<u32>,
    /// Numbers of the instants at which it reads and has written.
    read: i64,
    written: i64,
}

impl ChainData {
    pub(super) fn new(longest: &LongestWay<'_>, scenario: &Scenario, instants: &Instants, end: Instant) -> Self {
        let job = |&(thread, read, written): &(u32, Instant, Instant)| {
            let thread = scenario.threads.get(thread as usize)?;
            Some(ChainJob {
                core: thread.core.map(|share| share.core),
                stream: thread.first_stream().map(|stream| stream.0),
                read: instants.number(read.min(end)),
                written: instants.number(written.min(end)),
            })
        };
        let said = format!("{}, by {}", longest.name(), longest.delay.path(longest.chain, scenario));
        Self { said, jobs: longest.jobs.iter().filter_map(job).collect() }
    }
}

/// The instants that it tells of, up to the end of the run.
pub(super) fn instants_of(longest: &LongestWay<'_>, end: Instant) -> impl Iterator<Item = Instant> {
    longest.jobs.iter().flat_map(move |(_, read, written)| [(*read).min(end), (*written).min(end)])
}
