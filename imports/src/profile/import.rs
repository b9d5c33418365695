//! Makes a scenario of what one GPU of a profile ran.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::device::{as_recorded, within_limits};
use super::durations::{BlockTimeCounts, BlockTimeSource};
use super::gpu_profile::{
    GpuProfile, GpuProfileError, LaunchType, ProfiledKernel, ProfiledKind, ProfiledOperation, short_name,
};
use super::host_threads::{self, Submitted};
use super::kernel_medians::Learned;
use super::rescale::{Rescaled, Scale};
use super::submissions::{KernelGap, LaunchLatency};
use super::{ImportOptions, Launches};
use crate::device::BlockShape;
use crate::scenario::{ReadOptions, Scenario, ScenarioBuilder, Step};
use crate::time::Duration;
use crate::words::counted;
use crate::workload::{
    BlockClock, BlockTime, Copy, CopyId, Kernel, KernelId, ProcessId, StreamId, StreamSpec, Synchronization,
    numbered_stream,
};

/// A stream of the scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ImportedStream {
    /// Name.
    pub name: String,
    /// Priority.
    pub priority: i32,
    /// Kernels, copies and memsets.
    pub operations: u64,
}

/// A scenario made of a profile, and what became of the profile on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// The scenario; its notes say what was assumed and left out.
    pub scenario: Scenario,
    /// How it was taken.
    pub options: ImportOptions,
    /// The GPU.
    pub gpu: u32,
    /// Kernels taken.
    pub kernels: u64,
    /// Copies taken.
    pub copies: u64,
    /// Memsets taken.
    pub memsets: u64,
    /// Streams in which something was taken.
    pub(crate) streams: Vec<ImportedStream>,
    /// From where block times are.
    pub(crate) block_times: BlockTimeCounts,
    /// How long a launch takes to reach an idle GPU; `None`: the profile does not tell.
    pub(crate) launch_latency: Option<LaunchLatency>,
    /// How long the GPU takes from one kernel of a stream to the next; `None`: the profile does not tell.
    pub(crate) kernel_gap: Option<KernelGap>,
    /// What t = 0 of the scenario is on the profile's clock \[ns\].
    pub base_ns: u64,
    /// Of each host thread, which operations of the profile it submits, in that order.
    pub submitted: Vec<Vec<u32>>,
}

/// What profiles do not tell, and verdicts on them rest on.
const ESTIMATED: &str = "block times as estimated from the profile";

/// Public profiles have launch latencies of 3 to 40 us; those of which much more is made up have other causes.
const LONGEST_USUAL_LATENCY_NS: u64 = 100_000;

impl GpuProfile {
    /// Makes a scenario of what one GPU ran.
    ///
    /// # Errors
    /// [`GpuProfileError`] if the GPU is not known, nothing is left of the profile, or a kernel cannot run on the
    /// device.
    pub fn import(&self, chosen: &ImportOptions, options: &ReadOptions) -> Result<Import, GpuProfileError> {
        self.import_learned(chosen, options, None)
    }

    /// The same of a part of whose kernels no more is known than what was learned.
    #[doc(hidden)]
    pub fn import_learned(
        &self,
        chosen: &ImportOptions,
        options: &ReadOptions,
        learned: Option<&Learned>,
    ) -> Result<Import, GpuProfileError> {
        let refuse = |what: String| GpuProfileError::new(&self.file, what);
        let (gpu, choice) = self.choose_gpu(chosen.gpu)?;
        let recorded_on = self.device(gpu);
        let device = match (&options.device, &recorded_on) {
            (Some(device), _) | (None, Ok(device)) => device.clone(),
            (None, Err(error)) => return Err(error.clone()),
        };
        let recorded_on = recorded_on.unwrap_or_else(|_| device.clone());
        let mut taken = self.taken(gpu, chosen)?;
        if let Some(learned) = learned {
            taken.retain(|&index| learned.takes.contains(&self.operations[index as usize].start_ns));
        }
        let (launch_latency, kernel_gap) = (self.launch_latency(gpu), self.kernel_gap(gpu));
        if launch_latency.is_none() && options.launch_latency.is_some() {
            let why = "a launch latency (L1) has no effect that could be told: no launch has a host call in the file, so \
                       each is submitted when it started";
            return Err(refuse(why.to_owned()));
        }
        let latency = launch_latency.map_or(0, |latency| latency.latency_ns);
        let scale = Scale::new(chosen.rescale, &recorded_on, &device).map_err(refuse)?;
        let as_recorded = as_recorded(&device, latency, kernel_gap).map_err(|error| refuse(error.to_string()))?;
        let later = ReadOptions { device: None, ..options.clone() };
        let mut builder = ScenarioBuilder::new(stem(&self.file), as_recorded, &later);
        builder.settings(None, None, None);
        builder.note(format!("{} of {}", self.format.name(), recorded_on.title));
        for note in choice.into_iter().chain(scale.notes()).chain(self.left_out_notes()) {
            builder.note(note);
        }
        builder.assume(ESTIMATED);
        let streams = self.add_streams(&taken, &mut builder)?;

        let times = self.learned_block_times(gpu, scale, chosen, learned);
        let copy_times = self.copy_times(gpu, &builder.device().copy);
        let mut work = Work { is_elsewhere: recorded_on.name != device.name, ..Work::default() };
        let held_ns = self.held_unseen_ns(gpu, kernel_gap.map_or(0, |gap| gap.gap_ns));
        let mut steps: Vec<Submitted> = Vec::with_capacity(taken.len());
        for &index in &taken {
            let operation = &self.operations[index as usize];
            let stream = streams.get(&operation.stream).copied().unwrap_or(StreamId::NULL);
            let step = match operation.kind {
                ProfiledKind::Kernel(kernel) => {
                    // Every kernel of this GPU has one.
                    let Some(time) = times.get(index as usize).copied().flatten() else { continue };
                    work.count(self, (&kernel, operation.duration_ns), time.source, scale, chosen);
                    let id = work.kernel(self, (&kernel, stream), time.block_ns, &mut builder).map_err(refuse)?;
                    Step::Launch(id, stream)
                }
                ProfiledKind::Copy { direction, bytes, .. } => {
                    work.copies += 1;
                    let time_ns = copy_times[index as usize];
                    work.shortened += u64::from(time_ns < operation.duration_ns);
                    let duration = Some(Duration::from_ns(time_ns));
                    Step::Copy(work.copy(Copy { direction, bytes, duration }, &mut builder).map_err(refuse)?, stream)
                }
                ProfiledKind::Memset => {
                    work.memsets += 1;
                    work.memset_ns = work.memset_ns.saturating_add(operation.duration_ns);
                    let time = Duration::from_ns(operation.duration_ns);
                    Step::Launch(work.memset(time, &mut builder).map_err(refuse)?, stream)
                }
            };
            let held = match held_ns[index as usize] {
                0 => None,
                ns => Some(Step::Launch(work.held(Duration::from_ns(ns), &mut builder).map_err(refuse)?, stream)),
            };
            steps.push(Submitted { index, step, held });
        }
        work.add_notes(self, scale, &mut builder);
        self.note_launches(chosen, launch_latency, kernel_gap, &taken, &mut builder);
        let hosts = host_threads::host_threads(self, gpu, &steps, &streams, latency, chosen.launches, &mut builder)
            .map_err(|error| refuse(error.to_string()))?;
        let calls = hosts.calls(self);
        for note in hosts.notes {
            builder.note(note);
        }
        for thread in hosts.threads {
            builder.add_thread(thread);
        }
        if let Some(name) = builder.unused_block_duration() {
            return Err(refuse(format!("{name:?} was given a block duration, and a profile has those of all kernels")));
        }
        if let Some(unused) = builder.unused_timing() {
            return Err(refuse(unused));
        }
        let mut scenario = builder.build_ending().map_err(|(_, why)| refuse(format!("{why}; {}", why.help())))?;
        scenario.calls = Some(Arc::new(calls));
        let streams = self.imported_streams(&scenario, &streams, &taken);
        Ok(Import {
            scenario,
            options: *chosen,
            gpu,
            kernels: work.launches,
            copies: work.copies,
            memsets: work.memsets,
            streams,
            block_times: work.block_times,
            launch_latency,
            kernel_gap,
            base_ns: hosts.base_ns,
            submitted: hosts.submitted,
        })
    }

    /// The operations that are asked for, by start.
    #[doc(hidden)]
    pub fn taken(&self, gpu: u32, chosen: &ImportOptions) -> Result<Vec<u32>, GpuProfileError> {
        let on_gpu = |operation: &&ProfiledOperation| self.gpu_of(operation.stream) == gpu;
        let first = self.operations.iter().find(on_gpu).map_or(0, |operation| operation.start_ns);
        let after = |time: Option<Duration>| time.map(|time| first.saturating_add(time.as_ns()));
        let (from, to) = (after(chosen.from).unwrap_or(0), after(chosen.to).unwrap_or(u64::MAX));
        let taken = (0..)
            .zip(&self.operations)
            .filter(|(_, operation)| on_gpu(operation) && operation.start_ns >= from && operation.start_ns < to);
        let taken: Vec<u32> = taken.map(|(index, _)| index).collect();
        if taken.is_empty() {
            return Err(GpuProfileError::new(
                &self.file,
                "nothing of the profile starts in the part that is asked for",
            ));
        }
        Ok(taken)
    }

    fn add_streams(
        &self,
        taken: &[u32],
        builder: &mut ScenarioBuilder<'_>,
    ) -> Result<BTreeMap<u32, StreamId>, GpuProfileError> {
        let mut used: Vec<u32> = taken.iter().map(|&index| self.operations[index as usize].stream).collect();
        crate::sorted::sort_by_key(&mut used, |&stream| {
            let stream = &self.streams[stream as usize];
            (stream.process, stream.context, stream.number)
        });
        used.dedup();
        let of_several = |key: fn(&super::ProfiledStream) -> u64| {
            let first = used.first().map(|&stream| key(&self.streams[stream as usize]));
            used.iter().any(|&stream| Some(key(&self.streams[stream as usize])) != first)
        };
        let (processes, contexts) = (of_several(|stream| stream.process), of_several(|s| u64::from(s.context)));
        if processes || contexts {
            builder.note("several contexts ran; they are modelled as one, without the time slices between them");
        }
        // N1 and N2 hold between the NULL stream and blocking streams alone, and what is not the NULL stream of the
        // model can be given a priority.
        let any_blocking = used.iter().any(|&stream| {
            let stream = &self.streams[stream as usize];
            !stream.is_null && stream.blocking == Some(true)
        });
        if self.streams.iter().all(|stream| stream.priority.is_none()) {
            builder.note("the profile states no stream priorities: all are 0");
        }
        if used.len() > 1 && self.streams.iter().all(|stream| stream.blocking.is_none()) {
            builder.note("the profile does not say which streams wait for the NULL stream: none does");
        }
        if self.channels > 0 {
            builder.note(format!(
                "kernels name {} hardware channels; which stream has which one is by the model, not by the file",
                self.channels
            ));
        }
        let mut ids = BTreeMap::new();
        for &index in &used {
            let stream = &self.streams[index as usize];
            if stream.is_null && any_blocking && !ids.values().any(|id| *id == StreamId::NULL) {
                ids.insert(index, StreamId::NULL);
                continue;
            }
            let context = if contexts { format!(" of context {}", stream.context) } else { String::new() };
            let process = if processes { format!(" of process {}", stream.process) } else { String::new() };
            let name = numbered_stream(stream.number) + &context + &process;
            let spec = StreamSpec {
                name: name.into(),
                process: ProcessId::FIRST,
                priority: stream.priority.unwrap_or(StreamSpec::DEFAULT_PRIORITY),
                blocking: stream.blocking.unwrap_or(false) && !stream.is_null,
                sm_mask: None,
                green_context: None,
            };
            let id = builder
                .add_stream(spec)
                .map_err(|error| GpuProfileError::new(&self.file, format!("stream {}: {error}", stream.number)))?;
            ids.insert(index, id);
        }
        Ok(ids)
    }

    fn imported_streams(
        &self,
        scenario: &Scenario,
        streams: &BTreeMap<u32, StreamId>,
        taken: &[u32],
    ) -> Vec<ImportedStream> {
        let mut counts: BTreeMap<StreamId, u64> = BTreeMap::new();
        for &index in taken {
            if let Some(id) = streams.get(&self.operations[index as usize].stream) {
                *counts.entry(*id).or_insert(0) += 1;
            }
        }
        let imported = counts.into_iter().filter_map(|(id, operations)| {
            let stream = scenario.streams().get(id.index())?;
            Some(ImportedStream { name: stream.name.to_string(), priority: stream.priority, operations })
        });
        imported.collect()
    }

    fn note_launches(
        &self,
        chosen: &ImportOptions,
        latency: Option<LaunchLatency>,
        gap: Option<KernelGap>,
        taken: &[u32],
        builder: &mut ScenarioBuilder<'_>,
    ) {
        if let Some(LaunchLatency { latency_ns, upper_ns, launches, idle }) = latency {
            let [latency, upper] = [latency_ns, upper_ns].map(Duration::from_ns);
            let over = if idle == launches {
                format!("{} onto an idle GPU", counted(launches, "launch"))
            } else {
                let operations = counted(idle, "operation");
                format!("{}, as it is more over the {operations} that found the GPU idle", counted(launches, "kernel"))
            };
            let is_slow = latency_ns > LONGEST_USUAL_LATENCY_NS;
            builder.note(format!(
                "launch latency {latency} (upper quartile {upper}): the lower quartile from call to start over {over}{}",
                if is_slow {
                    "; launches usually take 3 to 40 us, so that code may have been loaded in it, or pages of managed \
                     memory moved"
                } else {
                    ""
                }
            ));
        }
        if let Some(KernelGap { gap_ns, kernels, scattered }) = gap {
            let gap = Duration::from_ns(gap_ns);
            let over = format!("over {} that stood ready behind another", counted(kernels, "kernel"));
            builder.note(if scattered {
                format!(
                    "kernel gap {gap}: the lower decile {over}; their gaps are too different for a mean, as if the file had \
                     only some of the kernels"
                )
            } else {
                format!("kernel gap {gap}: the mean of the middle half {over}")
            });
        }
        let unknown = taken.iter().filter(|&&index| self.operations[index as usize].call.is_none()).count();
        if unknown > 0 {
            builder.note(format!(
                "no host call in the file for {unknown} of {}: each is submitted when it started, or before what followed \
                 it in its stream",
                counted(taken.len(), "operation")
            ));
        }
        if chosen.launches == Launches::Host && taken.len() == unknown {
            builder.note("without host calls nothing waits for the GPU: the launches are the recorded ones");
        }
    }
}

/// The file's name without its folders and endings.
fn stem(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.split('.').find(|part| !part.is_empty()).unwrap_or(name).to_owned()
}

/// What equal kernels have in common: function, blocks, what one takes, its time \[ns\], whether all begin together.
type KernelKey = (u32, u32, BlockShape, u64, bool);

/// Kernels and copies made known so far: equal ones are one.
#[derive(Default)]
struct Work {
    kernels: FxHashMap<KernelKey, KernelId>,
    known_copies: FxHashMap<Copy, CopyId>,
    known_memsets: FxHashMap<Duration, KernelId>,
    block_times: BlockTimeCounts,
    /// Launches by function that are cooperative, that would be if the device held them, and of a type that is not
    /// known.
    cooperative: BTreeMap<u32, u64>,
    too_large: BTreeMap<u32, u64>,
    /// Whether the device is another than the recorded one.
    is_elsewhere: bool,
    /// Launches by function of which no block fits that, which are simulated with blocks that take as much as one may.
    smaller: BTreeMap<u32, u64>,
    unknown_type: BTreeMap<u32, u64>,
    /// Launches that keep their recorded time, by function.
    as_recorded: BTreeMap<u32, u64>,
    rescaled: Rescaled,
    launches: u64,
    copies: u64,
    /// Copies that shared a link, and would take less time alone.
    shortened: u64,
    memsets: u64,
    memset_ns: u64,
    /// Times for which something held an operation that is not in the file.
    held: u64,
    held_ns: u64,
}

/// A kernel of one small block.
fn small(name: &str, time: Duration, builder: &mut ScenarioBuilder<'_>) -> Result<KernelId, String> {
    let shape = BlockShape { threads: builder.device().warp_size, ..BlockShape::default() };
    let added = builder.add_kernel(Kernel {
        title: name.into(),
        name: name.into(),
        blocks: 1,
        shape,
        duration: BlockTime::fixed(time),
        clock: BlockClock::RunTime,
        sm_mask: None,
    });
    added.map_err(|error| format!("{name}: {error}"))
}

impl Work {
    /// Counts a launch by where its time is from, and by what it is rescaled.
    fn count(
        &mut self,
        profile: &GpuProfile,
        (kernel, duration_ns): (&ProfiledKernel, u64),
        source: BlockTimeSource,
        scale: Scale<'_>,
        chosen: &ImportOptions,
    ) {
        self.block_times.add(source);
        if source == BlockTimeSource::Recorded {
            *self.as_recorded.entry(kernel.function).or_insert(0) += 1;
        } else if !profile.keeps_duration(kernel, chosen) {
            self.rescaled.add(kernel, duration_ns, scale.limiter(profile.name_of(kernel), kernel));
        }
    }

    fn kernel(
        &mut self,
        profile: &GpuProfile,
        (kernel, stream): (&ProfiledKernel, StreamId),
        block_ns: u64,
        builder: &mut ScenarioBuilder<'_>,
    ) -> Result<KernelId, String> {
        self.launches += 1;
        let is_cooperative = kernel.launch == LaunchType::Cooperative;
        let key = (kernel.function, kernel.blocks, kernel.shape, block_ns, is_cooperative);
        let id = match self.kernels.get(&key) {
            Some(known) => *known,
            None => self.new_kernel(profile, (kernel, stream), key, builder)?,
        };
        let own = builder.so_far().kernels().get(id.index());
        if own.is_some_and(|own| own.shape != kernel.shape) {
            *self.smaller.entry(kernel.function).or_insert(0) += 1;
        }
        // One that ran where it was recorded may have more blocks than this device holds.
        let begins_together = own.is_some_and(|own| own.synchronization().is_some());
        let launches = match kernel.launch {
            LaunchType::Regular => return Ok(id),
            LaunchType::Unknown => &mut self.unknown_type,
            LaunchType::Cooperative if begins_together => &mut self.cooperative,
            LaunchType::Cooperative => &mut self.too_large,
        };
        *launches.entry(kernel.function).or_insert(0) += 1;
        Ok(id)
    }

    fn new_kernel(
        &mut self,
        profile: &GpuProfile,
        (kernel, stream): (&ProfiledKernel, StreamId),
        key: KernelKey,
        builder: &mut ScenarioBuilder<'_>,
    ) -> Result<KernelId, String> {
        let (.., block_ns, is_cooperative) = key;
        let name = profile.name_of(kernel);
        let with = |shape: BlockShape| Kernel {
            title: short_name(name).into(),
            name: Arc::clone(name),
            blocks: kernel.blocks,
            shape,
            duration: BlockTime::fixed(Duration::from_ns(block_ns)),
            clock: BlockClock::RunTime,
            sm_mask: None,
        };
        let mut added = builder.add_kernel(with(kernel.shape));
        if added.is_err() && self.is_elsewhere {
            // For such a GPU there would be another kernel.
            added = builder.add_kernel(with(within_limits(kernel.shape, builder.device())));
        }
        let id = added.map_err(|error| format!("kernel {:?}: {error}", short_name(name)))?;
        if is_cooperative && kernel.blocks <= builder.so_far().catalogue.most_resident(id, stream) {
            let together = Synchronization { is_cooperative, ..Synchronization::default() };
            builder.set_synchronization(id, together).map_err(|error| error.to_string())?;
        }
        self.kernels.insert(key, id);
        Ok(id)
    }

    /// A memset is a kernel of one small block: the model's own memsets take no time, and the GPU takes a gap before
    /// and after one as between kernels.
    fn memset(&mut self, time: Duration, builder: &mut ScenarioBuilder<'_>) -> Result<KernelId, String> {
        if let Some(known) = self.known_memsets.get(&time) {
            return Ok(*known);
        }
        let id = small("memset", time, builder)?;
        self.known_memsets.insert(time, id);
        Ok(id)
    }

    /// What holds an operation and is not in the file, for all that is known: it takes time, and next to no room.
    fn held(&mut self, time: Duration, builder: &mut ScenarioBuilder<'_>) -> Result<KernelId, String> {
        self.held += 1;
        self.held_ns = self.held_ns.saturating_add(time.as_ns());
        small("not in the file", time, builder)
    }

    fn copy(&mut self, copy: Copy, builder: &mut ScenarioBuilder<'_>) -> Result<CopyId, String> {
        if let Some(known) = self.known_copies.get(&copy) {
            return Ok(*known);
        }
        let id = builder.add_copy(copy).map_err(|error| error.to_string())?;
        self.known_copies.insert(copy, id);
        Ok(id)
    }

    fn add_notes(&self, profile: &GpuProfile, scale: Scale<'_>, builder: &mut ScenarioBuilder<'_>) {
        if let Some(other) = &profile.other {
            builder.note(format!(
                "block times of {}: medians of the same kernels in {}",
                counted(self.block_times.other_profile, "kernel"),
                other.file
            ));
        }
        let counts = &self.block_times;
        let (alone, upper_bound) = (counts.alone, counts.upper_bound);
        let (told, launches) = match (counts.same_kernel_overlapped, counts.same_kernel) {
            (0, 0) => (counts.same_kernel_alone, "the same kernel alone"),
            (0, told) => (told, "all launches of the same kernel"),
            (told, _) => (told, "the same kernel overlapped"),
        };
        builder.note(format!(
            "block times: {} ran alone, {told} overlapped (taken is the median of {launches}), {upper_bound} overlapped and \
             never ran alone (an upper bound)",
            counted(alone, "kernel")
        ));
        builder.note(if counts.same_kernel_alone > 0 {
            "how far to trust simulated times, and whether sharing of SMs tells how long kernels take that overlap others: \
             gpusched replay-log"
        } else {
            "how far to trust simulated times: gpusched replay-log"
        });
        if self.block_times.recorded > 0 {
            builder.note(format!(
                "recorded durations hold, whatever else is changed, for {} that overlapped: each waits for other GPUs, or \
                 the same kernel alone takes very different times: {}",
                counted(self.block_times.recorded, "kernel"),
                profile.most_launched(&self.as_recorded)
            ));
        }
        for (launches, what) in [
            (
                &self.smaller,
                "no block of these kernels fits this device, for which there would be others: each takes here as much as a \
                 block may",
            ),
            (&self.cooperative, "launched cooperatively: all blocks begin together"),
            (
                &self.too_large,
                "launched cooperatively with more blocks than this device holds: they begin one by one here",
            ),
            (&self.unknown_type, "launched in a way that the file only has a number for: as others here"),
        ] {
            if !launches.is_empty() {
                builder.note(format!("{what}: {}", profile.most_launched(launches)));
            }
        }
        if scale.goes_by_names() {
            builder.note(self.rescaled.note(profile));
        }
        if self.memsets > 0 {
            let time = Duration::from_ns(self.memset_ns);
            let memsets = counted(self.memsets, "memset");
            builder.note(format!(
                "{memsets} of {time} in all: each is a kernel of one small block here, of its recorded time"
            ));
        }
        if self.held > 0 {
            builder.note(format!(
                "{} of {} in all, in which the GPU ran nothing although something had been launched: what held that is not \
                 in the file (other GPUs, host code in graphs, kernels that were not recorded), and holds it as long here, \
                 whatever else is changed",
                counted(self.held, "time"),
                Duration::from_ns(self.held_ns)
            ));
        }
        if self.shortened > 0 {
            let (shortened, copies) = (self.shortened, self.copies);
            builder.note(format!(
                "{shortened} of {copies} copies shared a link when they were recorded: each takes its share of that time"
            ));
        }
    }
}
