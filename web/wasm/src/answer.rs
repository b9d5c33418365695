//! What the page is told.

use std::error::Error;

use gpusched::causes::with_causes;
use gpusched::device::{BUILTIN_NAMES, Device};
use gpusched::formats::TableStyle;
use gpusched::input::InputError;
use gpusched::json::JsonError;
use gpusched::scenario::Scenario;
use gpusched::schema::json_schema;
use gpusched::workload::{Placement, StreamId};
use serde::Serialize;
use serde_json::value::RawValue;

/// Why something cannot be answered, in the words of the command.
#[derive(Debug, Serialize)]
pub struct Refusal {
    /// The message, as `gpusched` prints it after `error: `.
    pub message: String,
    /// The file that the line is of.
    pub file: Option<String>,
    /// Line, from 1, where there is one.
    pub line: Option<usize>,
    /// Column \[characters\], from 1.
    pub column: Option<usize>,
}

impl Refusal {
    /// An error with its causes.
    pub(crate) fn of(error: &dyn Error) -> Self {
        Self::saying(with_causes(error))
    }

    /// About no place of a file.
    pub(crate) fn saying(message: String) -> Self {
        Self { message, file: None, line: None, column: None }
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        // Text and numbers can be written.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl From<JsonError> for Refusal {
    fn from(error: JsonError) -> Self {
        let (line, column) = (Some(error.line), Some(error.column));
        Self { file: Some(error.file.clone()), line, column, ..Self::of(&error) }
    }
}

impl From<InputError> for Refusal {
    fn from(error: InputError) -> Self {
        match error {
            InputError::Scenario(error) => error.into(),
            InputError::Model(error) => {
                let place = error.place.as_ref();
                let (line, column) = (place.map(|place| place.line), place.map(|place| place.column));
                Self { file: Some(error.file.clone()), line, column, ..Self::of(&error) }
            }
            error => Self::of(&error),
        }
    }
}

/// What there is to choose from.
#[derive(Debug, Serialize)]
pub(crate) struct Choices {
    devices: Vec<DeviceChoice>,
    placements: Vec<&'static str>,
    schema: Box<RawValue>,
}

#[derive(Debug, Serialize)]
struct DeviceChoice {
    name: &'static str,
    title: String,
}

impl Choices {
    pub(crate) fn new() -> Result<Self, Refusal> {
        let device = |name| {
            let device = Device::builtin(name)?;
            Ok(DeviceChoice { name, title: device.map_or_else(String::new, |device| device.title.clone()) })
        };
        let schema = json_schema("scenario").unwrap_or_else(|| "{}".to_owned());
        Ok(Self {
            devices: BUILTIN_NAMES.into_iter().map(device).collect::<Result<_, Refusal>>()?,
            placements: Placement::ALL.map(Placement::name).to_vec(),
            schema: RawValue::from_string(schema).map_err(|error| Refusal::of(&error))?,
        })
    }
}

/// What there is to change in a scenario, and what came of it.
#[derive(Debug, Serialize)]
pub(crate) struct Outline {
    name: String,
    device: String,
    placement: &'static str,
    /// Highest first.
    priorities: Vec<i32>,
    kernels: Vec<KernelChoice>,
    streams: Vec<StreamChoice>,
}

#[derive(Debug, Serialize)]
struct KernelChoice {
    title: String,
    /// As text: it may be beyond 2^53.
    block_time_ns: String,
}

#[derive(Debug, Serialize)]
struct StreamChoice {
    name: String,
    priority: i32,
}

/// Tables of the page, which makes its own elements of their cells.
pub(crate) const STYLE: TableStyle = TableStyle::Parts;

impl Outline {
    /// Of the scenario before it is changed.
    pub(crate) fn new(unchanged: &Scenario) -> Self {
        let mut kernels: Vec<KernelChoice> = Vec::new();
        let mut known = std::collections::BTreeSet::new();
        for kernel in unchanged.kernels() {
            if known.insert(&*kernel.title) {
                let block_time_ns = kernel.duration.worst.as_ns().to_string();
                kernels.push(KernelChoice { title: kernel.title.to_string(), block_time_ns });
            }
        }
        let catalogue = &unchanged.catalogue;
        let own = (0..).zip(unchanged.streams()).filter(|(id, _)| !catalogue.is_null_stream(StreamId(*id)));
        Self {
            name: unchanged.name.clone(),
            device: unchanged.device().name.clone(),
            placement: unchanged.placement.name(),
            priorities: unchanged.device().priorities().collect(),
            kernels,
            streams: own
                .map(|(_, stream)| StreamChoice { name: stream.name.to_string(), priority: stream.priority })
                .collect(),
        }
    }
}
