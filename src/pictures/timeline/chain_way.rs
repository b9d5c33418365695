//! The longest way of data through a chain, as arrows from lane to lane.

use super::context::{Context, PALE};
use super::legend_entry::Other;
use super::{ChainWay, CoreLane, LegendSymbol, StreamRow};
use crate::draw::{Length, Point};
use crate::run::LongestWay;
use crate::scenario::HostThread;
use crate::time::Instant;

/// Where it goes: for each job that has a lane, from where it reads to where it has written.
pub(super) fn way(
    context: &Context<'_>,
    longest: Option<&LongestWay<'_>>,
    cores: &[CoreLane],
    rows: &[StreamRow],
) -> Option<ChainWay> {
    let longest = longest?;
    let threads = &context.summary.scenario.threads;
    let y = |thread: u32| {
        let thread = threads.get(thread as usize)?;
        lane_of(thread, cores, rows)
    };
    let window = &context.scale.window;
    let x = |at: Instant| context.scale.x(at.clamp(window.start, window.end));
    let is_seen = |&&(_, read, written): &&(u32, Instant, Instant)| read < window.end && written > window.start;
    let jobs = longest.jobs.iter().filter(is_seen).filter_map(|&(thread, read, written)| {
        let y = y(thread)?;
        Some([Point { x: x(read), y }, Point { x: x(written), y }])
    });
    let jobs: Vec<[Point; 2]> = jobs.collect();
    let path = longest.delay.path(longest.chain, context.summary.scenario);
    (!jobs.is_empty()).then_some(ChainWay { name: longest.name(), path, jobs })
}

/// The middle of the lane of a host's core, or of the row of the stream to which it submits first.
fn lane_of(thread: &HostThread, cores: &[CoreLane], rows: &[StreamRow]) -> Option<Length> {
    let core = thread.core.and_then(|share| cores.iter().find(|lane| lane.core == share.core));
    let stream = thread.first_stream();
    let row = || rows.iter().find(|row| stream.is_some_and(|stream| row.streams.contains(&stream)));
    core.map(|lane| lane.area.centre().y).or_else(|| Some(row()?.area.centre().y))
}

/// What the arrows mean.
pub(super) fn legend(longest: Option<&LongestWay<'_>>) -> Option<Other> {
    let longest = longest?;
    let text = format!("{}: {}", longest.chain.name, longest.delay.length());
    Some(Other { shorter: vec!["chain".to_owned()], ..Other::new(PALE, LegendSymbol::Event, text) })
}
