//! A scenario in which the jobs of one host thread take longer.

use std::collections::BTreeMap;

use super::model::{Scenario, Step};
use crate::time::Duration;
use crate::workload::{BlockTime, CheckedCopy, CopyId, KernelId, WorkItems};

impl Scenario {
    /// The longest block, copy or piece of CPU work in a job of a thread; `None` if it has none.
    pub(crate) fn longest_piece(&self, thread: usize) -> Option<Duration> {
        let steps = self.threads.get(thread).map_or(&[][..], |thread| &thread.steps);
        let pieces = steps.iter().filter_map(|step| match *step {
            Step::Launch(kernel, _) => self.longest_block_time(kernel),
            Step::Copy(copy, _) => self.copies().get(copy.index()).map(CheckedCopy::time),
            Step::Work(time) => Some(time),
            _ => None,
        });
        pieces.max()
    }

    /// The same with all blocks, copies and CPU work of one thread as long as `longer` says. Others keep their times,
    /// also where they launch the same kernels. `None` past the longest times there are.
    pub(crate) fn with_longer_jobs(
        &self,
        thread: usize,
        longer: &impl Fn(Duration) -> Option<Duration>,
    ) -> Option<Self> {
        let mut grown = self.clone();
        let (mut kernels, mut copies) = (BTreeMap::new(), BTreeMap::new());
        let mut steps = std::mem::take(&mut grown.threads.get_mut(thread)?.steps);
        for step in &mut steps {
            match step {
                Step::Launch(kernel, _) => {
                    if !kernels.contains_key(kernel) {
                        kernels.insert(*kernel, grown.add_longer_kernel(*kernel, longer)?);
                    }
                    *kernel = kernels[kernel];
                }
                Step::Copy(copy, _) => {
                    if !copies.contains_key(copy) {
                        copies.insert(*copy, grown.add_longer_copy(*copy, longer)?);
                    }
                    *copy = copies[copy];
                }
                Step::Work(time) => *time = longer(*time)?,
                _ => {}
            }
        }
        grown.threads[thread].steps = steps;
        Some(grown)
    }

    fn add_longer_kernel(
        &mut self,
        kernel: KernelId,
        longer: &impl Fn(Duration) -> Option<Duration>,
    ) -> Option<KernelId> {
        let stated = self.kernels().get(kernel.index())?.clone();
        let BlockTime { best, worst } = stated.duration;
        let own: Option<Vec<Duration>> = self.own_block_times(kernel).iter().map(|time| longer(*time)).collect();
        let (own, items) = (own?, stated.work_items());
        let id = self.catalogue.add_checked(stated).ok()?;
        if self.catalogue.is_graph_node(kernel) {
            self.catalogue.note_graph_node(id);
        }
        if let Some(WorkItems::Loop { items, time }) = items {
            self.set_work_items(id, WorkItems::Loop { items, time: longer(time)? }).ok()?;
            return Some(id);
        }
        self.catalogue.set_block_time(id, BlockTime { best: longer(best)?, worst: longer(worst)? }).ok()?;
        if !own.is_empty() {
            self.block_times.insert(id, own.into());
        }
        Some(id)
    }

    fn add_longer_copy(&mut self, copy: CopyId, longer: &impl Fn(Duration) -> Option<Duration>) -> Option<CopyId> {
        let stated = self.copies().get(copy.index())?;
        let (stated, time) = (**stated, longer(stated.time())?);
        let id = self.catalogue.add_copy(stated).ok()?;
        self.catalogue.set_copy_time(id, time);
        Some(id)
    }
}
