//! Small groups of kernels that wait for one another, drawn, and the scenarios that they are.

use serde_json::{Value, json};

/// The generator `SplitMix64`.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap_or(0)
    }

    fn is_one_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// What a block does on its way, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Point {
    Signal(usize),
    Await(usize, u32),
    GridSync,
}

#[derive(Debug, Clone)]
pub(super) struct Kernel {
    pub(super) blocks: u32,
    pub(super) threads: u32,
    pub(super) shared_memory: u32,
    pub(super) is_cooperative: bool,
    pub(super) points: Vec<Point>,
    /// Its blocks run until a counter is 1, after all points.
    pub(super) until: Option<usize>,
    duration_us: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Stream {
    /// 0, or below if more urgent.
    pub(super) priority: i32,
    pub(super) is_blocking: bool,
    pub(super) is_null: bool,
    /// Its GPU, or its process.
    pub(super) process: usize,
    pub(super) sms: Vec<usize>,
    /// Who shares EE queues.
    pub(super) owner: usize,
    green_context: Option<&'static str>,
    mask: Option<String>,
}

/// What a host does, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Launch(usize, usize),
    Record(usize, usize),
    Wait(usize, usize),
    WaitValue(usize, u32, usize),
    WriteValue(usize, u32, usize),
    AwaitValue(usize, u32),
    SetValue(usize, u32),
    SynchronizeStream(usize),
    SynchronizeDevice,
    SynchronizeEvent(usize),
}

impl Step {
    pub(super) fn stream(self) -> Option<usize> {
        match self {
            Self::Launch(_, on)
            | Self::Record(_, on)
            | Self::Wait(_, on)
            | Self::WaitValue(_, _, on)
            | Self::WriteValue(_, _, on) => Some(on),
            _ => None,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Thread {
    /// The one whose operations they are; else it is a host.
    of_stream: Option<usize>,
    pub(super) process: usize,
    pub(super) steps: Vec<Step>,
    release_us: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shared {
    No,
    Gpus,
    Turns,
    Mps,
    Green,
    Masks,
}

/// A group on a TX2 with so many SMs.
#[derive(Debug, Clone)]
pub(super) struct Group {
    shared: Shared,
    pub(super) sms: usize,
    pub(super) kernels: Vec<Kernel>,
    pub(super) streams: Vec<Stream>,
    pub(super) threads: Vec<Thread>,
}

/// Of a TX2's SM.
pub(super) const THREADS: u32 = 2048;
pub(super) const SHARED_MEMORY: u32 = 65_536;
pub(super) const COUNTERS: [&str; 3] = ["c0", "c1", "c2"];

impl Group {
    pub(super) fn drawn(seed: u64) -> Self {
        let mut numbers = Numbers(seed);
        loop {
            let group = Self::draw(&mut numbers);
            if group.launches().next().is_some() {
                return group;
            }
        }
    }

    fn draw(numbers: &mut Numbers) -> Self {
        let all = [
            Shared::No,
            Shared::No,
            Shared::No,
            Shared::Gpus,
            Shared::Turns,
            Shared::Mps,
            Shared::Green,
            Shared::Masks,
        ];
        let shared = numbers.one_of(&all);
        let sms = match shared {
            Shared::Green | Shared::Masks => 2 + numbers.below(2),
            Shared::Gpus => 1 + numbers.below(2),
            _ => 1 + numbers.below(3),
        };
        let streams = drawn_streams(numbers, shared, sms);
        let counters = 1 + numbers.below(3);
        let mut kernels: Vec<Kernel> = Vec::new();
        for _ in 0..=numbers.below(4) {
            kernels.push(drawn_kernel(numbers, counters));
        }
        let mut group = Self { shared, sms, kernels, streams, threads: Vec::new() };
        group.draw_threads(numbers, counters);
        group.draw_values(numbers);
        for kernel in 0..group.kernels.len() {
            let fits = group.launches().filter(|(of, _)| *of == kernel).map(|(_, stream)| group.room(kernel, stream));
            let fits = fits.min().unwrap_or(0);
            let own = &mut group.kernels[kernel];
            own.is_cooperative &= own.blocks <= fits;
        }
        group
    }

    pub(super) fn launches(&self) -> impl Iterator<Item = (usize, usize)> {
        self.threads.iter().flat_map(|thread| &thread.steps).filter_map(|step| match *step {
            Step::Launch(kernel, stream) => Some((kernel, stream)),
            _ => None,
        })
    }

    fn room(&self, kernel: usize, stream: usize) -> u32 {
        let own = &self.kernels[kernel];
        let of_sm = (THREADS / own.threads).min(SHARED_MEMORY.checked_div(own.shared_memory).unwrap_or(u32::MAX));
        u32::try_from(self.streams[stream].sms.len()).unwrap_or(0) * of_sm
    }

    fn draw_threads(&mut self, numbers: &mut Numbers, counters: usize) {
        let mut by_stream: Vec<Vec<Step>> = vec![Vec::new(); self.streams.len()];
        for kernel in 0..self.kernels.len() {
            for _ in 0..if numbers.is_one_in(6) { 2 } else { 1 } {
                let stream = numbers.below(self.streams.len());
                by_stream[stream].push(Step::Launch(kernel, stream));
            }
        }
        // Events lead from an earlier stream to a later one, and the other way.
        if numbers.is_one_in(3) && self.streams.len() > 1 {
            let (from, to) = (numbers.below(self.streams.len()), numbers.below(self.streams.len()));
            if self.streams[from].process == self.streams[to].process && !matches!(self.shared, Shared::Gpus) {
                let (at, before) = (numbers.below(by_stream[from].len() + 1), numbers.below(by_stream[to].len() + 1));
                by_stream[from].insert(at, Step::Record(0, from));
                by_stream[to].insert(before, Step::Wait(0, to));
            }
        }
        for (stream, steps) in by_stream.iter_mut().enumerate() {
            if numbers.is_one_in(6) {
                let (at, counter) = (numbers.below(steps.len() + 1), numbers.below(counters));
                let step = if numbers.is_one_in(2) {
                    Step::WaitValue(counter, 0, stream)
                } else {
                    Step::WriteValue(counter, 0, stream)
                };
                steps.insert(at, step);
            }
        }
        // A counter of "until" has somebody who sets it, mostly.
        let untils: Vec<usize> = self.kernels.iter().filter_map(|kernel| kernel.until).collect();
        for counter in untils {
            if !numbers.is_one_in(6) {
                let stream = numbers.below(self.streams.len());
                by_stream[stream].push(Step::WriteValue(counter, 1, stream));
            }
        }
        let by_hosts = numbers.is_one_in(2) || self.streams.iter().any(|stream| stream.is_null);
        if !by_hosts {
            for (stream, steps) in by_stream.into_iter().enumerate().filter(|(_, steps)| !steps.is_empty()) {
                let release_us = numbers.one_of(&[0, 0, 5, 20]);
                let process = self.streams[stream].process;
                self.threads.push(Thread { of_stream: Some(stream), process, steps, release_us });
            }
            return;
        }
        let of_processes = matches!(self.shared, Shared::Turns | Shared::Mps | Shared::Gpus);
        let hosts = if of_processes { 2 } else { 1 + numbers.below(2) };
        for host in 0..hosts {
            let process = if of_processes { host } else { 0 };
            self.threads.push(Thread { of_stream: None, process, steps: Vec::new(), release_us: 0 });
        }
        // Hosts submit each stream's operations in order, now of one stream, now of another; rarely two share a stream.
        let mut left: Vec<(usize, Vec<Step>)> = by_stream.into_iter().enumerate().collect();
        let shares = numbers.is_one_in(8);
        while left.iter().any(|(_, steps)| !steps.is_empty()) {
            let place = numbers.below(left.len());
            let (stream, steps) = &mut left[place];
            if steps.is_empty() {
                continue;
            }
            let step = steps.remove(0);
            let own: Vec<usize> = (0..self.threads.len())
                .filter(|host| !of_processes || self.threads[*host].process == self.streams[*stream].process)
                .collect();
            let host = if shares { numbers.one_of(&own) } else { own[*stream % own.len()] };
            self.threads[host].steps.push(step);
            if numbers.is_one_in(8) {
                let in_process: Vec<usize> = (0..self.streams.len())
                    .filter(|other| self.streams[*other].process == self.threads[host].process)
                    .collect();
                let (counter, other) = (numbers.below(counters), numbers.one_of(&in_process));
                let step = match numbers.below(6) {
                    0 => Step::SynchronizeDevice,
                    1 => Step::SynchronizeEvent(0),
                    2 => Step::AwaitValue(counter, 0),
                    3 => Step::SetValue(counter, 0),
                    _ => Step::SynchronizeStream(other),
                };
                self.threads[host].steps.push(step);
            }
        }
        self.threads.retain(|thread| !thread.steps.is_empty());
    }

    /// Values that are often just what all signals come to.
    fn draw_values(&mut self, numbers: &mut Numbers) {
        let mut totals = [0; COUNTERS.len()];
        for (kernel, _) in self.launches().collect::<Vec<_>>() {
            let own = &self.kernels[kernel];
            for point in &own.points {
                if let Point::Signal(counter) = *point {
                    totals[counter] += own.blocks;
                }
            }
        }
        let raised: Vec<usize> = (0..totals.len()).filter(|counter| totals[*counter] > 0).collect();
        let counter = |numbers: &mut Numbers, counter: &mut usize| {
            if totals[*counter] == 0 && !raised.is_empty() && !numbers.is_one_in(8) {
                *counter = numbers.one_of(&raised);
            }
        };
        let value = |numbers: &mut Numbers, counter: usize| {
            let all: u32 = totals[counter];
            match numbers.below(24) {
                _ if all == 0 => u32::from(numbers.below(12) == 0),
                0 => all + 1,
                1 => 0,
                2..7 => 1 + u32::try_from(numbers.below(all as usize)).unwrap_or(0),
                _ => all,
            }
        };
        for kernel in &mut self.kernels {
            for point in &mut kernel.points {
                if let Point::Await(own, wanted) = point {
                    counter(numbers, own);
                    *wanted = value(numbers, *own);
                }
            }
        }
        for step in self.threads.iter_mut().flat_map(|thread| &mut thread.steps) {
            match step {
                Step::WaitValue(own, wanted, _) | Step::AwaitValue(own, wanted) => {
                    counter(numbers, own);
                    *wanted = value(numbers, *own);
                }
                Step::WriteValue(own, written, _) | Step::SetValue(own, written) => {
                    *written = value(numbers, *own).max(*written);
                }
                _ => {}
            }
        }
    }

    /// As a scenario file, without its outer braces, format and name.
    pub(super) fn to_json(&self) -> String {
        let mut device: Value =
            serde_json::from_str(include_str!("../../../engine/src/device/data/tx2.json")).expect("it is sound");
        device["sms"] = json!(self.sms);
        let mut file = json!({"device": device});
        match self.shared {
            Shared::No | Shared::Masks => {}
            Shared::Gpus => file["devices"] = json!(["p0", "p1"]),
            Shared::Turns => file["processes"] = json!({"p0": {}, "p1": {}}),
            Shared::Mps => {
                file["processes"] = json!({"p0": {}, "p1": {}});
                file["mps"] = json!(true);
            }
            Shared::Green => file["green_contexts"] = json!([{"sms": 1, "names": ["A"], "remaining": "B"}]),
        }
        let kernels = self.kernels.iter().enumerate().map(|(number, kernel)| (format!("k{number}"), kernel.to_json()));
        file["kernels"] = Value::Object(kernels.collect());
        let of_process = |value: &mut Value, process: usize| {
            let key = if self.shared == Shared::Gpus { "device" } else { "process" };
            if matches!(self.shared, Shared::Gpus | Shared::Turns | Shared::Mps) {
                value[key] = json!(format!("p{process}"));
            }
        };
        let mut streams = Vec::new();
        for (number, stream) in self.streams.iter().enumerate() {
            let mut value = json!({"name": self.stream_name(number)});
            if !stream.is_null {
                value["priority"] = json!(stream.priority);
                if stream.green_context.is_none() {
                    value["blocking"] = json!(stream.is_blocking);
                }
            }
            if let Some(green) = stream.green_context {
                value["green_context"] = json!(green);
            }
            if let Some(mask) = &stream.mask {
                value["sm_mask"] = json!(mask);
            }
            of_process(&mut value, stream.process);
            if let Some(thread) = self.threads.iter().find(|thread| thread.of_stream == Some(number)) {
                let steps = thread.steps.iter().map(|step| self.step(*step, false));
                value["operations"] = steps.collect();
                value["release"] = json!(format!("{} us", thread.release_us));
            }
            streams.push(value);
        }
        file["streams"] = Value::Array(streams);
        let hosts = self.threads.iter().enumerate().filter(|(_, thread)| thread.of_stream.is_none());
        let hosts = hosts.map(|(number, thread)| {
            let steps: Value = thread.steps.iter().map(|step| self.step(*step, true)).collect();
            let mut host = json!({"name": format!("h{number}"), "steps": steps});
            of_process(&mut host, thread.process);
            host
        });
        let hosts: Vec<Value> = hosts.collect();
        if !hosts.is_empty() {
            file["hosts"] = Value::Array(hosts);
        }
        let text = file.to_string();
        text.trim_start_matches('{').strip_suffix('}').unwrap_or(&text).to_owned()
    }

    pub(super) fn stream_name(&self, number: usize) -> String {
        if self.streams[number].is_null { "NULL".to_owned() } else { format!("s{number}") }
    }

    fn step(&self, step: Step, of_host: bool) -> Value {
        let mut value = match step {
            Step::Launch(kernel, _) => json!({if of_host { "launch" } else { "kernel" }: format!("k{kernel}")}),
            Step::Record(event, _) => json!({"record": format!("e{event}")}),
            Step::Wait(event, _) => json!({"wait": format!("e{event}")}),
            Step::WaitValue(counter, value, _) | Step::AwaitValue(counter, value) => {
                json!({"wait_value": COUNTERS[counter], "value": value})
            }
            Step::WriteValue(counter, value, _) | Step::SetValue(counter, value) => {
                json!({"write_value": COUNTERS[counter], "value": value})
            }
            Step::SynchronizeStream(stream) => json!({"synchronize": self.stream_name(stream)}),
            Step::SynchronizeDevice => json!({"synchronize": "device"}),
            Step::SynchronizeEvent(event) => json!({"synchronize_event": format!("e{event}")}),
        };
        if let Some(stream) = step.stream().filter(|_| of_host) {
            value["stream"] = json!(self.stream_name(stream));
        }
        value
    }
}

impl Kernel {
    fn to_json(&self) -> Value {
        let mut value = json!({"blocks": self.blocks, "threads": self.threads});
        if self.shared_memory > 0 {
            value["shared_memory_bytes"] = json!(self.shared_memory);
        }
        if self.is_cooperative {
            value["cooperative"] = json!(true);
        }
        match self.until {
            Some(counter) => value["until"] = json!(COUNTERS[counter]),
            None => value["duration"] = json!(format!("{} us", self.duration_us)),
        }
        let (mut signals, mut waits, mut barriers) = (Vec::new(), Vec::new(), Vec::new());
        for (place, point) in (0_u32..).zip(&self.points) {
            let last = place as usize + 1 == self.points.len();
            let at = match (place, point) {
                (0, _) => json!("start"),
                (_, Point::Signal(_)) if last => json!("end"),
                _ => json!(f64::from(place) / 4.0),
            };
            match *point {
                Point::Signal(counter) => signals.push(json!({"at": at, "counter": COUNTERS[counter]})),
                Point::Await(counter, value) => {
                    waits.push(json!({"at": at, "counter": COUNTERS[counter], "value": value}));
                }
                Point::GridSync => barriers.push(if place == 0 { json!(0.1) } else { at }),
            }
        }
        for (key, all) in [("signal", signals), ("wait", waits), ("grid_sync", barriers)] {
            if !all.is_empty() {
                value[key] = Value::Array(all);
            }
        }
        value
    }
}

fn drawn_streams(numbers: &mut Numbers, shared: Shared, sms: usize) -> Vec<Stream> {
    let several = if shared == Shared::No { 1 } else { 2 };
    let mut streams = Vec::new();
    let all = several + numbers.below(4 - several);
    let has_null = shared == Shared::No && numbers.is_one_in(8);
    for number in 0..all {
        let process = if matches!(shared, Shared::Gpus | Shared::Turns | Shared::Mps) { number % 2 } else { 0 };
        let mut stream = Stream {
            priority: -i32::try_from(numbers.below(2)).unwrap_or(0),
            is_blocking: numbers.is_one_in(3),
            is_null: has_null && number == 0,
            process,
            sms: (0..sms).collect(),
            owner: 0,
            green_context: None,
            mask: None,
        };
        match shared {
            Shared::No | Shared::Mps => {}
            // Contexts that take turns keep what blocks hold as if each had SMs of its own.
            Shared::Gpus | Shared::Turns => {
                stream.sms = (sms * process..sms * (process + 1)).collect();
                stream.owner = process;
            }
            Shared::Green => match numbers.below(3) {
                0 => (stream.green_context, stream.sms, stream.owner) = (Some("A"), vec![0], 1),
                1 => (stream.green_context, stream.sms, stream.owner) = (Some("B"), (1..sms).collect(), 2),
                _ => {}
            },
            Shared::Masks => {
                if numbers.is_one_in(2) {
                    let left = numbers.below(sms);
                    stream.sms = vec![left];
                    stream.mask = Some(format!("~{:#x}", 1 << left));
                }
            }
        }
        if stream.green_context.is_some() {
            stream.is_blocking = false;
        }
        if stream.is_null {
            (stream.is_blocking, stream.priority) = (true, 0);
        }
        streams.push(stream);
    }
    streams
}

fn drawn_kernel(numbers: &mut Numbers, counters: usize) -> Kernel {
    let signal = Point::Signal(numbers.below(counters));
    let (one, other) = (numbers.below(counters), numbers.below(counters));
    let mut until = None;
    let points = match numbers.below(10) {
        0 | 1 => Vec::new(),
        2 => vec![Point::GridSync],
        3 | 4 => vec![signal, Point::Await(one, 0)],
        5 => vec![signal],
        6 => vec![Point::Await(one, 0)],
        7 => vec![Point::Await(one, 0), signal],
        8 => {
            until = Some(one);
            Vec::new()
        }
        _ => vec![Point::Signal(other), Point::GridSync, Point::Await(one, 0), signal],
    };
    Kernel {
        blocks: 1 + u32::try_from(numbers.below(4)).unwrap_or(0),
        threads: numbers.one_of(&[1024, 1024, 640, 128]),
        shared_memory: numbers.one_of(&[0, 0, 16_384, 32_768, 49_152]),
        is_cooperative: numbers.is_one_in(5),
        points,
        until,
        duration_us: numbers.one_of(&[4, 10, 40]),
    }
}
