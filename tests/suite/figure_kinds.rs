//! Each kind of figure on five sizes of data: one block, Fig. 3 of RTSS 2017, 80 SMs, a million small blocks, a
//! thousand launches with long names.

use std::collections::{BTreeMap, BTreeSet};

use gpusched::device::{BlockShape, Device};
use gpusched::draw::PAGE_HEIGHT;
use gpusched::hosts::simulate;
use gpusched::pictures::timeline::{Lanes, LegendSymbol, Panels, Timeline, TimelineOptions};
use gpusched::run::{Recorded, Summary};
use gpusched::scenario::{HostThread, ReadOptions, Scenario, ScenarioBuilder, Step};
use gpusched::time::Duration;
use gpusched::trace::{Observed, ObservedBlock, Trace};
use gpusched::workload::{BlockClock, BlockTime, Kernel, OperationId, StreamSpec};

use crate::figure::fig_3;
use crate::svg_checks::{checked, explained, height_mm};

/// Kernels in order: stream, title, blocks, threads, block time \[us\].
pub(crate) fn launches(device: &str, launches: &[(String, String, u32, u32, u64)]) -> Scenario {
    let device = Device::builtin(device).expect("the file is sound").expect("it is built in");
    let options = ReadOptions::default();
    let mut builder = ScenarioBuilder::new("a scenario".to_owned(), device, &options);
    let mut streams = BTreeMap::new();
    let mut steps: BTreeMap<String, Vec<Step>> = BTreeMap::new();
    for (stream, title, blocks, threads, us) in launches {
        let id = *streams
            .entry(stream.clone())
            .or_insert_with(|| builder.add_stream(StreamSpec::new(stream.as_str())).expect("sound"));
        let kernel = Kernel {
            name: title.as_str().into(),
            title: title.as_str().into(),
            blocks: *blocks,
            shape: BlockShape { threads: *threads, ..BlockShape::default() },
            duration: BlockTime::fixed(Duration::from_ns(us * 1_000)),
            clock: BlockClock::RunTime,
            sm_mask: None,
        };
        let kernel = builder.add_kernel(kernel).expect("it fits");
        steps.entry(stream.clone()).or_default().push(Step::Launch(kernel, id));
    }
    for (number, (stream, steps)) in (0..).zip(steps) {
        builder.add_thread(HostThread::once(stream.as_str(), Duration::from_ns(number * 700_000), steps));
    }
    builder.build()
}

fn launch(stream: &str, title: &str, shape: (u32, u32, u64)) -> (String, String, u32, u32, u64) {
    (stream.to_owned(), title.to_owned(), shape.0, shape.1, shape.2)
}

pub(crate) fn sizes() -> Vec<(&'static str, Scenario)> {
    let eighty: Vec<_> = (1..9_u32)
        .map(|n| launch(&format!("Stream {}", n % 3), &format!("K{n}"), (n * 17, 128 * n, 1_000 * u64::from(n))))
        .collect();
    let long: Vec<_> = (0..1_000_u32)
        .map(|n| {
            let stream = format!("perception_stage_{}_of_the_left_camera", n % 23);
            let title = format!("vectorized_elementwise_kernel_number_{}_of_all_templates", n % 31);
            let shape = (1 + n % 57 * 3, 32 + 32 * (n % 13), u64::from(90 + n % 11));
            launch(&stream, &title, shape)
        })
        .collect();
    vec![
        ("one block", launches("tx2", &[launch("S", "K", (1, 256, 1_000))])),
        ("Fig. 3", fig_3()),
        ("80 SMs", launches("titan-v", &eighty)),
        (
            "a million blocks",
            launches("titan-v", &[launch("S1", "A", (900_000, 32, 40)), launch("S2", "B", (100_000, 64, 30))]),
        ),
        ("a thousand launches", launches("titan-v", &long)),
    ]
}

/// The same run as if somebody had measured its blocks.
pub(crate) fn measured(trace: &Trace) -> Trace {
    let ids = (0..).map(OperationId).take(trace.operations().len());
    let blocks = ids.clone().flat_map(|operation| {
        trace.blocks(operation).map(move |block| ObservedBlock {
            operation,
            index: block.index,
            sm: block.sm,
            start: block.start,
            end: block.end,
        })
    });
    let launches = ids.filter_map(|id| Some((id, trace.operations().get(id.index())?.launched())));
    let observed = Observed { launches: launches.collect(), spans: Vec::new(), blocks: blocks.collect() };
    trace.with_observed(&observed).expect("they are few")
}

/// Every block is in a band as often as its band stands for SMs.
fn all_blocks_are_drawn_or_counted(timeline: &Timeline, summary: &Summary<'_>, what: &str) {
    let mut counted = 0;
    for band in &timeline.bands {
        let boxes: u64 = band.blocks.iter().map(|blocks| blocks.count).sum();
        let shapes: u64 = band.profiles.iter().map(|profile| profile.count).sum();
        let as_often = match band.look {
            gpusched::pictures::timeline::BandLook::Mean { .. } => 1,
            _ => band.sms.len() as u64,
        };
        counted += (boxes + shapes) * as_often;
    }
    let all: u64 = summary.launches().map(|Recorded { work: kernel, .. }| u64::from(kernel.blocks)).sum();
    assert_eq!(counted, all, "{what}");
    let shown: BTreeSet<u32> = timeline.bands.iter().flat_map(|band| band.sms.iter().copied()).collect();
    assert_eq!(shown.len(), summary.trace.sms() as usize, "{what}: every SM has a band");
}

/// Boxes of one kernel look alike: their explanations begin with its title.
fn one_kernel_one_look(svg: &str, titles: &BTreeSet<String>, what: &str) {
    let mut looks: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (told, fill) in explained(svg) {
        let title = told.split([',', ':', '\n', '(']).next().unwrap_or_default().trim().to_owned();
        // Boxes that are too small for a hatch have one colour between background and ink.
        if titles.contains(&title) && fill.contains("url") {
            looks.entry(title).or_default().insert(fill);
        }
    }
    assert!(looks.values().all(|looks| looks.len() == 1), "{what}: {looks:?}");
}

#[test]
#[ignore = "long work without optimisation; .ci/run has it optimised"]
fn long_work_timelines_of_all_sizes_can_be_read_and_show_every_block() {
    for (what, scenario) in sizes() {
        let run = simulate(&scenario).expect("it runs");
        let summary = Summary::of(&run);
        let titles: BTreeSet<String> = scenario.kernels().iter().map(|kernel| kernel.title.to_string()).collect();
        for panels in [false, true] {
            let options = TimelineOptions { queues: panels, occupancy: panels, ..TimelineOptions::default() };
            let timeline = Timeline::new(&summary, &options).expect("it can be drawn");
            all_blocks_are_drawn_or_counted(&timeline, &summary, what);
            let svg = timeline.draw(&summary, &options).to_svg();
            checked(&svg, what);
            assert!(height_mm(&svg) * 100.0 <= PAGE_HEIGHT as f64, "{what} is {} mm high", height_mm(&svg));
            one_kernel_one_look(&svg, &titles, what);
            told_apart_in_grey(&timeline, what);
        }
    }
}

/// Hatch and number of a kernel are those of no other in the legend; copies have a lane of their own.
fn told_apart_in_grey(timeline: &Timeline, what: &str) {
    let areas = |copies: bool| {
        let entries = timeline.legend.iter().filter(move |entry| entry.full.starts_with("copy ") == copies);
        entries.filter_map(|entry| entry.mark.filter(|mark| mark.symbol == LegendSymbol::Area))
    };
    let kernels: BTreeSet<_> = areas(false).map(|mark| (mark.fill.hatch, mark.repeat)).collect();
    assert_eq!(kernels.len(), areas(false).count(), "{what}: {kernels:?}");
    let copies: BTreeSet<_> = areas(true).map(|mark| mark.fill.hatch).collect();
    assert_eq!(copies.len(), areas(true).count(), "{what}: {copies:?}");
    let numbered = areas(false).any(|mark| mark.repeat.is_some());
    let told = timeline.legend.iter().any(|entry| entry.full.ends_with(": hatch used again)"));
    assert_eq!(numbered, told, "{what}: what the numbers mean is said");
}

#[test]
#[ignore = "long work without optimisation; .ci/run has it optimised"]
fn long_work_two_panels_of_all_sizes_fit_a_page_and_can_be_read() {
    for (what, scenario) in sizes().into_iter().filter(|(what, _)| *what != "a million blocks") {
        let run = simulate(&scenario).expect("it runs");
        let observed = measured(&run.trace);
        let [upper, lower] = [&observed, &run.trace].map(|trace| Summary::of_trace(&scenario, trace));
        for lanes in [Lanes::Sms, Lanes::Streams] {
            let panels = Panels { upper: &upper, lower: &lower, marks: &[], notes: vec!["a note".to_owned()] };
            let options = TimelineOptions { lanes, ..TimelineOptions::default() };
            let svg = panels.draw(&options).expect("it can be drawn").to_svg();
            let texts = checked(&svg, what);
            assert!(texts.iter().any(|text| text.text == "a note"));
            assert!(height_mm(&svg) * 100.0 <= PAGE_HEIGHT as f64, "{what} is {} mm high", height_mm(&svg));
        }
    }
}

#[test]
fn lanes_of_streams_count_every_operation() {
    for (what, scenario) in sizes() {
        let run = simulate(&scenario).expect("it runs");
        let summary = Summary::of(&run);
        let options = TimelineOptions { lanes: Lanes::Streams, ..TimelineOptions::default() };
        let timeline = Timeline::new(&summary, &options).expect("it can be drawn");
        let drawn: u64 = timeline.stream_lanes.iter().flat_map(|lane| &lane.boxes).map(|ran| ran.count).sum();
        assert_eq!(drawn, summary.launches().count() as u64 + summary.copies().count() as u64, "{what}");
    }
}
