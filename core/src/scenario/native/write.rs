//! Writing scenarios in the native format, so that anything in them can be edited.

mod kernels;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde_json::{Map, Value, json};
use thiserror::Error;

use super::counters::{WAIT_VALUE, WRITE_VALUE};
use super::operations::LAUNCH_COMPLETION;
use super::sharing::{DEVICE, DEVICES};
use super::threads::RESERVED;
use super::{FORMAT, chains};
use crate::device::Device;
use crate::limits::count_turn;
use crate::proven::Proven;
use crate::scenario::endless::comes_back;
use crate::scenario::host_thread::{BarrierId, CoreShare, Deadline, HostThread, Step};
use crate::scenario::model::{ReleaseOrder, Scenario};
use crate::time::Duration;
use crate::workload::{
    CounterValue, EventId, InterleaveLevel, MpsPercentage, NULL_STREAM, ProcessId, ProcessSharing, SmSplit, StreamId,
    ValueId,
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
        Ok(format!("{:#}\n", Value::Object(self.to_native("")?)))
    }

    /// The same as the keys of the file, with this before each name of a kernel, stream, host, event, counter, barrier
    /// or chain.
    pub(super) fn to_native(&self, prefix: &str) -> Result<Map<String, Value>, NotNative> {
        let writer = Writer::new(self, prefix);
        let mut file = Entry::default();
        file.put("format", FORMAT);
        file.put("name", self.name.as_str());
        file.put(DEVICE, device(&self.device().one_gpu()));
        file.put_some(DEVICES, if writer.are_gpus() { writer.processes.clone() } else { Vec::new() });
        file.put("placement", self.placement.name());
        file.put("seed", self.seed);
        file.put_some("release_order", unusual(self.release_order, ReleaseOrder::name));
        file.put_some("assumptions", self.assumptions.clone());
        file.put_some("ready_order", self.ready_order.to_vec());
        if self.horizon == Some(Duration::ZERO) {
            return Err(NotNative::NoTime);
        }
        file.put_some("horizon", self.horizon.map(time));
        writer.processes(&mut file);
        file.put_some("green_contexts", writer.splits());
        file.put_some("kernels", (!self.kernels().is_empty()).then(|| writer.kernels()));
        let (streams, hosts, names) = writer.threads()?;
        file.put_some("streams", streams);
        file.put_some("hosts", hosts);
        // One of which a thread never runs never tells anybody anything.
        let chains = self.chains.iter().filter_map(|chain| chains::write(chain, prefix, |thread| names.get(&thread)));
        file.put_some("chains", chains.collect::<Vec<Value>>());
        Ok(file.0)
    }
}

/// A built-in device by its name, another one whole.
fn device(device: &Device) -> Value {
    match Device::builtin(&device.name) {
        Ok(Some(builtin)) if builtin == *device => json!(device.name),
        _ => device.to_value(),
    }
}

fn time(duration: Duration) -> String {
    duration.to_string()
}

/// The name of what is not as it is if nobody says so.
fn unusual<T: Default + PartialEq>(value: T, name: fn(T) -> &'static str) -> Option<&'static str> {
    (value != T::default()).then(|| name(value))
}

/// An object of the file, key by key.
#[derive(Default)]
struct Entry(Map<String, Value>);

impl Entry {
    fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.to_owned(), value.into());
    }

    /// A key that stands only where there is something to say.
    fn put_some<T: Default + PartialEq + Into<Value>>(&mut self, key: &str, value: T) {
        if value != T::default() {
            self.put(key, value);
        }
    }
}

/// Names of host threads in the file, by their number in the scenario.
type ThreadNames = HashMap<u32, String>;

struct Writer<'a> {
    scenario: &'a Scenario,
    /// Stands before names.
    prefix: &'a str,
    /// Whether what has no end gets as many jobs as it has here when it is read.
    comes_back: bool,
    kernels: Vec<String>,
    streams: Vec<String>,
    events: Vec<String>,
    counters: Vec<String>,
    processes: Vec<String>,
    green: Vec<String>,
}

impl<'a> Writer<'a> {
    fn new(scenario: &'a Scenario, prefix: &'a str) -> Self {
        let called =
            |names: Vec<String>| -> Vec<String> { names.into_iter().map(|name| prefix.to_owned() + &name).collect() };
        let titles = scenario.kernels().iter().map(|kernel| &*kernel.title);
        let names = scenario.streams().iter().skip(1).map(|stream| &*stream.name);
        let reserved: Vec<&str> = RESERVED.into_iter().chain([NULL_STREAM]).collect();
        let mut streams = vec![NULL_STREAM.to_owned()];
        streams.extend(called(distinct(names, "stream", &reserved)));
        for process in scenario.catalogue.processes() {
            // A NULL stream is meant by who uses it.
            NULL_STREAM.clone_into(&mut streams[process.null_stream().index()]);
        }
        let processes = distinct(scenario.catalogue.processes().iter().map(|process| &*process.name), "process", &[]);
        let events = called(distinct(scenario.events().iter().map(|name| &**name), "event", &[]));
        let counters = called(distinct(scenario.catalogue.counters().iter().map(|name| &**name), "counter", &[]));
        let green = scenario.catalogue.green_contexts().iter().map(|context| &*context.name);
        let green = distinct(green, "green context", &[]);
        let comes_back = comes_back(scenario);
        Self {
            scenario,
            prefix,
            comes_back,
            kernels: called(distinct(titles, "kernel", &[])),
            streams,
            events,
            counters,
            processes,
            green,
        }
    }

    /// Whether something is to be said of processes: there are several, or one client of MPS with a part of the SMs.
    fn names_processes(&self) -> bool {
        self.scenario.has_processes() || self.scenario.catalogue.is_limited_client(ProcessId::FIRST)
    }

    /// What the file says of processes.
    fn processes(&self, file: &mut Entry) {
        let catalogue = &self.scenario.catalogue;
        if self.are_gpus() {
            return;
        }
        let ProcessSharing { mps, switch_cost } = catalogue.sharing();
        file.put_some("mps", mps);
        file.put_some("switch_cost", switch_cost.map(time));
        if !self.names_processes() {
            return;
        }
        let entries = self.processes.iter().zip(catalogue.processes()).map(|(name, process)| {
            let mut entry = Entry::default();
            entry.put_some("time_slice", process.time_slice.map(time));
            entry.put_some("level", unusual(process.level, InterleaveLevel::name));
            let percentage = Some(process.mps_percentage).filter(|percentage| *percentage != MpsPercentage::ALL);
            entry.put_some("mps_percentage", percentage.map(MpsPercentage::percent));
            entry.put_some("sms", process.sms);
            (name.clone(), Value::Object(entry.0))
        });
        file.put("processes", entries.collect::<Map<_, _>>());
    }

    /// How the GPU is split for green contexts.
    fn splits(&self) -> Vec<Value> {
        let mut names = self.green.iter();
        let split = |split: &SmSplit| {
            let mut entry = Entry::default();
            entry.put("sms", split.sms);
            entry.put_some("of", split.of.and_then(|of| self.green.get(of.index())).cloned());
            entry.put("names", names.by_ref().take(split.names.len()).cloned().collect::<Vec<String>>());
            entry.put_some("remaining", split.remaining.as_ref().and_then(|_| names.next()).cloned());
            entry.put_some("work_queues", split.work_queues);
            Value::Object(entry.0)
        };
        self.scenario.catalogue.splits().iter().map(split).collect()
    }

    /// Says of which process a stream or host is, where something is said of processes.
    fn process(&self, process: ProcessId, entry: &mut Entry) {
        let key = if self.are_gpus() { DEVICE } else { "process" };
        entry.put_some(key, self.processes.get(process.index()).filter(|_| self.names_processes()).cloned());
    }

    /// Whether its processes are those of several GPUs.
    fn are_gpus(&self) -> bool {
        self.scenario.device().gpus() > 1
    }

    fn is_null(&self, stream: StreamId) -> bool {
        self.scenario.catalogue.is_null_stream(stream)
    }

    fn barrier(&self, barrier: BarrierId) -> String {
        format!("{}barrier {}", self.prefix, barrier.0)
    }

    fn value(&self, key: &str, value: ValueId, stream: Option<&str>) -> Value {
        let CounterValue { counter, value } = self.scenario.catalogue.values()[value.index()];
        let mut entry = Entry::default();
        entry.put(key, self.counters[counter.index()].as_str());
        entry.put("value", value);
        entry.put_some("stream", stream);
        Value::Object(entry.0)
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
            declared.map(|stream| Value::Object(self.stream(stream).0)).collect::<Vec<_>>()
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
            entry.put("operations", operations.into_iter().map(without_stream).collect::<Vec<_>>());
            streams.push(Value::Object(entry.0));
        }
        let rest = u32::try_from(self.streams.len()).proven("streams have numbers of 32 bits");
        streams.extend(plain(next..rest));

        let taken: Vec<&str> = of_streams.iter().filter_map(|(stream, _)| self.stream_name(*stream)).collect();
        let others = &threads[of_streams.len()..];
        let labels: Vec<String> = others.iter().map(|thread| self.prefix.to_owned() + &thread.label).collect();
        let names = distinct(labels.iter().map(String::as_str), "host", &taken);
        let numbers = (0..).zip(&self.scenario.threads).filter(|(_, thread)| runs(thread)).map(|(number, _)| number);
        let of_streams = taken.iter().map(|name| (*name).to_owned());
        let of_threads: ThreadNames = numbers.zip(of_streams.chain(names.iter().cloned())).collect();
        let host = |(thread, name): (&&HostThread, &String)| {
            let trigger = thread.triggered_by.and_then(|trigger| of_threads.get(&trigger));
            self.host(thread, name, trigger)
        };
        let mut hosts: Vec<Value> = others.iter().zip(&names).map(host).collect::<Result<_, _>>()?;
        if threads.is_empty() {
            // A file in which nobody acts is an error.
            hosts.push(json!({"name": "nobody", "steps": [{"sleep": "0 s"}]}));
        }
        Ok((streams, hosts, of_threads))
    }

    /// The stream whose own operations a thread launches, if it does nothing else.
    fn stream_of(&self, thread: &HostThread) -> Option<StreamId> {
        let (_, stream) = thread.steps.first()?.submission()?;
        let submits = |step: &Step| step.submission().is_some_and(|(_, to)| to == stream);
        let limited = thread.period.is_some_and(|period| period > Duration::ZERO) || thread.iterations == Some(1);
        let plain = thread.barrier.is_none() && !thread.may_end_early() && limited;
        let named = self.stream_name(stream)?.strip_prefix(self.prefix) == Some(&*thread.label);
        (plain && named && thread.steps.iter().all(submits)).then_some(stream)
    }

    fn stream_name(&self, stream: StreamId) -> Option<&str> {
        self.streams.get(stream.index()).map(String::as_str)
    }

    fn stream(&self, id: StreamId) -> Entry {
        let mut entry = Entry::default();
        entry.put("name", self.stream_name(id).proven("the scenario has the stream"));
        if let Some(process) = self.scenario.catalogue.process_of(id) {
            self.process(process, &mut entry);
        }
        if let Some(spec) = self.scenario.streams().get(id.index()).filter(|_| !self.is_null(id)) {
            entry.put("priority", spec.priority);
            entry.put("blocking", spec.blocking);
            let green_context = spec.green_context.and_then(|green| self.green.get(green.index()));
            entry.put_some("green_context", green_context.cloned());
            let is_masked = green_context.is_none() && !self.scenario.catalogue.has_partition(spec.process);
            entry.put_some("sm_mask", spec.sm_mask.filter(|_| is_masked).map(|mask| mask.to_string()));
        }
        entry
    }

    fn host(&self, thread: &HostThread, name: &str, trigger: Option<&String>) -> Result<Value, NotNative> {
        let mut entry = Entry::default();
        entry.put("name", name);
        self.process(thread.process, &mut entry);
        if thread.until.is_some() {
            return Err(NotNative::Until { thread: thread.label.to_string() });
        }
        timing(thread, "iterations", self.comes_back, &mut entry)?;
        // Without any limit stated a host runs once.
        let has_no_period = thread.period.is_none_or(|period| period == Duration::ZERO);
        let has_no_limit = thread.iterations.is_none() && has_no_period && trigger.is_none();
        entry.put_some("triggered_by", trigger.cloned());
        entry.put_some("time_limit", thread.time_limit.map(time).or(has_no_limit.then(|| LONGEST.to_owned())));
        entry.put_some("barrier", thread.barrier.map(|barrier| self.barrier(barrier)));
        if let Some(CoreShare { core, priority, spins }) = thread.core {
            entry.put("core", core);
            entry.put("cpu_priority", priority);
            entry.put_some("spin", spins);
        }
        // The steps read so far, each with the number of the first step that it stands for.
        let mut steps: Vec<(usize, Value)> = Vec::new();
        for (index, step) in thread.steps.iter().enumerate() {
            let written = match *step {
                Step::Repeat { from, times } => {
                    let from = from as usize;
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
        entry.put("steps", steps);
        Ok(Value::Object(entry.0))
    }

    /// One step; `launch` is the key of a kernel launch, which differs between streams and hosts.
    fn step(&self, thread: &HostThread, step: Step, launch: &str) -> Result<Value, NotNative> {
        let unknown = || NotNative::Unknown { thread: thread.label.to_string() };
        let stream_name = |stream: StreamId| self.stream_name(stream).ok_or_else(unknown);
        let event_name = |event: EventId| self.events.get(event.index()).map(String::as_str).ok_or_else(unknown);
        let mut entry = Entry::default();
        Ok(match step {
            Step::Launch(kernel, stream) => {
                entry.put(launch, self.kernels.get(kernel.index()).ok_or_else(unknown)?.as_str());
                let stated = self.scenario.kernels().get(kernel.index()).ok_or_else(unknown)?;
                entry.put_some("programmatic", stated.programmatic().is_dependent);
                entry.put("stream", stream_name(stream)?);
                Value::Object(entry.0)
            }
            Step::Copy(copy, stream) => {
                let copy = self.scenario.copies().get(copy.index()).ok_or_else(unknown)?;
                entry.put("copy", copy.direction.name());
                entry.put_some("bytes", copy.bytes);
                entry.put_some("duration", copy.duration.map(time));
                entry.put("stream", stream_name(stream)?);
                Value::Object(entry.0)
            }
            Step::Memset(stream) => json!({"memset": 0, "stream": stream_name(stream)?}),
            Step::Record(event, stream) | Step::Wait(event, stream) => {
                entry.put(if matches!(step, Step::Record(..)) { "record" } else { "wait" }, event_name(event)?);
                let is_programmatic = self.scenario.catalogue.is_programmatic_event(event);
                entry.put_some("programmatic", is_programmatic);
                let is_at_launch =
                    matches!(step, Step::Record(..)) && self.scenario.catalogue.is_launch_completion_event(event);
                entry.put_some("at", is_at_launch.then_some(LAUNCH_COMPLETION));
                entry.put("stream", stream_name(stream)?);
                Value::Object(entry.0)
            }
            Step::WaitValue(value, stream) => self.value(WAIT_VALUE, value, Some(stream_name(stream)?)),
            Step::WriteValue(value, stream) => self.value(WRITE_VALUE, value, Some(stream_name(stream)?)),
            Step::AwaitValue(value) => self.value(WAIT_VALUE, value, None),
            Step::SetValue(value) => self.value(WRITE_VALUE, value, None),
            Step::SynchronizeEvent(event) => json!({"synchronize_event": event_name(event)?}),
            Step::AwaitLast => json!({"synchronize": "last"}),
            Step::SynchronizeStream(stream) => json!({"synchronize": stream_name(stream)?}),
            Step::SynchronizeDevice => json!({"synchronize": "device"}),
            Step::Free => json!({"free": "device"}),
            Step::Allocate => json!({"malloc": "device"}),
            Step::Sleep(duration) => json!({"sleep": duration.to_string()}),
            Step::Work(duration) => json!({"work": duration.to_string()}),
            Step::Barrier(barrier) => json!({"barrier": self.barrier(barrier)}),
            Step::Repeat { .. } => return Err(unknown()),
        })
    }
}

/// Release, period, deadline and number of iterations, under the key that streams or hosts have for it.
fn timing(thread: &HostThread, iterations: &str, comes_back: bool, entry: &mut Entry) -> Result<(), NotNative> {
    let is_timed = thread.triggered_by.is_none();
    let above_zero = |time: Duration| Some(time).filter(|time| *time > Duration::ZERO && is_timed);
    entry.put_some("release", above_zero(thread.release).map(time));
    // A period of no length is none: iterations follow one another.
    let period = thread.period.and_then(above_zero);
    entry.put_some("period", period.map(time));
    entry.put_some("jitter", above_zero(thread.jitter).filter(|_| period.is_some()).map(time));
    // A stream without a period has one job, and no key to say so. What has no end goes on having none.
    let is_said = is_timed && (iterations != "jobs" || period.is_some()) && !(thread.is_cut && comes_back);
    if let Some(number) = thread.iterations.filter(|_| is_said) {
        entry.put(iterations, count(thread, "iterations", number)?);
    }
    match thread.deadline {
        Deadline::After(deadline) => entry.put("deadline", time(deadline)),
        Deadline::Never if period.is_some() => entry.put("deadline", Deadline::NEVER),
        Deadline::Never | Deadline::Period => {}
    }
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
pub(super) fn distinct<'n>(names: impl Iterator<Item = &'n str> + Clone, what: &'n str, taken: &[&str]) -> Vec<String> {
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
