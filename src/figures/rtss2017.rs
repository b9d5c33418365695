//! Figures of Amert and others, RTSS 2017, which have the rules, one experiment each, and of Otterness and others,
//! OSPERT 2017, which have the first of them, on a Jetson TX1.

use std::collections::BTreeSet;
use std::fmt::Write;

use rayon::prelude::*;

use super::figure::{Figure, Make};
use super::made::{Failure, File, Made, Published, published, read};
use super::paper::Paper;
use crate::formats::{Column, csv_text};
use crate::hosts::simulate;
use crate::named::named;
use crate::run::differing;
use crate::scenario::Scenario;
use crate::time::Duration;
use crate::workload::{BlockTime, KernelId, Placement};

const FIGURE_3: Published = published!("rtss2017/figure-3.json");

pub(super) const FIGURES: &[Figure] = &[
    Paper::Rtss2017.computed("rtss2017-figure-3", Make::Timeline(FIGURE_3)),
    Paper::Rtss2017.computed("rtss2017-figure-3-placements", Make::Own(make_placements)),
    Paper::Rtss2017.computed("rtss2017-figure-5", Make::Timeline(published!("rtss2017/figure-5.json"))),
    Paper::Rtss2017.computed("rtss2017-figure-6", Make::Timeline(published!("rtss2017/figure-6.json"))),
    Paper::Rtss2017.computed("rtss2017-figure-7", Make::Timeline(published!("rtss2017/figure-7.json"))),
    Paper::Rtss2017.computed("rtss2017-figure-8", Make::Timeline(published!("rtss2017/figure-8.json"))),
    Paper::Ospert2017.computed("ospert2017-figure-4", Make::Timeline(published!("ospert2017/figure-4.json"))),
    Paper::Ospert2017.computed("ospert2017-figure-5", Make::Timeline(published!("ospert2017/figure-5.json"))),
    Paper::Ospert2017.computed("ospert2017-figure-6", Make::Timeline(published!("ospert2017/figure-6.json"))),
    Paper::Ospert2017.computed("ospert2017-figure-7", Make::Timeline(published!("ospert2017/figure-7.json"))),
    Paper::Ospert2017.computed("ospert2017-figure-8", Make::Timeline(published!("ospert2017/figure-8.json"))),
    Paper::Ospert2017.computed("ospert2017-figure-9", Make::Timeline(published!("ospert2017/figure-9.json"))),
];

/// Runs where something is drawn.
const RUNS: u64 = 10_000;
const SECOND: Duration = Duration::from_ns(1_000_000_000);
/// What measured times of a kernel's blocks differ by on a TX2: a step of the clock that they read.
const STEP: Duration = Duration::from_ns(1_000);

named! {
    #[derive(Debug, Clone, Copy)]
    enum Times: ALL {
        Stated = "as in the file",
        /// For a second and up to a step, each block for itself.
        Drawn = "drawn",
        /// For a second, so that what starts together ends together.
        Equal = "equal",
    }
}

impl Times {
    fn apply(self, scenario: &mut Scenario) -> Result<(), Failure> {
        let time = match self {
            Self::Stated => return Ok(()),
            Self::Drawn => BlockTime { best: SECOND, worst: SECOND + STEP },
            Self::Equal => BlockTime::fixed(SECOND),
        };
        scenario.block_times.clear();
        let kernels = u32::try_from(scenario.kernels().len())?;
        for kernel in 0..kernels {
            scenario.catalogue.set_block_time(KernelId(kernel), time)?;
        }
        Ok(())
    }
}

/// In how many runs a kernel's blocks, or all, were where and when the picture has them.
struct Share {
    times: Times,
    placement: Placement,
    kernel: String,
    runs: u64,
    as_published: u64,
}

/// How often Fig. 3 comes out as published, block for block, under each placement: where a block goes depends on which
/// blocks end first, and by how much is not printed.
fn make_placements(name: &'static str) -> Result<Made, Failure> {
    let scenario = read(FIGURE_3)?;
    let mut shares = Vec::new();
    let mut table = String::new();
    for times in Times::ALL {
        let device = scenario.device().clone();
        for placement in Placement::ALL.into_iter().filter(|one| device.check_placement(*one).is_ok()) {
            let found = found(&scenario, times, placement)?;
            if table.is_empty() {
                let kernels: Vec<&str> = found.iter().map(|share| &*share.kernel).collect();
                let rule = " ---: |".repeat(kernels.len());
                let kernels = kernels.join(" | ");
                writeln!(table, "| block times | placement | runs | {kernels} |\n| --- | --- | ---: |{rule}")?;
            }
            let percents: Vec<String> = found.iter().map(percent).collect();
            let (times, name) = (times.name(), placement.name());
            let runs = found.first().map_or(0, |share| share.runs);
            writeln!(table, "| {times} | {name} | {runs} | {} |", percents.join(" | "))?;
            shares.extend(found);
        }
    }
    let columns = [
        Column::data("block_times", |share: &&Share| share.times.name().into()),
        Column::data("placement", |share| share.placement.name().into()),
        Column::data("kernel", |share| share.kernel.as_str().into()),
        Column::data("runs", |share| share.runs.into()),
        Column::data("as_published", |share| share.as_published.into()),
    ];
    let csv = csv_text(&columns, &shares);
    let finding = format!(
        "{table}\nThe share of runs in which the blocks of a kernel, or of all kernels, are on the SMs of the picture and \
         at its times. The picture needs K1's blocks 0 and 2 to end before 1 and 3, K4's blocks 1 and 3 before 0 and 2, \
         and these before K1's: block times *as in the file* do so. Times that are *drawn*, for each block and run \
         uniformly from 1 s to 1.000001 s, come in that order now and then, and most-room gives the picture then. The size \
         of the differences hardly matters, as only the order of the ends counts. With *equal* times only a placement that \
         draws SMs could give it.\n"
    );
    Ok(Made { files: vec![File::csv(name, csv)], finding })
}

/// Kernel by kernel, as the scenario's expected result lists them, and then for all of them.
fn found(stated: &Scenario, times: Times, placement: Placement) -> Result<Vec<Share>, Failure> {
    let mut expected = stated.expected.clone().ok_or("shipped scenarios have their result with them")?;
    // So that SMs are compared, too.
    expected.placement = placement;
    let mut scenario = Scenario { placement, ..stated.clone() };
    times.apply(&mut scenario)?;
    let runs = if scenario.depends_on_seed() { RUNS } else { 1 };
    let kernels = &expected.kernels;
    let counted: Vec<u64> = (0..runs)
        .into_par_iter()
        .map(|seed| {
            let scenario = Scenario { seed, ..scenario.clone() };
            let run = simulate(&scenario)?;
            let differ: BTreeSet<String> =
                differing(&expected, &run.trace)?.map(|(kernel, _)| kernel.name.clone()).collect();
            let mut same: Vec<u64> = kernels.iter().map(|kernel| u64::from(!differ.contains(&kernel.name))).collect();
            same.push(u64::from(differ.is_empty()));
            Ok::<_, Failure>(same)
        })
        .try_reduce(
            || vec![0; kernels.len() + 1],
            |mut sum, other| {
                sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
                Ok(sum)
            },
        )?;
    let names = kernels.iter().map(|kernel| kernel.name.clone()).chain(["all".to_owned()]);
    Ok(names
        .zip(counted)
        .map(|(kernel, as_published)| Share { times, placement, kernel, runs, as_published })
        .collect())
}

fn percent(share: &Share) -> String {
    match share.as_published {
        0 => "0".to_owned(),
        all if all == share.runs => "100 %".to_owned(),
        some => format!("{:.2} %", some as f64 * 100.0 / share.runs as f64),
    }
}
