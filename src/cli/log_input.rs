//! Options of every command that takes measured logs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;
use gpusched::audit::Tolerances;
use gpusched::device::Device;
use gpusched::logs::{Dropped, Log, LogRun, Pairing, recognize_device, sort_into_runs};
use gpusched::profile::{GpuProfile, Input, InputError};
use gpusched::scenario::{HostThread, ReadOptions, Scenario};
use gpusched::time::Duration;
use gpusched::workload::Placement;

use super::input;
use super::output::note;

/// Which logs, from which GPU, and how far to trust them.
#[derive(Debug, Args)]
pub(crate) struct LogOptions {
    /// Logs of `cuda_scheduling_examiner`, or directories that hold them, or one profile of PyTorch, Nsight Systems or
    /// nvprof; - reads standard input
    #[arg(required = true, value_name = "LOG|DIR")]
    logs: Vec<PathBuf>,
    /// GPU on which they were taken: a built-in name or a device file [default: recognized from the logs]
    #[arg(long, value_name = "NAME|FILE")]
    device: Option<String>,
    /// The scenario that made them; it tells what logs do not: priorities, SM masks, copies, memsets
    /// [default: scenario.json in the same directory, if there is one]
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// Use nothing but the logs, even if a scenario lies beside them
    #[arg(long, conflicts_with = "scenario")]
    logs_alone: bool,
    /// Which SM gets the next block, by the model [default: the scenario's, or most-room]
    #[arg(long, value_name = "POLICY", value_parser = PossibleValuesParser::new(Placement::ALL.map(Placement::name)))]
    placement: Option<String>,
    /// Tolerance between the host's clock and the GPU's, in microseconds
    #[arg(long, value_name = "US", default_value = "500", value_parser = parse_microseconds)]
    tolerance_us: i64,
    /// Tolerance between times on one clock, in microseconds
    #[arg(long, value_name = "US", default_value = "10", value_parser = parse_microseconds)]
    clock_tolerance_us: i64,
}

/// Decimal microseconds as nanoseconds.
fn parse_microseconds(text: &str) -> Result<i64, String> {
    let time = Duration::parse(&format!("{text}us")).map_err(|_| "expected microseconds from 0, for example 2.5")?;
    i64::try_from(time.as_ns()).map_err(|_| "that is too long".to_owned())
}

/// The logs of one run with what is known beside them.
pub(crate) struct RunInput {
    pub(crate) run: LogRun,
    pub(crate) device: Device,
    pub(crate) scenario: Option<(Scenario, Pairing)>,
    pub(crate) notes: Vec<String>,
}

impl RunInput {
    /// Processes whose benchmarks launched kernels.
    pub(crate) fn processes(&self) -> usize {
        let logs = self.run.logs.iter().filter(|log| !log.kernels.is_empty());
        logs.map(|log| log.pid).collect::<BTreeSet<_>>().len()
    }
}

/// Everything that was read.
pub(crate) struct LogInput {
    pub(crate) runs: Vec<RunInput>,
    pub(crate) dropped: Vec<Dropped>,
}

impl LogOptions {
    /// One log or directory, with the other options as they are by default.
    pub(crate) fn new(path: &Path, device: Option<String>, placement: Option<String>) -> Self {
        Self {
            logs: vec![path.to_path_buf()],
            device,
            scenario: None,
            logs_alone: false,
            placement,
            tolerance_us: 500,
            clock_tolerance_us: 10,
        }
    }

    /// The profile, if the one file that is named is a profile rather than a log.
    pub(crate) fn profile(&self) -> anyhow::Result<Option<GpuProfile>> {
        let [path] = &*self.logs else { return Ok(None) };
        if path.is_dir() || input::is_log(path) {
            return Ok(None);
        }
        match input::scenario(path) {
            Ok(Input::Profile(profile)) => {
                if self.scenario.is_some() || self.logs_alone {
                    bail!(
                        "{} is a profile, and a scenario beside it is of no use: leave out that option",
                        profile.file
                    );
                }
                Ok(Some(profile))
            }
            Err(error) if matches!(error.downcast_ref(), Some(InputError::Profile(_))) => Err(error),
            // Damaged logs are read as far as they go, and the reader of logs tells of files that cannot be read.
            Ok(Input::Text { .. }) | Err(_) => Ok(None),
        }
    }

    /// The GPU that the user names.
    pub(crate) fn device(&self) -> anyhow::Result<Option<Device>> {
        self.device.as_deref().map(input::device).transpose()
    }

    pub(crate) fn tolerances(&self) -> Tolerances {
        Tolerances { across_clocks_ns: self.tolerance_us, one_clock_ns: self.clock_tolerance_us }
    }

    pub(crate) fn placement(&self) -> Option<Placement> {
        self.placement.as_deref().and_then(Placement::from_name)
    }

    /// Reads everything: the logs of each directory are sorted into runs.
    pub(crate) fn read(&self) -> anyhow::Result<LogInput> {
        let device = self.device()?;
        let mut folders: BTreeMap<PathBuf, Vec<Log>> = BTreeMap::new();
        let mut dropped = Vec::new();
        for path in self.files()? {
            let reading = input::log(&path.file)?;
            dropped.extend(reading.dropped);
            match reading.log {
                Some(log) => {
                    let folder = path.file.parent().map(Path::to_path_buf).unwrap_or_default();
                    folders.entry(folder).or_default().push(log);
                }
                None if path.listed && !self.is_scenario(&path.file) => {
                    note(&format!("{} is no log: it has no list \"times\"; skipped", path.file.display()));
                }
                None => {}
            }
        }
        let mut runs = Vec::new();
        for (folder, logs) in folders {
            for mut run in sort_into_runs(logs) {
                dropped.append(&mut run.dropped);
                if run.logs.iter().any(|log| !log.kernels.is_empty()) {
                    runs.push(self.complete(run, &folder, device.as_ref())?);
                }
            }
        }
        if runs.is_empty() {
            let why = dropped.first().map_or_else(String::new, |first| format!(": {first}"));
            bail!("no log holds a kernel{why}");
        }
        for dropped in &dropped {
            note(&dropped.to_string());
        }
        Ok(LogInput { runs, dropped })
    }

    fn is_scenario(&self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| name == "scenario.json") || self.scenario.as_deref() == Some(path)
    }

    /// All files that are meant; a directory stands for its JSON files.
    fn files(&self) -> anyhow::Result<Vec<LogPath>> {
        let mut files = Vec::new();
        for path in &self.logs {
            if !path.is_dir() {
                files.push(LogPath { file: path.clone(), listed: true });
                continue;
            }
            let cannot = || format!("cannot read the directory {}", path.display());
            let mut inside = Vec::new();
            for entry in fs::read_dir(path).with_context(cannot)? {
                let file = entry.with_context(cannot)?.path();
                if file.is_file() && file.extension().is_some_and(|extension| extension == "json") {
                    inside.push(file);
                }
            }
            if inside.is_empty() {
                bail!("{} holds no JSON file", path.display());
            }
            inside.sort();
            files.extend(inside.into_iter().map(|file| LogPath { file, listed: true }));
        }
        // The same file named twice would count twice.
        let mut seen = BTreeSet::new();
        files.retain(|path| seen.insert(path.file.clone()));
        Ok(files)
    }

    /// Finds the device and the scenario of a run.
    fn complete(&self, run: LogRun, folder: &Path, device: Option<&Device>) -> anyhow::Result<RunInput> {
        let mut notes = Vec::new();
        let device = if let Some(device) = device {
            device.clone()
        } else {
            let recognized = recognize_device(&run.logs).context("the GPU cannot be told; --device names it")?;
            notes.extend(recognized.notes);
            recognized.device
        };
        let scenario = self.scenario_of(&run, folder, &device, &mut notes)?;
        Ok(RunInput { run, device, scenario, notes })
    }

    /// The scenario that the user named must fit; one that just lies there is used if it does.
    fn scenario_of(
        &self,
        run: &LogRun,
        folder: &Path,
        device: &Device,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Option<(Scenario, Pairing)>> {
        let beside = folder.join("scenario.json");
        let path = match &self.scenario {
            Some(path) => path.clone(),
            None if !self.logs_alone && beside.is_file() => beside,
            None => return Ok(None),
        };
        let (file, text) = input::read(&path)?;
        let options = ReadOptions {
            device: Some(device.clone()),
            placement: self.placement(),
            as_threads: true,
            ..ReadOptions::default()
        };
        let read = with_measured_durations(&file, &text, &options, run);
        match read {
            Ok((pairing, scenario)) => {
                notes.push(format!("streams, copies and host programs are those of {file}"));
                notes.extend(scenario.notes.iter().cloned());
                Ok(Some((scenario, pairing)))
            }
            Err(error) if self.scenario.is_some() => Err(error),
            Err(error) => {
                note(&format!("{file} is not used: {error:#}"));
                Ok(None)
            }
        }
    }
}

struct LogPath {
    file: PathBuf,
    /// Whether its user should hear that it is no log.
    listed: bool,
}

/// Reads a scenario and pairs it with its logs. Block times that its file lacks are in the logs; a benchmark that has
/// neither cannot be used.
fn with_measured_durations(
    file: &str,
    text: &str,
    options: &ReadOptions,
    run: &LogRun,
) -> anyhow::Result<(Pairing, Scenario)> {
    if let Ok(scenario) = Scenario::from_json(file, text, options) {
        return Ok((Pairing::new(run, &scenario)?, scenario));
    }
    // Any block time will do, as the measured ones replace it; and the logs say how many iterations there were.
    let measured = ReadOptions {
        other_block_duration: Some(Duration::from_ns(1)),
        horizon: Some(Duration::from_ns(u64::MAX)),
        ..options.clone()
    };
    let mut scenario = Scenario::from_json(file, text, &measured)?;
    scenario.horizon = None;
    let pairing = Pairing::new(run, &scenario)?;
    let mut threads = scenario.threads.iter().zip(&pairing.log_of_thread);
    let unknown = |thread: &HostThread| thread.submits() || thread.iterations.is_none();
    if let Some((thread, _)) = threads.find(|(thread, log)| log.is_none() && unknown(thread)) {
        bail!("{:?} has no log, and {file} does not say how long its blocks run or when it ends", &*thread.label);
    }
    Ok((pairing, scenario))
}
