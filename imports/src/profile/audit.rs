//! Is the order in which a profile's kernels ran one that the rules allow?
//!
//! A profile says when kernels started and ended, not where their blocks were. What can be asked of it:
//!
//! - X1: a kernel that starts while one of another stream still runs must not start before the last wave of that one,
//!   unless its stream has the higher priority (A2);
//! - G: a kernel must not start before what stands before it in its stream has ended, but for programmatic dependent
//!   launch (PDL), which GPUs have from compute capability 9.0 on;
//! - nothing starts before the call that launched it, before what was launched earlier into its stream, or before the
//!   event for which its stream waits (E2), or ends after a wait of the host for it has returned;
//! - why a kernel started later than its launch: behind its stream (G), behind a kernel of another stream (X1), until
//!   one had ended (R), or after a wait for an event.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::device::{Device, KernelOccupancy};
use crate::named::named;
use crate::profile::{CLOCKS_NS, CallKind, GpuProfile, HostCall, ProfiledOperation, SyncKind, UsualDelays};
use crate::proven::OrMost;

/// First kernels of more waves than this are those whose last wave is short enough to tell.
pub(crate) const TELLING_WAVES: u32 = 20;

/// A last wave may begin this much earlier than equal blocks would have it: in its own length, and in the whole
/// kernel's \[percent\].
const LAST_WAVE: (u64, u64) = (120, 2);

/// Profilers that round to microseconds make ends and starts meet this much too early.
const ROUNDING_NS: u64 = 1_000;

named! {
    /// What becomes of one start.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum StartVerdict: Serialize {
        /// The rules say so.
        Explained = "explained",
        /// Only if the stream has a higher priority than the one that it overtook, which the profile does not state.
        OnlyByHigherPriority = "only_by_higher_priority",
        /// No rule that is known here explains it.
        Unexplained = "unexplained",
    }
}

/// The start of a kernel that was late, or came while one of another stream ran.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct JudgedStart {
    /// Index of its operation in the profile.
    #[serde(skip)]
    pub operation: u32,
    /// Name of its function.
    pub kernel: String,
    /// Number of its stream.
    pub stream: i64,
    /// When it started, from the first operation of the GPU on.
    pub at_ns: u64,
    /// The rule: `X1`, `A2`, `G`, `PDL`, `R`, `wait`; `None`: none is known.
    pub rule: Option<&'static str>,
    /// The operation that it met or waited for, or the cause that it came before.
    pub by: Option<String>,
    /// The stream of that.
    pub by_stream: Option<i64>,
    /// How much later it started than its call and its stream let it \[ns\], or, if negative, how much earlier than the
    /// rules do; of what is not explained.
    pub late_ns: Option<i64>,
    pub(crate) verdict: StartVerdict,
}

/// Kernels that started while one of another stream ran which has many waves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct OverlapCounts {
    /// Pairs whose first kernel has more than `TELLING_WAVES` waves.
    pub pairs: u64,
    /// Those of them in which the second started in the last wave of the first.
    pub in_last_wave: u64,
}

/// What an audit of a profile found.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ProfileAudit {
    /// Kernels that were looked at.
    pub kernels: u64,
    /// Starts that the rules explain.
    pub explained: u64,
    /// Starts that only a higher priority explains.
    pub only_by_higher_priority: u64,
    /// Starts that nothing explains.
    pub unexplained: u64,
    /// Starts by rule.
    pub by_rule: BTreeMap<&'static str, u64>,
    /// See [`OverlapCounts`].
    pub(crate) long_first_kernels: OverlapCounts,
    /// Streams that seem to have a higher priority, with those that they overtook, and how often.
    pub(crate) priorities: Vec<InferredPriority>,
    /// All starts that were judged, by time.
    pub(crate) starts: Vec<JudgedStart>,
}

/// A stream that broke into kernels of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct InferredPriority {
    /// Number of the stream of higher priority.
    pub stream: i64,
    /// Number of the other.
    pub above: i64,
    /// How many kernels broke in.
    pub times: u64,
}

/// An operation and its number in the profile.
type Numbered<'p> = (u32, &'p ProfiledOperation);

struct Auditor<'p> {
    profile: &'p GpuProfile,
    device: &'p Device,
    first_ns: u64,
    usual: UsualDelays,
    audit: ProfileAudit,
}

/// Audits what one GPU of a profile ran; `device` is the one of the recording.
pub(crate) fn audit_profile(profile: &GpuProfile, gpu: u32, device: &Device) -> ProfileAudit {
    let operations: Vec<Numbered<'_>> =
        (0..).zip(&profile.operations).filter(|(_, operation)| profile.gpu_of(operation.stream) == gpu).collect();
    let mut auditor = Auditor {
        profile,
        device,
        first_ns: operations.first().map_or(0, |(_, operation)| operation.start_ns),
        usual: profile.usual_delays(gpu),
        audit: ProfileAudit::default(),
    };
    let (mut running, mut ended) = (Vec::<Numbered<'_>>::new(), Vec::<Numbered<'_>>::new());
    let mut last_in: BTreeMap<u32, Numbered<'_>> = BTreeMap::new();
    for &(index, operation) in &operations {
        ended.retain(|(_, other)| other.end_ns().saturating_add(auditor.usual.gap_ns) >= operation.start_ns);
        ended.extend(running.extract_if(.., |(_, other)| other.end_ns() <= operation.start_ns));
        if operation.kernel().is_some() {
            auditor.audit.kernels += 1;
            let others = running.iter().filter(|(_, other)| other.stream != operation.stream);
            let others: Vec<Numbered<'_>> = others.copied().collect();
            for &(met, other) in &others {
                auditor.overlap((index, operation), (met, other));
            }
            if let Some(&before) = last_in.get(&operation.stream) {
                auditor.order((index, operation), before);
            }
            auditor.delay((index, operation), last_in.get(&operation.stream).copied(), &others, &ended);
            running.push((index, operation));
        }
        last_in.insert(operation.stream, (index, operation));
    }
    for (index, BrokenCause { by, stream, early_ns }) in broken_causes(profile, &operations, ROUNDING_NS) {
        let of = (index, &profile.operations[index as usize]);
        auditor.push(of, None, (Some(by.to_owned()), stream), StartVerdict::Unexplained, early(early_ns));
    }
    crate::sorted::sort_by_key(&mut auditor.audit.starts, |start| start.at_ns);
    auditor.finish()
}

impl Auditor<'_> {
    /// X1 and A2: a kernel starts while one of another stream runs.
    fn overlap(&mut self, (index, second): Numbered<'_>, (met, first): Numbered<'_>) {
        let Some(kernel) = first.kernel() else { return };
        let waves = KernelOccupancy::new(&kernel.shape, kernel.blocks, self.device.sms, self.device).waves.max(1);
        let left_ns = first.end_ns().saturating_sub(second.start_ns);
        let percent = |of: u64, percent: u64| of.saturating_mul(percent) / 100;
        let duration_ns = first.duration_ns;
        let last_wave_ns = percent(duration_ns, LAST_WAVE.0) / u64::from(waves) + percent(duration_ns, LAST_WAVE.1);
        let in_last_wave = waves == 1 || left_ns <= last_wave_ns;
        if waves > TELLING_WAVES {
            self.audit.long_first_kernels.pairs += 1;
            self.audit.long_first_kernels.in_last_wave += u64::from(in_last_wave);
        }
        let priority = |operation: &ProfiledOperation| self.profile.streams[operation.stream as usize].priority;
        let (rule, verdict) = match (in_last_wave, priority(first).zip(priority(second))) {
            (true, _) => (Some("X1"), StartVerdict::Explained),
            (false, Some((first, second))) if second < first => (Some("A2"), StartVerdict::Explained),
            (false, Some(_)) => (None, StartVerdict::Unexplained),
            (false, None) => (Some("A2"), StartVerdict::OnlyByHigherPriority),
        };
        let late_ns = early(left_ns.saturating_sub(last_wave_ns));
        self.judge((index, second), rule, Some((met, first)), verdict, late_ns);
    }

    /// G: a kernel starts before what stands before it in its stream has ended.
    fn order(&mut self, (index, second): Numbered<'_>, (met, first): Numbered<'_>) {
        if first.end_ns() <= second.start_ns.saturating_add(ROUNDING_NS) {
            return;
        }
        let has_pdl = first.kernel().is_some() && self.device.has_programmatic_launch();
        let (rule, verdict) =
            if has_pdl { (Some("PDL"), StartVerdict::Explained) } else { (None, StartVerdict::Unexplained) };
        let early_ns = first.end_ns().saturating_sub(second.start_ns);
        self.judge((index, second), rule, Some((met, first)), verdict, early(early_ns));
    }

    /// Why a kernel started later than its call and its stream would have let it.
    fn delay(
        &mut self,
        (index, operation): Numbered<'_>,
        before: Option<Numbered<'_>>,
        others: &[Numbered<'_>],
        ended: &[Numbered<'_>],
    ) {
        let Some(call) = operation.call.and_then(|call| self.profile.calls.get(call as usize)) else { return };
        let start = operation.start_ns;
        // A call that took long, to load code or because too much was submitted, launched when it returned.
        if start.saturating_sub(call.end_ns.max(call.start_ns)) <= self.usual.launch_ns {
            return;
        }
        if let Some((at, before)) = before
            && before.end_ns() >= call.start_ns
            && start.saturating_sub(before.end_ns()) <= self.usual.gap_ns
        {
            return self.judge((index, operation), Some("G"), Some((at, before)), StartVerdict::Explained, None);
        }
        // What still runs let it in, which is judged by itself.
        if !others.is_empty() {
            return;
        }
        if self.is_told_to_wait(operation, before.map(|(_, before)| before), call.start_ns) {
            return self.judge((index, operation), Some("wait"), ended.last().copied(), StartVerdict::Explained, None);
        }
        let of_another = |(_, other): &&Numbered<'_>| other.stream != operation.stream;
        if let Some(&other) = ended.iter().rev().find(of_another) {
            return self.judge((index, operation), Some("R"), Some(other), StartVerdict::Explained, None);
        }
        let let_go = before.map_or(0, |(_, before)| before.end_ns()).max(call.end_ns);
        let late_ns = i64::try_from(start.saturating_sub(let_go)).or_most();
        self.judge((index, operation), None, before, StartVerdict::Unexplained, Some(late_ns));
    }

    /// Whether its stream is told to wait for an event between the launch of the operation before it and its own.
    fn is_told_to_wait(
        &self,
        operation: &ProfiledOperation,
        before: Option<&ProfiledOperation>,
        launched_ns: u64,
    ) -> bool {
        let calls = &self.profile.calls;
        let start_of = |call: Option<u32>| calls.get(call? as usize).map(|call| call.start_ns);
        let since = before.and_then(|before| start_of(before.call)).unwrap_or(0);
        let between = |at: u64| (since..=launched_ns).contains(&at);
        let mine = |stream: Option<u32>| stream.is_none_or(|stream| stream == operation.stream);
        let mut waits = self.profile.syncs.iter().filter(|sync| sync.kind == SyncKind::StreamWait && mine(sync.stream));
        if waits.any(|sync| between(start_of(sync.call).unwrap_or(sync.at_ns))) {
            return true;
        }
        // Without those records, a call that makes some stream wait is all there is.
        let from = calls.partition_point(|call| call.start_ns < since);
        let to = calls.partition_point(|call| call.start_ns <= launched_ns).max(from);
        self.profile.syncs.is_empty() && calls[from..to].iter().any(|call| call.kind == CallKind::StreamWait)
    }

    fn judge(
        &mut self,
        of: Numbered<'_>,
        rule: Option<&'static str>,
        by: Option<Numbered<'_>>,
        verdict: StartVerdict,
        late_ns: Option<i64>,
    ) {
        let by = (by.map(|(_, by)| self.name(by)), by.map(|(_, by)| by.stream));
        self.push(of, rule, by, verdict, late_ns);
    }

    fn name(&self, operation: &ProfiledOperation) -> String {
        match operation.kernel() {
            Some(kernel) => self.profile.name_of(kernel).to_string(),
            None => "a copy or memset".to_owned(),
        }
    }

    fn push(
        &mut self,
        (index, operation): Numbered<'_>,
        rule: Option<&'static str>,
        (by, by_stream): (Option<String>, Option<u32>),
        verdict: StartVerdict,
        late_ns: Option<i64>,
    ) {
        let number = |stream: u32| self.profile.streams[stream as usize].number;
        self.audit.starts.push(JudgedStart {
            operation: index,
            kernel: self.name(operation),
            stream: number(operation.stream),
            at_ns: operation.start_ns.saturating_sub(self.first_ns),
            rule,
            by,
            by_stream: by_stream.map(number),
            late_ns: late_ns.filter(|_| verdict != StartVerdict::Explained),
            verdict,
        });
    }

    /// Counts; a stream cannot have a higher priority than one that has a higher priority than it.
    fn finish(mut self) -> ProfileAudit {
        let mut above: BTreeMap<(i64, i64), BTreeSet<u32>> = BTreeMap::new();
        for start in self.audit.starts.iter().filter(|start| start.verdict == StartVerdict::OnlyByHigherPriority) {
            let pair = (start.stream, start.by_stream.unwrap_or(start.stream));
            above.entry(pair).or_default().insert(start.operation);
        }
        for start in &mut self.audit.starts {
            let reversed = (start.by_stream.unwrap_or(start.stream), start.stream);
            if start.verdict == StartVerdict::OnlyByHigherPriority && above.contains_key(&reversed) {
                start.verdict = StartVerdict::Unexplained;
                start.rule = None;
            }
            match start.verdict {
                StartVerdict::Explained => self.audit.explained += 1,
                StartVerdict::OnlyByHigherPriority => self.audit.only_by_higher_priority += 1,
                StartVerdict::Unexplained => self.audit.unexplained += 1,
            }
            *self.audit.by_rule.entry(start.rule.unwrap_or("none")).or_insert(0) += 1;
        }
        let consistent = above.iter().filter(|((stream, other), _)| !above.contains_key(&(*other, *stream)));
        let priorities = consistent.map(|(&(stream, above), kernels)| InferredPriority {
            stream,
            above,
            times: kernels.len() as u64,
        });
        self.audit.priorities = priorities.collect();
        self.audit
    }
}

/// What an operation came before although it cannot.
struct BrokenCause {
    by: &'static str,
    /// The stream of that.
    stream: Option<u32>,
    early_ns: u64,
}

/// How much too early something came, as how late it came.
fn early(ns: u64) -> Option<i64> {
    i64::try_from(ns).or_most().checked_neg()
}

/// An operation, its number, and the call that launched it.
type Called<'p> = (u32, &'p ProfiledOperation, &'p HostCall);

/// A stream of operations, or all that one process submits, by submission: when each was, and the latest end so far.
type Ends = Vec<(u64, u64)>;

/// The operations of a GPU that came before a cause, by their numbers: before their own launch, before what was
/// launched earlier into their stream, or before the event that their stream waits for; and those for which a wait of
/// the host returned too early.
fn broken_causes(profile: &GpuProfile, operations: &[Numbered<'_>], rounding_ns: u64) -> Vec<(u32, BrokenCause)> {
    let call_of = |operation: &ProfiledOperation| profile.calls.get(operation.call? as usize);
    let mut called: Vec<Called<'_>> =
        operations.iter().filter_map(|&(index, operation)| Some((index, operation, call_of(operation)?))).collect();
    crate::sorted::sort_by_key(&mut called, |(_, operation, call)| (call.start_ns, operation.start_ns));
    let mut broken: Vec<(u32, BrokenCause)> = called
        .iter()
        .filter(|(_, operation, call)| operation.start_ns.saturating_add(CLOCKS_NS) < call.start_ns)
        .map(|&(index, operation, call)| {
            let early_ns = call.start_ns.saturating_sub(operation.start_ns);
            (index, BrokenCause { by: "its own launch", stream: None, early_ns })
        })
        .collect();
    broken.extend(broken_order(&called));
    let waits = HostWaits::of(profile);
    let by = "a wait of the host that returned before its end";
    broken.extend(called.iter().filter_map(|&(index, operation, call)| {
        let early_ns = operation.end_ns().checked_sub(waits.first_after(operation, call)?)?;
        (early_ns > CLOCKS_NS).then_some((index, BrokenCause { by, stream: None, early_ns }))
    }));
    broken.extend(broken_events(profile, &called, rounding_ns));
    broken
}

/// What starts before something that a call launched into the same stream which had returned by then. Times are
/// rounded, which keeps their order.
fn broken_order(called: &[Called<'_>]) -> Vec<(u32, BrokenCause)> {
    let mut last_in: BTreeMap<u32, (&ProfiledOperation, &HostCall)> = BTreeMap::new();
    let broken = called.iter().filter_map(|&(index, operation, call)| {
        let (before, earlier) = last_in.insert(operation.stream, (operation, call))?;
        let is_early = earlier.end_ns <= call.start_ns && operation.start_ns < before.start_ns;
        let early_ns = before.start_ns.saturating_sub(operation.start_ns);
        let stream = Some(operation.stream);
        is_early.then_some((index, BrokenCause { by: "what was launched before it", stream, early_ns }))
    });
    broken.collect()
}

/// Kernels and copies that start before the event has come for which their stream waits.
fn broken_events(profile: &GpuProfile, called: &[Called<'_>], rounding_ns: u64) -> Vec<(u32, BrokenCause)> {
    let mut by_stream: BTreeMap<u32, (Ends, Vec<usize>)> = BTreeMap::new();
    for (at, (_, operation, call)) in called.iter().enumerate() {
        let (ends, numbers) = by_stream.entry(operation.stream).or_default();
        let latest = ends.last().map_or(0, |&(_, end)| end).max(operation.end_ns());
        ends.push((call.start_ns, latest));
        numbers.push(at);
    }
    let start_of = |call: Option<u32>| profile.calls.get(call? as usize).map(|call| call.start_ns);
    let broken = profile.syncs.iter().filter(|sync| sync.kind == SyncKind::StreamWait).filter_map(|sync| {
        let (stream, of_stream) = (sync.stream?, sync.of_stream?);
        let (waited_ns, recorded_ns) = (start_of(sync.call)?, start_of(sync.recorded_by)?);
        let (ends, _) = by_stream.get(&of_stream)?;
        let before = ends.partition_point(|&(call, _)| call < recorded_ns);
        let (_, end) = ends[..before].last()?;
        let (calls, numbers) = by_stream.get(&stream)?;
        let (index, operation, _) = called[*numbers.get(calls.partition_point(|&(call, _)| call < waited_ns))?];
        let early_ns = end.saturating_sub(operation.start_ns);
        let (by, stream) = ("an event that its stream waits for", Some(of_stream));
        (early_ns > rounding_ns).then_some((index, BrokenCause { by, stream, early_ns }))
    });
    broken.collect()
}

/// Begins and ends of the host's waits for whole streams and for all that a process submitted, by their begin.
#[derive(Debug, Default)]
struct HostWaits<'p> {
    threads: Vec<&'p str>,
    of_streams: BTreeMap<u32, Vec<(u64, u64)>>,
    of_processes: BTreeMap<&'p str, Vec<(u64, u64)>>,
}

impl<'p> HostWaits<'p> {
    fn of(profile: &'p GpuProfile) -> Self {
        let mut waits = Self::default();
        waits.threads.extend(profile.threads.iter().map(|thread| thread.process.as_str()));
        let span = |call: &HostCall| (call.start_ns, call.end_ns);
        for sync in profile.syncs.iter().filter(|sync| sync.kind == SyncKind::Stream) {
            let call = sync.call.and_then(|call| profile.calls.get(call as usize));
            if let Some((call, stream)) = call.zip(sync.stream) {
                waits.of_streams.entry(stream).or_default().push(span(call));
            }
        }
        // A call that waits for a device does not say for which one.
        let mut gpus = profile.streams.iter().map(|stream| (stream.gpu, stream.context));
        let first = gpus.next();
        if gpus.all(|other| Some(other) == first) {
            for call in profile.calls.iter().filter(|call| call.kind == CallKind::DeviceSync) {
                if let Some(&process) = waits.threads.get(call.thread as usize) {
                    waits.of_processes.entry(process).or_default().push(span(call));
                }
            }
        }
        waits.of_streams.values_mut().chain(waits.of_processes.values_mut()).for_each(|spans| spans.sort_unstable());
        waits
    }

    /// When the first wait for an operation returned that began after its launch.
    fn first_after(&self, operation: &ProfiledOperation, call: &HostCall) -> Option<u64> {
        let first = |spans: &Vec<(u64, u64)>| {
            let (_, end) = spans.get(spans.partition_point(|&(start, _)| start < call.end_ns))?;
            Some(*end)
        };
        let process = self.threads.get(call.thread as usize);
        let of_stream = self.of_streams.get(&operation.stream).and_then(first);
        let of_process = process.and_then(|process| self.of_processes.get(process)).and_then(first);
        of_stream.into_iter().chain(of_process).min()
    }
}
