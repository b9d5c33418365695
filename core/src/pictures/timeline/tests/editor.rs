//! What an editor asks of figures: whole names, limits that are kept, several in one page, waits that are seen, long
//! runs that show how much of the time is used.

use std::collections::{BTreeMap, BTreeSet};

use crate::draw::MM;
use crate::hosts::simulate;
use crate::pictures::blame_figure;
use crate::pictures::blame_map::blame_maps;
use crate::pictures::timeline::{LegendSymbol, Timeline, TimelineError, TimelineOptions, Waiter};
use crate::run::Summary;
use crate::scenario::{ReadOptions, Scenario};
use crate::tables::BlameTables;
use crate::time::Instant;
use crate::trace::Rule;

use super::svg_checks::checked;

fn scenario(text: &str) -> Scenario {
    Scenario::from_json("test.json", text, &ReadOptions::default()).expect("it is sound")
}

fn drawn<T>(scenario: &Scenario, options: &TimelineOptions, look: impl FnOnce(&Timeline, &Summary<'_>) -> T) -> T {
    let run = simulate(scenario).expect("it runs");
    let summary = Summary::of(&run);
    let timeline = Timeline::new(&summary, options).expect("it can be drawn");
    checked(&timeline.draw(&summary, options).to_svg(), &scenario.name);
    look(&timeline, &summary)
}

fn waits() -> TimelineOptions {
    TimelineOptions { waits: true, ..TimelineOptions::default() }
}

/// Kernels in streams of their own, on a TX2: title, blocks, threads.
fn kernels(kernels: &[(&str, u32, u32)]) -> Scenario {
    let shapes: Vec<String> = kernels
        .iter()
        .map(|(title, blocks, threads)| {
            format!(r#""{title}": {{"blocks": {blocks}, "threads": {threads}, "duration": "2 ms"}}"#)
        })
        .collect();
    let streams: Vec<String> = kernels
        .iter()
        .enumerate()
        .map(|(number, (title, ..))| format!(r#"{{"name": "S{number}", "operations": [{{"kernel": "{title}"}}]}}"#))
        .collect();
    scenario(&format!(
        r#"{{"format": "gpusched-scenario/1", "name": "kernels", "kernels": {{{}}}, "streams": [{}]}}"#,
        shapes.join(", "),
        streams.join(", ")
    ))
}

#[test]
fn a_legend_takes_more_lines_before_it_abbreviates_a_name() {
    let long = "perception, second stage of the left camera's pipeline";
    let mut all = vec![("first", 4, 512), (long, 4, 512), ("third", 4, 256), ("detect", 8, 512)];
    drawn(&kernels(&all), &TimelineOptions::default(), |timeline, _| {
        assert!(timeline.legend.iter().all(|entry| entry.label.text == entry.full), "{:?}", timeline.legend);
    });
    // Only what is wider than a line is abbreviated.
    let longer = long.repeat(2);
    all[1].0 = &longer;
    drawn(&kernels(&all), &TimelineOptions::default(), |timeline, _| {
        let cut: Vec<&str> = timeline
            .legend
            .iter()
            .filter(|entry| entry.label.text != entry.full)
            .map(|entry| entry.full.as_str())
            .collect();
        assert_eq!(cut, [format!("{longer} (4 × 512)")]);
    });
}

#[test]
fn an_id_means_one_pattern_in_all_figures_of_a_page() {
    let mut definitions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut figures = Vec::new();
    for name in ["rtss2017/figure-3", "rtss2017/figure-5", "rtss2017/figure-6"] {
        let scenario = super::shipped(name);
        let run = simulate(&scenario).expect("it runs");
        let summary = Summary::of(&run);
        let options = waits();
        let timeline = Timeline::new(&summary, &options).expect("it can be drawn");
        figures.push(timeline.draw(&summary, &options).to_svg());
        figures.push(blame_figure(&summary, &BlameTables::new(&summary)).to_svg());
    }
    for svg in &figures {
        let document = roxmltree::Document::parse(svg).expect("valid XML");
        let named: Vec<_> = document.descendants().filter(|node| node.attribute("id").is_some()).collect();
        for node in &named {
            let id = node.attribute("id").expect("it has one").to_owned();
            definitions.entry(id).or_default().insert(svg[node.range()].to_owned());
        }
        let used = svg.split("url(#").skip(1).filter_map(|rest| rest.split(')').next());
        let ids: BTreeSet<&str> = named.iter().filter_map(|node| node.attribute("id")).collect();
        assert!(used.collect::<BTreeSet<_>>() == ids, "all that is used is defined in the same figure");
    }
    assert!(definitions.len() > 8 && definitions.values().all(|all| all.len() == 1), "{definitions:?}");
}

/// Many kernels that meet their deadlines, and a small one that does not.
fn one_late() -> Scenario {
    let shapes: Vec<String> = (0..12)
        .map(|n| format!(r#""stage {n}": {{"blocks": {}, "threads": 256, "duration": "{} ms"}}"#, 2 + n, 3 + n))
        .collect();
    let streams: Vec<String> = (0..6)
        .map(|n| {
            format!(
                r#"{{"name": "S{n}", "period": "60 ms", "jobs": 3, "deadline": "150 ms",
                     "operations": [{{"kernel": "stage {}"}}, {{"kernel": "stage {}"}}]}}"#,
                2 * n,
                2 * n + 1
            )
        })
        .collect();
    scenario(&format!(
        r#"{{"format": "gpusched-scenario/1", "name": "one late", "kernels": {{{},
             "late": {{"blocks": 1, "threads": 32, "duration": "1 ms"}}}}, "streams": [{},
             {{"name": "urgent", "release": "5 ms", "period": "60 ms", "jobs": 2, "deadline": "2 ms",
               "operations": [{{"copy": "host-to-device", "duration": "1 ms"}}, {{"kernel": "late"}}]}}]}}"#,
        shapes.join(", "),
        streams.join(", ")
    ))
}

#[test]
#[ignore = "long work without optimisation; .ci/run has it"]
fn long_work_a_limit_of_height_is_kept_and_what_misses_a_deadline_stays() {
    let scenario = one_late();
    let run = simulate(&scenario).expect("it runs");
    let summary = Summary::of(&run);
    let (mut drawn, mut refused) = (0, BTreeSet::new());
    for limit in (10..140).step_by(2) {
        for waits in [false, true] {
            let options = TimelineOptions { height_limit: limit * MM, waits, ..TimelineOptions::default() };
            match Timeline::new(&summary, &options) {
                Ok(timeline) => {
                    assert!(timeline.height <= limit * MM, "{limit}");
                    let in_legend = timeline.legend.iter().any(|entry| entry.label.text == "late (1 × 32)");
                    assert!(in_legend, "{limit}: {:?}", timeline.legend);
                    let missed: u64 = timeline.rows.iter().flat_map(|row| &row.deadlines).map(|mark| mark.missed).sum();
                    assert_eq!(missed, 2, "{limit}");
                    let own = timeline.rows.iter().any(|row| row.name == "urgent");
                    assert!(own || timeline.rows.len() == 1, "{limit}: its stream has a row");
                    drawn += 1;
                }
                Err(TimelineError::HeightLimit { least_mm, .. }) => {
                    assert!(least_mm > limit);
                    refused.insert((waits, least_mm));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    // Each is refused with the same least height, at which it is drawn.
    assert!(drawn > 60 && refused.len() == 2, "{drawn}, {refused:?}");
    for (waits, least_mm) in refused {
        let options = TimelineOptions { height_limit: least_mm * MM, waits, ..TimelineOptions::default() };
        assert!(Timeline::new(&summary, &options).is_ok(), "{least_mm}");
    }
}

#[test]
fn waits_in_streams_are_those_of_rtss_2017_figure_5() {
    // By hand, from the text of Sec. 4.1: K2 waits for K1 (N1), K3 and K6 for K2 (N2), K4 behind K3 (G2), K5 behind K2
    // (G2) and then for K3 and K4 (N1); when each begins is in the file.
    let expected = [
        ("K2", vec![(Rule::N1, 200, 2_000)]),
        ("K5", vec![(Rule::G2, 600, 3_000), (Rule::N1, 3_000, 5_000)]),
        ("K3", vec![(Rule::N2, 400, 3_000)]),
        ("K4", vec![(Rule::G2, 400, 4_000)]),
        ("K6", vec![(Rule::N2, 800, 6_000)]),
    ];
    drawn(&super::shipped("rtss2017/figure-5"), &waits(), |timeline, summary| {
        let bars = timeline.rows.iter().filter_map(|row| row.waits.as_ref()).flat_map(|waits| &waits.bars);
        let ms = |at: Instant| at.as_ns() / 1_000_000;
        let found = bars.map(|bar| {
            let parts = bar.parts.iter().map(|part| (part.rule, ms(part.time.start), ms(part.time.end)));
            let Waiter::Operation(operation) = bar.who else { panic!("no call is held") };
            (&*summary.trace.kernel_of(operation).expect("a kernel").title, parts.collect::<Vec<_>>())
        });
        assert!(found.eq(expected.clone()), "not {expected:?}");
        let told: Vec<&str> = timeline
            .legend
            .iter()
            .filter(|entry| entry.mark.is_some_and(|mark| mark.symbol == LegendSymbol::Wait))
            .map(|entry| entry.full.as_str())
            .collect();
        let rules = ["waits in its stream (G2)", "waits for blocking streams (N1)", "waits for NULL stream (N2)"];
        assert_eq!(told, rules);
    });
}

#[test]
fn what_has_no_bar_of_its_own_is_counted_and_nothing_that_waits_is_told() {
    let many: Vec<String> = (0..9).map(|_| r#"{"kernel": "k"}"#.to_owned()).collect();
    let queue = scenario(&format!(
        r#"{{"format": "gpusched-scenario/1", "name": "queue", "kernels": {{"k": {{"blocks": 4, "threads": 1024,
             "duration": "1 ms"}}}}, "streams": [{{"name": "S", "operations": [{}]}}]}}"#,
        many.join(", ")
    ));
    drawn(&queue, &waits(), |timeline, _| {
        let waits = timeline.rows[0].waits.as_ref().expect("eight wait");
        let with_bars: u64 = waits.bars.iter().map(|bar| bar.count).sum();
        let more: u64 = waits.more.iter().map(|more| more.count).sum();
        assert_eq!((with_bars, more), (4, 4));
        assert_eq!(waits.label.as_ref().map(|label| &*label.text), Some("up to 4 more"));
        assert!(timeline.legend.iter().any(|entry| entry.full == "more that wait"));
    });
    drawn(&kernels(&[("K", 1, 256)]), &waits(), |timeline, _| {
        assert!(timeline.rows.iter().all(|row| row.waits.is_none()));
        assert!(timeline.legend.iter().any(|entry| entry.full == "nothing waits in a stream"));
    });
}

#[test]
fn a_long_run_shows_the_share_of_time_with_misses_in_front() {
    // 40 s of jobs of 4 ms every 20 ms, all threads of both SMs; one in 100 begins 3 ms late, behind another's 4 ms.
    let text = r#"{"format": "gpusched-scenario/1", "name": "long", "kernels": {
        "often": {"blocks": 4, "threads": 1024, "duration": "4 ms"},
        "rarely": {"blocks": 4, "threads": 1024, "duration": "4 ms"}},
        "streams": [{"name": "A", "period": "20 ms", "jobs": 2000, "deadline": "6 ms",
                     "operations": [{"kernel": "often"}]},
                    {"name": "B", "release": "19 ms", "period": "2 s", "jobs": 20,
                     "operations": [{"kernel": "rarely"}]}]}"#;
    drawn(&scenario(text), &TimelineOptions::default(), |timeline, _| {
        assert!(timeline.bands.iter().all(|band| band.blocks.is_empty() && band.profiles.len() == 2));
        for band in &timeline.bands {
            // Twice the area of each polygon; 2020 jobs of 4 ms fill the band.
            let outlines = band.profiles.iter().flat_map(|profile| &profile.outlines);
            let twice: i64 = outlines
                .map(|corners| {
                    let next = corners.iter().cycle().skip(1);
                    corners.iter().zip(next).map(|(a, b)| a.x * b.y - b.x * a.y).sum::<i64>().abs()
                })
                .sum();
            let share = twice as f64 / 2.0 / (band.area.width * band.area.height) as f64;
            let end = timeline.window.end.as_ns() as f64 / 1e6;
            assert!((share - 2_020.0 * 4.0 / end).abs() < 0.01, "{share}");
        }
        let row = &timeline.rows[0];
        assert!(row.arrows.is_empty() && row.strips.iter().map(|strip| strip.launches).sum::<u64>() == 2_000);
        assert_eq!(row.deadlines.iter().map(|mark| mark.missed).sum::<u64>(), 20);
        assert!(row.deadlines.iter().all(|mark| mark.missed > 0));
        let told = |text: &str| timeline.legend.iter().any(|entry| entry.full == text);
        assert!(told("too short to see: means over time") && told("launches and met deadlines, too close to draw"));
        assert!(told("deadline missed (20 jobs)"));
        // What no row has a mark of is not told.
        assert_eq!(told("deadline"), timeline.rows.iter().flat_map(|row| &row.deadlines).any(|mark| mark.missed == 0));
    });
}

#[test]
fn sms_of_which_a_quarter_is_used_are_drawn_up_to_that_and_it_is_said() {
    let small = kernels(&[("a", 2, 256), ("b", 2, 256)]);
    drawn(&small, &TimelineOptions::default(), |timeline, _| {
        assert_eq!((timeline.zoom, timeline.bands[0].shown, timeline.bands[0].capacity), (4, 512, 2_048));
        assert!(timeline.legend.iter().any(|entry| entry.full == "SMs drawn up to 512 of 2048 threads"));
        assert!(timeline.captions.iter().any(|caption| caption.text == "threads per SM, of 2048"));
    });
    drawn(&small, &TimelineOptions { most_zoom: 1, ..TimelineOptions::default() }, |timeline, _| {
        assert_eq!((timeline.zoom, timeline.bands[0].shown), (1, 2_048));
    });
    // More than a quarter: all of it, as print has it.
    drawn(&kernels(&[("a", 2, 256), ("b", 2, 288)]), &TimelineOptions::default(), |timeline, _| {
        assert_eq!((timeline.zoom, timeline.bands[0].shown), (1, 2_048));
    });
}

#[test]
fn maps_of_blame_have_every_number_and_a_row_for_copies_of_one_direction() {
    let operations = r#"[{"copy": "host-to-device", "duration": "400 us"}, {"kernel": "gemm"}, {"kernel": "relu"},
        {"copy": "device-to-host", "duration": "300 us"}]"#;
    let streams: Vec<String> =
        (0..14).map(|n| format!(r#"{{"name": "stream {n}", "operations": {operations}}}"#)).collect();
    let scenario = scenario(&format!(
        r#"{{"format": "gpusched-scenario/1", "name": "inference", "kernels": {{
             "gemm": {{"blocks": 80, "threads": 256, "duration": "300 us"}},
             "relu": {{"blocks": 90, "threads": 512, "duration": "1 ms"}}}}, "streams": [{}]}}"#,
        streams.join(", ")
    ));
    let run = simulate(&scenario).expect("it runs");
    let summary = Summary::of(&run);
    let tables = BlameTables::new(&summary);
    let maps = blame_maps(&tables);
    let names: BTreeSet<&str> = maps[1].names.iter().map(String::as_str).collect();
    assert_eq!(names, ["14 copies (device-to-host)", "14 copies (host-to-device)", "gemm", "relu"].into());
    assert!(maps.iter().all(|map| map.total() == tables.total()));
    let svg = blame_figure(&summary, &tables).to_svg();
    let texts = checked(&svg, "blame");
    // Each cell has its time and a rule, each row its sum.
    let is_time = |text: &str| [" s", " ms", " us", " ns"].iter().any(|unit| text.ends_with(unit));
    let times = texts.iter().filter(|text| is_time(&text.text)).count();
    let cells: usize = maps.iter().map(|map| map.cells.len()).sum();
    let rows: usize = maps.iter().map(|map| map.cells.keys().map(|cell| cell.0).collect::<BTreeSet<_>>().len()).sum();
    assert_eq!(times, cells + rows);
}
