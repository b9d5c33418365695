//! Writing scenarios in the native format, so that anything in them can be edited.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde_json::{Map, Value, json};
use thiserror::Error;

use super::kernels::TRY_CANCEL;
use super::threads::RESERVED;
use super::{FORMAT, chains};
use crate::device::Device;
use crate::limits::count_turn;
use crate::proven::Proven;
use crate::scenario::endless::comes_back;
use crate::scenario::host_thread::{CoreShare, Deadline, HostThread, Step};
use crate::scenario::model::{ReleaseOrder, Scenario};
use crate::time::Duration;
use crate::workload::{
    BlockClock, BlockTime, CheckedKernel, Clusters, EventId, InterleaveLevel, KernelId, MpsPercentage, NULL_STREAM,
    ProcessId, ProcessSharing, Programmatic, Share, SmSplit, StreamId, WorkItems,
};

/// What the native format cannot say.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotNative {
    /// A count above what the format takes.
    #[error("{thread:?} has {count} {what}, and the scenario format counts to 4294967295")]
    Count {
        /// The thread's label.
        thread: String,
        /// Of what.
        what: &'static str,
        /// How many.
        count: u64,
    },
    /// A thread that never runs, and yet holds others at a barrier until its release. No reader makes one.
    #[error("{thread:?} takes part in a barrier and has no iteration")]
    NeverRuns {
        /// The thread's label.
        thread: String,
    },
    /// A run of no length.
    #[error("the horizon is 0 s, and a scenario file needs one of at least 1 ns")]
    NoTime,
    /// It goes on until another thread has ended.
    #[error("{thread:?} goes on until another one has ended, which the scenario format cannot say")]
    Until {
        /// The thread's label.
        thread: String,
    },
    /// A loop that begins inside an earlier one. No reader makes one.
    #[error("{thread:?} has a loop that begins inside an earlier one")]
    CrossingLoops {
        /// The thread's label.
        thread: String,
    },
    /// Steps that name a kernel, copy, stream, event or step that does not exist.
    #[error("{thread:?} uses a kernel, copy, stream, event or step that the scenario does not have")]
    Unknown {
        /// The thread's label.
        thread: String,
    },
}

/// The longest time that the format takes, which no run reaches.
const LONGEST: &str = "9223372036854775807 ns";

impl Scenario {
    /// This scenario as a file in the native format, which runs the same: the same operations at the same times on the
    /// same SMs. What only names it is kept where the format has a place for it: not its notes, not its expected
    /// result (it would not hold for an edited file), not the sizes of memsets, not the names of logs. Names that occur
    /// twice get a number.
    ///
    /// # Errors
    /// [`NotNative`] for a scenario that did not come through a reader, one of whose threads ends with another, or
    /// counts beyond 32 bits.
    pub fn to_native_json(&self) -> Result<String, NotNative> {
        let writer = Writer::new(self);
        let mut file = Map::new();
        file.insert("format".to_owned(), json!(FORMAT));
        file.insert("name".to_owned(), json!(self.name));
        file.insert("device".to_owned(), device(self.device()));
        file.insert("placement".to_owned(), json!(self.placement.name()));
        file.insert("seed".to_owned(), json!(self.seed));
        if self.release_order != ReleaseOrder::default() {
            file.insert("release_order".to_owned(), json!(self.release_order.name()));
        }
        if !self.assumptions.is_empty() {
            file.insert("assumptions".to_owned(), json!(self.assumptions));
        }
        if !self.ready_order.is_empty() {
            file.insert("ready_order".to_owned(), json!(*self.ready_order));
        }
        if self.horizon == Some(Duration::ZERO) {
            return Err(NotNative::NoTime);
        }
        if let Some(horizon) = self.horizon {
            file.insert("horizon".to_owned(), time(horizon));
        }
        writer.processes(&mut file);
        let splits = writer.splits();
        if !splits.is_empty() {
            file.insert("green_contexts".to_owned(), Value::Array(splits));
        }
        if !self.kernels().is_empty() {
            file.insert("kernels".to_owned(), Value::Object(writer.kernels()));
        }
        let (streams, hosts, names) = writer.threads()?;
        for (key, list) in [("streams", streams), ("hosts", hosts)] {
            if !list.is_empty() {
                file.insert(key.to_owned(), Value::Array(list));
            }
        }
        // One of which a thread never runs never tells anybody anything.
        let chains = self.chains.iter().filter_map(|chain| chains::write(chain, |thread| names.get(&thread)));
        let chains: Vec<Value> = chains.collect();
        if !chains.is_empty() {
            file.insert("chains".to_owned(), Value::Array(chains));
        }
        Ok(format!("{:#}\n", Value::Object(file)))
    }
}

/// A built-in device by its name, another one whole.
fn device(device: &Device) -> Value {
    match Device::builtin(&device.name) {
        Ok(Some(builtin)) if builtin == *device => json!(device.name),
        _ => device.to_value(),
    }
}

fn time(duration: Duration) -> Value {
    json!(duration.to_string())
}

/// Names of host threads in the file, by their number in the scenario.
type ThreadNames = HashMap<u32, String>;

struct Writer<'a> {
    scenario: &'a Scenario,
    /// Whether what has no end gets as many jobs as it has here when it is read.
    comes_back: bool,
    kernels: Vec<String>,
    streams: Vec<String>,
    events: Vec<String>,
    processes: Vec<String>,
    green: Vec<String>,
}

impl<'a> Writer<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let titles = scenario.kernels().iter().map(|kernel| &*kernel.title);
        let names = scenario.streams().iter().skip(1).map(|stream| &*stream.name);
        let reserved: Vec<&str> = RESERVED.into_iter().chain([NULL_STREAM]).collect();
        let mut streams = vec![NULL_STREAM.to_owned()];
        streams.extend(distinct(names, "stream", &reserved));
        for process in scenario.catalogue.processes() {
            // A NULL stream is meant by who uses it.
            NULL_STREAM.clone_into(&mut streams[process.null_stream().index()]);
        }
        let processes = distinct(scenario.catalogue.processes().iter().map(|process| &*process.name), "process", &[]);
        let events = distinct(scenario.events().iter().map(|name| &**name), "event", &[]);
        let green = scenario.catalogue.green_contexts().iter().map(|context| &*context.name);
        let green = distinct(green, "green context", &[]);
        let comes_back = comes_back(scenario);
        Self { scenario, comes_back, kernels: distinct(titles, "kernel", &[]), streams, events, processes, green }
    }

    /// Whether something is to be said of processes: there are several, or one client of MPS with a part of the SMs.
    fn names_processes(&self) -> bool {
        self.scenario.has_processes() || self.scenario.catalogue.is_limited_client(ProcessId::FIRST)
    }

    /// What the file says of processes.
    fn processes(&self, file: &mut Map<String, Value>) {
        let catalogue = &self.scenario.catalogue;
        let ProcessSharing { mps, switch_cost } = catalogue.sharing();
        if mps {
            file.insert("mps".to_owned(), json!(true));
        }
        if let Some(cost) = switch_cost {
            file.insert("switch_cost".to_owned(), time(cost));
        }
        if !self.names_processes() {
            return;
        }
        let entries = self.processes.iter().zip(catalogue.processes()).map(|(name, process)| {
            let mut entry = Map::new();
            if let Some(slice) = process.time_slice {
                entry.insert("time_slice".to_owned(), time(slice));
            }
            if process.level != InterleaveLevel::default() {
                entry.insert("level".to_owned(), json!(process.level.name()));
            }
            if process.mps_percentage != MpsPercentage::ALL {
                entry.insert("mps_percentage".to_owned(), json!(process.mps_percentage.percent()));
            }
            if let Some(sms) = process.sms {
                entry.insert("sms".to_owned(), json!(sms));
            }
            (name.clone(), Value::Object(entry))
        });
        file.insert("processes".to_owned(), Value::Object(entries.collect()));
    }

    /// How the GPU is split for green contexts.
    fn splits(&self) -> Vec<Value> {
        let mut names = self.green.iter();
        let split = |split: &SmSplit| {
            let mut entry = Map::new();
            entry.insert("sms".to_owned(), json!(split.sms));
            if let Some(name) = split.of.and_then(|of| self.green.get(of.index())) {
                entry.insert("of".to_owned(), json!(name));
            }
            let groups: Vec<&String> = names.by_ref().take(split.names.len()).collect();
            entry.insert("names".to_owned(), json!(groups));
            if let Some(name) = split.remaining.as_ref().and_then(|_| names.next()) {
                entry.insert("remaining".to_owned(), json!(name));
            }
            if let Some(queues) = split.work_queues {
                entry.insert("work_queues".to_owned(), json!(queues));
            }
            Value::Object(entry)
        };
        self.scenario.catalogue.splits().iter().map(split).collect()
    }

    /// Says of which process a stream or host is, where something is said of processes.
    fn process(&self, process: ProcessId, entry: &mut Map<String, Value>) {
        if let Some(name) = self.processes.get(process.index()).filter(|_| self.names_processes()) {
            entry.insert("process".to_owned(), json!(name));
        }
    }

    fn is_null(&self, stream: StreamId) -> bool {
        self.scenario.catalogue.is_null_stream(stream)
    }

    fn kernels(&self) -> Map<String, Value> {
        let numbered = (0..).map(KernelId).zip(self.scenario.kernels());
        let entries = numbered.map(|(id, kernel)| (self.kernels[id.index()].clone(), self.kernel(id, kernel)));
        entries.collect()
    }

    fn kernel(&self, id: KernelId, kernel: &CheckedKernel) -> Value {
        let mut entry = Map::new();
        entry.insert("blocks".to_owned(), json!(kernel.blocks));
        entry.insert("threads".to_owned(), json!(kernel.shape.threads));
        let items = kernel.work_items();
        let in_loop = items.and_then(|items| match items {
            WorkItems::Loop { items, time } => Some((items, time)),
            WorkItems::TryCancel => None,
        });
        let BlockTime { best, worst } = in_loop.map_or(kernel.duration, |(_, time)| BlockTime::fixed(time));
        let duration =
            if best == worst { time(worst) } else { json!({"best": best.to_string(), "worst": worst.to_string()}) };
        entry.insert("duration".to_owned(), duration);
        if items.is_some() {
            let items = in_loop.map_or_else(|| json!(TRY_CANCEL), |(items, _)| json!(items));
            entry.insert("items".to_owned(), items);
        }
        if kernel.clock != BlockClock::default() {
            entry.insert("clock".to_owned(), json!(kernel.clock.name()));
        }
        if let Some(times) = self.scenario.block_times.get(&id).filter(|_| in_loop.is_none()) {
            let times: Vec<Value> = times.iter().take(kernel.blocks as usize).map(|&own| time(own)).collect();
            entry.insert("block_times".to_owned(), Value::Array(times));
        }
        let Programmatic { trigger, wait, .. } = kernel.programmatic();
        let shares = [("trigger", trigger), ("wait", Some(wait).filter(|wait| *wait != Share::ALL))];
        for (key, share) in shares {
            if let Some(number) = share.and_then(|share| share.to_string().parse::<serde_json::Number>().ok()) {
                entry.insert(key.to_owned(), Value::Number(number));
            }
        }
        if let Some(Clusters { size, fallback }) = kernel.clusters() {
            entry.insert("cluster".to_owned(), json!(size));
            if let Some(fallback) = fallback {
                entry.insert("cluster_fallback".to_owned(), json!(fallback));
            }
        }
        let resources = [
            ("shared_memory_bytes", kernel.shape.shared_memory_bytes),
            ("registers_per_thread", kernel.shape.registers_per_thread),
        ];
        for (key, number) in resources.into_iter().filter(|(_, number)| *number > 0) {
            entry.insert(key.to_owned(), json!(number));
        }
        if let Some(mask) = kernel.sm_mask {
            entry.insert("sm_mask".to_owned(), json!(mask.to_string()));
        }
        Value::Object(entry)
    }

    /// The streams and the hosts. Threads act in the order streams, hosts; so only the first threads can be those of
    /// streams, as long as their streams are in ascending order too. With the names of the threads.
    fn threads(&self) -> Result<(Vec<Value>, Vec<Value>, ThreadNames), NotNative> {
        let mut of_streams: Vec<(StreamId, &HostThread)> = Vec::new();
        // What never runs has no place in a file.
        let runs = |thread: &&HostThread| !thread.never_runs();
        if let Some(idle) = self.scenario.threads.iter().find(|thread| !runs(thread) && thread.barriers().count() > 0) {
            return Err(NotNative::NeverRuns { thread: idle.label.to_string() });
        }
        let threads: Vec<&HostThread> = self.scenario.threads.iter().filter(runs).collect();
        for &thread in &threads {
            let last = of_streams.iter().map(|(stream, _)| *stream).filter(|stream| !self.is_null(*stream)).max();
            match self.stream_of(thread) {
                Some(stream)
                    if of_streams.iter().all(|(other, _)| *other != stream)
                        && last.is_none_or(|last| self.is_null(stream) || stream > last) =>
                {
                    of_streams.push((stream, thread));
                }
                _ => break,
            }
        }
        let plain = |ids: Range<u32>| {
            let declared = ids.map(StreamId).filter(|&stream| !self.is_null(stream));
            declared.map(|stream| Value::Object(self.stream(stream))).collect::<Vec<_>>()
        };
        let mut streams = Vec::new();
        let mut next = 1;
        for &(stream, thread) in &of_streams {
            if !self.is_null(stream) {
                streams.extend(plain(next..stream.0));
                next = stream.0 + 1;
            }
            let mut entry = self.stream(stream);
            timing(thread, "jobs", self.comes_back, &mut entry)?;
            let steps = thread.steps.iter().map(|step| self.step(thread, *step, "kernel"));
            let operations: Vec<Value> = steps.collect::<Result<_, _>>()?;
            entry.insert("operations".to_owned(), Value::Array(operations.into_iter().map(without_stream).collect()));
            streams.push(Value::Object(entry));
        }
        let rest = u32::try_from(self.streams.len()).proven("streams have numbers of 32 bits");
        streams.extend(plain(next..rest));

        let taken: Vec<&str> = of_streams.iter().filter_map(|(stream, _)| self.stream_name(*stream)).collect();
        let others = &threads[of_streams.len()..];
        let names = distinct(others.iter().map(|thread| &*thread.label), "host", &taken);
        let mut hosts: Vec<Value> =
            others.iter().zip(&names).map(|(thread, name)| self.host(thread, name)).collect::<Result<_, _>>()?;
        let numbers = (0..).zip(&self.scenario.threads).filter(|(_, thread)| runs(thread)).map(|(number, _)| number);
        let of_streams = taken.iter().map(|name| (*name).to_owned());
        let names = numbers.zip(of_streams.chain(names)).collect();
        if threads.is_empty() {
            // A file in which nobody acts is an error.
            hosts.push(json!({"name": "nobody", "steps": [{"sleep": "0 s"}]}));
        }
        Ok((streams, hosts, names))
    }

    /// The stream whose own operations a thread launches, if it does nothing else.
    fn stream_of(&self, thread: &HostThread) -> Option<StreamId> {
        let (_, stream) = thread.steps.first()?.submission()?;
        let submits = |step: &Step| step.submission().is_some_and(|(_, to)| to == stream);
        let limited = thread.period.is_some_and(|period| period > Duration::ZERO) || thread.iterations == Some(1);
        let plain = thread.barrier.is_none() && !thread.may_end_early() && limited;
        let named = self.stream_name(stream)? == &*thread.label;
        (plain && named && thread.steps.iter().all(submits)).then_some(stream)
    }

    fn stream_name(&self, stream: StreamId) -> Option<&str> {
        self.streams.get(stream.index()).map(String::as_str)
    }

    fn stream(&self, id: StreamId) -> Map<String, Value> {
        let mut entry = Map::new();
        entry.insert("name".to_owned(), json!(self.stream_name(id).proven("the scenario has the stream")));
        if let Some(process) = self.scenario.catalogue.process_of(id) {
            self.process(process, &mut entry);
        }
        if let Some(spec) = self.scenario.streams().get(id.index()).filter(|_| !self.is_null(id)) {
            entry.insert("priority".to_owned(), json!(spec.priority));
            entry.insert("blocking".to_owned(), json!(spec.blocking));
            let own_mask = spec.sm_mask.filter(|_| !self.scenario.catalogue.has_partition(spec.process));
            match (spec.green_context.and_then(|green| self.green.get(green.index())), own_mask) {
                (Some(name), _) => _ = entry.insert("green_context".to_owned(), json!(name)),
                (None, Some(mask)) => _ = entry.insert("sm_mask".to_owned(), json!(mask.to_string())),
                (None, None) => {}
            }
        }
        entry
    }

    fn host(&self, thread: &HostThread, name: &str) -> Result<Value, NotNative> {
        let mut entry = Map::new();
        entry.insert("name".to_owned(), json!(name));
        self.process(thread.process, &mut entry);
        if thread.until.is_some() {
            return Err(NotNative::Until { thread: thread.label.to_string() });
        }
        timing(thread, "iterations", self.comes_back, &mut entry)?;
        match thread.time_limit {
            Some(limit) => entry.insert("time_limit".to_owned(), time(limit)),
            // Without any limit stated a host runs once.
            None if thread.iterations.is_none() && thread.period.is_none_or(|period| period == Duration::ZERO) => {
                entry.insert("time_limit".to_owned(), json!(LONGEST))
            }
            None => None,
        };
        if let Some(barrier) = thread.barrier {
            entry.insert("barrier".to_owned(), json!(format!("barrier {}", barrier.0)));
        }
        if let Some(CoreShare { core, priority, spins }) = thread.core {
            entry.insert("core".to_owned(), json!(core));
            entry.insert("cpu_priority".to_owned(), json!(priority));
            if spins {
                entry.insert("spin".to_owned(), json!(true));
            }
        }
        // The steps read so far, each with the number of the first step that it stands for.
        let mut steps: Vec<(usize, Value)> = Vec::new();
        for (index, step) in thread.steps.iter().enumerate() {
            let written = match *step {
                Step::Repeat { from, times } => {
                    let first = steps.partition_point(|(start, _)| *start < from);
                    let body: Vec<(usize, Value)> = steps.split_off(first);
                    let starts_here = body.first().is_some_and(|(start, _)| *start == from);
                    if !starts_here {
                        return Err(NotNative::CrossingLoops { thread: thread.label.to_string() });
                    }
                    let body: Vec<Value> = body.into_iter().map(|(_, step)| step).collect();
                    steps.push((from, json!({"repeat": count(thread, "repetitions", times)?, "steps": body})));
                    continue;
                }
                step => self.step(thread, step, "launch")?,
            };
            steps.push((index, written));
        }
        // An iteration needs a step.
        let steps: Vec<Value> = steps.into_iter().map(|(_, step)| step).collect();
        let steps = if steps.is_empty() { vec![json!({"sleep": "0 s"})] } else { steps };
        entry.insert("steps".to_owned(), Value::Array(steps));
        Ok(Value::Object(entry))
    }

    /// One step; `launch` is the key of a kernel launch, which differs between streams and hosts.
    fn step(&self, thread: &HostThread, step: Step, launch: &str) -> Result<Value, NotNative> {
        let unknown = || NotNative::Unknown { thread: thread.label.to_string() };
        let stream_name = |stream: StreamId| self.stream_name(stream).ok_or_else(unknown);
        let event_name = |event: EventId| self.events.get(event.index()).ok_or_else(unknown);
        Ok(match step {
            Step::Launch(kernel, stream) => {
                let name = self.kernels.get(kernel.index()).ok_or_else(unknown)?;
                let stated = self.scenario.kernels().get(kernel.index()).ok_or_else(unknown)?;
                let mut entry = Map::new();
                entry.insert(launch.to_owned(), json!(name));
                if stated.programmatic().is_dependent {
                    entry.insert("programmatic".to_owned(), json!(true));
                }
                entry.insert("stream".to_owned(), json!(stream_name(stream)?));
                Value::Object(entry)
            }
            Step::Copy(copy, stream) => {
                let copy = self.scenario.copies().get(copy.index()).ok_or_else(unknown)?;
                let mut entry = Map::new();
                entry.insert("copy".to_owned(), json!(copy.direction.name()));
                if let Some(bytes) = copy.bytes {
                    entry.insert("bytes".to_owned(), json!(bytes));
                }
                if let Some(duration) = copy.duration {
                    entry.insert("duration".to_owned(), time(duration));
                }
                entry.insert("stream".to_owned(), json!(stream_name(stream)?));
                Value::Object(entry)
            }
            Step::Memset(stream) => json!({"memset": 0, "stream": stream_name(stream)?}),
            Step::Record(event, stream) | Step::Wait(event, stream) => {
                let key = if matches!(step, Step::Record(..)) { "record" } else { "wait" };
                let mut entry = Map::new();
                entry.insert(key.to_owned(), json!(event_name(event)?));
                if self.scenario.catalogue.is_programmatic_event(event) {
                    entry.insert("programmatic".to_owned(), json!(true));
                }
                entry.insert("stream".to_owned(), json!(stream_name(stream)?));
                Value::Object(entry)
            }
            Step::SynchronizeEvent(event) => json!({"synchronize_event": event_name(event)?}),
            Step::AwaitLast => json!({"synchronize": "last"}),
            Step::SynchronizeStream(stream) => json!({"synchronize": stream_name(stream)?}),
            Step::SynchronizeDevice => json!({"synchronize": "device"}),
            Step::Free => json!({"free": "device"}),
            Step::Allocate => json!({"malloc": "device"}),
            Step::Sleep(duration) => json!({"sleep": duration.to_string()}),
            Step::Work(duration) => json!({"work": duration.to_string()}),
            Step::Barrier(barrier) => json!({"barrier": format!("barrier {}", barrier.0)}),
            Step::Repeat { .. } => return Err(unknown()),
        })
    }
}

/// Release, period, deadline and number of iterations, under the key that streams or hosts have for it.
fn timing(
    thread: &HostThread,
    iterations: &str,
    comes_back: bool,
    entry: &mut Map<String, Value>,
) -> Result<(), NotNative> {
    if thread.release > Duration::ZERO {
        entry.insert("release".to_owned(), time(thread.release));
    }
    // A period of no length is none: iterations follow one another.
    let period = thread.period.filter(|period| *period > Duration::ZERO);
    if let Some(period) = period {
        entry.insert("period".to_owned(), time(period));
        if thread.jitter > Duration::ZERO {
            entry.insert("jitter".to_owned(), time(thread.jitter));
        }
    }
    // A stream without a period has one job, and no key to say so. What has no end goes on having none.
    let is_said = (iterations != "jobs" || period.is_some()) && !(thread.is_cut && comes_back);
    if let Some(number) = thread.iterations.filter(|_| is_said) {
        entry.insert(iterations.to_owned(), json!(count(thread, "iterations", number)?));
    }
    match thread.deadline {
        Deadline::After(deadline) => entry.insert("deadline".to_owned(), time(deadline)),
        Deadline::Never if period.is_some() => entry.insert("deadline".to_owned(), json!(Deadline::NEVER)),
        Deadline::Never | Deadline::Period => None,
    };
    Ok(())
}

fn count(thread: &HostThread, what: &'static str, count: u64) -> Result<u32, NotNative> {
    u32::try_from(count).map_err(|_| NotNative::Count { thread: thread.label.to_string(), what, count })
}

/// An operation of a stream goes to that stream without saying so.
fn without_stream(mut operation: Value) -> Value {
    if let Some(entry) = operation.as_object_mut() {
        entry.shift_remove("stream");
    }
    operation
}

/// The names with a number behind those that occurred before, are empty or stand in `taken`.
fn distinct<'n>(names: impl Iterator<Item = &'n str> + Clone, what: &'n str, taken: &[&str]) -> Vec<String> {
    let own: HashSet<&str> = names.clone().collect();
    let mut used: HashSet<String> = taken.iter().map(|name| (*name).to_owned()).collect();
    // The number that each name gets next: a million equal names must not try a million numbers each.
    let mut next: HashMap<&'n str, u32> = HashMap::new();
    let mut unique = |name: &'n str| {
        if !name.is_empty() && used.insert(name.to_owned()) {
            return name.to_owned();
        }
        let base = if name.is_empty() { what } else { name };
        let number = next.entry(base).or_insert(2);
        loop {
            count_turn();
            let numbered = format!("{base} {number}");
            *number += 1;
            if !own.contains(numbered.as_str()) && used.insert(numbered.clone()) {
                return numbered;
            }
        }
    };
    names.map(&mut unique).collect()
}
