//! Random scenarios of a family, with small numbers, so that much happens at one instant.

use std::fmt;

use gpusched::device::{ChannelOrder, CopySharing, Device, Preemption, Runlists};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Duration;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::family::{Family, Kind, Sharing};
use crate::common::tx2;

/// A step: of which kind, and two numbers for it.
type Step = (Kind, u32, u32);

/// A stream with operations, or a host.
#[derive(Debug, Clone)]
struct Program {
    is_host: bool,
    period: Option<u64>,
    jitter: u64,
    /// Absent where it has no end.
    jobs: Option<u32>,
    release: u64,
    deadline: u64,
    limit: Option<u64>,
    meets_before: bool,
    core: (u32, bool),
    priorities: [Option<i32>; 2],
    masks: [Option<u32>; 2],
    steps: Vec<Step>,
    end: u32,
    /// Which of the programs before it releases it, if one does.
    trigger: Option<usize>,
}

/// What the device is like, and how processes share it.
#[derive(Debug, Clone)]
struct Machine {
    sms: u32,
    one_block: bool,
    engines: u32,
    channels: u32,
    order: ChannelOrder,
    latencies: (u64, u64, u64),
    slice: u64,
    switch: u64,
    to_block_ends: bool,
    one_runlist: bool,
    share: u32,
}

/// A scenario of a family, printed as its file.
#[derive(Clone)]
pub(super) struct Sample {
    family: &'static Family,
    machine: Machine,
    /// Blocks, threads, ns, whether a timer ends it, whether the shortest time is stated.
    kernels: Vec<(u32, u32, u64, bool, bool)>,
    programs: Vec<Program>,
}

pub(super) fn sample(family: &'static Family) -> impl Strategy<Value = Sample> {
    let time = || prop_oneof![1 => Just(0_u64), 6 => 1_u64..13];
    let kernel = (1_u32..=6, select(vec![1024_u32, 1024, 512, 768, 32]), time(), any::<bool>(), any::<bool>());
    (machine(), vec(kernel, 3), vec(program(family), family.programs.0..=family.programs.1)).prop_map(
        move |(machine, kernels, mut programs)| {
            if family.meets {
                // Mostly threads that meet come equally often.
                let (first, rest) = programs.split_first_mut().expect("there is one");
                let alike = first.release % 4 > 0;
                for other in rest.iter_mut().filter(|_| alike) {
                    (other.period, other.jobs) = (first.period, first.jobs);
                }
            }
            Sample { family, machine, kernels, programs }
        },
    )
}

fn machine() -> impl Strategy<Value = Machine> {
    let order = select(ChannelOrder::ALL.to_vec());
    let parts = (1_u32..=3, any::<bool>(), 1_u32..=2, 1_u32..=3, order, (0_u64..4, 0_u64..4, 0_u64..3));
    let turns =
        (select(vec![5_u64, 8, 15, 40]), 0_u64..4, any::<bool>(), any::<bool>(), select(vec![34_u32, 50, 67, 100]));
    (parts, turns).prop_map(
        |(
            (sms, one_block, engines, channels, order, latencies),
            (slice, switch, to_block_ends, one_runlist, share),
        )| {
            Machine {
                sms,
                one_block,
                engines,
                channels,
                order,
                latencies,
                slice,
                switch,
                to_block_ends,
                one_runlist,
                share,
            }
        },
    )
}

fn program(family: &'static Family) -> impl Strategy<Value = Program> {
    let step = (select(family.steps.to_vec()), any::<u32>(), any::<u32>());
    let times = (select(family.periods.to_vec()), 0_u64..8, prop_oneof![1 => Just(0_u64), 2 => 0_u64..12], 1_u64..100);
    let jitter =
        prop_oneof![2 => Just(0_u64), 1 => 1_u64..30].prop_map(move |jitter| if family.jitter { jitter } else { 0 });
    let priority = || prop_oneof![Just(None), (-2_i32..=0).prop_map(Some)];
    let mask = move || prop::option::weighted(0.4, 0_u32..7).prop_map(|mask| mask.filter(|_| family.masks));
    let host = prop::bool::weighted(family.hosts);
    let trigger = prop::option::weighted(0.6, any::<usize>()).prop_map(|trigger| trigger.filter(|_| family.triggers));
    let end = (0_u32..6, trigger);
    let rest = (host, prop::bool::weighted(0.2), prop::bool::weighted(0.4), (0_u32..2, any::<bool>()), end);
    let most_steps = family.most_steps;
    (times, jitter, 1_u32..5, rest, [priority(), priority()], [mask(), mask()], vec(step, 1..=most_steps)).prop_map(
        move |((period, closed, release, deadline), jitter, jobs, rest, priorities, masks, steps)| {
            let (is_host, has_limit, meets_before, core, (end, trigger)) = rest;
            let is_closed = is_host && closed == 0;
            Program {
                is_host,
                period: (!is_closed).then_some(period),
                jitter,
                // Beside what has no end are some who have one, with a period and without.
                jobs: (!family.endless || is_closed || closed == 1).then_some(jobs),
                release,
                deadline,
                limit: (family.limits && has_limit).then_some(deadline),
                meets_before: family.meets && meets_before,
                core,
                priorities,
                masks,
                steps,
                end,
                trigger,
            }
        },
    )
}

fn ns(time: u64) -> Value {
    json!(format!("{time} ns"))
}

impl Program {
    /// Writes when its jobs come, and how many of them, by this key.
    fn times(&self, value: &mut Value, jobs: &str) {
        value["release"] = ns(self.release);
        value["deadline"] = ns(self.deadline);
        if let Some(number) = self.jobs {
            value[jobs] = json!(number);
        }
        if let Some(period) = self.period {
            value["period"] = ns(period);
            value["jitter"] = ns(self.jitter);
        }
    }
}

impl Sample {
    fn process(&self, program: usize) -> usize {
        match self.family.sharing {
            Sharing::OneProcess | Sharing::Green => 0,
            Sharing::Turns | Sharing::Clients => program % 2,
        }
    }

    /// The name of a stream of a program, or of another one of its process where these are shared.
    fn stream(&self, program: usize, number: u32) -> String {
        let own = 2 * program + number as usize % 2;
        if !self.family.shares_streams || number % 5 < 2 {
            return format!("S{own}");
        }
        if number % 16 == 4 {
            return "NULL".to_owned();
        }
        let others = (0..self.programs.len()).filter(|&other| self.process(other) == self.process(program));
        let all: Vec<usize> = others.flat_map(|other| [2 * other, 2 * other + 1]).collect();
        format!("S{}", all[number as usize / 5 % all.len()])
    }

    fn step(&self, program: usize, (kind, which, number): Step) -> Value {
        let stream = self.stream(program, number);
        let kernel = format!("K{}", which % 3);
        let of_event = match number % 4 {
            // Of all processes.
            1 if self.family.sharing == Sharing::Turns => 9,
            _ if self.family.shares_streams => self.process(program),
            _ => 2 + program,
        };
        let event = format!("e{of_event}");
        let is_operation = !self.programs[program].is_host;
        match kind {
            Kind::Launch if is_operation => json!({"kernel": kernel}),
            Kind::Graph if is_operation => json!({"graph": "G"}),
            Kind::Transfer => {
                let direction = ["host-to-device", "device-to-host"][which as usize % 2];
                let copy = json!({"copy": direction, "duration": ns(u64::from(which / 2 % 7))});
                Self::in_stream(copy, is_operation, &stream)
            }
            Kind::Memset => Self::in_stream(json!({"memset": 4}), is_operation, &stream),
            Kind::Record => Self::in_stream(json!({"record": event}), is_operation, &stream),
            Kind::Wait => Self::in_stream(json!({"wait": event}), is_operation, &stream),
            Kind::Launch => json!({"launch": kernel, "stream": stream}),
            Kind::Graph => json!({"graph": "G", "stream": stream}),
            Kind::Sleep => json!({"sleep": ns(u64::from(which % 8).saturating_sub(2))}),
            Kind::Work => json!({"work": ns(u64::from(which % 6))}),
            Kind::Last => json!({"synchronize": "last"}),
            Kind::Stream => json!({"synchronize": stream}),
            Kind::Device => json!({"synchronize": "device"}),
            Kind::Event => json!({"synchronize_event": event}),
            Kind::Barrier => json!({"barrier": format!("b{}", which % 2)}),
            Kind::Repeat => {
                let body = [json!({"launch": kernel, "stream": stream}), json!({"synchronize": "last"})];
                json!({"repeat": 2, "steps": body[..=(which as usize / 3 % 2)]})
            }
        }
    }

    fn in_stream(mut operation: Value, is_operation: bool, stream: &str) -> Value {
        if !is_operation {
            operation["stream"] = json!(stream);
        }
        operation
    }

    fn has_processes(&self) -> bool {
        matches!(self.family.sharing, Sharing::Turns | Sharing::Clients)
    }

    fn of_process(&self, value: &mut Value, program: usize) {
        if self.has_processes() {
            value["process"] = json!(format!("P{}", self.process(program)));
        }
    }

    /// The streams of a program.
    fn streams(&self, number: usize) -> Vec<Value> {
        let program = &self.programs[number];
        let mut streams = Vec::new();
        for of_two in 0..2 {
            let mut stream = json!({"name": format!("S{}", 2 * number + of_two)});
            if let Some(priority) = program.priorities[of_two] {
                stream["priority"] = json!(priority);
            }
            if let Some(mask) =
                program.masks[of_two].filter(|mask| mask % (1 << self.machine.sms) + 1 < 1 << self.machine.sms)
            {
                stream["sm_mask"] = json!(format!("{mask:x}"));
            }
            self.of_process(&mut stream, number);
            if self.family.sharing == Sharing::Green {
                stream["green_context"] = json!(format!("G{}", number % 2));
            }
            if of_two == 0 && !program.is_host {
                let operations = program.steps.iter().filter(|step| step.0.is_operation());
                let operations: Vec<Value> = operations.map(|&step| self.step(number, step)).collect();
                if !operations.is_empty() {
                    stream["operations"] = json!(operations);
                    program.times(&mut stream, "jobs");
                }
            }
            streams.push(stream);
        }
        streams
    }

    fn host(&self, number: usize) -> Value {
        let program = &self.programs[number];
        let mut steps: Vec<Value> = program.steps.iter().map(|&step| self.step(number, step)).collect();
        match program.end {
            0 | 1 => {}
            2 => steps.push(json!({"synchronize": "device"})),
            3 => steps.push(json!({"synchronize": "last"})),
            4 => steps.extend([json!({"synchronize": "last"}), json!({"sleep": "1 ns"})]),
            _ => steps.extend([0, 1].map(|own| json!({"synchronize": format!("S{}", 2 * number + own)}))),
        }
        let mut host = json!({"name": format!("H{number}"), "steps": steps});
        program.times(&mut host, "iterations");
        if let Some(limit) = program.limit {
            host["time_limit"] = ns(limit);
            host.as_object_mut().expect("it is one").remove("iterations");
        }
        if program.meets_before {
            host["barrier"] = json!("b0");
        }
        if self.family.cores && !program.release.is_multiple_of(5) {
            host["core"] = json!(program.core.0);
            host["cpu_priority"] = json!((5 * program.deadline + number as u64) % 64);
            host["spin"] = json!(program.core.1);
        }
        self.of_process(&mut host, number);
        if let Some(trigger) = program.trigger.filter(|_| number > 0).map(|trigger| trigger % number) {
            let before = &self.programs[trigger];
            let name = if before.is_host { "H" } else { "S" };
            host["triggered_by"] = json!(format!("{name}{}", if before.is_host { trigger } else { 2 * trigger }));
            for key in ["release", "period", "jitter", "iterations", "time_limit", "barrier"] {
                host.as_object_mut().expect("it is one").remove(key);
            }
        }
        host
    }

    fn device(&self) -> Device {
        let (machine, family) = (&self.machine, self.family);
        let device = tx2().with(|spec| {
            let least = if family.sharing == Sharing::Green { 2 } else { 1 };
            let sms = if family.one_sm { 1 } else { machine.sms.max(least) };
            (spec.sms, spec.sms_per_tpc, spec.priority_levels) = (sms, 1, 3);
            if machine.one_block || family.one_sm {
                (spec.per_sm.threads, spec.per_sm.warps) = (1_024, 32);
            }
            spec.copy.engines = machine.engines;
            if family.channels {
                (spec.channels, spec.channel_order) = (Some(machine.channels), machine.order);
            }
            if family.latencies {
                let (launch, kernel, block) = machine.latencies;
                spec.launch_latency = Duration::from_ns(launch);
                (spec.kernel_gap, spec.block_gap) = (Duration::from_ns(kernel), Duration::from_ns(block));
            }
            if family.links {
                spec.copy.sharing = CopySharing::SharedLink;
            }
            let slicing = &mut spec.time_slicing;
            slicing.time_slice = Duration::from_ns(machine.slice);
            slicing.copy_time_slice = Duration::from_ns(machine.slice);
            slicing.switch_cost = Duration::from_ns(machine.switch);
            slicing.preemption = if machine.to_block_ends { Preemption::BlockEnd } else { Preemption::MidBlock };
            slicing.runlists = if machine.one_runlist { Runlists::Shared } else { Runlists::Separate };
        });
        device.expect("it is within the limits")
    }

    /// The same with blocks that take just what is stated.
    pub(super) fn with_stated_times(mut self) -> Self {
        self.kernels.iter_mut().for_each(|kernel| kernel.4 = false);
        self
    }

    pub(super) fn file(&self) -> Value {
        let mut kernels = Map::new();
        for (number, &(blocks, threads, time, wall, states_best)) in self.kernels.iter().enumerate() {
            let duration = if states_best { json!({"best": ns(time / 2), "worst": ns(time)}) } else { ns(time) };
            let mut kernel = json!({"blocks": blocks, "threads": threads, "duration": duration});
            if wall && self.family.sharing == Sharing::Turns {
                kernel["clock"] = json!("wall");
            }
            kernels.insert(format!("K{number}"), kernel);
        }
        let all = 0..self.programs.len();
        let streams: Vec<Value> = all.clone().flat_map(|number| self.streams(number)).collect();
        let hosts: Vec<Value> =
            all.clone().filter(|&number| self.programs[number].is_host).map(|number| self.host(number)).collect();
        let mut file =
            json!({"format": "gpusched-scenario/1", "name": "hostile", "kernels": kernels, "streams": streams});
        if !hosts.is_empty() {
            file["hosts"] = json!(hosts);
        }
        if self.family.steps.contains(&Kind::Graph) {
            file["graphs"] = json!({"G": {"nodes": {"a": {"kernel": "K0"}, "b": {"kernel": "K1", "after": ["a"]},
                "c": {"kernel": "K2", "after": ["a"]}, "d": {"kernel": "K1", "after": ["b", "c"]}}}});
        }
        if self.family.sharing == Sharing::Green {
            file["green_contexts"] = json!([{"sms": 1, "names": ["G0"], "remaining": "G1"}]);
        }
        if self.has_processes() {
            file["mps"] = json!(self.family.sharing == Sharing::Clients);
            for process in all.map(|number| self.process(number)) {
                let level =
                    ["low", "medium", "high"][(usize::try_from(self.machine.slice % 3).expect("small") + process) % 3];
                let share =
                    if process == 0 { self.machine.share } else { [100, 50][self.machine.engines as usize % 2] };
                file["processes"][format!("P{process}")] = match self.family.sharing {
                    Sharing::Clients => json!({"mps_percentage": share}),
                    _ => json!({"level": level}),
                };
            }
        }
        file
    }

    /// `None`: it is refused.
    pub(super) fn scenario(&self) -> Option<Scenario> {
        let options = ReadOptions { device: Some(self.device()), ..ReadOptions::default() };
        Scenario::from_json("hostile.json", &self.file().to_string(), &options).ok()
    }
}

impl fmt::Debug for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.scenario().and_then(|scenario| scenario.to_native_json().ok());
        write!(f, "{}: {}", self.family.name, text.unwrap_or_else(|| self.file().to_string()))
    }
}
