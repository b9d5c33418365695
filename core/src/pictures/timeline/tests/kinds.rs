//! Each kind of figure on five sizes of data: one block, Fig. 3 of RTSS 2017, 80 SMs, a million small blocks, a
//! thousand launches with long names.

use std::collections::{BTreeMap, BTreeSet};

use crate::draw::PAGE_HEIGHT;
use crate::hosts::simulate;
use crate::pictures::timeline::{Lanes, LegendSymbol, Panels, Timeline, TimelineOptions};
use crate::run::{Recorded, Summary};

use super::figure_samples::{measured, sizes};
use super::svg_checks::{checked, explained, height_mm};

/// Every block is in a band as often as its band stands for SMs.
fn all_blocks_are_drawn_or_counted(timeline: &Timeline, summary: &Summary<'_>, what: &str) {
    let mut counted = 0;
    for band in &timeline.bands {
        let boxes: u64 = band.blocks.iter().map(|blocks| blocks.count).sum();
        let shapes: u64 = band.profiles.iter().map(|profile| profile.count).sum();
        let as_often = match band.look {
            crate::pictures::timeline::BandLook::Mean { .. } => 1,
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
#[ignore = "long work without optimisation; .ci/run has it"]
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
#[ignore = "long work without optimisation; .ci/run has it"]
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
