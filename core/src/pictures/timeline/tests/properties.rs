//! What holds for the timeline of every run.

use std::collections::BTreeMap;

use crate::device::{BlockDemand, BlockShape, Device};
use crate::draw::{MM, Rect};
use crate::hosts::simulate;
use crate::pictures::timeline::{HeightBy, Label, Timeline, TimelineOptions};
use crate::run::{EeQueue, Recorded, State, Summary};
use crate::scenario::{HostThread, ReadOptions, Scenario, ScenarioBuilder, Step};
use crate::time::{Duration, Instant};
use crate::trace::Block;
use crate::workload::{BlockClock, BlockTime, Kernel, OperationId, Placement, StreamId, StreamSpec};
use proptest::prelude::*;

use super::config;

#[derive(Debug, Clone)]
struct Launch {
    priority: Option<i32>,
    null_stream: bool,
    release_ms: u64,
    blocks: u32,
    threads: u32,
    shared_memory: u32,
    time_ms: u64,
    iterations: u64,
}

fn launch() -> impl Strategy<Value = Launch> {
    let priority = prop_oneof![Just(None), Just(Some(0)), Just(Some(-1))];
    let blocks = prop_oneof![4 => 1..40_u32, 1 => 1..3_000_u32];
    let shared = prop_oneof![Just(0), 1..49_152_u32];
    (priority, prop::bool::weighted(0.1), 0..20_u64, blocks, 1..=1024_u32, shared, 0..20_u64, 1..3_u64).prop_map(
        |(priority, null_stream, release_ms, blocks, threads, shared_memory, time_ms, iterations)| Launch {
            priority,
            null_stream,
            release_ms,
            blocks,
            threads,
            shared_memory,
            time_ms,
            iterations,
        },
    )
}

fn scenario(launches: &[Launch], placement: Placement, device: &str) -> Scenario {
    let options = ReadOptions { placement: Some(placement), ..ReadOptions::default() };
    let device = Device::builtin(device).expect("the file is sound").expect("it is built in");
    let mut builder = ScenarioBuilder::new("random".to_owned(), device, &options);
    for (index, launch) in launches.iter().enumerate() {
        let name = format!("K{index}");
        let spec = StreamSpec {
            priority: launch.priority.unwrap_or(0),
            blocking: launch.priority.is_none(),
            ..StreamSpec::new(name.as_str())
        };
        let stream = builder.add_stream(spec).expect("the device has such a stream");
        let kernel = Kernel {
            name: name.as_str().into(),
            title: name.as_str().into(),
            blocks: launch.blocks,
            shape: BlockShape {
                threads: launch.threads,
                registers_per_thread: 0,
                shared_memory_bytes: launch.shared_memory,
            },
            duration: BlockTime::fixed(Duration::from_ns(launch.time_ms * 1_000_000)),
            clock: BlockClock::RunTime,
            sm_mask: None,
        };
        let kernel = builder.add_kernel(kernel).expect("it fits");
        let stream = if launch.null_stream { StreamId::NULL } else { stream };
        let steps = vec![Step::Launch(kernel, stream), Step::SynchronizeStream(stream)];
        let once = HostThread::once(name.as_str(), Duration::from_ns(launch.release_ms * 1_000_000), steps);
        builder.add_thread(HostThread { iterations: Some(launch.iterations), ..once });
    }
    builder.build()
}

/// Blocks of each launch, and resource times time of all blocks.
fn truth(summary: &Summary<'_>, height_by: HeightBy) -> (BTreeMap<OperationId, u64>, u128) {
    let device = summary.scenario.device();
    let mut area = 0;
    let mut counts = BTreeMap::new();
    for Recorded { id, work: kernel, .. } in summary.launches() {
        let demand = BlockDemand::new(&kernel.shape, device).expect("it fits");
        let units = u128::from(height_by.of_block(&demand, device));
        if units > 0 {
            counts.insert(id, u64::from(kernel.blocks));
        }
        area +=
            summary.trace.blocks(id).map(|block| units * u128::from((block.end - block.start).as_ns())).sum::<u128>();
    }
    (counts, area)
}

impl Rect {
    /// Whether `other` lies within this one, edges included.
    fn contains(&self, other: &Self) -> bool {
        self.x <= other.x && self.y <= other.y && other.right() <= self.right() && other.bottom() <= self.bottom()
    }
}

fn disjoint(areas: &[Rect]) -> bool {
    areas.iter().enumerate().all(|(index, area)| areas[index + 1..].iter().all(|other| !area.overlaps(other)))
}

fn all_labels(timeline: &Timeline) -> Vec<Label> {
    let mut labels: Vec<Label> = timeline.captions.clone();
    labels.extend(timeline.legend.iter().map(|entry| entry.label.clone()));
    for band in &timeline.bands {
        labels.extend(band.label.iter().chain(&band.marks).cloned());
        labels.extend(band.blocks.iter().flat_map(|blocks| &blocks.pieces).filter_map(|piece| piece.label.clone()));
        labels.extend(band.profiles.iter().filter_map(|profile| profile.label.clone()));
    }
    for lane in &timeline.lanes {
        labels.push(lane.label.clone());
        labels.extend(lane.copies.iter().filter_map(|copy| copy.label.clone()));
    }
    labels.extend(timeline.across.iter().map(|name| name.label.clone()));
    if let Some(panel) = &timeline.occupancy {
        labels.extend(panel.marks.iter().chain([&panel.label]).cloned());
        labels.extend(panel.curves.iter().map(|curve| curve.label.clone()));
    }
    for queue in &timeline.queues {
        labels.extend(queue.more.iter().chain([&queue.label]).cloned());
        labels.extend(queue.entries.iter().filter_map(|entry| entry.label.clone()));
    }
    for row in &timeline.rows {
        labels.push(row.label.clone());
        labels.extend(row.arrows.iter().filter_map(|arrow| arrow.label.clone()));
    }
    labels
}

fn check_boxes(timeline: &Timeline, summary: &Summary<'_>, height_by: HeightBy) -> Result<(), TestCaseError> {
    let (expected, expected_area) = truth(summary, height_by);
    let mut counts: BTreeMap<OperationId, u64> = BTreeMap::new();
    let mut numbers = Vec::new();
    let mut area = 0;
    for band in &timeline.bands {
        let mut on_paper = Vec::new();
        for blocks in &band.blocks {
            *counts.entry(blocks.operation).or_default() += blocks.count;
            numbers.extend(blocks.index.map(|index| (blocks.operation, index)));
            let pieces: u32 = blocks.pieces.iter().map(|piece| piece.units.end - piece.units.start).sum();
            prop_assert_eq!(pieces, blocks.units);
            area += u128::from(pieces) * u128::from((blocks.time.end - blocks.time.start).as_ns());
            for piece in &blocks.pieces {
                prop_assert!(piece.units.end <= band.capacity);
                prop_assert!(band.area.contains(&piece.area));
                prop_assert!(piece.label.iter().all(|label| piece.area.contains(&label.area)));
                on_paper.push(piece.area);
            }
        }
        prop_assert!(disjoint(&on_paper));
        let exact: Vec<_> =
            band.blocks.iter().flat_map(|b| b.pieces.iter().map(move |p| (&b.time, &p.units))).collect();
        for (position, (time, units)) in exact.iter().enumerate() {
            let meets = exact[position + 1..].iter().any(|(other_time, other_units)| {
                time.start.max(other_time.start) < time.end.min(other_time.end)
                    && units.start.max(other_units.start) < units.end.min(other_units.end)
            });
            prop_assert!(!meets);
        }
        prop_assert!(disjoint(&band.thin.iter().map(|line| line.area).collect::<Vec<_>>()));
    }
    prop_assert_eq!(counts, expected);
    prop_assert_eq!(area, expected_area);
    let drawn = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    prop_assert_eq!(numbers.len(), drawn);
    Ok(())
}

fn check_profiles(timeline: &Timeline, summary: &Summary<'_>, height_by: HeightBy) -> Result<(), TestCaseError> {
    let (expected, expected_area) = truth(summary, height_by);
    let mut count = 0;
    for band in &timeline.bands {
        prop_assert!(band.blocks.is_empty());
        count += band.profiles.iter().map(|profile| profile.count).sum::<u64>();
        for corner in band.profiles.iter().flat_map(|profile| &profile.outlines).flatten() {
            let corner = Rect { x: corner.x, y: corner.y, width: 0, height: 0 };
            prop_assert!(band.area.contains(&corner));
        }
    }
    prop_assert_eq!(count, expected.values().sum::<u64>());
    // Twice the signed area of each polygon, which is rounded by at most half a unit along its upper and lower edge.
    let outlines = || timeline.bands.iter().flat_map(|band| &band.profiles).flat_map(|profile| &profile.outlines);
    let twice: i64 = outlines()
        .map(|corners| {
            let next = corners.iter().cycle().skip(1);
            corners.iter().zip(next).map(|(a, b)| a.x * b.y - b.x * a.y).sum::<i64>().abs()
        })
        .sum();
    let span = (timeline.window.end - timeline.window.start).as_ns() as f64;
    let band = &timeline.bands[0];
    let scale = (band.area.width * band.area.height) as f64 / (span * f64::from(band.shown));
    let profiles: usize = timeline.bands.iter().map(|band| band.profiles.len()).sum();
    let tolerance = profiles as f64 * band.area.width as f64;
    prop_assert!((twice as f64 / 2.0 - expected_area as f64 * scale).abs() <= tolerance);
    Ok(())
}

/// What the panel shows at a time is what the state at that time tells, which has another way to find it.
fn check_queues(timeline: &Timeline, summary: &Summary<'_>) -> Result<(), TestCaseError> {
    for queue in &timeline.queues {
        let areas: Vec<Rect> = queue.entries.iter().map(|entry| entry.area).collect();
        prop_assert!(disjoint(&areas), "{queue:?}");
        prop_assert!(areas.iter().all(|area| queue.area.contains(area)));
    }
    let span = timeline.window.end.since(timeline.window.start).as_ns();
    for at in (0..7).map(|part| timeline.window.start + Duration::from_ns(span / 7 * part)) {
        let state = State::at(summary, at);
        for EeQueue { priority, operations: expected, .. } in &state.ee_queues {
            let signed = if *priority < 0 { format!("−{}", priority.unsigned_abs()) } else { priority.to_string() };
            let is_it = |name: &str| name == format!("EE prio. {signed}") || name == "EE queue" && *priority == 0;
            let Some(queue) = timeline.queues.iter().find(|queue| is_it(&queue.name)) else {
                prop_assert!(expected.is_empty(), "{expected:?} are shown nowhere");
                continue;
            };
            if queue.entries.iter().any(|entry| entry.count > 1) {
                continue;
            }
            let mut shown: Vec<_> =
                queue.entries.iter().filter(|entry| entry.time.start <= at && at < entry.time.end).collect();
            shown.sort_by_key(|entry| entry.position);
            let title = |id| summary.trace.kernel_of(id).map_or_else(String::new, |kernel| kernel.title.to_string());
            let names: Vec<String> = shown.iter().map(|entry| title(entry.operation)).collect();
            let places = queue.entries.iter().map(|entry| entry.position + 1).max().unwrap_or(0);
            prop_assert_eq!(&names[..], &expected[..expected.len().min(places)], "at {}", at);
            let rule = shown.first().and_then(|head| head.rule.map(|rule| (head.operation.0, rule)));
            let told = rule.and_then(|(id, _)| state.waiting.iter().find(|waiting| waiting.id == id));
            prop_assert_eq!(rule.map(|(_, rule)| rule), told.map(|waiting| waiting.rule), "at {}", at);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(32))]

    #[test]
    fn every_block_is_drawn_once_within_its_sm_and_nothing_overlaps(
        launches in prop::collection::vec(launch(), 1..12),
        placement in prop::sample::select(Placement::ALL.to_vec()),
        device in prop::sample::select(vec!["tx2", "tx1", "xavier", "titan-v"]),
        by in prop::sample::select(vec![HeightBy::Threads, HeightBy::SharedMemory, HeightBy::Registers]),
        most_boxes in prop::sample::select(vec![0_u64, 20_000]),
    ) {
        let scenario = scenario(&launches, placement, device);
        let run = simulate(&scenario).expect("it runs");
        let summary = Summary::of(&run);
        let options = TimelineOptions {
            height_by: by,
            most_boxes,
            queues: true,
            occupancy: true,
            sms: Some(vec![0..=scenario.device().sms - 1]),
            // 80 SMs one by one take more than a page.
            height_limit: 1_000 * MM,
            ..TimelineOptions::default()
        };
        let timeline = Timeline::new(&summary, &options).expect("it can be drawn");
        let merged = timeline.bands.iter().any(|band| !band.profiles.is_empty());
        if merged {
            check_profiles(&timeline, &summary, by)?;
        } else {
            check_boxes(&timeline, &summary, by)?;
        }
        check_queues(&timeline, &summary)?;
        for point in timeline.occupancy.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points) {
            let area = timeline.occupancy.as_ref().map_or(timeline.plot, |panel| panel.area);
            let place = Rect { x: point.x, y: point.y, width: 0, height: 0 };
            prop_assert!(area.contains(&place));
        }
        let labels = all_labels(&timeline);
        let paper = Rect { x: 0, y: 0, width: timeline.width, height: timeline.height };
        for (position, label) in labels.iter().enumerate() {
            prop_assert!(paper.contains(&label.area), "{label:?} leaves the paper");
            let other = labels[position + 1..].iter().find(|other| other.area.overlaps(&label.area));
            prop_assert!(other.is_none(), "{label:?} meets {other:?}");
        }
        for row in &timeline.rows {
            for pair in row.arrows.windows(2) {
                prop_assert!(pair[0].label.as_ref().is_none_or(|label| label.area.right() <= pair[1].x));
            }
        }
        prop_assert!(roxmltree::Document::parse(&timeline.draw(&summary, &options).to_svg()).is_ok());
    }

    #[test]
    fn blocks_within_a_window_are_those_of_all_blocks_that_touch_it(
        launches in prop::collection::vec(launch(), 1..6),
        placement in prop::sample::select(Placement::ALL.to_vec()),
        (from, length) in (0..3_000_u64, 1..500_u64),
    ) {
        let scenario = scenario(&launches, placement, "tx2");
        let trace = simulate(&scenario).expect("it runs").trace;
        let half_ms = |number: u64| Instant::from_ns(number * 500_000);
        let (from, to) = (half_ms(from), half_ms(from + length));
        for id in (0..).map(OperationId).take(trace.operations().len()) {
            let touches = |block: &Block| {
                let empty = block.start == block.end;
                (block.start < to || empty && block.start == to) && (block.end > from || empty && block.start == from)
            };
            let expected: Vec<Block> = trace.blocks(id).filter(touches).collect();
            prop_assert_eq!(trace.blocks_within(id, from..to).collect::<Vec<_>>(), expected);
        }
    }
}
