//! What was found wrong with figures, each with a test of its own.

use std::collections::BTreeSet;

use crate::audit::Tolerances;
use crate::device::Device;
use crate::draw::{COLUMN_WIDTH, MM};
use crate::effort::Progress;
use crate::hosts::simulate;
use crate::logs::{read_log, sort_into_runs};
use crate::pictures::timeline::{
    BandLook, FinishMark, LegendEntry, LegendSymbol, Panels, Timeline, TimelineError, TimelineOptions,
};
use crate::replay::{Replay, replay};
use crate::run::Summary;
use crate::scenario::{ReadOptions, Scenario};
use crate::time::{Duration, Instant};
use proptest::prelude::*;

use super::config;
use super::figure_samples::fig_3;
use super::figure_samples::{launches, log, log_of};
use super::shipped;
use super::svg_checks::{checked, explained, height_mm};

fn replayed(log: &str, device: &str) -> Replay {
    let log = read_log("a.json", log.as_bytes().to_vec()).log.expect("it is a log");
    let runs = sort_into_runs(vec![log]);
    let device = Device::builtin(device).expect("the file is sound").expect("it is built in");
    let tolerances = Tolerances { across_clocks_ns: 500_000, one_clock_ns: 10_000 };
    replay(&runs[0], &device, None, &ReadOptions::default(), &tolerances, Progress::NONE).expect("it can be replayed")
}

/// Both panels of a replay.
fn drawn(replay: &Replay, options: &TimelineOptions) -> String {
    let measured = replay.measured_trace().expect("it is short");
    let [upper, lower] = [&measured, &replay.trace].map(|trace| Summary::of_trace(&replay.scenario, trace));
    let panels = Panels { upper: &upper, lower: &lower, marks: &[], notes: Vec::new() };
    panels.draw(options).expect("it can be drawn").to_svg()
}

#[test]
fn found_1_measured_blocks_beyond_the_capacity_of_an_sm_are_drawn_and_marked() {
    // By hand: a TX2's SM holds 2048 threads, and three blocks of 1024 are on SM 0 at one time.
    let replay = replayed(&log(&[0, 0, 0, 1]), "tx2");
    let measured = replay.measured_trace().expect("it is short");
    let summary = Summary::of_trace(&replay.scenario, &measured);
    let timeline = Timeline::new(&summary, &TimelineOptions::default()).expect("it can be drawn");
    let [over, fits] = timeline.bands.as_slice() else { panic!("two SMs") };
    assert_eq!((over.shown, over.capacity, over.blocks.len(), fits.shown), (3072, 2048, 3, 2048));
    assert_eq!((over.area.height, fits.limit), (fits.area.height * 3 / 2, None));
    // A third of the band is above the line.
    assert_eq!(over.limit, Some(over.area.y + over.area.height / 3));
    assert!(
        over.blocks.iter().all(|blocks| blocks.pieces.iter().map(|piece| piece.units.len()).sum::<usize>() == 1024)
    );
    let marked = timeline.legend.iter().filter(|entry| entry.mark.is_some_and(|m| m.symbol == LegendSymbol::Capacity));
    assert_eq!(marked.map(|entry| entry.full.as_str()).collect::<Vec<_>>(), ["capacity, exceeded on 1 SM"]);
    checked(&drawn(&replay, &TimelineOptions::default()), "overfull");

    // The same on 80 SMs: 160 blocks would fit, but two SMs hold three.
    let mut sms: Vec<u32> = (0..80).chain(0..78).collect();
    sms.extend([0, 1]);
    let replay = replayed(&log(&sms), "titan-v");
    let svg = drawn(&replay, &TimelineOptions::default());
    let texts = checked(&svg, "overfull on 80 SMs");
    let has = |words: &str| texts.iter().any(|text| text.text == words);
    assert!(has("SM 0-1: as SM 0") && has("capacity, exceeded on 2 SMs"), "{texts:?}");
    assert!(explained(&svg).iter().any(|(told, _)| told == "SM 0-1: as SM 0: up to 3072 of 2048"));
}

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn capacity_heights_and_occupancy_are_marked_as_a_sweep_over_blocks_finds_them(
        blocks in prop::collection::vec((0_u32..80, 0_u32..4, 1_u32..4), 1..250),
    ) {
        let blocks: Vec<(u32, u32, u32)> =
            blocks.into_iter().map(|(sm, start, length)| (sm, start + 1, start + 1 + length)).collect();
        let replay = replayed(&log_of(&blocks), "titan-v");
        // Most blocks at one time, of one SM or of all: some block starts then.
        let most = |sm: Option<u32>| {
            let own = || blocks.iter().filter(move |block| sm.is_none_or(|sm| block.0 == sm));
            let at_start = |&(_, at, _): &(u32, u32, u32)| own().filter(|&&(_, start, end)| start <= at && at < end).count();
            own().map(at_start).max().unwrap_or(0)
        };
        // Two blocks of 1024 threads fit.
        let over = |sms: &[u32]| sms.iter().filter(|&&sm| most(Some(sm)) > 2).count();
        let expected = match over(&(0..80).collect::<Vec<_>>()) {
            0 => None,
            1 => Some("capacity, exceeded on 1 SM".to_owned()),
            count => Some(format!("capacity, exceeded on {count} SMs")),
        };
        let measured = replay.measured_trace().expect("it is short");
        for (trace, expected, is_measured) in [(&measured, expected, true), (&replay.trace, None, false)] {
            let summary = Summary::of_trace(&replay.scenario, trace);
            let options = TimelineOptions { occupancy: true, ..TimelineOptions::default() };
            let timeline = Timeline::new(&summary, &options).expect("it can be drawn");
            let marks = timeline.legend.iter().filter(|entry| entry.mark.is_some_and(|m| m.symbol == LegendSymbol::Capacity));
            prop_assert_eq!(marks.map(|entry| entry.full.clone()).next(), expected);
            if !is_measured {
                prop_assert!(timeline.bands.iter().all(|band| band.limit.is_none()));
                continue;
            }
            for band in &timeline.bands {
                match (band.look, most(Some(band.sm))) {
                    (BandLook::Idle, _) => prop_assert!(band.sms.iter().all(|&sm| most(Some(sm)) == 0)),
                    (BandLook::Mean { overfull }, _) => prop_assert_eq!(overfull, over(&band.sms)),
                    (_, 0..=2) => prop_assert_eq!((band.limit, over(&band.sms)), (None, 0)),
                    (_, most) => {
                        prop_assert_eq!((band.shown as usize, over(&band.sms)), (most * 1024, band.sms.len()));
                        prop_assert!(band.limit.is_some());
                    }
                }
            }
            let mut sms: Vec<u32> = timeline.bands.iter().flat_map(|band| band.sms.iter().copied()).collect();
            sms.sort_unstable();
            prop_assert_eq!(sms, (0..80).collect::<Vec<_>>());
            let occupancy = timeline.occupancy.expect("it was asked for");
            let (curve, area) = (&occupancy.curves[0], &occupancy.area);
            // 160 of them fill the GPU.
            let high = area.height * i64::try_from(most(None).min(160)).expect("few") / 160;
            let highest = curve.points.iter().map(|point| point.y).min().expect("blocks run");
            prop_assert!((area.bottom() - highest - high).abs() <= 1);
        }
    }
}

#[test]
fn found_3_colour_stands_for_the_kernel_and_the_legend_has_it_once() {
    let thousand: Vec<_> = (0..1_000).map(|_| ("S".to_owned(), "K".to_owned(), 2, 256, 100)).collect();
    let scenario = launches("tx2", &thousand);
    let run = simulate(&scenario).expect("it runs");
    let timeline = Timeline::new(&Summary::of(&run), &TimelineOptions::default()).expect("it can be drawn");
    let entries: Vec<&str> = timeline.legend.iter().map(|entry| entry.full.as_str()).collect();
    let expected = [
        "K (2 × 256)",
        "too short to see: means over time",
        "SMs drawn up to 256 of 2048 threads",
        "kernel launch (two heads: several)",
        "(blocks × threads)",
    ];
    assert_eq!(entries, expected);

    // The order of kernels differs between files, colours do not.
    let titles = ["K3", "K10", "K1", "K2"];
    let legend = |titles: &[&str]| {
        let kernels: Vec<_> = titles.iter().map(|title| ("S".to_owned(), (*title).to_owned(), 2, 256, 100)).collect();
        let scenario = launches("tx2", &kernels);
        let run = simulate(&scenario).expect("it runs");
        let timeline = Timeline::new(&Summary::of(&run), &TimelineOptions::default()).expect("drawn");
        let fills = timeline.legend.into_iter().filter_map(|entry| Some((entry.full, entry.mark?.fill)));
        fills.collect::<BTreeSet<_>>()
    };
    assert_eq!(legend(&titles), legend(&["K1", "K2", "K3", "K10"]));
}

#[test]
fn found_3_labels_of_differences_stay_on_the_sheet_with_from() {
    let scenario = fig_3();
    let run = simulate(&scenario).expect("it runs");
    let summary = Summary::of(&run);
    let second = Duration::from_ns(1_000_000_000);
    let mark = |upper: u64, lower: u64| FinishMark {
        name: "a kernel with a name that is as long as half of the width of the figure".to_owned(),
        upper: Instant::from_ns(upper),
        lower: Instant::from_ns(lower),
    };
    let marks =
        [mark(2_500_000_000, 4_000_000_000), mark(2_050_000_000, 4_100_000_000), mark(500_000_000, 900_000_000)];
    let panels = Panels { upper: &summary, lower: &summary, marks: &marks, notes: Vec::new() };
    let options = TimelineOptions { from: Some(second + second), ..TimelineOptions::default() };
    let texts = checked(&panels.draw(&options).expect("it can be drawn").to_svg(), "differences");
    assert_eq!(texts.iter().filter(|text| text.text.ends_with("+1.5 s") || text.text.ends_with("+2.05 s")).count(), 2);
    assert!(texts.iter().any(|text| text.text == "1 finish times outside this window differ, by at most 400 ms"));
}

/// One kernel of blocks of 1024 threads, two of which fill an SM.
fn one_kernel(device: &str, blocks: u32) -> Scenario {
    launches(device, &[("S".to_owned(), "K".to_owned(), blocks, 1024, 1_000)])
}

#[test]
fn found_4_sms_that_look_alike_share_a_band_and_sms_unfolds_them() {
    let bands = |scenario: &Scenario, options: &TimelineOptions| {
        let run = simulate(scenario).expect("it runs");
        let timeline = Timeline::new(&Summary::of(&run), options).expect("it can be drawn");
        let names: Vec<String> = timeline.bands.iter().map(|band| band.name.clone()).collect();
        (names, timeline)
    };
    let options = TimelineOptions::default();
    let (names, timeline) = bands(&one_kernel("k20m", 6), &options);
    assert_eq!(names, ["SM 0-5: as SM 0", "SM 6-12: idle"]);
    // Their names can be read.
    assert!(timeline.bands.iter().all(|band| band.label.as_ref().is_some_and(|label| label.text == band.name)));
    assert_eq!(timeline.bands[1].look, BandLook::Idle);
    assert_eq!(bands(&one_kernel("titan-v", 160), &options).0, ["SM 0-79: as SM 0"]);
    let unfolded = TimelineOptions { sms: Some(vec![0..=79]), ..TimelineOptions::default() };
    assert_eq!(bands(&one_kernel("titan-v", 160), &unfolded).0.len(), 80);
    // A TX2 has no need of it.
    assert_eq!(bands(&fig_3(), &options).0, ["SM 0", "SM 1"]);
}

#[test]
fn found_4_figures_are_as_high_as_a_page_or_as_asked_for_and_a_column_is_252_points() {
    // 252 points of 1/72.27 inch, to the hundredth of a millimetre.
    assert!((COLUMN_WIDTH as f64 - 252.0 / 72.27 * 2540.0).abs() <= 0.5);
    // 80 SMs on which different numbers of blocks run.
    let kernels: Vec<_> = (0..200_u32)
        .map(|n| {
            (format!("S{}", n % 30), format!("K{n}"), 1 + n % 79, 32 * (1 + n % 31), u64::from(100 + 37 * (n % 17)))
        })
        .collect();
    let scenario = launches("titan-v", &kernels);
    let run = simulate(&scenario).expect("it runs");
    let summary = Summary::of(&run);
    for limit in [100, 150, 220] {
        let options = TimelineOptions { height_limit: limit * MM, queues: true, occupancy: true, ..Default::default() };
        let timeline = Timeline::new(&summary, &options).expect("it can be drawn");
        let svg = timeline.draw(&summary, &options).to_svg();
        checked(&svg, &format!("{limit} mm"));
        assert!(height_mm(&svg) <= limit as f64, "{limit}: {}", height_mm(&svg));
        // What was folded, and how many streams share the last row, is said.
        assert!(timeline.bands.iter().any(|band| band.name.ends_with(": mean")), "{limit}");
        assert!(timeline.rows.last().is_some_and(|row| row.name.ends_with("more streams")), "{limit}");
        assert!(timeline.legend.iter().any(|entry| entry.full.ends_with("more kernels")), "{limit}");
    }
    // Below that it is refused, with the least that works.
    for panels in [false, true] {
        let of_height = |millimetres: i64| {
            let height_limit = millimetres * MM;
            let options = TimelineOptions {
                height_limit,
                queues: panels,
                occupancy: panels,
                waits: panels,
                ..Default::default()
            };
            Timeline::new(&summary, &options)
        };
        let error = of_height(20).expect_err("too low");
        let TimelineError::HeightLimit { least_mm, .. } = error else { panic!("{error}") };
        assert!(of_height(least_mm).is_ok_and(|timeline| timeline.height <= least_mm * MM), "{least_mm}");
        assert!(of_height(least_mm - 1).is_err(), "{least_mm}");
    }
}

#[test]
fn found_6_legends_and_names_of_rows_keep_what_distinguishes_them() {
    let stages: Vec<_> = (0..23)
        .map(|n| {
            let stream = format!("perception_stage_{n}_of_the_left_camera_at_the_front");
            (stream, format!("K{n}, should run with K1's last block and then with nothing else"), 1, 256, 1_000)
        })
        .collect();
    let scenario = launches("xavier", &stages);
    let run = simulate(&scenario).expect("it runs");
    let timeline = Timeline::new(&Summary::of(&run), &TimelineOptions::default()).expect("it can be drawn");
    let rows: BTreeSet<&str> = timeline.rows.iter().map(|row| row.label.text.as_str()).collect();
    assert_eq!(rows.len(), timeline.rows.len(), "{rows:?}");
    let is_area = |entry: &&LegendEntry| entry.mark.is_some_and(|mark| mark.symbol == LegendSymbol::Area);
    let entries: Vec<&str> = timeline.legend.iter().filter(is_area).map(|entry| entry.label.text.as_str()).collect();
    assert!(entries.len() > 10 && entries.iter().all(|entry| entry.ends_with(" (1 × 256)")), "{entries:?}");
    assert_eq!(entries.iter().collect::<BTreeSet<_>>().len(), entries.len(), "{entries:?}");
}

#[test]
fn found_6_a_row_that_is_as_wide_as_the_room_for_names_keeps_its_name() {
    let scenario = super::shipped("rtss2017/figure-8");
    let run = simulate(&scenario).expect("it runs");
    let timeline = Timeline::new(&Summary::of(&run), &TimelineOptions::default()).expect("it can be drawn");
    let names: Vec<&str> = timeline.rows.iter().map(|row| row.label.text.as_str()).collect();
    assert_eq!(names[6..], ["S7 (prio. 0)", "S8 (prio. −1)", "S9 (prio. 0)"]);
}

#[test]
fn events_have_arrows_from_the_record_to_the_wait_that_they_release() {
    let scenario = shipped("events/double-buffering");
    let run = simulate(&scenario).expect("it runs");
    let summary = Summary::of(&run);
    let timeline = Timeline::new(&summary, &TimelineOptions::default()).expect("it can be drawn");
    let ms = |at: u64| timeline.place_of(Instant::from_ns(at * 1_000_000));
    let told: Vec<_> = timeline.events.iter().map(|event| (event.from.x, event.to.x, event.held)).collect();
    // By hand: the first frame is copied at 2 ms and filtered at 6 ms, the second filtered at 10 ms, each when its
    // stream already waits; the second is copied at 4 ms, when the filter still runs until 6 ms.
    let expected = [(ms(2), ms(2), 1), (ms(6), ms(6), 1), (ms(4), ms(6), 0), (ms(10), ms(10), 1)];
    assert_eq!(told.iter().collect::<BTreeSet<_>>(), expected.iter().collect());
    let row = |name: &str| timeline.rows.iter().find(|row| row.name.starts_with(name)).expect("a row").area.centre().y;
    assert!(timeline.events.iter().any(|event| (event.from.y, event.to.y) == (row("in"), row("compute"))));
    assert!(timeline.legend.iter().any(|entry| entry.full == "event to its wait (4)"));
    checked(&timeline.draw(&summary, &TimelineOptions::default()).to_svg(), "events");
}

#[test]
fn a_kernel_that_is_launched_after_the_window_and_does_not_finish_is_not_in_its_legend() {
    let text = r#"{"format": "gpusched-scenario/1", "name": "cut", "device": "tx2", "horizon": "10 ms",
        "kernels": {"early": {"blocks": 1, "threads": 32, "duration": "1 ms"},
            "late": {"blocks": 1, "threads": 32, "duration": "9 ms"}},
        "streams": [{"name": "S", "operations": [{"kernel": "early"}]},
            {"name": "L", "release": "5 ms", "operations": [{"kernel": "late"}]}]}"#;
    let scenario = Scenario::from_json("cut.json", text, &ReadOptions::default()).expect("it is sound");
    let run = simulate(&scenario).expect("it runs");
    let names = |to_ms: u64| {
        let to = Some(Duration::from_ns(to_ms * 1_000_000));
        let timeline = Timeline::new(&Summary::of(&run), &TimelineOptions { to, ..TimelineOptions::default() });
        timeline.expect("it is drawn").legend.iter().map(|entry| entry.full.clone()).collect::<Vec<_>>().join("; ")
    };
    assert!(names(2).contains("early") && !names(2).contains("late"), "{}", names(2));
    assert!(names(7).contains("late"), "{}", names(7));
}
