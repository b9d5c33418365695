//! Timelines of published and of extreme scenarios, checked by hand.

use std::time::Instant as Clock;

use super::figure_samples::fig_3;
use crate::device::{BlockShape, Device};
use crate::hosts::simulate;
use crate::pictures::timeline::{Band, Blocks, HeightBy, LegendSymbol, Timeline, TimelineOptions};
use crate::run::Summary;
use crate::scenario::{HostThread, ReadOptions, Scenario, ScenarioBuilder, Step};
use crate::time::{Duration, Instant};
use crate::trace::Trace;
use crate::workload::{BlockClock, BlockTime, Kernel, StreamSpec};

/// Something found in a timeline, with the run that it came from.
fn with_timeline<T>(
    scenario: &Scenario,
    options: &TimelineOptions,
    look: impl FnOnce(&Timeline, &Summary<'_>) -> T,
) -> T {
    let run = simulate(scenario).expect("it runs");
    let summary = Summary::of(&run);
    let timeline = Timeline::new(&summary, options).expect("it can be drawn");
    look(&timeline, &summary)
}

fn find<'t>(band: &'t Band, trace: &Trace, title: &str, index: u32) -> &'t Blocks {
    let is_it = |blocks: &&Blocks| {
        let kernel = trace.kernel_of(blocks.operation).expect("a kernel");
        *kernel.title == *title && blocks.index == Some(index)
    };
    band.blocks.iter().find(is_it).expect("the block is drawn")
}

fn tenths(blocks: &Blocks) -> (u64, u64) {
    (blocks.time.start.as_ns() / 100_000_000, blocks.time.end.as_ns() / 100_000_000)
}

#[test]
fn rtss_2017_fig_3_shows_the_published_blocks() {
    with_timeline(&fig_3(), &TimelineOptions::default(), |timeline, summary| {
        let [sm0, sm1] = timeline.bands.as_slice() else { panic!("the TX2 has two SMs") };
        let first = find(sm0, summary.trace, "K1", 0);
        assert_eq!((tenths(first), first.pieces[0].units.clone()), ((0, 10), 0..768));
        assert_eq!(first.pieces[0].area.x, timeline.plot.x);
        assert_eq!(first.pieces[0].area.bottom(), sm0.area.bottom());
        assert_eq!(first.pieces[0].label.as_ref().map(|label| &*label.text), Some("K1:0"));
        assert_eq!(tenths(find(sm1, summary.trace, "K1", 1)), (0, 10));
        assert_eq!(tenths(find(sm0, summary.trace, "K1", 4)), (10, 20));
        assert_eq!(tenths(find(sm1, summary.trace, "K4", 1)), (10, 20));
        assert_eq!(tenths(find(sm1, summary.trace, "K5", 0)), (20, 30));
        assert_eq!(tenths(find(sm0, summary.trace, "K2", 0)), (20, 30));
        assert_eq!(tenths(find(sm0, summary.trace, "K6", 1)), (28, 38));
        assert!(timeline.bands.iter().flat_map(|band| &band.blocks).all(|blocks| blocks.pieces.len() == 1));
    });
}

#[test]
fn rtss_2017_fig_3_shows_launches_and_copies() {
    with_timeline(&fig_3(), &TimelineOptions::default(), |timeline, summary| {
        let names: Vec<&str> = timeline.rows.iter().map(|row| &*row.name).collect();
        assert_eq!(names, ["S1", "S2", "S3"]);
        let arrows = &timeline.rows[0].arrows;
        assert_eq!((arrows.len(), arrows[0].kernels, arrows[0].others, arrows[0].x), (1, 3, 3, timeline.plot.x));
        assert_eq!(arrows[0].label.as_ref().map(|label| &*label.text), Some("K1, K2, K3"));
        assert_eq!(timeline.lanes.len(), 1);
        let first = &timeline.lanes[0].copies[0];
        // K5 completes before K2, so its copy out is the first.
        let stream = summary.trace.operations()[first.operation.index()].stream;
        assert_eq!(&*summary.trace.streams()[stream.index()].name, "S3");
        assert_eq!(first.bytes, Some(268_435_456));
        let ticks: Vec<&str> = timeline.ticks.at.iter().map(|(_, label)| &**label).collect();
        assert_eq!((ticks, timeline.ticks.unit), (vec!["0", "1", "2", "3", "4"], "s"));
    });
}

#[test]
fn kernels_without_shared_memory_are_thin_lines_when_height_is_shared_memory() {
    let options = TimelineOptions { height_by: HeightBy::SharedMemory, ..TimelineOptions::default() };
    with_timeline(&fig_3(), &options, |timeline, summary| {
        let band = &timeline.bands[0];
        let k4 = find(band, summary.trace, "K4", 0);
        assert_eq!((k4.units, band.capacity), (32_768, 65_536));
        let titles: Vec<&str> =
            band.thin.iter().map(|line| &*summary.trace.kernels()[line.kernel.index()].title).collect();
        assert_eq!(titles, ["K1", "K2", "K6", "K3"]);
        assert!(band.thin.iter().all(|line| line.area.y >= band.area.bottom()));
        assert!(
            timeline.legend.iter().any(
                |entry| entry.full == "K1 (6 × none)" && entry.mark.is_some_and(|m| m.symbol == LegendSymbol::Thin)
            )
        );
    });
}

#[test]
fn a_window_shows_what_is_in_it() {
    let second = Duration::from_ns(1_000_000_000);
    let options = TimelineOptions {
        from: Some(second),
        to: Some(second + second),
        sms: Some(vec![0..=0]),
        only: Some(vec!["K4".to_owned()]),
        ..TimelineOptions::default()
    };
    with_timeline(&fig_3(), &options, |timeline, summary| {
        let [band] = timeline.bands.as_slice() else { panic!("one SM") };
        assert_eq!((band.sm, band.blocks.len()), (0, 4));
        let k4 = find(band, summary.trace, "K4", 0);
        assert_eq!((k4.pieces[0].area.x, k4.pieces[0].area.right()), (timeline.plot.x, timeline.plot.right()));
        let k1 = find(band, summary.trace, "K1", 5);
        assert_eq!(k1.pieces[0].label, None);
        let legend: Vec<&str> = timeline.legend.iter().map(|entry| &*entry.full).collect();
        assert_eq!(legend, ["K4 (4 × 256)", "other kernels", "(blocks × threads)"]);
    });
}

#[test]
fn rtss_2017_fig_3_queues_show_why_k5_waits() {
    let options = TimelineOptions { queues: true, occupancy: true, ..TimelineOptions::default() };
    with_timeline(&fig_3(), &options, |timeline, summary| {
        let names: Vec<&str> = timeline.queues.iter().map(|queue| &*queue.name).collect();
        assert_eq!(names, ["EE queue", "CE queue"]);
        let title = |id| summary.trace.kernel_of(id).map(|kernel| kernel.title.to_string());
        let tenth = |instant: Instant| instant.as_ns() / 100_000_000;
        let told: Vec<_> = timeline.queues[0]
            .entries
            .iter()
            .map(|entry| {
                let rule = entry.rule.map(crate::trace::Rule::name);
                (title(entry.operation), entry.position, tenth(entry.time.start), tenth(entry.time.end), rule)
            })
            .collect();
        // By hand: two blocks of K1 wait for threads until its first four complete. Then K4 is dispatched whole and
        // holds all shared memory, of which K5's blocks need 32 KiB each; and K1 holds its threads of SM 1 for a
        // microsecond more.
        let expected = [
            ("K1", 0, 0, 10, Some("R2")),
            ("K4", 1, 2, 10, None),
            ("K5", 2, 4, 10, None),
            ("K5", 0, 10, 10, Some("R2")),
            ("K5", 0, 10, 20, Some("R3")),
        ];
        let expected = expected.map(|(title, place, from, to, rule)| (Some(title.to_owned()), place, from, to, rule));
        assert_eq!(told, expected);
        let k5 = timeline.queues[0].entries[4].label.as_ref().map(|label| &*label.text);
        assert_eq!(k5, Some("K5: R3"));
        let words = |start: &str| timeline.captions.iter().any(|label| label.text.starts_with(start));
        assert!(words("R3: no SM with enough threads") && words("below the head of a queue: X1"));
        assert!(timeline.legend.iter().any(|entry| entry.full == "K5 (2 × 256, 32 KiB)"));

        let panel = timeline.occupancy.as_ref().expect("it was asked for");
        let [threads, shared] = panel.curves.as_slice() else { panic!("no kernel states registers") };
        // Four blocks of 768 of 2 x 2048 threads, and nothing of the shared memory.
        let height = panel.area.height;
        assert_eq!(threads.points[0].y, panel.area.bottom() - height * 3 / 4);
        assert_eq!(shared.points[0].y, panel.area.bottom());
        let full: Vec<_> = shared.points.iter().filter(|point| point.y == panel.area.y).map(|point| point.x).collect();
        let second = |number: u64| timeline.place_of(Instant::from_ns(number * 1_000_000_000));
        assert_eq!(full, [second(1), second(2)]);
    });
}

#[test]
fn rtss_2017_fig_6_queues_show_that_a2_holds_k1() {
    let options = TimelineOptions { queues: true, ..TimelineOptions::default() };
    with_timeline(&super::shipped("rtss2017/figure-6"), &options, |timeline, _| {
        let names: Vec<&str> = timeline.queues.iter().map(|queue| &*queue.name).collect();
        assert_eq!(names, ["EE prio. −1", "EE prio. 0"]);
        let longest = timeline.queues[1].entries.iter().max_by_key(|entry| entry.area.width).expect("K1");
        assert_eq!(longest.label.as_ref().map(|label| &*label.text), Some("K1 waits for higher priority (A2)"));
        assert_eq!((longest.time.start.as_ns(), longest.time.end.as_ns()), (200_000_000, 4_000_000_000));
    });
}

#[test]
fn svg_is_well_formed_and_the_same_each_time() {
    let options = TimelineOptions::default();
    let svg = || with_timeline(&fig_3(), &options, |timeline, summary| timeline.draw(summary, &options).to_svg());
    let first = svg();
    assert_eq!(first, svg());
    let document = roxmltree::Document::parse(&first).expect("valid XML");
    let titles: Vec<&str> =
        document.descendants().filter(|node| node.has_tag_name("title")).filter_map(|node| node.text()).collect();
    assert_eq!(titles[0], "RTSS 2017 <fig. 3> & co.");
    let k2 = "K2, block 0 of 2, SM 0\nfrom 2.000001 s to 3.000001 s\nlaunched at 0 s, waited 2.000001 s (G2)";
    assert!(titles.contains(&k2), "{titles:#?}");
    assert_eq!(document.root_element().attribute("width"), Some("88.57mm"));
}

#[test]
fn png_has_the_size_of_the_paper_and_the_same_bytes_each_time() {
    let options = TimelineOptions::default();
    let draw =
        |scale| with_timeline(&fig_3(), &options, |timeline, summary| timeline.draw(summary, &options).to_png(scale));
    let png = draw(0.5).expect("it can be drawn");
    assert_eq!(png, draw(0.5).expect("it can be drawn"));
    // 88.57 mm are 3.487 inches, at 150 pixels each.
    assert_eq!(u32::from_be_bytes([png[16], png[17], png[18], png[19]]), 523);
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
        assert!(draw(scale).is_err());
    }
}

fn one_kernel(blocks: u32, threads: u32, ns: u64) -> Scenario {
    let options = ReadOptions::default();
    let tx2 = Device::builtin("tx2").expect("the file is sound").expect("it is built in");
    let mut builder = ScenarioBuilder::new("one kernel".to_owned(), tx2, &options);
    let stream = builder.add_stream(StreamSpec::new("stream")).expect("sound");
    let kernel = Kernel {
        name: "K".into(),
        title: "K".into(),
        blocks,
        shape: BlockShape { threads, ..BlockShape::default() },
        duration: BlockTime::fixed(Duration::from_ns(ns)),
        clock: BlockClock::RunTime,
        sm_mask: None,
    };
    let kernel = builder.add_kernel(kernel).expect("it fits");
    builder.add_thread(HostThread::once("thread", Duration::ZERO, vec![Step::Launch(kernel, stream)]));
    builder.build()
}

#[test]
fn the_largest_grid_is_a_handful_of_boxes() {
    let blocks = (1 << 31) - 1;
    let scenario = one_kernel(blocks, 512, 1_000);
    let options = TimelineOptions::default();
    let begin = Clock::now();
    with_timeline(&scenario, &options, |timeline, summary| {
        let boxes: Vec<&Blocks> = timeline.bands.iter().flat_map(|band| &band.blocks).collect();
        assert!(boxes.len() < 20, "{} boxes", boxes.len());
        assert_eq!(boxes.iter().map(|blocks| blocks.count).sum::<u64>(), u64::from(blocks));
        assert!(timeline.draw(summary, &options).to_svg().len() < 20_000);
    });
    assert!(begin.elapsed().as_secs() < 5);
}

#[test]
fn a_window_into_the_largest_grid_shows_single_blocks() {
    let scenario = one_kernel((1 << 31) - 1, 512, 1_000);
    // 8 blocks at a time, so the blocks of the millionth microsecond are number 8,000,000 and on.
    let from = Duration::from_ns(1_000_000_000);
    let options =
        TimelineOptions { from: Some(from), to: Some(from + Duration::from_ns(2_000)), ..TimelineOptions::default() };
    with_timeline(&scenario, &options, |timeline, _| {
        let mut numbers: Vec<u32> =
            timeline.bands.iter().flat_map(|band| &band.blocks).filter_map(|blocks| blocks.index).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (8_000_000..8_000_016).collect::<Vec<u32>>());
    });
}

#[test]
fn an_empty_run_has_a_figure() {
    let options = ReadOptions::default();
    let tx2 = Device::builtin("tx2").expect("the file is sound").expect("it is built in");
    let scenario = ScenarioBuilder::new("empty".to_owned(), tx2, &options).build();
    let options = TimelineOptions::default();
    with_timeline(&scenario, &options, |timeline, summary| {
        assert_eq!((timeline.bands.len(), timeline.rows.len()), (2, 0));
        assert_eq!(timeline.window, Instant::ZERO..Instant::from_ns(1));
        assert!(roxmltree::Document::parse(&timeline.draw(summary, &options).to_svg()).is_ok());
    });
}

#[test]
fn a_comparison_marks_the_finish_times_at_which_the_merged_sm_is_wrong() {
    use crate::analysis::{analyse, merged_scenario};
    use crate::draw::Shape;
    use crate::pictures::timeline::{FinishMark, Panels};

    let scenario = super::shipped("ospert2017/figure-8");
    let merged = merged_scenario(&scenario, &analyse(&scenario).expect("it can be analysed")).expect("it fits");
    let (simulated, analysed) = (simulate(&scenario).expect("it runs"), simulate(&merged).expect("it runs"));
    let upper = Summary::of(&simulated);
    let lower = Summary::of(&analysed);
    let marks: Vec<FinishMark> = upper
        .kernels()
        .zip(lower.kernels())
        .map(|(simulated, analysed)| FinishMark {
            name: simulated.launch.title().to_owned(),
            upper: simulated.finish_ns.expect("it finishes"),
            lower: analysed.finish_ns.expect("it finishes"),
        })
        .collect();
    // By hand: on the real GPU the block of 1024 threads waits for K1; 4096 merged threads have room at once.
    assert_eq!((marks[1].upper.as_ns(), marks[1].lower.as_ns()), (2_000_000_000, 1_250_000_000));
    let drawing = Panels { upper: &upper, lower: &lower, marks: &marks, notes: Vec::new() }
        .draw(&TimelineOptions::default())
        .expect("it can be drawn");
    let texts: Vec<&str> = drawing
        .flat()
        .filter_map(|shape| match shape {
            Shape::Text(text) => Some(text.text.as_str()),
            _ => None,
        })
        .collect();
    assert!(texts.contains(&"K2 −750 ms"), "{texts:?}");
    assert!(!texts.iter().any(|text| text.starts_with("K1 +") || text.starts_with("K1 −")), "K1 does not differ");
    let ticks = texts.iter().filter(|text| **text == "0.5").count();
    assert_eq!(ticks, 2, "both timelines have the same axis");
}

#[test]
fn a_comparison_counts_differences_that_are_too_short_to_see() {
    use crate::draw::Shape;
    use crate::pictures::timeline::{FinishMark, Panels};

    let scenario = fig_3();
    let run = simulate(&scenario).expect("it runs");
    let summary = Summary::of(&run);
    // 4.1 s are some 70 mm wide: 1 ms is less than 0.02 mm, 100 ms are more than 1 mm.
    let mark = |name: &str, later_ms: u64| FinishMark {
        name: name.to_owned(),
        upper: Instant::from_ns(1_000_000_000),
        lower: Instant::from_ns(1_000_000_000 + later_ms * 1_000_000),
    };
    let marks = [mark("K1", 1), mark("K2", 100), mark("K3", 0), mark("K4", 2)];
    let drawing = Panels { upper: &summary, lower: &summary, marks: &marks, notes: Vec::new() }
        .draw(&TimelineOptions::default())
        .expect("it can be drawn");
    let has = |words: &str| drawing.flat().any(|shape| matches!(shape, Shape::Text(text) if text.text == words));
    assert!(has("K2 +100 ms") && has("2 more differ, by at most 2 ms"));
    assert!(!has("K1 +1 ms"));
}

#[test]
fn the_merged_scenario_finishes_as_analysed_where_blocks_are_equal() {
    for name in ["thesis2019/section-3-5", "thesis2019/section-4-2-scenario-1", "thesis2019/section-4-3-figure-4-9"] {
        let scenario = super::shipped(name);
        let analysis = crate::analysis::analyse(&scenario).expect("it can be analysed");
        let merged = crate::analysis::merged_scenario(&scenario, &analysis).expect("it fits");
        let run = simulate(&merged).expect("it runs");
        let simulated: Vec<_> = run.trace.operations().iter().map(crate::trace::OperationRecord::finish).collect();
        let analysed: Vec<_> = analysis.kernels.iter().map(|kernel| kernel.finish_ns).collect();
        assert_eq!(simulated, analysed, "{name}");
    }
}
