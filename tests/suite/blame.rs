//! Who made whom wait, as tables and as a picture: both show the same time.

use std::fs;

use gpusched::hosts::simulate;
use gpusched::pictures::{blame_figure, blame_maps};
use gpusched::run::Summary;
use gpusched::tables::BlameTables;
use gpusched::time::{Duration, Instant};
use gpusched::trace::{Rule, blame, phases, reasons};
use gpusched::workload::OperationId;
use proptest::prelude::*;

use super::common::{directory, gpusched, stderr};
use super::generate::{self, Case, Limits};
use super::published;

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn tables_and_maps_add_up_to_what_kernels_and_copies_waited(Case(scenario) in generate::scenario(Limits::ALL)) {
        let run = simulate(&scenario)?;
        let summary = Summary::of(&scenario, &run);
        let mut waited = Duration::ZERO;
        for (id, record) in (0..).map(OperationId).zip(run.trace.operations()) {
            if record.kind.is_instant() {
                continue;
            }
            let start = record.first_start().unwrap_or(run.trace.end()).max(record.launched());
            prop_assert!(run.trace.waits(id).iter().all(|wait| wait.from < wait.to));
            waited += start.since(record.launched());
        }
        let tables = BlameTables::new(&summary);
        prop_assert_eq!(tables.total(), waited);
        let of_kernels: Duration = tables.kernels.iter().fold(Duration::ZERO, |sum, row| sum + row.wait_ns);
        prop_assert_eq!(of_kernels, waited);
        for map in blame_maps(&summary, &tables) {
            prop_assert_eq!(map.total(), waited);
        }
        let drawing = blame_figure(&summary, &tables);
        let svg = drawing.to_svg();
        prop_assert!(svg == blame_figure(&summary, &tables).to_svg(), "the same bytes");
        prop_assert!(waited == Duration::ZERO || svg.contains(&format!("{waited} in all")), "the sum is told");
    }
}

/// Joined where the same operation is held by the same rule without a pause.
fn joined(
    parts: impl Iterator<Item = (OperationId, Rule, Instant, Instant)>,
) -> Vec<(OperationId, Rule, Instant, Instant)> {
    let mut all: Vec<(OperationId, Rule, Instant, Instant)> = Vec::new();
    for part in parts {
        match all.last_mut() {
            Some(last) if (last.0, last.1, last.3) == (part.0, part.1, part.2) => last.3 = part.3,
            _ => all.push(part),
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn phases_are_the_waits_that_blame_divides_and_name_who_it_blames(Case(scenario) in generate::scenario(Limits::ALL)) {
        let trace = simulate(&scenario)?.trace;
        let device = scenario.device();
        let (parts, phases) = (blame(&trace, device), phases(&trace, device, &reasons(&trace, device)));
        let of_parts = joined(parts.iter().map(|part| (part.operation, part.rule, part.from, part.to)));
        let of_phases = joined(phases.iter().map(|phase| (phase.operation, phase.rule, phase.from, phase.to)));
        prop_assert_eq!(of_phases, of_parts);
        for phase in &phases {
            let within = parts.iter().filter(|part| {
                part.operation == phase.operation && part.from < phase.to && part.to > phase.from
            });
            let blamed: Vec<OperationId> = within.filter_map(|part| part.blocking).collect();
            prop_assert!(phase.blocking.iter().all(|id| blamed.contains(id)), "{:?} of {:?}", phase, blamed);
            prop_assert_eq!(phase.blocking.is_empty(), blamed.is_empty(), "{:?}", phase);
            let passes_on = |id: &OperationId| !trace.operations()[id.index()].kind.is_instant();
            prop_assert!(phase.blocking.iter().all(passes_on), "{:?}", phase);
        }
    }
}

#[test]
fn what_lacks_shared_memory_waits_for_a_kernel_that_holds_some() {
    // RTSS 2017, figure 3: K1, which began first, takes no shared memory; K4 takes all of it.
    let scenario = published::figure("rtss2017/figure-3");
    let run = simulate(&scenario).expect("it runs");
    let parts = blame(&run.trace, scenario.device());
    let title = |id: OperationId| run.trace.kernel_of(id).map(|kernel| &*kernel.title);
    let told: Vec<_> = parts.iter().filter(|part| title(part.operation) == Some("K5")).collect();
    let told: Vec<_> = told.iter().map(|part| (part.rule, part.blocking.and_then(title))).collect();
    // Of K1's first blocks those on SM 1 end a microsecond after those on SM 0, and keep its threads until then.
    assert_eq!(told, [(Rule::X1, Some("K1")), (Rule::R2, Some("K1")), (Rule::R3, Some("K4"))]);
}

#[test]
fn the_map_of_a_profile_has_short_names_and_tells_whole_ones_under_the_pointer() {
    let path = directory("blame-figure").join("map.svg");
    let file = path.display().to_string();
    let output = gpusched(&["simulate", "scenarios/profiles/synthetic.json", "--blame-figure", &file]);
    assert!(output.status.success(), "{}", stderr(&output));
    let svg = fs::read_to_string(&path).expect("it is written");
    let texts: Vec<&str> = svg.split("<text").skip(1).filter_map(|rest| rest.split(['<', '>']).nth(1)).collect();
    assert!(texts.contains(&"1 elementwise"), "{texts:?}");
    assert!(texts.iter().all(|text| !text.contains("demo::")), "{texts:?}");
    assert!(svg.contains("demo::elementwise&lt;4&gt;(int, float*)"), "the whole name");

    let refused = gpusched(&["simulate", "scenarios/rtss2017/figure-3.json", "--blame-figure", "map.txt"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("--blame-figure") && refused.stdout.is_empty());
}
