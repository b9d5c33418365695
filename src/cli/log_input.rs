//! Options of every command that takes measured logs.

use std::path::{Path, PathBuf};

use clap::Args;
use gpusched::audit::Tolerances;
use gpusched::device::Device;
use gpusched::input::{Input, InputError};
use gpusched::logs::{BlockColumns, LogFiles, LogFilesError, LogFilesReader, LogInput, LogsReading};
use gpusched::profile::GpuProfile;
use gpusched::time::Duration;
use gpusched::workload::Placement;

use super::choices::one_of;
use super::input;
use super::needs::{self, Kind};
use super::output::note;

/// Which logs, from which GPU, and how far to trust them.
#[derive(Debug, Args)]
pub(crate) struct LogOptions {
    /// Logs of `cuda_scheduling_examiner` or tables of blocks (CSV), or directories that hold them, or one profile of
    /// PyTorch, Nsight Systems or nvprof; - reads standard input
    #[arg(required = true, value_name = "LOG|DIR")]
    logs: Vec<PathBuf>,
    /// GPU on which they were taken: a built-in name or a device file [default: what its scenario or the logs say]
    #[arg(long, value_name = "NAME|FILE")]
    device: Option<String>,
    /// The scenario that made them; it tells what logs do not: priorities, SM masks, copies, memsets
    /// [default: scenario.json in the same directory, if there is one]
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// Use nothing but the logs, even if a scenario lies beside them
    #[arg(long, conflicts_with = "scenario")]
    logs_alone: bool,
    /// Which SM gets the next block, by the model [default: the scenario's, or the device's]
    #[arg(long, value_name = "POLICY", value_parser = one_of(Placement::ALL, Placement::name))]
    placement: Option<Placement>,
    #[command(flatten)]
    columns: ColumnsOption,
    /// Tolerance between the host's clock and the GPU's, in microseconds
    #[arg(long, value_name = "US", default_value = "500", value_parser = parse_microseconds)]
    tolerance_us: i64,
    /// Tolerance between times on one clock, in microseconds
    #[arg(long, value_name = "US", default_value = "10", value_parser = parse_microseconds)]
    clock_tolerance_us: i64,
}

/// Which column of a table of blocks says what.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ColumnsOption {
    /// Which columns of a table of blocks (CSV) say what, where their names do not, as in `sm=smid,start_ns=t0`; where
    /// the file has no column NAME, it is the value of all rows (threads=128)
    #[arg(long, value_name = "COLUMN=NAME,...", value_parser = BlockColumns::parse)]
    columns: Option<BlockColumns>,
}

impl ColumnsOption {
    /// Whether something is said.
    pub(crate) fn is_given(&self) -> bool {
        self.columns.is_some()
    }
}

/// Decimal microseconds as nanoseconds.
fn parse_microseconds(text: &str) -> Result<i64, String> {
    let time = Duration::parse(&format!("{text}us")).map_err(|_| "expected microseconds from 0, for example 2.5")?;
    i64::try_from(time.as_ns()).map_err(|_| "that is too long".to_owned())
}

impl LogOptions {
    /// One log or directory, with the other options as they are by default.
    pub(crate) fn new(
        path: &Path,
        device: Option<String>,
        placement: Option<Placement>,
        columns: ColumnsOption,
    ) -> Self {
        Self {
            logs: vec![path.to_path_buf()],
            device,
            scenario: None,
            logs_alone: false,
            placement,
            columns,
            tolerance_us: 500,
            clock_tolerance_us: 10,
        }
    }

    /// The profile, if the one file that is named is a profile rather than a log.
    pub(crate) fn profile(&self) -> anyhow::Result<Option<GpuProfile>> {
        let [path] = &*self.logs else { return Ok(None) };
        if self.columns.is_given() || input::are_logs(path) {
            return Ok(None);
        }
        match input::scenario(path) {
            Ok(Input::Profile(profile)) => {
                needs::input(Kind::Profile, &profile.file)?;
                Ok(Some(profile))
            }
            Err(error) if matches!(error.downcast_ref(), Some(InputError::Profile(_))) => Err(error),
            // Damaged logs are read as far as they go, and the reader of logs tells of files that cannot be read.
            Ok(_) | Err(_) => Ok(None),
        }
    }

    pub(crate) fn device(&self) -> anyhow::Result<Option<Device>> {
        self.device.as_deref().map(input::device).transpose()
    }

    pub(crate) fn tolerances(&self) -> Tolerances {
        Tolerances { across_clocks_ns: self.tolerance_us, one_clock_ns: self.clock_tolerance_us }
    }

    pub(crate) fn placement(&self) -> Option<Placement> {
        self.placement
    }

    /// Reads everything: the logs of each directory are sorted into runs.
    pub(crate) fn read(&self) -> anyhow::Result<LogInput> {
        let first = self.logs.first().map_or(Path::new("-"), PathBuf::as_path);
        needs::input(Kind::Logs, &first.display().to_string())?;
        let files = LogFiles {
            paths: self.logs.clone(),
            device: self.device()?,
            scenario: self.scenario.clone(),
            logs_alone: self.logs_alone,
            placement: self.placement(),
            columns: self.columns.columns.clone().unwrap_or_default(),
        };
        files.read(&Reader).map_err(anyhow::Error::from_boxed)
    }
}

/// Reads files as every command does.
struct Reader;

impl LogFilesReader for Reader {
    fn log(&self, path: &Path, columns: &BlockColumns) -> Result<LogsReading, LogFilesError> {
        Ok(input::log(path, columns)?)
    }

    fn text(&self, path: &Path) -> Result<(String, String), LogFilesError> {
        Ok(input::read(path)?)
    }

    fn note(&self, text: &str) {
        note(text);
    }
}
