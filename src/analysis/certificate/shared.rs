//! Certificates where kernels share the GPU (`proofs/sharing.v`). Blocks that keep the head of a queue out of every SM
//! weigh as much as all SMs, so while an operation waits work is done at that rate: all of a stream is over once all
//! work is done that is launched by then, and besides it the stream's own operations have run one after another.

use std::collections::BTreeMap;
use std::sync::Arc;

use num_integer::gcd;
use serde::Serialize;

use super::{Launch, Launches, MOST_NS, Proven, registers_charged, text};
use crate::limits::count_turn;
use crate::scenario::Scenario;
use crate::time::{Duration, Instant};
use crate::workload::OperationKind;

/// What keeps a head out of one SM weighs so much: the finest whose sums the checker can take.
pub(super) const SCALES: [u64; 4] = [55_440, 5_040, 840, 60];

/// How much a block of each kernel weighs, and when there may be work of the highest `levels`.
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
pub(super) struct Weights {
    of_kernel: BTreeMap<usize, u64>,
    /// What keeps a head out of all SMs.
    pub(super) all_sms: u64,
}

#[derive(Debug, Serialize)]
struct BusyInterval {
    from_ns: Instant,
    until_ns: Instant,
    proves: Vec<Proven>,
    /// Up to each launch, all work launched by then.
    #[serde(skip)]
    work: Vec<(Instant, u64)>,
    /// Of each thread, up to each launch: until when its operations run one after another.
    #[serde(skip)]
    turns: BTreeMap<usize, Vec<(Instant, Instant)>>,
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
        let weights = Weights::new(launches, scenario, levels, scale)?;
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
                    interval.turns.keys().map(|&thread| interval.over_by(thread, interval.until_ns, all_sms));
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

    /// By when all is over that a thread launches until `released`, and what that proves.
    pub(super) fn over_by(&mut self, thread: usize, released: Instant) -> Option<(Instant, &mut Vec<Proven>)> {
        let after = self.intervals.partition_point(|interval| interval.from_ns <= released);
        let interval = self.intervals.get_mut(after.checked_sub(1)?)?;
        let mut until = released;
        loop {
            count_turn();
            let over = interval.over_by(thread, until, self.all_sms)?;
            if over <= until {
                return Some((until, &mut interval.proves));
            }
            until = over;
        }
    }

    /// How many verdicts it proves.
    pub(super) fn proven(&self) -> usize {
        self.intervals.iter().map(|interval| interval.proves.len()).sum()
    }
}

impl BusyInterval {
    fn new(from: Instant) -> Self {
        let (proves, work, turns) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self { from_ns: from, until_ns: from, proves, work, turns }
    }

    /// One more launch, of which all blocks together weigh so much.
    fn take(&mut self, launch: &Launch, weight: u64, time: Duration) -> Option<()> {
        let at = launch.term.launched_ns;
        let work = launch.block_time.as_ns().checked_mul(weight)?;
        let sum = self.work.last().map_or(0, |&(_, sum)| sum).checked_add(work)?;
        self.work.push((at, (sum < MOST_NS).then_some(sum)?));
        let turns = self.turns.entry(launch.thread).or_default();
        let before = turns.last().map_or(at, |&(_, until)| until.max(at));
        turns.push((at, before.checked_add(time)?));
        Some(())
    }

    /// By when all is over that a thread launches by `until`, if nothing is launched later; `None`: too late.
    fn over_by(&self, thread: usize, until: Instant, all_sms: u64) -> Option<Instant> {
        let turns = self.turns.get(&thread)?;
        let (_, turn) = turns.get(turns.partition_point(|&(at, _)| at <= until).checked_sub(1)?)?;
        let (_, work) = self.work.get(self.work.partition_point(|&(at, _)| at <= until).checked_sub(1)?)?;
        let over = turn.checked_add(Duration::from_ns(work.div_ceil(all_sms)))?;
        (over.as_ns().checked_mul(all_sms)? < MOST_NS).then_some(over)
    }
}

impl Weights {
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
        Some(Self { of_kernel, all_sms: scale.checked_mul(u64::from(device.sms))? })
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
