//! What chapters 2 and 3 of the thesis print, beside what comes out here: limits of the TX2, the relations of section
//! 3.3, the worked example of section 3.5, and the equations of section 3.6.

use std::fmt::Write;
use std::num::NonZeroU32;

use super::super::made::{
    Failure, File, Made, Published, against_expected, merged_picture, read, steps, steps_csv, steps_markdown, tx2,
};
use super::{FIGURE_3_3_A, FIGURE_3_3_B, FIGURE_3_4, FIGURE_3_5, FIGURE_3_10, SECTION_3_5};
use crate::analysis::algorithm_2::AlgorithmStep;
use crate::analysis::algorithm_2::{HalfNs, equal_finish_times, printed_with_cases, printed_without_cases};
use crate::analysis::{Analysis, Comparison, analyse};
use crate::device::{BlockDemand, BlockShape};
use crate::formats::{Cell, cells_line};
use crate::hosts::simulate;
use crate::printed::{Printed, Value};
use crate::run::Summary;
use crate::time::{Duration, Instant, NS_PER_SECOND};

/// Section 2.2, Fig. 2.4 and Eq. 3.6, against the device that is built in.
pub(super) fn values_of_device() -> Result<Vec<Printed>, Failure> {
    let device = tx2()?;
    let demand = |threads| {
        let shape = BlockShape { threads, registers_per_thread: 0, shared_memory_bytes: 0 };
        BlockDemand::new(&shape, &device)
    };
    let query = "Sec. 2.2, deviceQuery";
    let bytes = |count: u32| Value::Number(f64::from(count), "bytes");
    let mut values = vec![
        Printed::new(query, "CUDA capability", "6.2", &*device.compute_capability),
        Printed::new(query, "SMs", 2_u32, device.sms),
        Printed::new(query, "shared memory per block", bytes(49_152), bytes(device.per_block.shared_memory_bytes)),
        Printed::new(query, "registers per block", 32_768_u32, device.per_block.registers),
        Printed::new(query, "warp size", 32_u32, device.warp_size),
        Printed::new(query, "threads per SM", 2_048_u32, device.per_sm.threads),
        Printed::new(query, "threads per block", 1_024_u32, device.per_block.threads),
        Printed::new(
            "Sec. 2.2, Fig. 2.4",
            "threads that a block of 140 wastes",
            20_u32,
            (demand(140)?.warps * device.warp_size).saturating_sub(140),
        ),
        Printed::new("Sec. 3.2.2, Eq. 3.6", "b_max", 4_096_u32, device.sms * device.per_sm.threads),
    ];
    for (threads, per_sm) in [(128, 16_u32), (256, 8), (512, 4), (1_024, 2)] {
        let here = demand(threads)?.blocks_per_sm(&device);
        values.push(Printed::new("Sec. 3.2.2", format!("2048 / b for b = {threads}: blocks per SM"), per_sm, here));
    }
    Ok(values)
}

/// The last kernel of a figure, turn by turn, and those before it.
struct Placed {
    g_max: u32,
    /// When the kernels before it are analysed to finish.
    earlier: Vec<Instant>,
    release: Instant,
    block_time: Duration,
    turns: Vec<AlgorithmStep>,
}

impl Placed {
    fn of(published: Published) -> Result<Self, Failure> {
        let scenario = read(published)?;
        let analysis = analyse(&scenario)?;
        let last = analysis.merged.len().checked_sub(1).ok_or("the figure has kernels")?;
        let turns = steps(&analysis)?.ok_or("the blocks of this figure are all alike")?;
        let finish = |number: usize| turns.iter().find_map(|turn| turn.finish.filter(|_| turn.kernel == number));
        let earlier = (0..last).map(finish).collect::<Option<_>>().ok_or("all of them finish")?;
        let kernel = analysis.merged[last];
        let turns = turns.iter().filter(|turn| turn.kernel == last && turn.g_f > 0).cloned().collect();
        let g_max = analysis.g_max.ok_or("the blocks of this figure are all alike")?;
        Ok(Self { g_max, earlier, release: kernel.release, block_time: kernel.block_time, turns })
    }

    /// An instant by the name that Fig. 3.3 has for it: `t` with its place among the ends of earlier kernels, or the
    /// release of the last one.
    fn end_in_order(&self, instant: Instant) -> String {
        let mut ends = self.earlier.clone();
        ends.sort_unstable();
        self.name("t", &ends, instant)
    }

    /// An instant by the name that Fig. 3.5 has for it: the finish time of the kernel that ends then.
    fn finish(&self, instant: Instant) -> String {
        self.name("f", &self.earlier, instant)
    }

    fn name(&self, letter: &str, ends: &[Instant], instant: Instant) -> String {
        match ends.iter().position(|&end| end == instant) {
            Some(number) => format!("{letter}_{}", number + 1),
            None if instant == self.release => format!("r_{}", self.earlier.len() + 1),
            None => instant.to_string(),
        }
    }

    fn turn(&self, number: usize) -> Result<&AlgorithmStep, Failure> {
        Ok(self.turns.get(number).ok_or("the kernel takes as many turns")?)
    }
}

pub(super) fn figure_3_3_a() -> Result<Vec<Printed>, Failure> {
    let placed = Placed::of(FIGURE_3_3_A)?;
    let turn = placed.turn(0)?;
    Ok(vec![
        Printed::new("Sec. 3.3, Fig. 3.2 (a)", "at t_1, g_f < g_max", true, turn.g_f < placed.g_max),
        Printed::new("Sec. 3.3, Fig. 3.3 (a)", "t_a of K4, released before t_1", "t_1", placed.end_in_order(turn.t_a)),
    ])
}

pub(super) fn figure_3_3_b() -> Result<Vec<Printed>, Failure> {
    let placed = Placed::of(FIGURE_3_3_B)?;
    let mut ends = placed.earlier.clone();
    ends.sort_unstable();
    let between = ends.get(1).zip(ends.get(2));
    Ok(vec![
        Printed::new(
            "Sec. 3.3, Fig. 3.3 (b)",
            "r_4 lies between t_2 and t_3",
            true,
            between.is_some_and(|(t_2, t_3)| (t_2..=t_3).contains(&&placed.release)),
        ),
        Printed::new("Sec. 3.3, Fig. 3.3 (b)", "t_a of K4", "r_4", placed.end_in_order(placed.turn(0)?.t_a)),
    ])
}

pub(super) fn figure_3_4() -> Result<Vec<Printed>, Failure> {
    let placed = Placed::of(FIGURE_3_4)?;
    let turn = placed.turn(0)?;
    let place = "Sec. 3.3, Fig. 3.4";
    Ok(vec![
        Printed::new("Sec. 3.3, Fig. 3.2 (b)", "g_f = g_max on an empty GPU", true, turn.g_f == placed.g_max),
        Printed::new(place, "g_max of blocks of 512 threads", 8_u32, placed.g_max),
        Printed::new(place, "g_f at t_a", 8_u32, turn.g_f),
        Printed::new(place, "g_3", 6_u32, turn.to_place),
        Printed::new(place, "all blocks of K3 start at t_a: f_3 = C_3 + t_a", true, placed.ends_after(turn)),
        Printed::new(place, "g_f after K3", 2_u32, turn.next_g_f),
        Printed::new(place, "t_a does not change", true, turn.next_t_a == turn.t_a),
    ])
}

pub(super) fn figure_3_5() -> Result<Vec<Printed>, Failure> {
    let placed = Placed::of(FIGURE_3_5)?;
    let (first, second) = (placed.turn(0)?, placed.turn(1)?);
    let place = "Sec. 3.3, Fig. 3.5";
    Ok(vec![
        Printed::new(place, "g_3", 6_u32, first.to_place),
        Printed::new(place, "t_a of the first blocks of K3", "f_1", placed.finish(first.t_a)),
        Printed::new(place, "g_f then, which is g_1", 5_u32, first.g_f),
        Printed::new(place, "blocks of K3 left for later", 1_u32, second.to_place),
        Printed::new(place, "t_a of the last block of K3", "f_2", placed.finish(second.t_a)),
        Printed::new(place, "g_f then, which is g_2", 3_u32, second.g_f),
        Printed::new(place, "f_3 = f_2 + C_3", true, placed.ends_after(second)),
        Printed::new(place, "g_f after K3", 2_u32, second.next_g_f),
        Printed::new(place, "t_a after K3", "f_2", placed.finish(second.next_t_a)),
    ])
}

impl Placed {
    /// Whether the kernel ends one block time after a turn's `t_a`.
    fn ends_after(&self, turn: &AlgorithmStep) -> bool {
        turn.finish == turn.t_a.checked_add(self.block_time)
    }
}

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

const fn seconds(seconds: u64) -> Duration {
    Duration::from_ns(seconds * NS_PER_SECOND)
}

/// h as section 3.5 writes it, with times in s.
fn braced(pairs: impl Iterator<Item = (f64, u32)>) -> String {
    let pairs: Vec<String> = pairs.map(|(t, g)| format!("({t}, {g})")).collect();
    format!("{{{}}}", pairs.join(", "))
}

fn in_seconds(instant: Instant) -> Value {
    Value::Number(instant.as_ns() as f64 / 1e9, "")
}

/// A number of the example, which has none with a unit.
fn printed(number: u64) -> Value {
    Value::Number(number as f64, "")
}

/// Each step and each finish time of the example.
pub(super) fn values_of_example() -> Result<Vec<Printed>, Failure> {
    let scenario = read(SECTION_3_5)?;
    let analysis = analyse(&scenario)?;
    let steps = steps(&analysis)?.ok_or("the blocks of this example are all alike")?;
    let g_max = analysis.g_max.ok_or("the blocks of this example are all alike")?;
    let mut values = vec![Printed::new("Sec. 3.5, first paragraph", "g_max", 8_u32, g_max)];
    let steps = steps.get(..PRINTED.len()).ok_or("the example takes more steps")?;
    for (step, (kernel, finish, h, next_t_a, next_g_f)) in steps.iter().zip(PRINTED) {
        let number = kernel + 1;
        let place = format!("Sec. 3.5, Fig. 3.{} (c)", 6 + kernel);
        let turn = if finish.is_some() { "done" } else { "not done" };
        let of_step = |what: &str| format!("{what} after the step of kernel {number} that leaves it {turn}");
        let seen = braced(step.h.iter().map(|(t, g)| (t.as_ns() as f64 / 1e9, *g)));
        values.extend([
            Printed::new(&*place, of_step("kernel"), printed(number as u64), printed(step.kernel as u64 + 1)),
            Printed::new(&*place, of_step("h"), braced(h.iter().map(|&(t, g)| (t as f64, g))), seen),
            Printed::new(&*place, of_step("t_a"), printed(next_t_a), in_seconds(step.next_t_a)),
            Printed::new(&*place, of_step("g_f"), next_g_f, step.next_g_f),
        ]);
        if let Some(finish) = finish {
            let here = step.finish.map(in_seconds);
            values.push(Printed::or_nothing(place, format!("f_{number}"), printed(finish), here));
        }
    }
    for (number, (kernel, finish)) in (1..).zip(analysis.kernels.iter().zip(PRINTED_FINISHES)) {
        let here = kernel.finish_ns.map(in_seconds);
        let place = "Sec. 3.5, last paragraph";
        values.push(Printed::or_nothing(place, format!("f_{number} of f"), printed(finish), here));
        let in_time = kernel.finish_ns.is_some_and(|finish| finish <= Instant::ZERO + seconds(15));
        values.push(Printed::new(place, format!("R_{number} <= T"), true, in_time));
    }
    Ok(values)
}

pub(super) fn make_example(name: &'static str) -> Result<Made, Failure> {
    let scenario = read(SECTION_3_5)?;
    let analysis = analyse(&scenario)?;
    let steps = steps(&analysis)?.ok_or("the blocks of this example are all alike")?;
    let mut files = Vec::new();
    for (figure, kernels) in (6..).zip(1..=scenario.threads.len()) {
        let mut placed = scenario.clone();
        placed.threads.truncate(kernels);
        let title = format!("Thesis 2019, figure 3.{figure} (c)");
        let picture = merged_picture(&placed, &analyse(&placed)?, title, seconds(12))?;
        files.push(File::svg(format!("thesis2019-figure-3-{figure}"), &picture));
    }
    files.push(File::csv(name, steps_csv(&analysis, &steps)));

    let values = values_of_example()?;
    let same = values.iter().filter(|value| value.agrees()).count();
    let mut finding = if same == values.len() {
        format!("All {} printed steps, and f = {{4, 10, 12, 11}}, are as printed.", PRINTED.len())
    } else {
        format!("{same} of {} printed values are as printed.", values.len())
    };
    let _ = write!(finding, "\n\n{}", steps_markdown(&analysis, &steps));
    Ok(Made { files, finding })
}

/// Of kernels whose blocks are alike and take one time: `g_max`, that time, and their numbers of blocks.
fn alike(analysis: &Analysis<'_>) -> Result<(NonZeroU32, Duration, Vec<u32>), Failure> {
    let g_max = analysis.g_max.and_then(NonZeroU32::new).ok_or("the blocks of this example are all alike")?;
    let block_time = analysis.merged.first().ok_or("there are kernels")?.block_time;
    Ok((g_max, block_time, analysis.merged.iter().map(|kernel| kernel.blocks).collect()))
}

/// A time in half nanoseconds.
fn half_ns(finish: Instant) -> HalfNs {
    2 * HalfNs::from(finish.as_ns())
}

/// What section 3.6 claims of each kernel: that its equations give what Algorithm 2 gives.
pub(super) fn values_of_figure_3_10() -> Result<Vec<Printed>, Failure> {
    let scenario = read(FIGURE_3_10)?;
    let analysis = analyse(&scenario)?;
    let (g_max, block_time, grids) = alike(&analysis)?;
    let claims = [
        ("Eq. 3.8 to 3.10", printed_with_cases(g_max, block_time, &grids)),
        ("Eq. 3.12 to 3.15", printed_without_cases(g_max, block_time, &grids)),
    ];
    let mut values = Vec::new();
    for (place, equations) in claims {
        for (kernel, finish) in analysis.kernels.iter().zip(equations) {
            let algorithm = kernel.finish_ns.map(half_ns);
            let what = format!("{}: f is that of Algorithm 2", kernel.launch.title());
            values.push(Printed::new(format!("Sec. 3.6, {place}"), what, true, algorithm == Some(finish)));
        }
    }
    Ok(values)
}

pub(super) fn make_figure_3_10(name: &'static str) -> Result<Made, Failure> {
    let scenario = read(FIGURE_3_10)?;
    let (analysis, run) = (analyse(&scenario)?, simulate(&scenario)?);
    let compared = Comparison::new(&analysis, &run)?;
    let (g_max, block_time, grids) = alike(&analysis)?;
    let right: Vec<HalfNs> = equal_finish_times(g_max, block_time, &grids)?.into_iter().map(half_ns).collect();
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
        let ns = |finish: Option<Instant>| finish.map(half_ns).ok_or("all finish");
        let columns = [
            ns(kernel.simulated_finish_ns)?,
            ns(kernel.analysed_finish_ns)?,
            right[index],
            with_cases[index],
            without_cases[index],
        ];
        agree &= columns[0] == columns[1] && columns[1] == columns[2];
        let cells: Vec<String> = columns.iter().map(|&half| format!("{} s", half as f64 / 2e9)).collect();
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
