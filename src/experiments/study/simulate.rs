//! Any scenario or profile, simulated over a grid of what-ifs, as a study.

use std::ops::Range;
use std::sync::Arc;

use super::command::StudyExperiment;
use super::compute::{Experiment, Worker};
use super::grid::{self, Change, Files, Grid, Parameters};
use super::simulate_tally::{Outcome, SimulateTally};
use super::tally::Tally;
use crate::device::{ChannelOrder, SmMask};
use crate::hosts::simulate;
use crate::input::{Input, InputError};
use crate::json::{Node, Problem};
use crate::named::named;
use crate::near::did_you_mean;
use crate::profile::{GpuProfile, ImportOptions, Launches};
use crate::scenario::{Deadline, ReadOptions, Scenario, WhatIf};
use crate::time::Duration;
use crate::workload::Placement;

/// One point: a scenario, and what is changed in it.
#[derive(Debug, Clone, Default)]
pub(super) struct SimulatePoint {
    input: Option<Arc<Input>>,
    options: ReadOptions,
    import: ImportOptions,
    /// A profile whose block times are taken for the same kernels.
    block_times: Option<Arc<GpuProfile>>,
    changes: WhatIf,
    /// Whose jobs are counted, a stream with operations or a host; `None`: all.
    responses_of: Option<String>,
    seed: u64,
}

named! {
    /// What a study of scenarios can say.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Key: ALL, from_name {
        BlockDurations = "block_durations",
        BlockTimes = "block_times",
        ChannelOrder = "channel_order",
        Connections = "connections",
        Deadlines = "deadlines",
        Device = "device",
        Gpu = "gpu",
        Horizon = "horizon",
        KernelGap = "kernel_gap",
        LaunchLatency = "launch_latency",
        Launches = "launches",
        Mps = "mps",
        Periods = "periods",
        Placement = "placement",
        ResponsesOf = "responses_of",
        Scenario = "scenario",
        SetBlockTime = "set_block_time",
        SetPriority = "set_priority",
        SetStream = "set_stream",
        SmMask = "sm_mask",
        SwitchCost = "switch_cost",
        TimeSlice = "time_slice",
        Vary = "vary",
    }
}

impl Parameters for SimulatePoint {
    type Key = Key;

    fn keys() -> Vec<&'static str> {
        Key::ALL.map(Key::name).to_vec()
    }

    fn key(name: &str) -> Option<Key> {
        Key::from_name(name)
    }

    fn read(key: Key, value: Node<'_>, files: &Files<'_>) -> Result<Change<Self>, Problem> {
        Ok(match key {
            Key::Scenario => {
                let name = value.string()?;
                let input = Input::of(&name, files.bytes(value, &name)?);
                let input = Arc::new(input.map_err(|error| value.problem(error.to_string()))?);
                Box::new(move |point| point.input = Some(Arc::clone(&input)))
            }
            Key::Device => {
                let device = grid::device(value, files)?;
                Box::new(move |point| point.options.device = Some(device.clone()))
            }
            Key::Placement => {
                let placement = grid::one_of(value, &Placement::ALL.map(Placement::name), Placement::from_name)?;
                Box::new(move |point| point.options.placement = Some(placement))
            }
            Key::Launches => {
                let launches = grid::one_of(value, &Launches::ALL.map(Launches::name), Launches::from_name)?;
                Box::new(move |point| point.import.launches = launches)
            }
            Key::Gpu => {
                let gpu = value.whole_u32(0, u32::MAX)?;
                Box::new(move |point| point.import.gpu = Some(gpu))
            }
            Key::BlockTimes => {
                let name = value.string()?;
                let input = Input::of(&name, files.bytes(value, &name)?);
                let Input::Profile(other) = input.map_err(|error| value.problem(error.to_string()))? else {
                    return Err(value.expected("a profile"));
                };
                let other = Arc::new(other);
                Box::new(move |point| point.block_times = Some(Arc::clone(&other)))
            }
            Key::ChannelOrder => {
                let names = ChannelOrder::ALL.map(ChannelOrder::name);
                let order = grid::one_of(value, &names, ChannelOrder::from_name)?;
                Box::new(move |point| point.changes.channel_order = Some(order))
            }
            Key::Connections => {
                let connections = value.whole_u32(1, u32::MAX)?;
                Box::new(move |point| point.changes.connections = Some(connections))
            }
            Key::ResponsesOf => {
                let name = value.string()?;
                Box::new(move |point| point.responses_of = Some(name.clone()))
            }
            Key::Vary => {
                let expected = "two whole percentages up to 10000, the first not above the second, as \"80..100\"";
                let vary = value.string().ok().and_then(|text| ReadOptions::parse_vary(&text));
                let vary = vary.ok_or_else(|| value.expected(expected))?;
                Box::new(move |point| point.options.vary_percent = Some(vary))
            }
            Key::Horizon => time(value, |point, time| point.options.horizon = Some(time))?,
            Key::KernelGap => time(value, |point, time| point.options.kernel_gap = Some(time))?,
            Key::LaunchLatency => time(value, |point, time| point.options.launch_latency = Some(time))?,
            Key::SwitchCost => time(value, |point, time| point.options.switch_cost = Some(time))?,
            Key::TimeSlice => {
                let slice = positive_time(value)?;
                Box::new(move |point| point.options.time_slice = Some(slice))
            }
            Key::Mps => {
                let mps = value.boolean()?;
                Box::new(move |point| point.options.mps = mps)
            }
            Key::BlockDurations => {
                by_name(value, positive_time, |point, times| point.options.block_durations.extend(times))?
            }
            Key::Periods => by_name(value, positive_time, |point, times| point.options.periods.extend(times))?,
            Key::Deadlines => {
                by_name(value, Deadline::read, |point, deadlines| point.options.deadlines.extend(deadlines))?
            }
            Key::SetBlockTime => by_name(value, positive_time, |point, times| point.changes.block_times.extend(times))?,
            Key::SetPriority => by_name(value, priority, |point, all| point.changes.priorities.extend(all))?,
            Key::SetStream => by_name(value, |node| node.string(), |point, all| point.changes.streams.extend(all))?,
            Key::SmMask => by_name(value, sm_mask, |point, masks| point.changes.sm_masks.extend(masks))?,
        })
    }

    fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
    }
}

/// A time, and where it goes.
fn time(value: Node<'_>, set: fn(&mut SimulatePoint, Duration)) -> Result<Change<SimulatePoint>, Problem> {
    let time = value.time()?;
    Ok(Box::new(move |point| set(point, time)))
}

fn positive_time(node: Node<'_>) -> Result<Duration, Problem> {
    match node.time()? {
        Duration::ZERO => Err(node.expected("a time above zero")),
        time => Ok(time),
    }
}

fn priority(node: Node<'_>) -> Result<i32, Problem> {
    let expected = || node.expected("a whole number of at most 0; more negative is more urgent");
    node.signed_number(i64::from(i32::MIN), 0).ok().and_then(|n| i32::try_from(n).ok()).ok_or_else(expected)
}

fn sm_mask(node: Node<'_>) -> Result<SmMask, Problem> {
    SmMask::parse(&node.string()?).map_err(|error| node.problem(error.to_string()))
}

/// The entries of an object, each name once, and where they go.
fn by_name<T: Clone + Send + Sync + 'static>(
    value: Node<'_>,
    read: impl Fn(Node<'_>) -> Result<T, Problem>,
    set: fn(&mut SimulatePoint, Vec<(String, T)>),
) -> Result<Change<SimulatePoint>, Problem> {
    let mut entries: Vec<(String, T)> = Vec::new();
    for (name, node) in value.object()?.into_entries() {
        if entries.iter().any(|(known, _)| **known == *name) {
            return Err(node.problem(format!("{name:?} stands twice")));
        }
        entries.push((name.into_owned(), read(node)?));
    }
    Ok(Box::new(move |point| set(point, entries.clone())))
}

impl SimulatePoint {
    /// The scenario as it is run, and the index of the host thread whose jobs are counted.
    fn scenario(&self) -> Result<(Scenario, Option<u32>), String> {
        let input = self.input.as_deref().ok_or("no scenario is stated: add \"scenario\": a file")?;
        let options = ReadOptions { seed: Some(self.seed), ..self.options.clone() };
        let scenario = match (&self.block_times, input) {
            (None, _) => input.scenario(&options, &self.import),
            (Some(other), Input::Profile(profile)) => {
                let mut profile = profile.clone();
                profile
                    .take_block_times_of(other, options.device.as_ref())
                    .and_then(|()| Ok(profile.import(&self.import, &options)?.scenario))
                    .map_err(InputError::from)
            }
            (Some(_), _) => return Err("\"block_times\": the scenario is no profile".to_owned()),
        };
        let scenario = scenario.map_err(|error| error.to_string())?;
        let scenario = scenario.what_if(&self.changes).map_err(|error| error.to_string())?;
        let Some(name) = &self.responses_of else { return Ok((scenario, None)) };
        let found = (0..).zip(&scenario.threads).find(|(_, thread)| thread.submits() && *thread.label == **name);
        let Some((thread, _)) = found else {
            let submitting = scenario.threads.iter().filter(|thread| thread.submits());
            let known: Vec<&str> = submitting.map(|thread| &*thread.label).collect();
            return Err(format!(
                "\"responses_of\": no stream or host is called {name:?}{}; there are {}",
                did_you_mean(name, known.iter().copied()),
                known.join(", ")
            ));
        };
        Ok((scenario, Some(thread)))
    }
}

/// The points, once each was made into a scenario.
pub(super) fn checked(
    grid: &Grid<'_>,
    points: Vec<SimulatePoint>,
    (samples, node): (u64, Node<'_>),
) -> Result<Vec<SimulatePoint>, Problem> {
    let place = grid.parameters.or(grid.axes).unwrap_or(grid.root);
    let mut is_drawn = false;
    for (number, point) in points.iter().enumerate() {
        let of_point = |what: String| match points.len() {
            1 => place.problem(what),
            _ => place.problem(format!("point {number}: {what}")),
        };
        is_drawn |= point.scenario().map_err(of_point)?.0.depends_on_seed();
    }
    if samples > 1 && !is_drawn {
        return Err(node
            .problem("nothing is drawn, so that all samples of a point are the same")
            .with_help("state 1 sample, or \"vary\" block times, or let \"placement\" be \"random\""));
    }
    Ok(points)
}

/// A study of a scenario.
#[derive(Debug)]
pub(super) struct SimulateStudy {
    pub(super) points: Vec<SimulatePoint>,
}

impl Experiment for SimulateStudy {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(SimulateWorker { points: &self.points, known: None })
    }
}

impl StudyExperiment for SimulateStudy {
    fn columns(&self) -> &'static str {
        Outcome::COLUMNS
    }

    fn tally(&self, _point: u64) -> Box<dyn Tally> {
        Box::new(SimulateTally::default())
    }
}

struct SimulateWorker<'a> {
    points: &'a [SimulatePoint],
    /// The point of the row computed last, its scenario, and whose jobs are counted.
    known: Option<(u64, Scenario, Option<u32>)>,
}

impl Worker for SimulateWorker<'_> {
    /// Sample k of a point is the run with its seed plus k, as `gpusched simulate --seed` makes it.
    fn values(&mut self, number: u64, samples: Range<u64>) -> Result<String, String> {
        let point = super::point(self.points, number)?;
        if self.known.as_ref().is_none_or(|(known, ..)| *known != number) {
            let (scenario, thread) = point.scenario()?;
            self.known = Some((number, scenario, thread));
        }
        // It was just made known.
        let Some((_, scenario, thread)) = &mut self.known else { return Err("no scenario".to_owned()) };
        scenario.seed = point.seed.wrapping_add(samples.start);
        let run = simulate(scenario).map_err(|error| error.to_string())?;
        Ok(Outcome::of(scenario, &run, *thread).to_string())
    }
}
