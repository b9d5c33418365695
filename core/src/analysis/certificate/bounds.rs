//! The bounds that a certificate tells, beside those of operations served one after another: **work where kernels share
//! the GPU**, and where releases are not given.
//!
//! Claim (`proofs/shared.v`; Coq: `over_by_weight`, over all phasings `responses_hold`): all that a stream launches by
//! F is over by F, if F is no earlier than the end of its own operations, one after another, each behind one block of a
//! lower priority, plus the weight times length of all that is launched until F. Assumption: the stream waits for no
//! other.

use std::collections::BTreeMap;
use std::sync::Arc;

use num_integer::gcd;
use serde::Serialize;

use super::{Arrivals, Launch, Launches, MOST_NS, Proven, ProvenStream, registers_charged, text};
use crate::limits::count_turn;
use crate::scenario::Scenario;
use crate::time::{Duration, Instant};
use crate::workload::OperationKind;

/// What keeps a head out of one SM weighs so much: the finest whose sums the checker can take.
pub(super) const SCALES: [u64; 4] = [55_440, 5_040, 840, 60];

/// How much a block of each kernel weighs, and when there may be work of the highest `levels`.
///
/// Certificates where kernels share the GPU (`proofs/sharing.v`). Blocks that keep the head of a queue out of every SM
/// weigh as much as all SMs, so while an operation waits work is done at that rate: all of a stream is over once all
/// work is done that is launched by then, and besides it the stream's own operations have run one after another.
#[derive(Debug, Serialize)]
pub(super) struct Shared {
    pub(super) levels: usize,
    scale: u64,
    weights: Vec<Weight>,
    intervals: Vec<BusyInterval>,
    /// What keeps a head out of all SMs.
    #[serde(skip)]
    all_sms: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Weight {
    #[serde(serialize_with = "text")]
    kernel: Arc<str>,
    weight: u64,
}

/// How much the blocks of the kernels of the highest `levels` weigh, in parts of `scale`.
pub(super) struct KernelWeights {
    of_kernel: BTreeMap<usize, u64>,
    /// What keeps a head out of all SMs that it may use.
    pub(super) all_sms: u64,
}

#[derive(Debug, Serialize)]
struct BusyInterval {
    from_ns: Instant,
    until_ns: Instant,
    proves: Vec<Proven>,
    /// Other streams of which all is over that they launch until an instant, for what hosts wait.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    over: Vec<Over>,
    /// Up to each launch, all work launched by then.
    #[serde(skip)]
    work: Vec<(Instant, u64)>,
    /// Of each stream, up to each launch: until when its operations run one after another.
    #[serde(skip)]
    turns: BTreeMap<usize, Vec<(Instant, Instant)>>,
}

/// All of a stream that is launched until an instant is over then.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Over {
    #[serde(serialize_with = "text")]
    stream: Arc<str>,
    by_ns: Instant,
}

/// What a block takes of each resource of its SM, and what the SM has.
type Resources = [u64; 4];

impl Shared {
    /// `None`: streams of the highest `levels` wait for others, there are none, or sums are too large.
    pub(super) fn new(launches: &Launches, scenario: &Scenario, levels: usize) -> Option<Self> {
        if !launches.stand_alone(levels) {
            return None;
        }
        SCALES.into_iter().find_map(|scale| Self::with_scale(launches, scenario, levels, scale))
    }

    fn with_scale(launches: &Launches, scenario: &Scenario, levels: usize, scale: u64) -> Option<Self> {
        let upper = || launches.all.iter().filter(|launch| launch.level < levels);
        let weights = KernelWeights::new(launches, scenario, levels, scale)?;
        let all_sms = weights.all_sms;
        let blocking = launches.blocking(levels);
        let mut intervals: Vec<BusyInterval> = Vec::new();
        let mut left = upper().peekable();
        while let Some(first) = left.peek() {
            count_turn();
            let mut interval = BusyInterval::new(first.term.launched_ns);
            loop {
                count_turn();
                while let Some(launch) = left.next_if(|launch| launch.term.launched_ns <= interval.until_ns) {
                    interval.take(launch, weights.of(launch, scenario)?, launch.turn(&blocking)?)?;
                }
                let mut over =
                    interval.turns.keys().map(|&stream| interval.over_by(stream, interval.until_ns, all_sms));
                let over = over.try_fold(interval.until_ns, |latest, over| Some(latest.max(over?)))?;
                if over <= interval.until_ns {
                    break;
                }
                interval.until_ns = over;
            }
            intervals.push(interval);
        }
        let weights = weights.named(scenario);
        (!intervals.is_empty()).then_some(Self { levels, scale, weights, intervals, all_sms })
    }

    /// By when all is over that a stream launches until `released`, and what that proves.
    pub(super) fn over_by(&mut self, stream: usize, released: Instant) -> Option<(Instant, &mut Vec<Proven>)> {
        let (until, interval) = self.settled(stream, released)?;
        Some((until, &mut self.intervals[interval].proves))
    }

    /// The same, with the number of the interval.
    pub(super) fn settled(&self, stream: usize, released: Instant) -> Option<(Instant, usize)> {
        let after = self.intervals.partition_point(|interval| interval.from_ns <= released);
        let number = after.checked_sub(1)?;
        let interval = self.intervals.get(number)?;
        let mut until = released;
        loop {
            count_turn();
            let over = interval.over_by(stream, until, self.all_sms)?;
            if over <= until {
                // The interval is what the checker looks at.
                return (until <= interval.until_ns).then_some((until, number));
            }
            until = over;
        }
    }

    /// Says that all of a stream is over then.
    pub(super) fn tell(&mut self, interval: usize, stream: &Arc<str>, by_ns: Instant) {
        if let Some(interval) = self.intervals.get_mut(interval) {
            let over = Over { stream: Arc::clone(stream), by_ns };
            if !interval.over.contains(&over) {
                interval.over.push(over);
            }
        }
    }

    /// Whether something rests on it.
    pub(super) fn is_of_use(&self) -> bool {
        self.intervals.iter().any(|interval| !interval.proves.is_empty() || !interval.over.is_empty())
    }

    /// How many verdicts it proves.
    pub(super) fn proven(&self) -> usize {
        self.intervals.iter().map(|interval| interval.proves.len()).sum()
    }
}

impl BusyInterval {
    fn new(from: Instant) -> Self {
        let (proves, over, work, turns) = (Vec::new(), Vec::new(), Vec::new(), BTreeMap::new());
        Self { from_ns: from, until_ns: from, proves, over, work, turns }
    }

    /// One more launch, of which all blocks together weigh so much.
    fn take(&mut self, launch: &Launch, weight: u64, time: Duration) -> Option<()> {
        let at = launch.term.launched_ns;
        let work = launch.block_time.as_ns().checked_mul(weight)?;
        let sum = self.work.last().map_or(0, |&(_, sum)| sum).checked_add(work)?;
        self.work.push((at, (sum < MOST_NS).then_some(sum)?));
        let turns = self.turns.entry(launch.stream).or_default();
        let before = turns.last().map_or(at, |&(_, until)| until.max(at));
        turns.push((at, before.checked_add(time)?));
        Some(())
    }

    /// By when all is over that a stream launches by `until`, if nothing is launched later; `None`: too late.
    fn over_by(&self, stream: usize, until: Instant, all_sms: u64) -> Option<Instant> {
        let turns = self.turns.get(&stream)?;
        let (_, turn) = turns.get(turns.partition_point(|&(at, _)| at <= until).checked_sub(1)?)?;
        let (_, work) = self.work.get(self.work.partition_point(|&(at, _)| at <= until).checked_sub(1)?)?;
        let over = turn.checked_add(Duration::from_ns(work.div_ceil(all_sms)))?;
        (over.as_ns().checked_mul(all_sms)? < MOST_NS).then_some(over)
    }
}

impl KernelWeights {
    /// With this scale; `None`: a sum is too large.
    pub(super) fn new(launches: &Launches, scenario: &Scenario, levels: usize, scale: u64) -> Option<Self> {
        let device = scenario.device();
        let per_sm = &device.per_sm;
        let threads = device.warps_per_sm() * device.warp_size;
        let sm = [threads, per_sm.blocks, per_sm.shared_memory_bytes, per_sm.registers].map(u64::from);
        let charge = registers_charged(scenario)?;
        let mut needs: BTreeMap<usize, Resources> = BTreeMap::new();
        for launch in launches.all.iter().filter(|launch| launch.level < levels) {
            if let OperationKind::Kernel(kernel) = launch.kind {
                let demand = scenario.kernels()[kernel.index()].demand();
                let threads = demand.warps * device.warp_size;
                let charged = if demand.registers > 0 { charge * u64::from(demand.warps) } else { 0 };
                let need = [threads.into(), 1, demand.shared_memory_bytes.into(), charged];
                needs.insert(kernel.index(), need);
            }
        }
        let heads: Vec<Resources> = needs.values().copied().collect();
        let of_kernel = needs.iter().map(|(&kernel, need)| (kernel, weight(need, &heads, &sm, scale))).collect();
        // What waits may only use the SMs that its stream's mask leaves.
        let left = scenario.streams().iter().map(|stream| device.sms_left_by(stream.sm_mask).count() as u64);
        let fewest = left.min().unwrap_or_default().min(device.sms.into());
        Some(Self { of_kernel, all_sms: scale.checked_mul(fewest)? })
    }

    /// What a block of a launch weighs.
    pub(super) fn of_block(&self, launch: &Launch) -> u64 {
        match launch.kind {
            OperationKind::Kernel(kernel) => self.of_kernel.get(&kernel.index()).copied().unwrap_or(self.all_sms),
            OperationKind::Copy(_) => self.all_sms,
            _ => 0,
        }
    }

    /// What all blocks of a launch weigh together.
    pub(super) fn of(&self, launch: &Launch, scenario: &Scenario) -> Option<u64> {
        match launch.kind {
            OperationKind::Kernel(kernel) => {
                let blocks = u64::from(scenario.kernels()[kernel.index()].blocks);
                self.of_kernel.get(&kernel.index())?.checked_mul(blocks)
            }
            _ => Some(self.all_sms),
        }
    }

    /// As they are written.
    pub(super) fn named(self, scenario: &Scenario) -> Vec<Weight> {
        let named = self.of_kernel.into_iter().map(|(kernel, weight)| {
            let kernel = Arc::clone(&scenario.kernels()[kernel].name);
            Weight { kernel, weight }
        });
        named.collect()
    }
}

/// How much a block must weigh: blocks that leave too little of a resource for any of `heads` weigh `scale` together.
fn weight(need: &Resources, heads: &[Resources], sm: &Resources, scale: u64) -> u64 {
    let of_resource = |resource: usize| {
        let unit = heads.iter().fold(0, |unit, head| gcd(unit, head[resource]));
        // All blocks take multiples of the unit, so when a head finds too little at least this much is taken.
        let taken =
            |head: &Resources| (sm[resource].saturating_sub(head[resource]).checked_div(unit).unwrap_or(0) + 1) * unit;
        let least = heads.iter().filter(|head| head[resource] > 0).map(taken).min();
        least.map_or(0, |least| (scale * need[resource]).div_ceil(least.max(1)))
    };
    (0..4).map(of_resource).max().unwrap_or(0).min(scale)
}

/// How often all bounds are raised at most.
pub(super) const MOST_ROUNDS: usize = 10_000;

/// How much a block of each kernel weighs, and a bound on each stream of the highest `levels`. What windows and parts
/// of fewer levels say is known.
///
/// Certificates where kernels share the GPU and releases are not given (`proofs/responses.v`): of each stream a bound
/// on its responses, and these bounds say together how much work of other streams there can be while it is busy.
#[derive(Debug, Serialize)]
pub(super) struct Responses {
    pub(super) levels: usize,
    scale: u64,
    weights: Vec<Weight>,
    /// By stream, in the order of the file.
    terms: Vec<Term>,
    proves: Vec<ProvenStream>,
}

#[derive(Debug, Serialize)]
struct Term {
    #[serde(serialize_with = "text")]
    stream: Arc<str>,
    period_ns: Duration,
    jitter_ns: Duration,
    /// From the launch of a job.
    response_ns: Duration,
    #[serde(skip)]
    thread: usize,
    /// What the operations of a job take one after another, and their blocks' times by what they weigh.
    #[serde(skip)]
    turns: Duration,
    #[serde(skip)]
    work: u64,
    /// What is known without this part.
    #[serde(skip)]
    known_ns: Option<Duration>,
}

impl Responses {
    /// Of all `levels` of which something can be said: not if their streams wait for others, or there are none. Windows
    /// are known by their levels and lengths.
    pub(super) fn all(
        launches: &Launches,
        scenario: &Scenario,
        arrivals: &[Arrivals],
        windows: &[(usize, Duration)],
    ) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let is_apart = |levels: &usize| launches.are_apart(*levels) && launches.stand_alone(*levels);
        for levels in (1..=launches.levels).filter(is_apart) {
            let known = |thread: usize, level: usize| {
                let terms = all.last().into_iter().flat_map(|before| &before.terms);
                let before = terms.filter(|term| term.thread == thread).map(|term| term.response_ns);
                let windows = windows.iter().filter(|(levels, _)| *levels > level).map(|(_, length_ns)| *length_ns);
                before.chain(windows).min()
            };
            let of_scale = |scale| Self::with_scale(launches, scenario, arrivals, levels, scale, known);
            let found = SCALES.into_iter().find_map(of_scale);
            let is_more = |found: &Self| all.last().is_none_or(|last| last.terms.len() < found.terms.len());
            let is_new = |term: &Term| Some(term.response_ns) != term.known_ns;
            all.extend(found.filter(|found| is_more(found) && found.terms.iter().any(is_new)));
        }
        all
    }

    fn with_scale(
        launches: &Launches,
        scenario: &Scenario,
        arrivals: &[Arrivals],
        levels: usize,
        scale: u64,
        known: impl Fn(usize, usize) -> Option<Duration>,
    ) -> Option<Self> {
        let weights = KernelWeights::new(launches, scenario, levels, scale)?;
        let blocking = launches.blocking(levels);
        let mut terms: Vec<Term> = Vec::new();
        for launch in launches.all.iter().filter(|launch| launch.level < levels) {
            if terms.last().is_none_or(|last| last.thread != launch.thread) {
                let (period_ns, jitter_ns) = *arrivals.get(launch.thread)?;
                terms.push(Term {
                    stream: Arc::clone(&launch.term.stream),
                    period_ns,
                    jitter_ns,
                    response_ns: Duration::ZERO,
                    thread: launch.thread,
                    turns: Duration::ZERO,
                    work: 0,
                    known_ns: known(launch.thread, launch.level),
                });
            }
            let term = terms.last_mut()?;
            term.turns = term.turns.checked_add(launch.turn(&blocking)?)?;
            let work = weights.of(launch, scenario)?.checked_mul(launch.block_time.as_ns())?;
            term.work = term.work.checked_add(work)?;
        }
        if terms.is_empty() {
            return None;
        }
        for _ in 0..MOST_ROUNDS {
            let mut is_raised = false;
            for index in 0..terms.len() {
                let response_ns = raised(&terms, index, weights.all_sms)?;
                is_raised |= response_ns > terms[index].response_ns;
                terms[index].response_ns = response_ns;
            }
            if !is_raised {
                return Some(Self { levels, scale, weights: weights.named(scenario), terms, proves: Vec::new() });
            }
        }
        None
    }

    /// A bound on a thread's stream from the arrival of a job, and what it proves.
    pub(super) fn of(&mut self, thread: usize) -> Option<(Duration, &mut Vec<ProvenStream>)> {
        let term = self.terms.iter().find(|term| term.thread == thread)?;
        Some((term.response_ns.checked_add(term.jitter_ns)?, &mut self.proves))
    }

    /// A bound on a stream from the arrival of a job.
    pub(super) fn bound_on(&self, stream: &str) -> Option<Duration> {
        let term = self.terms.iter().find(|term| *term.stream == *stream)?;
        term.response_ns.checked_add(term.jitter_ns)
    }

    /// Whether a stream has the bound of a window of this length.
    pub(super) fn rests_on(&self, length_ns: Duration) -> bool {
        self.terms.iter().any(|term| term.response_ns == length_ns)
    }

    /// How many verdicts it proves.
    pub(super) fn proven(&self) -> usize {
        self.proves.len()
    }
}

/// What one stream's bound has to be at least by what the others are, or what is known of it; `None`: too much.
fn raised(terms: &[Term], index: usize, all_sms: u64) -> Option<Duration> {
    let own = &terms[index];
    let needed = || {
        let mut sum = 0_u64;
        for (place, term) in terms.iter().enumerate() {
            // Jobs that may be left when the stream becomes busy, or come until it is over; of its own none is left.
            let (left, of_job) = if place == index {
                (Duration::ZERO, own.turns.as_ns().checked_mul(all_sms)?.checked_add(own.work)?)
            } else {
                (term.response_ns, term.work)
            };
            let within = own.response_ns.checked_add(left)?.checked_add(term.jitter_ns)?;
            let jobs = within.as_ns().checked_div(term.period_ns.as_ns())?.checked_add(1)?;
            sum = sum.checked_add(of_job.checked_mul(jobs)?)?;
        }
        let needed = Duration::from_ns(sum.div_ceil(all_sms));
        (sum < MOST_NS).then_some(needed.max(own.response_ns))
    };
    needed().into_iter().chain(own.known_ns).min()
}
