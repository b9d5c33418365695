//! Kernels beside those whose orders are explored, of priorities lower than all of these: what they may have on the
//! SMs.

use super::fill::{MayRun, more_of};
use crate::time::Instant;

/// Choices of one kernel of each stream above which all of them are taken together.
const MOST_CHOICES: usize = 32;

/// All these kernels, by stream, class and launch.
#[derive(Debug, Default)]
pub(super) struct Lower {
    groups: Vec<Group>,
}

/// Kernels of one stream and class that are launched at one instant; at any time one kernel of a stream has blocks.
#[derive(Debug)]
struct Group {
    stream: usize,
    class: usize,
    /// Not before.
    launched: Instant,
    level: usize,
    /// They have ended by then \[ns\]; [`u64::MAX`]: not known.
    over: u64,
    /// (block time \[ns\], blocks), ascending: so many blocks may run for so long.
    blocks: Vec<(u64, u32)>,
}

impl Lower {
    /// Adds a kernel: its stream and level, its class, blocks and block time \[ns\]. It is over by `over` \[ns\].
    pub(super) fn add(
        &mut self,
        (stream, level): (usize, usize),
        launched: Instant,
        over: u64,
        (class, blocks, block_time): (usize, u32, u64),
    ) {
        let own = [(block_time, blocks)];
        let key = (stream, class, launched);
        match self.groups.binary_search_by_key(&key, |group| (group.stream, group.class, group.launched)) {
            Ok(place) => {
                let group = &mut self.groups[place];
                group.over = group.over.max(over);
                group.blocks = more_of(&group.blocks, &own);
            }
            Err(place) => {
                let blocks = own.to_vec();
                self.groups.insert(place, Group { stream, class, launched, level, over, blocks });
            }
        }
    }

    /// By class: blocks of all these kernels together.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let all = |group: &Group| group.blocks.iter().map(|(_, blocks)| u64::from(*blocks)).sum();
        self.groups.iter().map(move |group| (group.class, all(group)))
    }

    /// What these kernels may have on the SMs after `from` \[ns\] if, by level, none of them has begun a block after
    /// `begun` \[ns\]: one of the choices.
    pub(super) fn choices(&self, begun: &[Option<u64>], from: u64) -> Vec<Vec<MayRun>> {
        let mut choices = vec![Vec::new()];
        for of_stream in self.groups.chunk_by(|one, other| one.stream == other.stream) {
            let Some(latest) = begun[of_stream[0].level] else { continue };
            let of_class = of_stream.chunk_by(|one, other| one.class == other.class);
            let alternatives: Vec<Vec<MayRun>> = of_class
                .map(|kernels| {
                    let mut most: Vec<(u64, u32)> = Vec::new();
                    let may_run = |group: &&Group| group.launched.as_ns() <= latest && group.over > from;
                    for group in kernels.iter().filter(may_run) {
                        let until =
                            |&(time, blocks): &(u64, u32)| (latest.saturating_add(time).min(group.over), blocks);
                        let until: Vec<(u64, u32)> =
                            group.blocks.iter().map(until).filter(|until| until.0 > from).collect();
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
