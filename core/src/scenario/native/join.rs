//! Several scenarios as programs that share one GPU: one scenario in the native format.

use std::fmt;

use serde_json::{Map, Value, json};
use thiserror::Error;

use super::write::{NotNative, distinct};
use crate::device::Device;
use crate::json::JsonError;
use crate::proven::OrMost;
use crate::scenario::{ReadOptions, Scenario};
use crate::time::Duration;
use crate::words::listed;
use crate::workload::NULL_STREAM;

/// How several programs share a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Together {
    /// As processes, whose contexts take turns (T1 to T6).
    Processes,
    /// As clients of MPS; with the percentage of the threads that each may have, if any are stated.
    Mps(Vec<u32>),
    /// In green contexts of one process, of so many SMs each.
    Green(Vec<u32>),
    /// As threads of one process.
    Threads,
}

impl Together {
    /// Of a text such as `mps=50,50`.
    ///
    /// # Errors
    /// What is expected.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        Self::of(text).ok_or(
            "expected processes, mps, mps=50,50 (a percentage for each program), green=40,40 (SMs for each program) or \
             threads",
        )
    }

    fn of(text: &str) -> Option<Self> {
        let (name, numbers) = text.split_once('=').map_or((text, None), |(name, numbers)| (name, Some(numbers)));
        let number = |text: &str| text.trim().parse().ok().filter(|number| *number > 0);
        let numbers = numbers.map(|numbers| numbers.split(',').map(number).collect::<Option<Vec<u32>>>());
        Some(match (name, numbers) {
            ("processes", None) => Self::Processes,
            ("threads", None) => Self::Threads,
            ("mps", None) => Self::Mps(Vec::new()),
            ("mps", Some(percentages)) => Self::Mps(percentages?),
            ("green", Some(sms)) => Self::Green(sms?),
            _ => return None,
        })
    }

    /// What may be tried with so many programs on a GPU: each way, with equal shares where there are some.
    pub fn each(programs: usize, device: &Device) -> Vec<Self> {
        let number = u32::try_from(programs).or_most().max(1);
        let (percentage, sms) = (100 / number, device.sms / number);
        // What is asked for is rounded up, for which there may not be enough.
        let sms = sms - sms % device.split_rounding().map_or(1, |rounding| rounding.multiple);
        let shares = |share: u32| vec![share.max(1); programs];
        vec![
            Self::Processes,
            Self::Mps(Vec::new()),
            Self::Mps(shares(percentage)),
            Self::Green(shares(sms)),
            Self::Threads,
        ]
    }

    fn numbers(&self) -> &[u32] {
        match self {
            Self::Mps(numbers) | Self::Green(numbers) => numbers,
            Self::Processes | Self::Threads => &[],
        }
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Processes => "processes",
            Self::Mps(_) => "mps",
            Self::Green(_) => "green",
            Self::Threads => "threads",
        }
    }
}

impl fmt::Display for Together {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        let numbers: Vec<String> = self.numbers().iter().map(ToString::to_string).collect();
        if numbers.is_empty() { Ok(()) } else { write!(f, "={}", numbers.join(",")) }
    }
}

/// Why scenarios cannot run together.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JoinError {
    /// Each program has a number, and there are others.
    #[error("{how}: there are {programs} programs, and it states a number for {numbers}")]
    Numbers {
        /// As it was asked for.
        how: String,
        /// Its numbers.
        numbers: usize,
        /// How many programs there are.
        programs: usize,
    },
    /// They are on different GPUs, or go by different rules.
    #[error("{names} differ in {what}, and run on one GPU together; {help}")]
    Differ {
        /// Two programs.
        names: String,
        /// In what.
        what: &'static str,
        /// What to do.
        help: String,
    },
    /// One of them says itself how programs share the GPU, or on which of several it runs.
    #[error("{name:?} says itself how the GPU is shared (\"{key}\"): write what is to run together into one scenario")]
    Shares {
        /// The program.
        name: String,
        /// What says so.
        key: &'static str,
    },
    /// The native format cannot say what one of them does.
    #[error("{name:?}: {error}")]
    NotNative {
        /// The program.
        name: String,
        /// What it cannot say.
        error: NotNative,
    },
    /// What comes out of it is no scenario.
    #[error(transparent)]
    Scenario(#[from] JsonError),
}

/// A program of several that share a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its name: that of its scenario, with a number where another one has it.
    pub name: String,
    /// The indices of its host threads in the joined scenario.
    pub threads: Vec<u32>,
}

/// Several programs on one GPU, as one scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct JoinedScenario {
    /// The scenario. The name of a program, a colon and a space stand before all names of what is its own.
    pub scenario: Scenario,
    /// The programs, in the order of their scenarios.
    pub programs: Vec<Program>,
}

/// What of a file joins without another word: lists, and objects by names, which are told apart by what is before them.
const PARTS: [&str; 5] = ["kernels", "streams", "hosts", "chains", "assumptions"];
/// What says how a GPU is shared, or on which of several something runs.
const SHARES: [&str; 6] = ["processes", "mps", "switch_cost", "green_contexts", "devices", "ready_order"];

impl JoinedScenario {
    /// Joins scenarios, which begin together. What a user says beside them holds for all of it.
    ///
    /// # Errors
    /// [`JoinError`]
    pub fn new(scenarios: &[Scenario], how: &Together, options: &ReadOptions) -> Result<Self, JoinError> {
        let numbers = how.numbers();
        if !numbers.is_empty() && numbers.len() != scenarios.len() {
            let (how, numbers, programs) = (how.to_string(), numbers.len(), scenarios.len());
            return Err(JoinError::Numbers { how, numbers, programs });
        }
        let names = distinct(scenarios.iter().map(|scenario| scenario.name.as_str()), "program", &[]);
        let (mut file, mut programs, mut notes) = (Map::new(), Vec::new(), Vec::new());
        for (scenario, name) in scenarios.iter().zip(&names) {
            let own = scenario.to_native(&format!("{name}: "));
            let mut own = own.map_err(|error| JoinError::NotNative { name: name.clone(), error })?;
            if let Some(key) = SHARES.into_iter().find(|key| own.contains_key(*key)) {
                return Err(JoinError::Shares { name: name.clone(), key });
            }
            check_same(&scenarios[0], scenario, [&names[0], name])?;
            notes.extend(notes_of(&scenarios[0], scenario, [&names[0], name]));
            let acting = |key: &str, acts: fn(&Value) -> bool| -> usize {
                own.get(key).and_then(Value::as_array).map_or(0, |all| all.iter().filter(|one| acts(one)).count())
            };
            programs.push([acting("streams", |stream| stream.get("operations").is_some()), acting("hosts", |_| true)]);
            own_in(&mut own, how, name);
            add(&mut file, own);
        }
        let name = listed(names.iter().map(String::as_str));
        file.insert("name".to_owned(), json!(name));
        if let Some(horizon) = scenarios.iter().filter_map(|scenario| scenario.horizon).max() {
            file.insert("horizon".to_owned(), json!(horizon.to_string()));
        }
        share(&mut file, how, &names);
        let mut scenario = Scenario::from_json(&name, &Value::Object(file).to_string(), options)?;
        for (own, name) in scenarios.iter().zip(&names) {
            let is_of_all = |note: &String| scenarios.iter().all(|scenario| scenario.notes.contains(note));
            let (of_all, of_one): (Vec<&String>, Vec<&String>) = own.notes.iter().partition(|note| is_of_all(note));
            if *name == names[0] {
                notes.extend(of_all.into_iter().cloned());
            }
            notes.extend(of_one.into_iter().map(|note| format!("{name}: {note}")));
        }
        notes.append(&mut scenario.notes);
        scenario.notes = notes;
        Ok(Self { scenario, programs: numbered(&programs, names) })
    }

    /// One of the programs without the others.
    pub fn alone(&self, program: usize) -> Scenario {
        let mut alone = self.scenario.clone();
        let own = self.programs.get(program).map_or(&[][..], |program| &program.threads);
        for (_, thread) in (0..).zip(&mut alone.threads).filter(|(number, _)| !own.contains(number)) {
            thread.iterations = Some(0);
        }
        alone.chains.clear();
        alone
    }
}

/// The threads of each program: those of all streams come first, and then those of all hosts.
fn numbered(acting: &[[usize; 2]], names: Vec<String>) -> Vec<Program> {
    let mut next = [0, acting.iter().map(|[streams, _]| streams).sum()];
    let programs = acting.iter().zip(names).map(|(own, name)| {
        let mut threads = Vec::new();
        for (next, count) in next.iter_mut().zip(own) {
            threads.extend((*next..*next + count).map(|number| u32::try_from(number).or_most()));
            *next += count;
        }
        Program { name, threads }
    });
    programs.collect()
}

fn check_same(first: &Scenario, other: &Scenario, names: [&String; 2]) -> Result<(), JoinError> {
    let device = |scenario: &Scenario| scenario.device().with_latencies(Duration::ZERO, Duration::ZERO);
    let names = || format!("{:?} and {:?}", names[0], names[1]);
    let differ = |what, help: &str| Err(JoinError::Differ { names: names(), what, help: help.to_owned() });
    if device(first) != device(other) {
        let help = format!("they are for {} and {}", first.device().name, other.device().name);
        return Err(JoinError::Differ { names: names(), what: "their GPU", help });
    }
    if first.placement != other.placement {
        return differ("the placement of blocks", "a placement can be stated for all");
    }
    if first.release_order != other.release_order {
        return differ("\"release_order\"", "write what is to run together into one scenario");
    }
    Ok(())
}

/// The GPU has one launch latency and one gap, where profiles may have estimated others; and the run one seed and end.
fn notes_of(first: &Scenario, other: &Scenario, [first_name, name]: [&String; 2]) -> Vec<String> {
    let compared = [
        ("launch latency", first.device().launch_latency, other.device().launch_latency),
        ("kernel gap", first.device().kernel_gap, other.device().kernel_gap),
    ];
    let differing = compared.into_iter().filter(|(_, taken, own)| taken != own);
    let mut notes: Vec<String> = differing
        .map(|(what, taken, own)| format!("{what} {taken}, as {first_name} has it: {name} has {own}"))
        .collect();
    if first.seed != other.seed {
        notes.push(format!("seed {}, as {first_name} has it: {name} has {}", first.seed, other.seed));
    }
    if first.horizon != other.horizon {
        let stated = |horizon: Option<Duration>| horizon.map_or_else(|| "none".to_owned(), |time| time.to_string());
        notes.push(format!(
            "the longest horizon that is stated ends the run of all: {first_name} has {}, {name} has {}",
            stated(first.horizon),
            stated(other.horizon)
        ));
    }
    notes
}

/// Says of the streams and hosts of a program whose they are.
fn own_in(own: &mut Map<String, Value>, how: &Together, name: &str) {
    let entries = |own: &mut Map<String, Value>, key: &str, say: &dyn Fn(&mut Map<String, Value>)| {
        let all = own.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten();
        all.filter_map(Value::as_object_mut).for_each(say);
    };
    let put = |entry: &mut Map<String, Value>, key: &str| _ = entry.insert(key.to_owned(), json!(name));
    match how {
        Together::Processes | Together::Mps(_) => {
            for key in ["streams", "hosts"] {
                entries(own, key, &|entry| put(entry, "process"));
            }
        }
        Together::Green(_) => {
            let streams = own.get("streams").and_then(Value::as_array).into_iter().flatten();
            let names = streams.filter_map(|stream| stream.get("name").filter(|name| *name != NULL_STREAM).cloned());
            let names: Vec<Value> = names.collect();
            entries(own, "streams", &|entry| {
                if entry.get("name").is_some_and(|name| *name != NULL_STREAM) {
                    put(entry, "green_context");
                    // CUDA makes no other ones there.
                    entry.insert("blocking".to_owned(), json!(false));
                }
            });
            entries(own, "hosts", &|entry| wait_for_streams(entry, &names));
        }
        Together::Threads => {}
    }
}

/// A host in whose thread a green context is current waits for that context where it waits for the device (CUDA Driver
/// API, NVIDIA, on `cuCtxSynchronize`): for each of its streams.
fn wait_for_streams(entry: &mut Map<String, Value>, names: &[Value]) {
    let Some(steps) = entry.get_mut("steps").and_then(Value::as_array_mut) else { return };
    let waits = |step: &Value| step.get("synchronize").is_some_and(|what| *what == "device");
    for step in std::mem::take(steps) {
        if waits(&step) && !names.is_empty() {
            steps.extend(names.iter().map(|name| json!({"synchronize": name})));
            continue;
        }
        steps.push(step);
        if let Some(repeated) = steps.last_mut().and_then(Value::as_object_mut) {
            wait_for_streams(repeated, names);
        }
    }
}

/// Adds what a program has to what those before it have.
fn add(file: &mut Map<String, Value>, own: Map<String, Value>) {
    for (key, value) in own {
        match (file.get_mut(&key).filter(|_| PARTS.contains(&&*key)), value) {
            (Some(Value::Array(all)), Value::Array(more)) if key == "assumptions" => {
                let new: Vec<Value> = more.into_iter().filter(|one| !all.contains(one)).collect();
                all.extend(new);
            }
            (Some(Value::Array(all)), Value::Array(more)) => all.extend(more),
            (Some(Value::Object(all)), Value::Object(more)) => all.extend(more),
            (_, value) => _ = file.entry(key).or_insert(value),
        }
    }
}

/// Says how the programs of these names share the GPU.
fn share(file: &mut Map<String, Value>, how: &Together, names: &[String]) {
    if let Together::Green(sms) = how {
        let split = |(place, (name, sms)): (usize, (&String, &u32))| {
            let mut split = json!({"sms": sms, "names": [name]});
            if place > 0 {
                split["of"] = json!(format!("rest {place}"));
            }
            if place + 1 < names.len() {
                split["remaining"] = json!(format!("rest {}", place + 1));
            }
            split
        };
        let splits: Vec<Value> = names.iter().zip(sms).enumerate().map(split).collect();
        file.insert("green_contexts".to_owned(), splits.into());
    }
    if let Together::Processes | Together::Mps(_) = how {
        let percentages = how.numbers();
        let process = |(place, name): (usize, &String)| {
            let percentage = percentages.get(place).map(|percentage| json!({"mps_percentage": percentage}));
            (name.clone(), percentage.unwrap_or_else(|| json!({})))
        };
        let processes: Map<String, Value> = names.iter().enumerate().map(process).collect();
        file.insert("processes".to_owned(), processes.into());
        if *how != Together::Processes {
            file.insert("mps".to_owned(), json!(true));
        }
    }
}
