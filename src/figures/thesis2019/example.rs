//! Figs. 3.6 to 3.9: the worked example of section 3.5.

use std::fmt::Write;

use super::super::analysed::{read, steps, steps_csv, steps_markdown};
use super::super::made::{File, Made};
use super::SECTION_3_5;
use crate::analysis::analyse;
use crate::analysis::printed::Turn;
use crate::time::{Duration, Instant};

/// A step as section 3.5 prints it, times in s: the kernel from 0, f if it finishes, h, `t_a` and `g_f` after it.
type PrintedStep = (usize, Option<u64>, &'static [(u64, u32)], u64, u32);

/// All that section 3.5 prints; of the fourth kernel it has only f = 11.
const PRINTED: [PrintedStep; 5] = [
    (0, Some(4), &[(4, 2)], 0, 6),
    (1, None, &[(6, 6)], 4, 2),
    (1, Some(10), &[(6, 6), (10, 1)], 4, 1),
    (2, None, &[(10, 2)], 6, 6),
    (2, Some(12), &[(10, 2), (12, 1)], 6, 5),
];
const PRINTED_FINISHES: [u64; 4] = [4, 10, 12, 11];

fn seconds(seconds: u64) -> u64 {
    seconds * 1_000_000_000
}

fn as_printed(step: &Turn, printed: &PrintedStep) -> bool {
    let (kernel, finish, h, next_t_a, next_g_f) = *printed;
    let found: Vec<(u64, u32)> = step.h.iter().map(|(t, g)| (t.as_ns(), *g)).collect();
    let expected: Vec<(u64, u32)> = h.iter().map(|&(t, g)| (seconds(t), g)).collect();
    step.kernel == kernel
        && step.finish.map(Instant::as_ns) == finish.map(seconds)
        && found == expected
        && step.next_t_a.as_ns() == seconds(next_t_a)
        && step.next_g_f == next_g_f
}

pub(super) fn make(name: &'static str) -> Result<Made, Box<dyn std::error::Error + Send + Sync>> {
    let scenario = read(SECTION_3_5)?;
    let analysis = analyse(&scenario)?;
    let steps = steps(&analysis)?.ok_or("the blocks of this example are all alike")?;
    let end = Duration::from_ns(seconds(12));
    let mut files = Vec::new();
    for (figure, kernels) in (6..).zip(1..=scenario.threads.len()) {
        let mut placed = scenario.clone();
        placed.threads.truncate(kernels);
        let title = format!("Thesis 2019, figure 3.{figure} (c)");
        let text = super::super::analysed::merged_svg(&placed, &analyse(&placed)?, title, end)?;
        files.push(File { name: format!("thesis2019-figure-3-{figure}.svg"), text });
    }
    files.push(File { name: format!("{name}.csv"), text: steps_csv(&analysis, &steps) });

    let same = steps.iter().zip(&PRINTED).filter(|(step, printed)| as_printed(step, printed)).count();
    let finishes: Vec<u64> = analysis.kernels.iter().filter_map(|kernel| Some(kernel.finish_ns?.as_ns())).collect();
    let equal = finishes == PRINTED_FINISHES.map(seconds);
    let mut finding = if same == PRINTED.len() && equal {
        format!("All {same} printed steps, and f = {{4, 10, 12, 11}}, are as printed.")
    } else {
        format!("{same} of {} printed steps are as printed.", PRINTED.len())
    };
    let _ = write!(finding, "\n\n{}", steps_markdown(&analysis, &steps));
    Ok(Made { files, finding })
}
