//! What section 3.3 says of Figs. 3.2 to 3.5: relations between times, and numbers of blocks.

use super::super::analysed::{read, steps};
use super::super::made::Failure;
use super::super::timeline::Published;
use super::{FIGURE_3_3_A, FIGURE_3_3_B, FIGURE_3_4, FIGURE_3_5};
use crate::analysis::analyse;
use crate::analysis::printed::Turn;
use crate::printed::Printed;
use crate::time::{Duration, Instant};

/// The last kernel of a figure, turn by turn, and those before it.
struct Placed {
    g_max: u32,
    /// When the kernels before it are analysed to finish.
    earlier: Vec<Instant>,
    release: Instant,
    block_time: Duration,
    turns: Vec<Turn>,
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

    fn turn(&self, number: usize) -> Result<&Turn, Failure> {
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
    fn ends_after(&self, turn: &Turn) -> bool {
        turn.finish == turn.t_a.checked_add(self.block_time)
    }
}
