//! nvprof's CSV of operations on the GPU (`--print-gpu-trace --csv`): lines that begin with `==` are remarks, then come
//! names of columns, their units, and a line for each operation. Host calls are not in it.

use csv::StringRecord;

use super::builder::ProfileBuilder;
use super::gpu_profile::{GpuProfile, GpuProfileError, LaunchType, ProfileFormat, ProfiledKernel, ProfiledKind};
use crate::device::{BlockShape, CopyDirection, GpuProperties, Sided};
use crate::limits::end_if_stopped;
use crate::time::Decimal;

pub(super) fn is_likely(content: &[u8]) -> bool {
    content.starts_with(b"==") || content.starts_with(b"\"Start\",")
}

pub(super) fn read(file: &str, content: &[u8]) -> Result<GpuProfile, GpuProfileError> {
    let refuse = |what: String| GpuProfileError::new(file, what);
    let text = std::str::from_utf8(content).map_err(|_| refuse("it is no text".to_owned()))?;
    // The last field is a quoted name, or a number, either of which a reader of CSV would take unfinished too.
    if !text.trim_end().ends_with('"') && !text.ends_with('\n') {
        return Err(refuse("the last line is not complete".to_owned()).with_help("is it cut off?"));
    }
    let remarks = text.lines().take_while(|line| line.starts_with("==") || line.trim().is_empty()).count();
    let before: usize = text.split_inclusive('\n').take(remarks).map(str::len).sum();
    // What is blank behind the last line would be a record of one field.
    let table = text[before..].trim_end().as_bytes();
    let mut reader = csv::ReaderBuilder::new().flexible(true).has_headers(false).comment(Some(b'=')).from_reader(table);
    let mut records = reader.records();
    let line = |record: &StringRecord| record.position().map_or(0, |position| position.line() + remarks as u64);
    let mut next = |what: &str| match records.next() {
        Some(Ok(record)) => Ok(record),
        Some(Err(error)) => Err(refuse(error.to_string())),
        None => Err(refuse(format!("it ends before {what}")).with_help("is it cut off?")),
    };
    let columns = Columns::new(file, &next("the names of the columns")?, next("the units of the columns")?)?;
    let mut builder = ProfileBuilder::new(file, ProfileFormat::Nvprof);
    for record in records {
        end_if_stopped();
        let record = record.map_err(|error| refuse(error.to_string()))?;
        let number = line(&record);
        if record.len() != columns.units.len() {
            let (found, expected) = (record.len(), columns.units.len());
            return Err(refuse(format!("line {number} has {found} fields, and there are {expected} columns"))
                .with_help("is it cut off?"));
        }
        columns.add_record(&record, &mut builder).map_err(|what| refuse(format!("line {number}: {what}")))?;
    }
    builder.finish()
}

/// Page faults, which have no length, and migrations: the driver's, in no stream.
const UNIFIED_MEMORY: &str = "entries of unified memory (page faults and migrations), which belong to no stream";

/// Where each column is that is read, and in which units it counts.
struct Columns {
    start: usize,
    duration: usize,
    grid: [usize; 3],
    block: [usize; 3],
    registers: usize,
    shared: [usize; 2],
    size: usize,
    device: usize,
    context: usize,
    stream: usize,
    name: usize,
    /// Kinds of host memory, which old versions do not state.
    memory: Vec<usize>,
    units: StringRecord,
}

impl Columns {
    fn new(file: &str, names: &StringRecord, units: StringRecord) -> Result<Self, GpuProfileError> {
        let find = |name: &str| {
            names.iter().position(|known| known == name).ok_or_else(|| {
                GpuProfileError::new(file, format!("the column {name:?} is missing"))
                    .with_help("write it with nvprof --print-gpu-trace --csv")
            })
        };
        let memory = ["SrcMemType", "DstMemType"];
        if units.len() != names.len() {
            return Err(GpuProfileError::new(file, "the row of units is not as long as the row of names")
                .with_help("is it cut off?"));
        }
        Ok(Self {
            start: find("Start")?,
            duration: find("Duration")?,
            grid: [find("Grid X")?, find("Grid Y")?, find("Grid Z")?],
            block: [find("Block X")?, find("Block Y")?, find("Block Z")?],
            registers: find("Registers Per Thread")?,
            shared: [find("Static SMem")?, find("Dynamic SMem")?],
            size: find("Size")?,
            device: find("Device")?,
            context: find("Context")?,
            stream: find("Stream")?,
            name: find("Name")?,
            memory: memory.iter().filter_map(|name| names.iter().position(|known| known == *name)).collect(),
            units,
        })
    }

    fn add_record(&self, record: &StringRecord, builder: &mut ProfileBuilder<'_>) -> Result<(), String> {
        let field = |index: usize| record.get(index).unwrap_or_default();
        if field(self.name).starts_with("[Unified Memory ") {
            builder.leave_out(UNIFIED_MEMORY);
            return Ok(());
        }
        let times = (self.quantity(record, self.start)?, self.quantity(record, self.duration)?);
        let (board, gpu) = numbered(field(self.device), '(', ')');
        let gpu = gpu.unwrap_or(0);
        let named = || GpuProperties { name: board.to_owned(), ..GpuProperties::default() };
        builder.profile.gpus.entry(gpu).or_insert_with(named);
        let whole = |index: usize, what: &str| -> Result<u32, String> {
            field(index).parse().map_err(|_| format!("{:?} is no {what}", field(index)))
        };
        let stream = builder.stream(0, gpu, whole(self.context, "context")?, whole(self.stream, "stream")?.into());
        let name = field(self.name);
        let kind = if let Some(copy) = name.strip_prefix("[CUDA memcpy ") {
            let direction = match copy.trim_end_matches(']') {
                "HtoD" | "HtoA" => CopyDirection::HostToDevice,
                "DtoH" | "AtoH" => CopyDirection::DeviceToHost,
                _ => CopyDirection::DeviceToDevice,
            };
            let pageable = self.memory.iter().any(|&column| field(column) == "Pageable");
            ProfiledKind::Copy { direction, bytes: Some(self.quantity(record, self.size)?), pageable }
        } else if name.starts_with("[CUDA memset") {
            ProfiledKind::Memset
        } else {
            let count = |[x, y, z]: [usize; 3], of: Sided| {
                let what = format!("{} size", of.name());
                let sides = [whole(x, &what)?, whole(y, &what)?, whole(z, &what)?];
                of.count(&sides).map_err(|error| error.to_string())
            };
            let shared = self.quantity(record, self.shared[0])?.saturating_add(self.quantity(record, self.shared[1])?);
            let shape = BlockShape {
                threads: count(self.block, Sided::Block)?,
                registers_per_thread: whole(self.registers, "number of registers")?,
                shared_memory_bytes: u32::try_from(shared).map_err(|_| "too much shared memory".to_owned())?,
            };
            let blocks = count(self.grid, Sided::Grid)?;
            let function = builder.function_named(numbered(name, '[', ']').0);
            ProfiledKind::Kernel(ProfiledKernel {
                function,
                blocks,
                shape,
                recorded_occupancy: None,
                launch: LaunchType::default(),
            })
        };
        builder.operation(times, stream, None, kind);
        Ok(())
    }

    /// A number in the unit of its column, as nanoseconds or bytes.
    fn quantity(&self, record: &StringRecord, column: usize) -> Result<u64, String> {
        let (text, unit) = (record.get(column).unwrap_or_default(), self.units.get(column).unwrap_or_default());
        let number = Decimal::parse(text).map_err(|error| format!("{text:?}: {error}"))?;
        let binary = |shift: u32| {
            // Written with six digits after the point, of which the smallest units need none.
            let millionths = number.scaled(6, u64::MAX >> 1).ok()?;
            let scaled = u128::from(millionths) << shift;
            u64::try_from((scaled + 500_000) / 1_000_000).ok()
        };
        let scaled = match unit {
            "s" => number.scaled(9, u64::MAX >> 1).ok(),
            "ms" => number.scaled(6, u64::MAX >> 1).ok(),
            "us" => number.scaled(3, u64::MAX >> 1).ok(),
            "ns" => number.scaled(0, u64::MAX >> 1).ok(),
            "B" => binary(0),
            "KB" => binary(10),
            "MB" => binary(20),
            "GB" => binary(30),
            _ => return Err(format!("{unit:?} is no unit of time or size that is known")),
        };
        scaled.ok_or_else(|| format!("{text} {unit} is too much"))
    }
}

/// What stands before a number in brackets at the end, and that number.
fn numbered(text: &str, open: char, close: char) -> (&str, Option<u32>) {
    let split = text.strip_suffix(close).and_then(|rest| rest.rsplit_once(open));
    match split.and_then(|(before, number)| Some((before.trim_end(), number.parse().ok()?))) {
        Some((before, number)) => (before, Some(number)),
        None => (text, None),
    }
}
