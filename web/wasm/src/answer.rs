//! What the page is told.

use std::error::Error;

use gpusched::device::{BUILTIN_NAMES, Device};
use gpusched::figures::{TOUR, TourScene};
use gpusched::formats::TableStyle;
use gpusched::input::InputError;
use gpusched::input::options::{OPTIONS, OptionKind, ScenarioOption};
use gpusched::json::JsonError;
use gpusched::scenario::Scenario;
use gpusched::schema::json_schema;
use gpusched::trace::{RULES, Rule, RuleText};
use gpusched::words::with_causes;
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

/// What there is to choose from, and to read.
#[derive(Debug, Serialize)]
pub(crate) struct Choices {
    devices: Vec<DeviceChoice>,
    placements: Vec<&'static str>,
    options: Vec<OptionChoice>,
    rules: Vec<RuleChoice>,
    scenes: &'static [TourScene],
    schema: Box<RawValue>,
}

/// An option of scenarios, from which a field is made.
#[derive(Debug, Serialize)]
struct OptionChoice {
    key: &'static str,
    group: &'static str,
    /// What its values are, as far as fields differ.
    kind: &'static str,
    value: &'static str,
    example: &'static str,
    help: &'static str,
    /// Its values, if they are a few.
    choices: Vec<&'static str>,
}

impl OptionChoice {
    fn new(option: &ScenarioOption) -> Self {
        let ScenarioOption { key, group, value_name: value, example, help, kind } = *option;
        let kind_name = match kind {
            OptionKind::Flag(_) => "flag",
            OptionKind::OneOf(..) => "choice",
            OptionKind::Number(..) => "number",
            OptionKind::Names(_) => "names",
            OptionKind::Lists(_) => "lists",
            OptionKind::File(_) => "file",
            OptionKind::PriorityOf(_) | OptionKind::SizeOf(_) => "number-by-name",
            kind if kind.is_by_name() => "text-by-name",
            _ => "text",
        };
        let choices = if let OptionKind::OneOf(names, _) = kind { names() } else { Vec::new() };
        Self { key, group: group.name(), kind: kind_name, value, example, help, choices }
    }
}

/// A rule in words.
#[derive(Debug, Serialize)]
struct RuleChoice {
    #[serde(flatten)]
    text: RuleText,
    /// Why something waits under it, if anything does.
    waits: Option<&'static str>,
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
            options: OPTIONS.iter().map(OptionChoice::new).collect(),
            rules: RULES.map(|text| RuleChoice { text, waits: text.wait().map(Rule::meaning) }).into(),
            scenes: &TOUR,
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
    /// Of the scenario that a log was replayed as, in which nothing can be changed.
    pub(crate) fn measured(scenario: &Scenario) -> Self {
        Self { kernels: Vec::new(), streams: Vec::new(), ..Self::new(scenario) }
    }

    /// Of the scenario before it is changed.
    pub(crate) fn new(unchanged: &Scenario) -> Self {
        let mut kernels: Vec<KernelChoice> = Vec::new();
        let mut known = std::collections::BTreeSet::new();
        for kernel in unchanged.kernels().iter() {
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
