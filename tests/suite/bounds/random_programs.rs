//! Random host programs: hosts that sleep and wait, events, barriers, processes, links, channels and latencies.

use gpusched::device::{ChannelOrder, CopySharing, Device, Preemption, Runlists};
use gpusched::scenario::Scenario;
use gpusched::time::Duration;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::programs::read;
use crate::common::tx2;

/// What the device is like.
#[derive(Debug, Clone)]
struct Machine {
    sms: u32,
    channels: Option<u32>,
    channel_order: ChannelOrder,
    linked: bool,
    latency_us: u64,
    slice_us: u64,
    switch_us: u64,
    to_block_ends: bool,
    shared_runlist: bool,
}

impl Machine {
    fn device(&self) -> Device {
        let device = tx2().with(|spec| {
            (spec.sms, spec.sms_per_tpc, spec.priority_levels) = (self.sms, 1, 3);
            (spec.channels, spec.launch_latency) = (self.channels, Duration::from_ns(1_000 * self.latency_us));
            spec.channel_order = self.channel_order;
            spec.kernel_gap = Duration::from_ns(500 * self.latency_us);
            spec.copy.sharing = if self.linked { CopySharing::SharedLink } else { CopySharing::OneAtATime };
            let slicing = &mut spec.time_slicing;
            slicing.time_slice = Duration::from_ns(1_000 * self.slice_us);
            slicing.switch_cost = Duration::from_ns(1_000 * self.switch_us.min(self.slice_us));
            slicing.preemption = if self.to_block_ends { Preemption::BlockEnd } else { Preemption::MidBlock };
            slicing.runlists = if self.shared_runlist { Runlists::Shared } else { Runlists::Separate };
        });
        device.expect("it is within the limits")
    }
}

fn machine() -> impl Strategy<Value = Machine> {
    let plain = 0_u32..3;
    (plain, 1_u32..=3, 1_u32..=3, any::<bool>(), 1_u64..500, (200_u64..5_000, 0_u64..300), any::<bool>(), any::<bool>())
        .prop_map(|(which, sms, channels, linked, latency, (slice_us, switch_us), to_block_ends, shared_runlist)| {
            Machine {
                sms,
                channels: (which == 1).then_some(channels),
                channel_order: if to_block_ends { ChannelOrder::Submission } else { ChannelOrder::Lifo },
                linked: which == 2 && linked,
                latency_us: if which == 2 && !linked { latency } else { 0 },
                slice_us,
                switch_us,
                to_block_ends,
                shared_runlist,
            }
        })
}

/// A step: what it does, of which kernel or how long, in which stream.
type Step = (u32, u32, u32);

/// A host: period \[ms\], or none and so many iterations; release \[ms\]; steps; whether it waits at the end.
#[derive(Debug, Clone)]
struct Program {
    period: Option<u32>,
    iterations: u32,
    release: u32,
    steps: Vec<Step>,
    end: u32,
    barrier: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sharing {
    OneProcess,
    Turns,
    Mps(u32),
}

/// Hosts of up to three processes, or one.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    machine: Machine,
    kernels: Vec<(u32, u32, u32)>,
    programs: Vec<Program>,
    priorities: Vec<Option<i32>>,
    /// Whether hosts have processes of their own, and as clients of MPS a percentage.
    processes: Sharing,
    /// Whether hosts use the streams of one another; where contexts take turns, some are of one process then.
    shared: bool,
}

pub(super) fn sample() -> impl Strategy<Value = Sample> {
    // What takes no time needs a turn, a channel and a place in its stream all the same.
    let kernel = (1_u32..10, prop_oneof![Just(16_u32), 1_u32..=32], prop_oneof![1 => Just(0), 5 => 1_u32..40]);
    let program = (
        prop_oneof![3 => (30_u32..200).prop_map(Some), 1 => Just(None)],
        (1_u32..4, 0_u32..20, 0_u32..5, prop::bool::weighted(0.2)),
        prop::collection::vec((0_u32..14, 0_u32..4, 0_u32..2), 1..7),
    );
    let program = program.prop_map(|(period, (iterations, release, end, barrier), steps)| Program {
        period,
        iterations,
        release,
        steps,
        end,
        barrier,
    });
    let processes = prop_oneof![
        3 => Just(Sharing::OneProcess),
        2 => Just(Sharing::Turns),
        1 => select(vec![50_u32, 67, 100]).prop_map(Sharing::Mps),
    ];
    (
        machine(),
        prop::collection::vec(kernel, 4),
        prop::collection::vec(program, 1..4),
        prop::collection::vec(prop_oneof![Just(None), (-2_i32..=0).prop_map(Some)], 6),
        processes,
        prop::bool::weighted(0.2),
    )
        .prop_map(|(machine, kernels, programs, priorities, processes, shared)| Sample {
            machine,
            kernels,
            programs,
            priorities,
            processes,
            shared,
        })
}

impl Sample {
    /// The first host of the process of a host.
    fn process(&self, host: usize) -> usize {
        match self.processes {
            Sharing::OneProcess => 0,
            Sharing::Turns if self.shared => host % 2,
            Sharing::Turns | Sharing::Mps(_) => host,
        }
    }

    fn step(&self, host: usize, (what, which, stream): Step) -> Option<Value> {
        let host = if self.shared && which == 3 { self.process(host) } else { host };
        let null = self.shared && which == 2;
        let name = if null { "NULL".to_owned() } else { format!("S{}", 2 * host + stream as usize) };
        let event = format!("e{}", if self.shared { self.process(host) } else { host });
        Some(match what {
            0..=3 => json!({"launch": format!("K{which}"), "stream": name}),
            4 => json!({"copy": "host-to-device", "duration": format!("{} us", 300 * which), "stream": name}),
            5 => json!({"sleep": format!("{} us", 700 * which + 100)}),
            6 => json!({"synchronize": "last"}),
            7 if !null => json!({"synchronize": name}),
            8 => json!({"synchronize": "device"}),
            9 => json!({"record": event, "stream": name}),
            10 => json!({"wait": event, "stream": name}),
            11 => json!({"synchronize_event": event}),
            12 => json!({"repeat": 2, "steps": [
                {"launch": format!("K{which}"), "stream": format!("S{}", 2 * host)}, {"synchronize": "last"}]}),
            13 => json!({"memset": 4, "stream": name}),
            _ => return None,
        })
    }

    pub(super) fn scenario(&self) -> Scenario {
        let kernels: serde_json::Map<String, Value> = (0..)
            .zip(&self.kernels)
            .map(|(number, &(blocks, warps, tenths))| {
                let duration = format!("{} us", 100 * tenths);
                (format!("K{number}"), json!({"blocks": blocks, "threads": 32 * warps, "duration": duration}))
            })
            .collect();
        let of_process = |value: &mut Value, host: usize| {
            if self.processes != Sharing::OneProcess {
                value["process"] = json!(format!("P{}", self.process(host)));
            }
        };
        let (mut streams, mut hosts) = (Vec::new(), Vec::new());
        let meet = self.programs.iter().filter(|program| program.barrier).count() > 1
            && self.programs.iter().filter(|program| program.barrier).all(|program| {
                (program.period, program.iterations) == (self.programs[0].period, self.programs[0].iterations)
            });
        for (number, program) in self.programs.iter().enumerate() {
            for stream in [2 * number, 2 * number + 1] {
                let mut value = json!({"name": format!("S{stream}")});
                if let Some(priority) = self.priorities[stream] {
                    value["priority"] = json!(priority);
                }
                of_process(&mut value, number);
                streams.push(value);
            }
            let stream = format!("S{}", 2 * number);
            let launch = json!({"launch": "K0", "stream": stream});
            let mut steps =
                vec![if program.release % 4 == 3 { json!({"memset": 4, "stream": stream}) } else { launch }];
            steps.extend(program.steps.iter().filter_map(|&step| self.step(number, step)));
            if program.barrier && meet {
                steps.insert(1, json!({"barrier": "B"}));
            }
            match program.end {
                0 => {}
                1 => steps.push(json!({"synchronize": "device"})),
                2 => steps.extend([json!({"synchronize": "device"}), json!({"sleep": "1 ms"})]),
                3 => steps.push(json!({"synchronize": "last"})),
                _ => steps.extend([0, 1].map(|own| json!({"synchronize": format!("S{}", 2 * number + own)}))),
            }
            let mut value = json!({"name": format!("H{number}"), "release": format!("{} ms", program.release),
                "iterations": program.iterations, "steps": steps});
            match program.period {
                Some(period) => value["period"] = json!(format!("{period} ms")),
                None => value["deadline"] = json!("40 ms"),
            }
            of_process(&mut value, number);
            hosts.push(value);
        }
        let mut file = json!({"format": "gpusched-scenario/1", "name": "random", "kernels": kernels,
            "streams": streams, "hosts": hosts});
        if self.processes != Sharing::OneProcess {
            let (mps, share) = match self.processes {
                Sharing::Mps(share) => (true, share),
                Sharing::OneProcess | Sharing::Turns => (false, 100),
            };
            file["mps"] = json!(mps);
            let levels = ["low", "medium", "high"];
            for number in (0..self.programs.len()).map(|host| self.process(host)) {
                // Beside 67 %, clients that may use all SMs.
                let share = if share == 67 && number % 2 == 1 { 100 } else { share };
                file["processes"][format!("P{number}")] = json!({"mps_percentage": share,
                    "level": levels[number % 3]});
            }
        }
        read(&file, &self.machine.device())
    }
}
