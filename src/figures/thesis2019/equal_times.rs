//! Fig. 3.10 and its equations.

use std::fmt::Write;
use std::num::NonZeroU32;

use super::super::analysed::{merged_picture, read};
use super::super::made::{Failure, Made};
use super::super::timeline::against_expected;
use super::FIGURE_3_10;
use crate::analysis::printed::{HalfNs, equal_finish_times, printed_with_cases, printed_without_cases};
use crate::analysis::{Comparison, analyse};
use crate::formats::{Cell, cells_line};
use crate::hosts::simulate;
use crate::printed::Printed;
use crate::run::Summary;
use crate::time::Instant;

/// Half nanoseconds as seconds.
fn shown(half_ns: HalfNs) -> String {
    format!("{} s", half_ns as f64 / 2e9)
}

/// What section 3.6 claims of each kernel: that its equations give what Algorithm 2 gives.
pub(super) fn values() -> Result<Vec<Printed>, Failure> {
    let scenario = read(FIGURE_3_10)?;
    let analysis = analyse(&scenario)?;
    let g_max = analysis.g_max.and_then(NonZeroU32::new).ok_or("the blocks of this example are all alike")?;
    let grids: Vec<u32> = analysis.merged.iter().map(|kernel| kernel.blocks).collect();
    let block_time = analysis.merged.first().ok_or("there are kernels")?.block_time;
    let claims = [
        ("Eq. 3.8 to 3.10", printed_with_cases(g_max, block_time, &grids)),
        ("Eq. 3.12 to 3.15", printed_without_cases(g_max, block_time, &grids)),
    ];
    let mut values = Vec::new();
    for (place, equations) in claims {
        for (kernel, finish) in analysis.kernels.iter().zip(equations) {
            let algorithm = kernel.finish_ns.map(|finish| 2 * HalfNs::from(finish.as_ns()));
            let what = format!("{}: f is that of Algorithm 2", kernel.launch.title());
            values.push(Printed::new(format!("Sec. 3.6, {place}"), what, true, algorithm == Some(finish)));
        }
    }
    Ok(values)
}

pub(super) fn make(name: &'static str) -> Result<Made, Failure> {
    let scenario = read(FIGURE_3_10)?;
    let (analysis, run) = (analyse(&scenario)?, simulate(&scenario)?);
    let compared = Comparison::new(&analysis, &run)?;
    let g_max = analysis.g_max.and_then(NonZeroU32::new).ok_or("the blocks of this example are all alike")?;
    let grids: Vec<u32> = analysis.merged.iter().map(|kernel| kernel.blocks).collect();
    let block_time = analysis.merged.first().ok_or("there are kernels")?.block_time;
    let right: Vec<HalfNs> = equal_finish_times(g_max, block_time, &grids)?
        .into_iter()
        .map(|finish| 2 * HalfNs::from(finish.as_ns()))
        .collect();
    let with_cases = printed_with_cases(g_max, block_time, &grids);
    let without_cases = printed_without_cases(g_max, block_time, &grids);

    let names = [
        "kernel",
        "blocks",
        "simulated_ns",
        "algorithm_2_ns",
        "equations_corrected_ns",
        "equations_3_8_to_3_10_ns",
        "equations_3_12_to_3_15_ns",
    ];
    let mut csv = cells_line(names.map(Cell::from));
    let mut table =
        "| kernel | blocks | simulated | Algorithm 2 | equations, corrected | Eq. 3.8 to 3.10 as printed | \
                     Eq. 3.12 to 3.15 as printed |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
            .to_owned();
    let mut agree = true;
    for (index, (kernel, blocks)) in compared.kernels.iter().zip(&grids).enumerate() {
        let ns = |finish: Option<Instant>| finish.map(|finish| 2 * HalfNs::from(finish.as_ns())).ok_or("all finish");
        let columns = [
            ns(kernel.simulated_finish_ns)?,
            ns(kernel.analysed_finish_ns)?,
            right[index],
            with_cases[index],
            without_cases[index],
        ];
        agree &= columns[0] == columns[1] && columns[1] == columns[2];
        let cells: Vec<String> = columns.iter().map(|&half| shown(half)).collect();
        let _ = writeln!(table, "| {} | {blocks} | {} |", kernel.launch.title(), cells.join(" | "));
        let title = kernel.launch.title().to_string();
        let times = columns.map(|half| Cell::Real(half as f64 / 2.0));
        csv += &cells_line([title.into(), (*blocks).into()].into_iter().chain(times));
    }
    let verdict = if agree { "agree on all kernels" } else { "differ" };
    let finding = format!(
        "The simulation, Algorithm 2 and the corrected equations {verdict}. As printed, K counts one wave too many when \
         g_i - g_f is a multiple of g_max (K4), and alpha is 1/2 when g_i = g_f (K3), so half of the GPU is held to be \
         free. Simulated: {}\n\n{table}",
        against_expected(&Summary::of(&run))?
    );
    let picture = merged_picture(&scenario, &analysis, scenario.name.clone(), run.trace.end().since(Instant::ZERO))?;
    Ok(Made::of(name, &picture, csv, finding))
}
