//! What if: a scenario with other priorities, block times, grids, clusters, streams, masks or connections, or with
//! longer jobs of one host thread.

mod grid_barrier;
mod hosts;
mod kernels;

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

pub use kernels::NewTime;

use super::host_thread::Step;
use super::model::Scenario;
use super::native::is_branch_of;
use crate::device::{ChannelOrder, RegisterDealing, SmMask};
use crate::spelling::{CalledOption, option};
use crate::time::Duration;
use crate::words::{counted, did_you_mean, listed};
use crate::workload::{
    BlockTime, CheckedCopy, CheckedKernel, Clusters, CopyId, KernelId, StreamId, StreamSpec, WorkItems, WorkloadError,
    is_stream_meant,
};

/// Changes to a scenario, by names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WhatIf {
    /// Streams and the priorities that they get.
    pub priorities: Vec<(String, i32)>,
    /// Kernels and the streams into which all their launches go.
    pub streams: Vec<(String, String)>,
    /// Kernels and how long each of their blocks runs.
    pub block_times: Vec<(String, NewTime)>,
    /// Hosts and how long each of their steps takes that sleeps or works; or functions that hosts of a profile call,
    /// and how long their calls take of each step.
    pub host_times: Vec<(String, NewTime)>,
    /// Kernels and how many blocks their grids have.
    pub blocks: Vec<(String, u32)>,
    /// Kernels and of how many blocks their clusters are; 1: their blocks come in none.
    pub clusters: Vec<(String, u32)>,
    /// Lists of kernels, with commas between: no block of one ends before all blocks of all of its list have begun.
    pub grid_barriers: Vec<String>,
    /// Streams and the SMs that they must not use.
    pub sm_masks: Vec<(String, SmMask)>,
    /// Hardware channels that streams share (`CUDA_DEVICE_MAX_CONNECTIONS`).
    pub connections: Option<u32>,
    /// How streams share them.
    pub channel_order: Option<ChannelOrder>,
    /// How warps that take unlike numbers of registers are dealt to sub-partitions.
    pub register_dealing: Option<RegisterDealing>,
}

/// Why a change cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WhatIfError {
    /// No such stream or kernel.
    #[error("{option}: no {kind} is called {name:?}{near}; there are {known}")]
    Unknown {
        /// `stream` or `kernel`.
        kind: &'static str,
        /// The option.
        option: CalledOption<'static>,
        /// The name.
        name: String,
        /// Which of those that exist may be meant.
        near: String,
        /// Names that exist.
        known: String,
    },
    /// The NULL stream has a fixed priority and no mask.
    #[error("{option}: the NULL stream has the lowest priority and all SMs")]
    NullStream {
        /// The option.
        option: CalledOption<'static>,
    },
    /// The device does not take it.
    #[error("{option}: {error}")]
    Refused {
        /// The option.
        option: CalledOption<'static>,
        /// Why.
        error: WorkloadError,
    },
    /// Of some blocks no time is stated.
    #[error("{option}: {kernel:?} would have {blocks} blocks, and \"block_times\" has {times} times",
        option = option("set_blocks"))]
    BlockTimes {
        /// The kernel.
        kernel: String,
        /// How many blocks it would have.
        blocks: u32,
        /// How many have times.
        times: usize,
    },
    /// The edges of a graph say in what order its kernels run.
    #[error("{option}: {kernel:?} is launched by a graph, whose edges say when it begins, and stays in the graph's stream",
        option = option("set_stream"))]
    GraphNode {
        /// The kernel.
        kernel: String,
    },
    /// The device cannot have so many connections.
    #[error("{option}: {0}", option = option("connections"))]
    Connections(crate::device::DeviceError),
}

fn unknown<'n>(
    kind: &'static str,
    option: CalledOption<'static>,
    name: &str,
    known: impl Iterator<Item = &'n str> + Clone,
) -> WhatIfError {
    let near = did_you_mean(name, known.clone());
    let known = listed(known.collect::<BTreeSet<&str>>().into_iter());
    WhatIfError::Unknown { kind, option, name: name.to_owned(), near, known }
}

impl Scenario {
    /// This scenario with changes. Streams of profiles also go by their number alone; kernels by the function's whole
    /// name or its short one, in which `*` stands for any characters.
    ///
    /// # Errors
    /// [`WhatIfError`] for names that do not exist and for what the device does not take.
    pub fn what_if(mut self, changes: &WhatIf) -> Result<Self, WhatIfError> {
        if changes.connections.is_some() || changes.channel_order.is_some() || changes.register_dealing.is_some() {
            let device = self.device().with(|spec| {
                if changes.connections.is_some() {
                    spec.channels = changes.connections;
                    spec.sources.remove("channels");
                    spec.assumptions.remove("channels");
                }
                spec.channel_order = changes.channel_order.unwrap_or(spec.channel_order);
                let allocation = &mut spec.register_allocation;
                allocation.dealing = changes.register_dealing.unwrap_or(allocation.dealing);
            });
            let device = device.map_err(WhatIfError::Connections)?;
            let refused = |error| WhatIfError::Refused { option: option("connections"), error };
            self.catalogue = self.catalogue.on(device).map_err(refused)?;
        }
        for (name, priority) in &changes.priorities {
            self.change(option("set_priority"), name, |stream| stream.priority = *priority)?;
        }
        for (name, time) in &changes.block_times {
            self.set_block_time(name, *time)?;
        }
        for (name, time) in &changes.host_times {
            self.set_host_time(name, *time)?;
        }
        self.set_grids(&changes.blocks, &changes.clusters)?;
        for (name, mask) in &changes.sm_masks {
            self.change(option("sm_mask"), name, |stream| stream.sm_mask = Some(*mask))?;
        }
        for (kernel, stream) in &changes.streams {
            let to = self.stream_named(option("set_stream"), stream)?;
            self.move_kernel(kernel, to)?;
        }
        for group in &changes.grid_barriers {
            self.add_grid_barrier(group)?;
        }
        Ok(self)
    }

    /// Whether CUDA takes all launches with other grids: cooperative ones have to fit.
    fn check_launches(&self, option: CalledOption<'static>) -> Result<(), WhatIfError> {
        let launches = self.threads.iter().flat_map(|thread| &thread.steps).filter_map(|step| match *step {
            Step::Launch(kernel, stream) => Some((kernel, stream)),
            _ => None,
        });
        let check = |(kernel, stream)| self.catalogue.check_launch(kernel, stream);
        launches.into_iter().try_for_each(check).map_err(|error| WhatIfError::Refused { option, error })
    }

    /// The stream of a name, or of a number alone.
    pub(crate) fn stream_named(&self, option: CalledOption<'static>, name: &str) -> Result<StreamId, WhatIfError> {
        let streams = || (0..).map(StreamId).zip(self.streams());
        let exact = streams().find(|(_, stream)| *stream.name == *name);
        let by_number = || streams().find(|(_, stream)| is_stream_meant(&stream.name, name));
        exact
            .or_else(by_number)
            .map(|(id, _)| id)
            .ok_or_else(|| unknown("stream", option, name, self.streams().iter().map(|stream| &*stream.name)))
    }

    /// Changes a stream by name.
    fn change(
        &mut self,
        option: CalledOption<'static>,
        name: &str,
        change: impl Fn(&mut StreamSpec),
    ) -> Result<(), WhatIfError> {
        let id = self.stream_named(option, name)?;
        let own = self.streams()[id.index()].name.clone();
        // Branches of graphs have what the stream has into which they are launched.
        let branches = (0..).map(StreamId).zip(self.streams());
        let branches: Vec<StreamId> =
            branches.filter(|(_, stream)| is_branch_of(&stream.name, &own)).map(|(branch, _)| branch).collect();
        for stream in branches.into_iter().chain([id]) {
            if self.catalogue.is_null_stream(stream) {
                return Err(WhatIfError::NullStream { option });
            }
            let mut spec = StreamSpec::clone(&self.streams()[stream.index()]);
            change(&mut spec);
            self.catalogue.set_stream(stream, spec).map_err(|error| WhatIfError::Refused { option, error })?;
        }
        Ok(())
    }

    /// Grids and clusters, of which one has to go with the other only once both are set. A fallback stays where it
    /// divides the new size.
    fn set_grids(&mut self, blocks: &[(String, u32)], sizes: &[(String, u32)]) -> Result<(), WhatIfError> {
        if blocks.is_empty() && sizes.is_empty() {
            return Ok(());
        }
        let (blocks_option, cluster_option) = (option("set_blocks"), option("set_cluster"));
        let refused = |option| move |error| WhatIfError::Refused { option, error };
        let mut clusters: Vec<Option<Clusters>> = self.kernels().iter().map(CheckedKernel::clusters).collect();
        for (name, size) in sizes {
            for kernel in self.kernels_named(cluster_option, name)? {
                let clusters = &mut clusters[kernel.index()];
                let before = clusters.and_then(|before| before.fallback);
                let fallback = before.filter(|fallback| fallback < size && size.is_multiple_of(*fallback));
                *clusters = Some(Clusters { size: *size, fallback });
            }
        }
        for (name, blocks) in blocks {
            for kernel in self.kernels_named(blocks_option, name)? {
                let items = self.kernels().get(kernel.index()).and_then(CheckedKernel::work_items);
                let items = items.filter(|items| matches!(items, WorkItems::Loop { .. }));
                if items.is_none() {
                    self.check_times(kernel, *blocks)?;
                }
                let set = self.catalogue.set_clusters(kernel, None);
                let set = set.and_then(|()| self.catalogue.set_blocks(kernel, *blocks));
                let set = set.and_then(|()| items.map_or(Ok(()), |items| self.set_work_items(kernel, items)));
                set.map_err(refused(blocks_option))?;
            }
        }
        let option = if sizes.is_empty() { blocks_option } else { cluster_option };
        for (kernel, clusters) in (0..).map(KernelId).zip(clusters) {
            self.catalogue.set_clusters(kernel, clusters).map_err(refused(option))?;
        }
        self.check_launches(option)
    }

    /// More blocks than have times of their own need a time that is stated for all.
    fn check_times(&self, kernel: KernelId, blocks: u32) -> Result<(), WhatIfError> {
        let own = self.block_times.get(&kernel).filter(|own| own.len() < blocks as usize);
        let (Some(own), Some(known)) = (own, self.kernels().get(kernel.index())) else { return Ok(()) };
        let span = own.iter().min().zip(own.iter().max());
        let is_stated = span != Some((&known.duration.best, &known.duration.worst));
        let refused = || WhatIfError::BlockTimes { kernel: known.title.to_string(), blocks, times: own.len() };
        if is_stated { Ok(()) } else { Err(refused()) }
    }

    fn move_kernel(&mut self, name: &str, to: StreamId) -> Result<(), WhatIfError> {
        let meant = self.kernels_named(option("set_stream"), name)?;
        if meant.iter().any(|kernel| self.catalogue.is_graph_node(*kernel)) {
            return Err(WhatIfError::GraphNode { kernel: name.to_owned() });
        }
        // What else goes into the streams that they leave was in an order with them.
        let is_moved = |step: &Step| matches!(step, Step::Launch(kernel, _) if meant.binary_search(kernel).is_ok());
        let steps = || self.threads.iter().flat_map(|thread| &thread.steps);
        let kept = steps().filter(|step| !is_moved(step)).filter_map(|step| Some(step.submission()?.1));
        let kept: BTreeSet<StreamId> = kept.collect();
        let mut torn = 0_u64;
        for step in self.threads.iter_mut().flat_map(|thread| &mut thread.steps).filter(|step| is_moved(step)) {
            if let Step::Launch(_, stream) = step {
                torn += u64::from(*stream != to && kept.contains(stream));
                *stream = to;
            }
        }
        if torn > 0 {
            self.notes.push(format!(
                "{}: nothing orders {} and the other work of the stream before any more; where one needs what the \
                 other computes, only events would keep that",
                option("set_stream").of(name, &self.streams()[to.index()].name),
                counted(torn, "launch")
            ));
        }
        Ok(())
    }
}

impl Scenario {
    /// How long a step takes at most: a block of the kernel, the copy, or the CPU work; `None` for all other steps.
    pub(crate) fn time_of_step(&self, step: &Step) -> Option<Duration> {
        match *step {
            Step::Launch(kernel, _) => self.longest_block_time(kernel),
            Step::Copy(copy, _) => self.copies().get(copy.index()).map(CheckedCopy::time),
            Step::Work(time) => Some(time),
            _ => None,
        }
    }

    /// The same with all blocks, copies and CPU work of some steps, by thread and number, as long as `changed` says.
    /// Others keep their times, also where they launch the same kernels. `None` past the longest times there are.
    pub(crate) fn with_times(
        &self,
        steps: &BTreeSet<(usize, usize)>,
        changed: &impl Fn(Duration) -> Option<Duration>,
    ) -> Option<Self> {
        let mut grown = self.clone();
        let (mut kernels, mut copies) = (BTreeMap::new(), BTreeMap::new());
        for &(thread, number) in steps {
            let mut step = *grown.threads.get(thread)?.steps.get(number)?;
            match &mut step {
                Step::Launch(kernel, _) => {
                    if !kernels.contains_key(kernel) {
                        kernels.insert(*kernel, grown.add_changed_kernel(*kernel, changed)?);
                    }
                    *kernel = kernels[kernel];
                }
                Step::Copy(copy, _) => {
                    if !copies.contains_key(copy) {
                        copies.insert(*copy, grown.add_changed_copy(*copy, changed)?);
                    }
                    *copy = copies[copy];
                }
                Step::Work(time) => *time = changed(*time)?,
                _ => {}
            }
            grown.threads[thread].steps[number] = step;
        }
        Some(grown)
    }

    fn add_changed_kernel(
        &mut self,
        kernel: KernelId,
        changed: &impl Fn(Duration) -> Option<Duration>,
    ) -> Option<KernelId> {
        let stated = self.kernels().get(kernel.index())?.clone();
        let BlockTime { best, worst } = stated.duration;
        let own: Option<Vec<Duration>> = self.own_block_times(kernel).iter().map(|time| changed(*time)).collect();
        let (own, items) = (own?, stated.work_items());
        let id = self.catalogue.add_checked(stated).ok()?;
        if self.catalogue.is_graph_node(kernel) {
            self.catalogue.note_graph_node(id);
        }
        if let Some(WorkItems::Loop { items, time }) = items {
            self.set_work_items(id, WorkItems::Loop { items, time: changed(time)? }).ok()?;
            return Some(id);
        }
        self.catalogue.set_block_time(id, BlockTime { best: changed(best)?, worst: changed(worst)? }).ok()?;
        if !own.is_empty() {
            self.block_times.insert(id, own.into());
        }
        Some(id)
    }

    fn add_changed_copy(&mut self, copy: CopyId, changed: &impl Fn(Duration) -> Option<Duration>) -> Option<CopyId> {
        let stated = self.copies().get(copy.index())?;
        let (stated, time) = (**stated, changed(stated.time())?);
        let id = self.catalogue.add_copy(stated).ok()?;
        self.catalogue.set_copy_time(id, time);
        Some(id)
    }
}
