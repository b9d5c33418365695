//! Section 3.7: how many turns Algorithm 2 takes, and Table 3.1.

use std::fmt::Write;
use std::num::NonZeroU32;

use super::super::made::{Failure, File, Made};
use super::SEED;
use crate::analysis::MergedKernel;
use crate::analysis::printed::{EmptyPairs, work};
use crate::experiments::cost_study::{LoopIterations, LoopVariant, study};
use crate::pictures::cost_chart::{iterations_chart, iterations_csv, share_chart};
use crate::time::{Duration, Instant};

/// Of the author's program `rta_plot`.
const G_MAX: NonZeroU32 = NonZeroU32::MIN.saturating_add(29);
const LARGEST_GRID: u32 = 100;
/// Sizes for which Table 3.1 is counted.
const COUNTED: [usize; 4] = [1, 5, 10, 20];
/// Far beyond the 20 kernels of the thesis.
const BEYOND: [usize; 8] = [1, 2, 5, 10, 20, 50, 100, 200];

pub(super) fn make(name: &'static str) -> Result<Made, Failure> {
    let small: Vec<usize> = (1..=20).collect();
    let thesis = study(G_MAX, LARGEST_GRID, &[LoopVariant::Thesis], &small, 100, SEED)?;
    let beyond = study(G_MAX, LARGEST_GRID, &LoopVariant::ALL, &BEYOND, 3, SEED)?;
    let counted: Vec<&LoopIterations> = thesis.iter().filter(|point| COUNTED.contains(&point.kernels)).collect();
    let mut finding = table(&counted)?;
    let turns: Vec<String> = counted.iter().map(|point| format!("{:.0}", point.turns())).collect();
    let last = |variant| beyond.iter().rfind(|point| point.variant == variant).ok_or("every variant has points");
    let (whole, fine, lean) =
        (last(LoopVariant::Thesis)?, last(LoopVariant::FineTime)?, last(LoopVariant::NoEmptyPairs)?);
    write!(
        finding,
        "\nMeans of 100 task sets for each n with the inputs of the author's `rta_plot` (g_max = 30, grids of 2 to 100, C \
         from 20 to 100, seed {SEED}). \
         The factor n shows: {} turns for n = {}, about half of n g / g_max (first picture). A turn takes one pair out \
         of h, not g_max blocks, and h has up to n pairs. It has more than g_max only because pairs (t, 0), entered after a \
         kernel that uses up g_f exactly, come back whenever they are taken out, until they fall on the time of another pair. Beyond the thesis' sizes (second picture; 3 sets each): where \
         ends of blocks do not fall on one time, turns stay at {:.2} n g / g_max up to n = {}. With C from 20 to 100 as whole numbers, \
         pairs of one time are added up, h stops growing (at most {} pairs), and the share falls to {:.2}. Without the pairs \
         (t, 0), which change no finish time, turns are at most g + 2n, and h has at most g_max pairs ({}): {:.2} there. \
         As min looks at all of h, time grows with n times the turns: {:.2} n^2 g / g_max pairs are compared at n = {}. \
         {}\n",
        turns.join(", "),
        COUNTED.map(|kernels| kernels.to_string()).join(", "),
        fine.turns_over_estimate,
        fine.kernels,
        whole.most_pairs,
        whole.turns_over_estimate,
        lean.most_pairs,
        lean.turns_over_estimate,
        fine.pairs_compared / (fine.kernels as f64).powi(2) / (fine.blocks / f64::from(G_MAX.get())),
        fine.kernels,
        bound_that_fails()?,
    )?;
    let files = vec![
        File { name: format!("{name}.svg"), text: iterations_chart(&thesis)?.to_svg() },
        File { name: format!("{name}-many-kernels.svg"), text: share_chart(&beyond)?.to_svg() },
        File { name: format!("{name}.csv"), text: iterations_csv(&thesis) },
        File { name: format!("{name}-many-kernels.csv"), text: iterations_csv(&beyond) },
    ];
    Ok(Made { files, finding })
}

/// Table 3.1 with how often each step is done.
fn table(counted: &[&LoopIterations]) -> Result<String, Failure> {
    const STEPS: [(&str, &str, &str, bool); 9] = [
        ("f_i = t_a + C_i", "sum", "O(1)", true),
        ("h = {h; (f_i, g_i)}", "append", "O(1)", true),
        ("t_a = t_a", "sum", "O(1)", true),
        ("g_f = g_f - g_i", "sum", "O(1)", true),
        ("i++", "sum", "O(1)", true),
        ("g_i = g_i - g_f", "sum", "O(1)", false),
        ("h = {h; (t_a + C_i, g_f)}", "append", "O(1)", false),
        ("[t_a, index] = min(h[:, 1])", "min", "O(n)", false),
        ("g_f = h[index, 2]", "index", "O(1)", false),
    ];
    let mut table = "| step | operation | printed cost |".to_owned();
    for point in counted {
        write!(table, " times for n = {} |", point.kernels)?;
    }
    write!(table, "\n| --- | --- | --- |{}\n", " ---: |".repeat(counted.len()))?;
    for (step, operation, cost, finishing) in STEPS {
        write!(table, "| {step} | {operation} | {cost} |")?;
        for point in counted {
            let times = if finishing { point.finishing_turns } else { point.placing_turns };
            write!(table, " {times:.1} |")?;
        }
        table.push('\n');
    }
    table.push_str("| pairs of h compared by one min | | |");
    for point in counted {
        write!(table, " {:.1} |", point.pairs_compared / point.placing_turns.max(1.0))?;
    }
    table.push('\n');
    Ok(table)
}

/// A family of inputs whose turns grow while n g / `g_max` does not.
fn bound_that_fails() -> Result<String, Failure> {
    let kernel = |c, blocks| MergedKernel { release: Instant::ZERO, block_time: Duration::from_ns(c), blocks };
    let mut rows = String::new();
    for g_max in [8, 16, 32, 64, 128, 256, 512] {
        let kernels: [MergedKernel; 2] = [kernel(1000, g_max - 1), kernel(1, g_max + 1)];
        let blocks: u32 = kernels.iter().map(|kernel| kernel.blocks).sum();
        let places = NonZeroU32::new(g_max).ok_or("g_max is not 0")?;
        let turns = work(places, &kernels, EmptyPairs::Entered)?.turns();
        writeln!(rows, "| {g_max} | {turns} | {} |", 2 * blocks / g_max)?;
    }
    Ok(format!(
        "As a bound for any C the estimate fails: of two kernels, g_max - 1 blocks of 1000 and g_max + 1 of 1, turns grow \
         with g_max while n g / g_max does not.\n\n| g_max | turns | n g / g_max |\n| ---: | ---: | ---: |\n{rows}"
    ))
}
