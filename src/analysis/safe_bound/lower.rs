//! Kernels beside those whose orders are explored, of priorities lower than all of these: what they may have on the SMs.

use super::fill::{MayRun, more_of};
use super::graph::{Graph, Work};
use crate::time::Instant;

/// Choices of one kernel of each stream above which all of them are taken together.
const MOST_CHOICES: usize = 32;

/// Kernels of one stream and class that are launched at one instant; at any time one kernel of a stream has blocks.
#[derive(Debug)]
pub(super) struct Lower {
    stream: usize,
    class: usize,
    /// Not before.
    launched: Instant,
    level: usize,
    /// They have ended by then [ns]; [`u64::MAX`]: not known.
    over: u64,
    /// (block time [ns], blocks), ascending: so many blocks may run for so long.
    blocks: Vec<(u64, u32)>,
}

impl Graph {
    /// Adds an operation of a lower priority than all nodes, which no node waits for, and which is over by `over` [ns].
    pub(super) fn add_lower(&mut self, (stream, level): (usize, usize), launched: Instant, over: u64, work: Work) {
        let Work::Kernel { class, blocks, block_time, .. } = work else { return };
        let own = [(block_time.as_ns(), blocks)];
        let key = (stream, class, launched);
        match self.lower.binary_search_by_key(&key, |lower| (lower.stream, lower.class, lower.launched)) {
            Ok(place) => {
                let lower = &mut self.lower[place];
                lower.over = lower.over.max(over);
                lower.blocks = more_of(&lower.blocks, &own);
            }
            Err(place) => {
                let blocks = own.to_vec();
                self.lower.insert(place, Lower { stream, class, launched, level, over, blocks });
            }
        }
    }

    /// By class: blocks of all these kernels together.
    pub(super) fn lower_blocks(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let all = |lower: &Lower| lower.blocks.iter().map(|(_, blocks)| u64::from(*blocks)).sum();
        self.lower.iter().map(move |lower| (lower.class, all(lower)))
    }

    /// What these kernels may have on the SMs after `from` [ns] if, by level, none of them has begun a block after
    /// `begun` [ns]: one of the choices.
    pub(super) fn lower_choices(&self, begun: &[Option<u64>], from: u64) -> Vec<Vec<MayRun>> {
        let mut choices = vec![Vec::new()];
        for of_stream in self.lower.chunk_by(|one, other| one.stream == other.stream) {
            let Some(latest) = begun[of_stream[0].level] else { continue };
            let of_class = of_stream.chunk_by(|one, other| one.class == other.class);
            let alternatives: Vec<Vec<MayRun>> = of_class
                .map(|kernels| {
                    let mut most: Vec<(u64, u32)> = Vec::new();
                    let may_run = |lower: &&Lower| lower.launched.as_ns() <= latest && lower.over > from;
                    for lower in kernels.iter().filter(may_run) {
                        let until =
                            |&(time, blocks): &(u64, u32)| (latest.saturating_add(time).min(lower.over), blocks);
                        let until: Vec<(u64, u32)> =
                            lower.blocks.iter().map(until).filter(|until| until.0 > from).collect();
                        most = if most.is_empty() { until } else { more_of(&most, &until) };
                    }
                    let class = kernels[0].class;
                    most.into_iter().map(|(until, blocks)| MayRun { until, class, blocks }).collect()
                })
                .filter(|may_run: &Vec<MayRun>| !may_run.is_empty())
                .collect();
            if choices.len() * alternatives.len() <= MOST_CHOICES {
                let with = |choice: &Vec<MayRun>| {
                    alternatives.iter().map(|other| [&choice[..], &other[..]].concat()).collect::<Vec<_>>()
                };
                if !alternatives.is_empty() {
                    choices = choices.iter().flat_map(with).collect();
                }
            } else {
                for choice in &mut choices {
                    choice.extend(alternatives.iter().flatten());
                }
            }
        }
        choices
    }
}
