//! Files and directories of logs as a user names them, sorted into runs, each with its GPU and, if it is there, the
//! scenario that made it.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::log::Log;
use super::runs::join_streams;
use super::{BlockColumns, Dropped, LogRun, LogsReading, Pairing, sort_into_runs};
use crate::device::{BUILTIN_NAMES, Device, SmOrder};
use crate::scenario::{HostThread, ReadOptions, Scenario, stated_device};
use crate::spelling::option;
use crate::time::Duration;
use crate::words::with_causes;
use crate::workload::Placement;

/// Which logs, from which GPU, and what is known beside them.
#[derive(Debug, Clone, Default)]
pub struct LogFiles {
    /// Logs, or directories that hold them.
    pub paths: Vec<PathBuf>,
    /// The GPU on which they were taken; `None`: recognized from the logs, or that of the scenario where logs do not
    /// say how many SMs it has.
    pub device: Option<Device>,
    /// The scenario that made them; `None`: `scenario.json` in the same directory, if there is one.
    pub scenario: Option<PathBuf>,
    /// Use nothing but the logs, even if a scenario lies beside them.
    pub logs_alone: bool,
    /// Which SM gets the next block; `None`: the scenario's, or the device's.
    pub placement: Option<Placement>,
    /// Which columns of tables of blocks say what, where their names do not.
    pub columns: BlockColumns,
}

/// Whatever stops logs from being read.
pub type LogFilesError = Box<dyn Error + Send + Sync>;

/// Who opens files, and is told of what is not as it should be.
pub trait LogFilesReader {
    /// Reads a log, or a table of blocks with these columns.
    ///
    /// # Errors
    /// Why it cannot be opened or read.
    fn log(&self, path: &Path, columns: &BlockColumns) -> Result<LogsReading, LogFilesError>;

    /// Reads a text; its name in errors, and what it holds.
    ///
    /// # Errors
    /// Why it cannot be opened or read.
    fn text(&self, path: &Path) -> Result<(String, String), LogFilesError>;

    /// Tells the user something at once, even if reading fails afterwards.
    fn note(&self, text: &str);
}

/// The logs of one run with what is known beside them.
#[derive(Debug)]
pub struct RunInput {
    /// The logs.
    pub run: LogRun,
    /// The GPU.
    pub device: Device,
    /// The scenario that made them, and which log is of which of its threads.
    pub scenario: Option<(Scenario, Pairing)>,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl RunInput {
    /// Processes whose host threads launched kernels.
    pub fn processes(&self) -> usize {
        let logs = self.run.logs.iter().filter(|log| !log.kernels.is_empty());
        logs.map(|log| log.pid).collect::<BTreeSet<_>>().len()
    }
}

/// Everything that was read.
#[derive(Debug)]
pub struct LogInput {
    /// By directory.
    pub runs: Vec<RunInput>,
    /// What could not be used.
    pub dropped: Vec<Dropped>,
}

/// Why files hold no runs.
#[derive(Debug, Error)]
enum NoRuns {
    #[error("cannot read the directory {directory}")]
    Directory { directory: String, source: std::io::Error },
    #[error("{0} holds neither a JSON nor a CSV file")]
    Empty(String),
    #[error("no log holds a kernel: {0}")]
    NoKernel(String),
    #[error("the GPU cannot be told; {} names it", option("device"))]
    Device,
    #[error("{thread:?} has no log, and {file} does not say how long its blocks run or when it ends")]
    NoLog { thread: String, file: String },
}

impl LogFiles {
    /// Reads everything: the logs of each directory are sorted into runs.
    ///
    /// # Errors
    /// What `reader` says, or that no run can be made of what was read.
    pub fn read(&self, reader: &impl LogFilesReader) -> Result<LogInput, LogFilesError> {
        let device = self.device.as_ref();
        let mut folders: BTreeMap<PathBuf, Vec<Log>> = BTreeMap::new();
        let mut dropped = Vec::new();
        for file in self.files()? {
            let reading = reader.log(&file, &self.columns)?;
            let is_log = !reading.logs.is_empty() || !reading.dropped.is_empty();
            dropped.extend(reading.dropped);
            reading.notes.iter().for_each(|note| reader.note(note));
            let folder = file.parent().map(Path::to_path_buf).unwrap_or_default();
            folders.entry(folder).or_default().extend(reading.logs);
            if !is_log && !self.is_scenario(&file) {
                reader.note(&format!("{} is no log: it has no list \"times\"; skipped", file.display()));
            }
        }
        let mut runs = Vec::new();
        for (folder, logs) in folders {
            for mut run in sort_into_runs(logs) {
                dropped.append(&mut run.dropped);
                if run.logs.iter().any(|log| !log.kernels.is_empty()) {
                    runs.push(self.complete(run, &folder, device, reader)?);
                }
            }
        }
        if runs.is_empty() {
            let looked_at = || self.paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
            let why = dropped.first().map_or_else(|| format!("looked at {}", looked_at()), ToString::to_string);
            return Err(NoRuns::NoKernel(why).into());
        }
        for dropped in &dropped {
            reader.note(&dropped.to_string());
        }
        Ok(LogInput { runs, dropped })
    }

    fn is_scenario(&self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| name == "scenario.json") || self.scenario.as_deref() == Some(path)
    }

    /// All files that are meant; a directory stands for its JSON files, or for its CSV files if it has none.
    fn files(&self) -> Result<Vec<PathBuf>, NoRuns> {
        let mut files = Vec::new();
        for path in &self.paths {
            if !path.is_dir() {
                files.push(path.clone());
                continue;
            }
            let cannot = |source| NoRuns::Directory { directory: path.display().to_string(), source };
            let (mut inside, mut tables) = (Vec::new(), Vec::new());
            for entry in fs::read_dir(path).map_err(cannot)? {
                let file = entry.map_err(cannot)?.path();
                match file.extension().and_then(|extension| extension.to_str()).filter(|_| file.is_file()) {
                    Some("json") => inside.push(file),
                    Some("csv") => tables.push(file),
                    _ => {}
                }
            }
            if inside.is_empty() {
                inside = tables;
            }
            if inside.is_empty() {
                return Err(NoRuns::Empty(path.display().to_string()));
            }
            inside.sort();
            files.append(&mut inside);
        }
        // The same file named twice would count twice.
        let mut seen = BTreeSet::new();
        files.retain(|file| seen.insert(file.clone()));
        Ok(files)
    }

    /// Finds the device and the scenario of a run.
    fn complete(
        &self,
        mut run: LogRun,
        folder: &Path,
        device: Option<&Device>,
        reader: &impl LogFilesReader,
    ) -> Result<RunInput, LogFilesError> {
        let mut notes = Vec::new();
        let scenario = self.scenario_file(folder).map(|path| reader.text(&path)).transpose()?;
        // Where logs do not say how many SMs there are, those on which blocks ran need not be all.
        let stated = scenario.as_ref().filter(|_| !states_size(&run.logs));
        let device = if let Some(device) = device {
            device.clone()
        } else if let Some((file, device)) = stated.and_then(|(file, text)| Some((file, stated_device(text)?))) {
            notes.push(format!("device {}, as {file} says; {} says otherwise", device.name, option("device")));
            device
        } else {
            let recognized = recognize_device(&run.logs).ok_or(NoRuns::Device)?;
            notes.extend(recognized.notes);
            recognized.device
        };
        let scenario = match scenario {
            Some((file, text)) => self.scenario_of(&mut run, (&file, &text), &device, &mut notes, reader)?,
            None => None,
        };
        Ok(RunInput { run, device, scenario, notes })
    }

    /// The file of the scenario, if there is one.
    fn scenario_file(&self, folder: &Path) -> Option<PathBuf> {
        let beside = || Some(folder.join("scenario.json")).filter(|beside| !self.logs_alone && beside.is_file());
        self.scenario.clone().or_else(beside)
    }

    /// The scenario that the user named must fit; one that just lies there is used if it does.
    fn scenario_of(
        &self,
        run: &mut LogRun,
        (file, text): (&str, &str),
        device: &Device,
        notes: &mut Vec<String>,
        reader: &impl LogFilesReader,
    ) -> Result<Option<(Scenario, Pairing)>, LogFilesError> {
        let options = ReadOptions {
            device: Some(device.clone()),
            placement: self.placement,
            as_threads: true,
            ..ReadOptions::default()
        };
        // As it is left where the scenario is not used.
        let (mut joined, stated) = (run.clone(), as_stated(file, text, &options));
        if let Some(stated) = &stated {
            join_streams(&mut joined, stated);
        }
        match with_measured_durations(file, text, &options, &joined) {
            Ok((pairing, scenario)) => {
                notes.push(format!("streams, copies and host programs are those of {file}"));
                *run = joined;
                if let Some(stated) = stated {
                    share_gpu(run, &pairing, &stated);
                }
                // A percentage counts in an audit, whatever is said of threads.
                let of_percentage =
                    |note: &&String| note.contains("mps_thread_percentage") || note.contains("mps_percentage");
                notes.extend(scenario.notes.iter().filter(|note| !of_percentage(note)).cloned());
                if run.logs.iter().any(|log| log.mps_sms.is_some()) {
                    notes.push(
                        "MPS may limit the SMs of a process: an audit takes that into account, a replay does not"
                            .to_owned(),
                    );
                }
                Ok(Some((scenario, pairing)))
            }
            Err(error) if self.scenario.is_some() => Err(error),
            Err(error) => {
                reader.note(&format!("{file} is not used: {}", with_causes(&*error)));
                Ok(None)
            }
        }
    }
}

/// A scenario with its processes as they are.
fn as_stated(file: &str, text: &str, options: &ReadOptions) -> Option<Scenario> {
    // Block times and ends do not matter.
    let options = ReadOptions {
        as_threads: false,
        other_block_duration: Some(Duration::from_ns(1)),
        horizon: Some(Duration::from_ns(u64::MAX)),
        ..options.clone()
    };
    // A device without time slices has processes as clients of MPS only.
    let with_mps = || Scenario::from_json(file, text, &ReadOptions { mps: true, ..options.clone() });
    Scenario::from_json(file, text, &options).or_else(|_| with_mps()).ok()
}

/// Tells logs that do not say it themselves on how many SMs at once their process may have blocks, if all are clients
/// of MPS and that limits it, and the run whether these number SMs for themselves.
fn share_gpu(run: &mut LogRun, pairing: &Pairing, stated: &Scenario) {
    let (catalogue, device) = (&stated.catalogue, stated.device());
    for (thread, log) in stated.threads.iter().zip(&pairing.log_of_thread) {
        if let Some(log) = log.and_then(|log| run.logs.get_mut(log)) {
            let process = catalogue.processes().get(thread.process.index());
            let sms = process.map(|process| process.client_sms(device)).filter(|sms| *sms < device.sms);
            log.mps_sms = log.mps_sms.or(sms);
        }
    }
    // The examiner's files do not say whether MPS runs.
    let may_have_mps = stated.examiner.is_some() && stated.has_processes();
    let has_mps = catalogue.sharing().mps || run.logs.iter().any(|log| log.mps_sms.is_some());
    run.virtual_sms = device.has_virtual_sms() && (has_mps || may_have_mps);
}

/// Reads a scenario and pairs it with its logs. Block times that its file lacks are in the logs; a benchmark that has
/// neither cannot be used.
fn with_measured_durations(
    file: &str,
    text: &str,
    options: &ReadOptions,
    run: &LogRun,
) -> Result<(Pairing, Scenario), LogFilesError> {
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
        return Err(NoRuns::NoLog { thread: thread.label.to_string(), file: file.to_owned() }.into());
    }
    Ok((pairing, scenario))
}

/// A device found from logs.
#[derive(Debug, Clone, PartialEq)]
pub struct Recognized {
    /// The device.
    pub device: Device,
    /// What its user should know: others that fit as well, or that it was made up.
    pub notes: Vec<String>,
}

/// The examiner writes this many resident threads per SM on every device.
const THREADS_PER_SM: u32 = 2048;

/// Recognizes the device from `max_resident_threads` (2048 for each SM), and among devices of one size by the order in
/// which an idle GPU served its SMs. `None` without any log, or if the built-in devices cannot be read.
pub fn recognize_device(logs: &[Log]) -> Option<Recognized> {
    let stated = stated_threads(logs);
    let sms = stated.map(|threads| threads / THREADS_PER_SM);
    let used = logs.iter().flat_map(|log| &log.kernels).flat_map(|kernel| kernel.blocks.sms.iter()).max();
    let order = order_of_idle_gpu(logs);
    let builtin = || BUILTIN_NAMES.iter().filter_map(|name| Device::builtin(name).ok().flatten());
    let least = used.map_or(1, |&highest| highest.saturating_add(1));
    let fits = |device: &Device| sms.map_or(device.sms >= least, |sms| device.sms == sms);
    let mut candidates: Vec<Device> = builtin().filter(fits).collect();
    if sms.is_none() {
        let smallest = candidates.iter().map(|device| device.sms).min();
        candidates.retain(|device| Some(device.sms) == smallest);
    }
    if let Some(order) = &order
        && candidates.iter().any(|device| device.sm_order == *order)
    {
        candidates.retain(|device| device.sm_order == *order);
    }
    let mut notes = Vec::new();
    if candidates.is_empty() {
        let sms = sms.unwrap_or(least).clamp(1, 4096);
        let device = unknown_device(sms, order)?;
        notes.push(format!(
            "no built-in device has {sms} SMs: per-SM limits are taken from {}; {} states them",
            device.title,
            option("device").with("FILE")
        ));
        return Some(Recognized { device, notes });
    }
    let device = candidates.remove(0);
    let source = if stated.is_some() { "max_resident_threads" } else { "the SM ids used" };
    let others: Vec<&str> = candidates.iter().map(|device| device.name.as_str()).collect();
    let also = if others.is_empty() { String::new() } else { format!(" ({} would fit too)", others.join(", ")) };
    let otherwise = option("device");
    notes.push(format!("device {}, recognized from {source}{also}; {otherwise} says otherwise", device.name));
    Some(Recognized { device, notes })
}

/// The resident threads of all SMs together, if a log says how many.
fn stated_threads(logs: &[Log]) -> Option<u32> {
    logs.iter().filter_map(|log| log.max_resident_threads).find(|&threads| threads >= THREADS_PER_SM)
}

/// Whether logs say how many SMs the GPU has.
pub(super) fn states_size(logs: &[Log]) -> bool {
    stated_threads(logs).is_some()
}

/// How the first kernel to start was spread, if that tells.
fn order_of_idle_gpu(logs: &[Log]) -> Option<SmOrder> {
    let first = logs.iter().flat_map(|log| &log.kernels).min_by_key(|kernel| kernel.blocks.first_start_ns())?;
    match first.blocks.sms[..] {
        [first, second, ..] if second < first => Some(SmOrder::Descending),
        [0, 1, ..] => Some(SmOrder::Ascending),
        [0, 2, ..] => Some(SmOrder::EvenThenOdd),
        _ => None,
    }
}

/// A device of a size that none of the built-in ones has, with the limits that compute capabilities 6 and 7 share.
fn unknown_device(sms: u32, order: Option<SmOrder>) -> Option<Device> {
    let model = Device::builtin("gtx1070").ok().flatten()?;
    let changed = model.with(|spec| {
        spec.name = format!("unknown-{sms}-sm");
        spec.sms = sms;
        spec.sm_order = order.unwrap_or(SmOrder::Ascending);
    });
    changed.ok()
}
