//! Figs. 9 and 10 of RTNS 2020: runs on the simulated TX2.

use std::fmt::Write;

use super::super::made::{Failure, File, Made};
use crate::device::Device;
use crate::experiments::response_times::{
    Figure9, Figure9Set, Figure10Point, figure_9 as response_times, figure_10 as preempted,
};
use crate::formats::{Column, csv_text};
use crate::pictures::{figure_9_plot, figure_10_plot};
use crate::statistics::nearest_rank;
use crate::tasks::TaskTime;

const JOBS: u32 = 1_000;
/// Jobs in the picture, so that each can be seen.
const DRAWN: usize = 150;
const SEED: u64 = 0;
const BLOCKS: [u32; 8] = [64, 128, 192, 256, 320, 384, 448, 512];

fn tx2() -> Result<Device, Failure> {
    Ok(Device::builtin("tx2")?.ok_or("the TX2 is not built in")?)
}

/// Mean, 99th percentile and largest \[ms\].
fn summary(responses: &[u64]) -> String {
    let mut sorted = responses.to_vec();
    sorted.sort_unstable();
    let ms = |ns: u64| ns as f64 / 1e6;
    let mean = sorted.iter().sum::<u64>() as f64 / 1e6 / sorted.len().max(1) as f64;
    let at_most = |percent| ms(nearest_rank(&sorted, percent).unwrap_or_default());
    format!("mean {mean:.2}, 99th percentile {:.2}, largest {:.2} ms", at_most(99), at_most(100))
}

/// How late the scheduler learns of a completion in the second picture, at most: a wave.
const SYNCHRONIZATION: TaskTime = TaskTime::from_units(1_000_000);

/// A job's number, and its response time with and without the platform \[ns\].
type JobRow = (usize, (u64, u64));

pub(super) fn figure_9(name: &'static str) -> Result<Made, Failure> {
    let device = tx2()?;
    let (mut files, mut tables) = (Vec::new(), Vec::new());
    let mut finding = "| tasks | with the platform | stream per task, no scheduler |\n| --- | --- | --- |\n".to_owned();
    for (suffix, words, set, synchronization) in [
        ("", "same kernel", Figure9Set::SameKernel, TaskTime::ZERO),
        ("-synchronization", "same kernel, synchronization up to 1 ms", Figure9Set::SameKernel, SYNCHRONIZATION),
        ("-three-sizes", "three sizes", Figure9Set::ThreeSizes, TaskTime::ZERO),
    ] {
        let found = response_times(&device, set, JOBS, synchronization, SEED)?;
        let columns = [
            Column::data("job", |(job, _): &JobRow| (*job).into()),
            Column::data("with_platform_ns", |(_, (with, _))| (*with).into()),
            Column::data("without_platform_ns", |(_, (_, without))| (*without).into()),
        ];
        let both = found.with_platform.iter().copied().zip(found.without_platform.iter().copied());
        let csv = csv_text(&columns, both.enumerate());
        let first = |responses: &[u64]| responses.iter().copied().take(DRAWN).collect();
        let drawn =
            Figure9 { with_platform: first(&found.with_platform), without_platform: first(&found.without_platform) };
        let title = format!("Most urgent task, {words}");
        files.push(File { name: format!("{name}{suffix}.svg"), text: figure_9_plot(&title, &drawn)?.to_svg() });
        tables.push(File { name: format!("{name}{suffix}.csv"), text: csv });
        let (with, without) = (summary(&found.with_platform), summary(&found.without_platform));
        writeln!(finding, "| {words} | {with} | {without} |")?;
    }
    files.extend(tables);
    writeln!(
        finding,
        "\nOver {JOBS} jobs each; the pictures show the first {DRAWN}. The platform is two streams with fixed priorities. \
         Kernels are whole waves of 64 blocks, so that each uses all of the GPU, and in the first two pictures all three \
         tasks have the same kernel, as in the paper; their times and periods are ours, the paper gives none. The paper \
         puts the outliers of its platform down to cudaStreamSynchronize: in the second picture the scheduler learns of \
         each completion up to 1 ms late, uniformly drawn, and response times include that."
    )?;
    Ok(Made { files, finding })
}

pub(super) fn figure_10(name: &'static str) -> Result<Made, Failure> {
    let points = preempted(&tx2()?, &BLOCKS)?;
    let columns = [
        Column::data("low_priority_blocks", |point: &&Figure10Point| point.low_blocks.into()),
        Column::data("alone_ns", |point| point.alone_ns.into()),
        Column::data("with_high_priority_ns", |point| point.with_high_priority_ns.into()),
    ];
    let csv = csv_text(&columns, &points);
    let longer: Vec<String> = points
        .iter()
        .map(|point| {
            let by = point.with_high_priority_ns.saturating_sub(point.alone_ns) as f64 / 1e6;
            format!("{by} ms at {}", point.low_blocks)
        })
        .collect();
    let finding = format!(
        "Longer by {} blocks, where the high-priority task takes 1 ms alone (our block time, the paper gives none).",
        longer.join(", ")
    );
    Ok(Made::of(name, &figure_10_plot(&points)?, csv, finding))
}
