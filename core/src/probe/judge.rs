//! Which answer a card gave, and whether it is the one that is taken.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::file::{Answer, LooksAt, Measured, ProbeFolder, Question, Text};
use super::looks::{Seen, look};
use crate::audit::{ObservedRun, Tolerances, learn_placement};
use crate::device::{ComputeCapability, Device, GpuProperties};
use crate::hosts::simulate;
use crate::limits::end_if_stopped;
use crate::named;
use crate::proven::OrMost;
use crate::scenario::{ReadOptions, Scenario};
use crate::spelling::option;
use crate::time::Duration;
use crate::words::counted;

/// Of measured and simulated numbers, one may be this share of the larger away from the other.
const NUMBER_TOLERANCE: f64 = 0.25;
/// Of a thousand blocks whose SM a policy tells, so many have to be there.
const PLACED: u32 = 900;
/// Steps of a timer by which they may differ in any case.
const TIMER_STEPS: f64 = 2.0;

named! {
    /// What an answer says of the rules here.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum ProbeVerdict: ALL {
        /// What is taken without any option was measured.
        Agrees = "agrees",
        /// Another answer was measured, or another number.
        Contradicts = "contradicts",
        /// None of the answers was measured.
        NoAnswer = "none of the answers",
        /// A number of which the device file says nothing.
        New = "new",
        /// It was not asked.
        NotAsked = "not asked",
    }
}

/// One question with its answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ProbeRow {
    /// What the question is called.
    pub name: String,
    /// The question.
    pub asks: String,
    /// What was measured, or why nothing was.
    pub answer: String,
    /// In how many runs.
    pub agreeing: usize,
    /// Of how many.
    pub runs: usize,
    /// What is taken without any option.
    pub taken: String,
    /// How gpusched is told what was measured, where it is not what is taken.
    pub switch: Option<String>,
    /// What follows.
    pub verdict: ProbeVerdict,
}

/// All answers of a card.
#[derive(Debug)]
pub struct ProbeReport {
    /// The card, its driver and settings, in a sentence.
    pub(crate) card: String,
    /// The device that answers were simulated on.
    pub(crate) base: String,
    /// By question.
    pub(crate) rows: Vec<ProbeRow>,
    /// The device with what was measured.
    pub device: Device,
    /// What is to be known of it.
    pub notes: Vec<String>,
}

impl ProbeReport {
    /// Whether something was measured that is not what is taken.
    pub fn contradicts(&self) -> bool {
        let wrong = [ProbeVerdict::Contradicts, ProbeVerdict::NoAnswer];
        self.rows.iter().any(|row| wrong.contains(&row.verdict))
    }
}

/// What stops a folder from being judged.
type JudgeError = Box<dyn std::error::Error + Send + Sync>;

impl ProbeFolder {
    /// Simulates all answers on `device`, or else on what the driver tells of the card, completed by what is known of
    /// such cards, and compares.
    ///
    /// # Errors
    /// A card of which too little is known, with what would help.
    pub fn judge(&self, device: Option<Device>) -> Result<ProbeReport, JudgeError> {
        let card = device.map_or_else(|| self.device_of_card(), Ok)?;
        let mut judge = Judge {
            folder: self,
            card: &card,
            measured: Value::Object(Map::new()),
            from: Vec::new(),
            notes: Vec::new(),
        };
        let mut rows = Vec::new();
        for question in &self.questions {
            end_if_stopped();
            let before = rows.len();
            // What cannot be simulated on this device says nothing of the other questions.
            if let Err(problem) = judge.rows_of(question, &mut rows) {
                let problem = problem.to_string();
                let why = problem.lines().next().unwrap_or_default();
                rows.truncate(before);
                rows.push(unasked(question, format!("cannot be compared: {why}")));
            } else if rows.len() == before {
                rows.push(unasked(question, "what was measured does not show it".to_owned()));
            }
        }
        let device = judge.device()?;
        let notes = self.notes.iter().cloned().chain(judge.notes).collect();
        Ok(ProbeReport { card: self.sentence(), base: card.name.clone(), rows, device, notes })
    }

    fn text_of(&self, key: &str) -> Option<&str> {
        self.card.get(key).and_then(Value::as_str)
    }

    /// The simulated device, or that of the card.
    fn device_of_card(&self) -> Result<Device, JudgeError> {
        if let Some(known) = self.simulated.as_deref().map(Device::builtin).transpose()?.flatten() {
            return Ok(known);
        }
        let number = |path: &str| self.card.pointer(path)?.as_u64();
        let limit = |path: &str| u32::try_from(number(path)?).ok();
        let card = GpuProperties {
            name: self.text_of("name").unwrap_or_default().to_owned(),
            compute_capability: self.text_of("compute_capability").and_then(ComputeCapability::parse),
            sms: limit("/sms"),
            threads_per_sm: limit("/per_sm/threads"),
            blocks_per_sm: limit("/per_sm/blocks"),
            threads_per_block: limit("/per_block/threads"),
            registers_per_sm: limit("/per_sm/registers"),
            registers_per_block: limit("/per_block/registers"),
            shared_memory_per_sm: limit("/per_sm/shared_memory_bytes"),
            shared_memory_per_block: limit("/per_block/shared_memory_bytes"),
            memory_bytes: number("/memory_bytes"),
            clock_hz: number("/clock_mhz").map(|mhz| mhz.saturating_mul(1_000_000)),
            copy_engines: limit("/copy_engines"),
            ..GpuProperties::default()
        };
        let device = option("device");
        let help = || format!("{device} names a device that is like it");
        Ok(card.device("the driver").map_err(|what| format!("the card {:?}: {what}; {}", card.name, help()))?)
    }

    fn sentence(&self) -> String {
        let mut parts = vec![self.text_of("name").unwrap_or("a card without a name").to_owned()];
        for (key, value) in self.card.as_object().into_iter().flatten() {
            let value = match value {
                Value::Object(_) | Value::Array(_) | Value::Null => continue,
                value => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
            };
            if key != "name" {
                parts.push(format!("{} {value}", key.replace('_', " ")));
            }
        }
        let asked = self.simulated.as_ref().map_or_else(
            || format!("measured on {}", self.date),
            |device| format!("simulated as {device}, not measured"),
        );
        format!("{}; {asked}", parts.join(", "))
    }
}

/// Puts what `patch` has into `into`, objects by their members.
fn merge(into: &mut Value, patch: &Value) {
    match (into, patch) {
        (Value::Object(into), Value::Object(patch)) => {
            for (key, value) in patch {
                match into.get_mut(key) {
                    Some(own) if own.is_object() && value.is_object() => merge(own, value),
                    _ => drop(into.insert(key.clone(), value.clone())),
                }
            }
        }
        (into, patch) => *into = patch.clone(),
    }
}

/// Judges questions, and gathers what was measured.
struct Judge<'a> {
    folder: &'a ProbeFolder,
    card: &'a Device,
    /// What goes into the device file.
    measured: Value,
    /// Its keys, and of what they are.
    from: Vec<(String, String)>,
    notes: Vec<String>,
}

impl Judge<'_> {
    fn rows_of(&mut self, question: &Question, rows: &mut Vec<ProbeRow>) -> Result<(), JudgeError> {
        let row = unasked(question, question.skipped.clone().unwrap_or_else(|| "nothing was measured".to_owned()));
        let Some(measured) = question.measured.as_ref().filter(|measured| !measured.runs.is_empty()) else {
            rows.push(row);
            return Ok(());
        };
        let simulated = self.simulated(question, measured)?;
        let seen = |device: &Device| -> Result<Vec<Seen>, JudgeError> {
            let scenario = scenario_on(&measured.scenario, device)?;
            let look_at = |run| look(&ObservedRun::of_logs(run, device), question, |kernel| stated(&scenario, kernel));
            Ok(measured.runs.iter().map(look_at).collect())
        };
        // What only experiments set, such as the number of channels, the first answer has.
        let taken = question.answers.first().map_or_else(|| Ok(self.card.clone()), |answer| self.with(answer))?;
        let runs = seen(&taken)?;
        match question.looks_at {
            LooksAt::Placement => {
                let mut scores = Vec::new();
                for (answer, own) in question.answers.iter().zip(&simulated) {
                    let seen = seen(&self.with(answer)?)?;
                    scores.push(seen.iter().map(|seen| score(seen, own)).collect::<Vec<_>>());
                }
                let is_best = |run: usize, score: [u32; 2]| {
                    score[0] >= PLACED && scores.iter().all(|of| of.get(run).is_none_or(|other| *other <= score))
                };
                let is_so = |of: &Vec<[u32; 2]>| (0..).zip(of).map(|(run, score)| is_best(run, *score)).collect();
                let placed: Vec<Vec<bool>> = scores.iter().map(is_so).collect();
                let row = ProbeRow { answer: "none of them".to_owned(), ..row };
                rows.push(self.chosen(question, row, &placed));
                self.learn(question, measured, rows.last());
            }
            LooksAt::Order | LooksAt::Resident | LooksAt::BlockTime => {
                let is_so = |answer: &Seen| runs.iter().map(|run| run.words == answer.words).collect();
                let so: Vec<Vec<bool>> = simulated.iter().map(is_so).collect();
                let seen = runs.first().map_or("", |run| &run.words);
                let row = ProbeRow { answer: format!("none of them: {seen}"), ..row };
                rows.push(self.chosen(question, row, &so));
                if let Some(own) = simulated.first().filter(|own| !own.values.is_empty()) {
                    self.numbers(question, &runs, own, rows);
                }
            }
            LooksAt::BlockGap | LooksAt::KernelGap | LooksAt::LaunchLatency | LooksAt::Turns => {
                let own = simulated.first().cloned().unwrap_or_default();
                self.numbers(question, &runs, &own, rows);
            }
        }
        Ok(())
    }

    /// The card as an answer has it.
    fn with(&self, answer: &Answer) -> Result<Device, JudgeError> {
        let mut file = self.card.to_value();
        merge(&mut file, &answer.device);
        Ok(Device::from_json("probe.json: device of an answer", &file.to_string())?)
    }

    /// What is seen of each answer when it is simulated.
    fn simulated(&self, question: &Question, measured: &Measured) -> Result<Vec<Seen>, JudgeError> {
        let one = |answer: &Answer| -> Result<Seen, JudgeError> {
            let text = answer.scenario.as_ref().unwrap_or(&measured.scenario);
            let scenario = scenario_on(text, &self.with(answer)?)?;
            let run = simulate(&scenario)?;
            Ok(look(&ObservedRun::of_run(&run)?, question, |kernel| stated(&scenario, kernel)))
        };
        question.answers.iter().map(one).collect()
    }

    /// The answer of most runs, if it is that of most of them; of several the first.
    fn chosen(&mut self, question: &Question, row: ProbeRow, so: &[Vec<bool>]) -> ProbeRow {
        let times = |of: &Vec<bool>| of.iter().filter(|so| **so).count();
        let runs = so.first().map_or(0, Vec::len);
        let most = so.iter().map(times).max().unwrap_or(0);
        if most * 2 <= runs {
            let some = question.answers.iter().zip(so).filter(|(_, of)| times(of) > 0);
            let some: Vec<String> = some.map(|(answer, of)| format!("{} in {}", answer.says, times(of))).collect();
            let answer = if some.is_empty() { row.answer } else { format!("none in most runs: {}", some.join(", ")) };
            return ProbeRow { answer, agreeing: most, runs, verdict: ProbeVerdict::NoAnswer, ..row };
        }
        let mut alike = question.answers.iter().zip(so).enumerate().filter(|(_, (_, of))| times(of) == most);
        let Some((place, (answer, _))) = alike.next() else { return row };
        let mut said = answer.says.clone();
        for (_, (other, _)) in alike {
            let _ = write!(said, " (or {}: this run does not tell)", other.says);
        }
        let verdict = if place == 0 { ProbeVerdict::Agrees } else { ProbeVerdict::Contradicts };
        let switch = answer.switch.clone().filter(|_| place > 0);
        // What the first answer has too, such as the number of channels, the experiment set: it is not the card's.
        let set = |key: &String| question.answers.first().is_some_and(|first| first.device.get(key).is_some());
        let own = answer.device.as_object().into_iter().flatten().filter(|(key, _)| !set(key));
        let own: Map<String, Value> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
        if place > 0 && !own.is_empty() {
            self.note(&Value::Object(own), &format!("{}: {most} of {}", question.name, counted(runs, "run")));
        }
        ProbeRow { answer: said, agreeing: most, runs, switch, verdict, ..row }
    }

    /// A row for each number that was measured.
    fn numbers(&mut self, question: &Question, runs: &[Seen], own: &Seen, rows: &mut Vec<ProbeRow>) {
        for (key, taken) in &own.values {
            let mut values: Vec<f64> = runs
                .iter()
                .filter_map(|run| run.values.iter().find(|(other, _)| other == key))
                .map(|(_, value)| *value)
                .collect();
            values.sort_by(f64::total_cmp);
            let last = values.len().saturating_sub(1);
            let at = |place: usize| values.get(place).copied();
            let [Some(least), Some(middle), Some(most)] = [last / 10, last / 2, (last * 9).div_ceil(10)].map(at) else {
                continue;
            };
            let of_card = |about: &str| self.folder.card.get(about).and_then(Value::as_f64).unwrap_or(0.0);
            // Launches are told by the host's clock, which is known as the GPU's to so much.
            let unsure = TIMER_STEPS * of_card("timer_step_ns")
                + if question.looks_at == LooksAt::LaunchLatency { of_card("launched_within_ns") } else { 0.0 };
            let unsure = if key.ends_with("_ns") { unsure } else { 0.0 };
            let near =
                |value: f64| (value - taken).abs() <= (NUMBER_TOLERANCE * value.abs().max(taken.abs())).max(unsure);
            let is_known = *taken != 0.0 || self.card.entries().iter().any(|(known, _)| known == key);
            let verdict = match (near(middle), is_known) {
                (true, _) => ProbeVerdict::Agrees,
                (false, true) => ProbeVerdict::Contradicts,
                (false, false) => ProbeVerdict::New,
            };
            let agreeing = values.iter().filter(|value| near(**value)).count();
            let said = |value: f64| if key.ends_with("_ns") { time(value) } else { format!("{value}") };
            let is_measured = question.measures.iter().any(|(measured, _)| measured == key);
            // Of a number below what the clocks can tell, the device file says nothing.
            if is_measured && middle >= 0.0 && unsure <= middle.max(*taken) {
                let patch = nested(key, &json!(whole(middle)));
                self.note(&patch, &format!("{}: median of {}", question.name, counted(values.len(), "run")));
            }
            rows.push(ProbeRow {
                name: question.name.clone(),
                asks: question.asks.clone(),
                answer: format!("{key}: {} (80 % from {} to {})", said(middle), said(least), said(most)),
                agreeing,
                runs: values.len(),
                taken: said(*taken),
                switch: (is_measured && verdict != ProbeVerdict::Agrees).then(|| format!("{key} of a device file")),
                verdict,
            });
        }
    }

    /// Where no answer says where blocks went, what explains most.
    fn learn(&mut self, question: &Question, measured: &Measured, row: Option<&ProbeRow>) {
        if row.is_none_or(|row| row.verdict != ProbeVerdict::NoAnswer) {
            return;
        }
        let Some(run) = measured.runs.first() else { return };
        let learned = learn_placement(&ObservedRun::of_logs(run, self.card), &Tolerances::default());
        let Some(best) = learned.best() else { return };
        let file = best.to_value();
        let found: Map<String, Value> = ["placement", "sm_order", "gpcs"]
            .iter()
            .filter_map(|key| Some(((*key).to_owned(), file.get(*key)?.clone())))
            .collect();
        self.note(&Value::Object(found), &format!("{}: what explains most blocks", question.name));
    }

    /// Takes what was measured, unless no device can have it, such as turns of no length.
    fn note(&mut self, patch: &Value, of: &str) {
        let (mut measured, mut file) = (self.measured.clone(), self.card.to_value());
        merge(&mut measured, patch);
        merge(&mut file, &measured);
        if Device::from_json("what was measured", &file.to_string()).is_err() {
            self.notes.push(format!("not in the device file, as no device can have it: {patch} ({of})"));
            return;
        }
        self.measured = measured;
        for (key, value) in patch.as_object().into_iter().flatten() {
            let members = value.as_object().filter(|_| key != "gpcs");
            match members {
                Some(members) => {
                    self.from.extend(members.keys().map(|member| (format!("{key}.{member}"), of.to_owned())));
                }
                None => self.from.push((key.clone(), of.to_owned())),
            }
        }
    }

    /// The card with what was measured, and where that is from.
    fn device(&self) -> Result<Device, JudgeError> {
        let mut file = self.card.to_value();
        merge(&mut file, &self.measured);
        let title = self.folder.text_of("name").unwrap_or("a card without a name");
        file["name"] = json!(format!("{}-probed", self.card.name));
        file["title"] = json!(title);
        let driver = self.folder.text_of("driver").map_or_else(String::new, |driver| format!(", driver {driver}"));
        let by = match &self.folder.simulated {
            None => format!("gpusched's probe on {title}{driver}, {}", self.folder.date),
            Some(device) => {
                format!("gpusched's probe on a simulated {device}, {}: nothing was measured", self.folder.date)
            }
        };
        for (key, of) in &self.from {
            let last = key.rsplit('.').next().unwrap_or(key).to_owned();
            for about in [key, &last] {
                file["assumptions"].as_object_mut().map(|all| all.shift_remove(about.as_str()));
            }
            file["sources"][key.as_str()] = json!(format!("{by}; {of}"));
        }
        Ok(Device::from_json("the device with what was measured", &file.to_string())?)
    }
}

/// A row that says why nothing is known.
fn unasked(question: &Question, why: String) -> ProbeRow {
    ProbeRow {
        name: question.name.clone(),
        asks: question.asks.clone(),
        answer: why,
        agreeing: 0,
        runs: 0,
        taken: question.answers.first().map(|answer| answer.says.clone()).unwrap_or_default(),
        switch: None,
        verdict: ProbeVerdict::NotAsked,
    }
}

/// How well an answer tells where blocks went, in thousandths: first of the blocks whose SM its device tells, which
/// does not depend on times, then of all blocks as it was simulated.
fn score(seen: &Seen, simulated: &Seen) -> [u32; 2] {
    let alike = seen.sms.iter().zip(&simulated.sms).filter(|(one, other)| one == other).count();
    let thousandths = |of: usize, all: usize| u32::try_from(of * 1_000 / all.max(1)).or_most();
    [thousandths(seen.explained[0], seen.explained[1]), thousandths(alike, seen.sms.len())]
}

/// An object with this value at a dotted key.
fn nested(key: &str, value: &Value) -> Value {
    key.rsplit('.').fold(value.clone(), |inner, part| json!({ part: inner }))
}

fn scenario_on(text: &Text, device: &Device) -> Result<Scenario, JudgeError> {
    let options = ReadOptions { device: Some(device.clone()), ..ReadOptions::default() };
    Ok(Scenario::from_json(&text.file, &text.text, &options)?)
}

/// How long blocks of a kernel should take, at worst \[ns\].
fn stated(scenario: &Scenario, kernel: &str) -> Option<f64> {
    let kernel = scenario.kernels().iter().find(|known| *known.name == *kernel)?;
    Some(kernel.duration.worst.as_ns() as f64)
}

/// A time of so many nanoseconds, with its unit.
fn time(ns: f64) -> String {
    let sign = if ns < 0.0 { "-" } else { "" };
    format!("{sign}{}", Duration::from_ns(whole(ns.abs())))
}

/// The nearest whole number, from 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float that is cast saturates")]
fn whole(number: f64) -> u64 {
    number.max(0.0).round() as u64
}
