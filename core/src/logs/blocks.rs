//! Logs of single blocks as one table: a row a block, of any GPU, by whoever wrote it. It is read row by row.
//!
//! Everybody who logs blocks gives the columns names of their own. `columns` knows those that are in use, and others
//! by what the user says; `launches` makes logs of the rows.

mod columns;
mod launches;

use std::io::{self, Read};
use std::sync::Arc;

use csv::{ByteRecord, ReaderBuilder};
use rustc_hash::FxHashMap;

use super::defect::{Defect, Dropped, LogsReading};
use crate::json::without_byte_order_mark;
use crate::limits::count_turn;
use crate::spelling::option;

use columns::{Places, Role, TimeUnit};
use launches::{Common, Row, Rows, logs_of};

pub use columns::{BlockColumns, BlockColumnsError};
pub(super) use launches::number_iterations;

/// Whether a text, or the beginning of one, is a table of blocks by the names of its columns: it has all that such a
/// table must have, or so many that it is one which lacks some.
pub fn begins_a_table(head: &[u8]) -> bool {
    header_of(head).is_some_and(|(header, _)| BlockColumns::default().places(&header).are_of_blocks())
}

/// Whether a text that is a log or a table begins as a table does, of whatever columns: with several names in a line.
pub(in crate::logs) fn begins_with_names(head: &[u8]) -> bool {
    let is_name = |name: &String| {
        name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
            && !name.contains(['"', ':', '{', '}', '[', ']'])
    };
    header_of(head).is_some_and(|(header, _)| header.len() > 1 && header.iter().all(is_name))
}

/// The names of columns, and what stands between them: the first line that is neither blank nor a remark.
fn header_of(head: &[u8]) -> Option<(Vec<String>, u8)> {
    let head = without_byte_order_mark(head);
    let mut lines = head.split(|&byte| byte == b'\n');
    let line = lines.find(|line| !line.trim_ascii().is_empty() && !line.starts_with(b"#"))?;
    let line = std::str::from_utf8(line.trim_ascii()).ok()?;
    let count = |separator: u8| line.bytes().filter(|&byte| byte == separator).count();
    // Of equals the last.
    let separator = *b";\t,".iter().max_by_key(|&&separator| count(separator))?;
    let mut reader = ReaderBuilder::new().has_headers(false).delimiter(separator).from_reader(line.as_bytes());
    let record = reader.records().next()?.ok()?;
    Some((record.iter().map(|name| name.trim().to_owned()).collect(), separator))
}

/// Reads a table of blocks; `head` is its beginning, which `source` has too. What is sound is kept, and what is not is
/// told.
pub(in crate::logs) fn read_table(
    file: &str,
    head: &[u8],
    source: &mut impl Read,
    columns: &BlockColumns,
) -> io::Result<LogsReading> {
    let refused = |what: String| LogsReading {
        dropped: vec![Dropped::of_file(file, Defect::Columns { what })],
        ..LogsReading::default()
    };
    let Some((header, separator)) = header_of(head) else {
        return Ok(refused("it does not begin with the names of columns".to_owned()));
    };
    let places = columns.places(&header);
    if let Some((role, name)) = places.no_column() {
        let names = header.join(", ");
        return Ok(refused(format!("no column is called {name:?}, as is said of {}; there are {names}", role.name())));
    }
    if let Some(role) = places.missing() {
        let (role, names) = (role.name(), header.join(", "));
        let said = format!("{role}=NAME");
        let named = option("columns").with(&said);
        return Ok(refused(format!("no column is known to say {role} among {names}; {named} names it")));
    }
    let scales = match Scales::of(&places) {
        Ok(scales) => scales,
        Err(what) => return Ok(refused(what)),
    };
    let mut table = Table { places: &places, scales, kernels: Vec::new(), by_key: FxHashMap::default(), last: None };
    let mut reader = ReaderBuilder::new()
        .has_headers(true)
        .flexible(true)
        .delimiter(separator)
        .comment(Some(b'#'))
        .from_reader(source);
    let (mut record, mut bad, mut count) = (ByteRecord::new(), None::<(u64, u64, String)>, 0_u64);
    loop {
        match reader.read_byte_record(&mut record) {
            Ok(false) => break,
            Ok(true) => {}
            Err(error) => match error.into_kind() {
                csv::ErrorKind::Io(error) => return Err(error),
                // Bytes are of any kind, and rows of any length.
                _ => continue,
            },
        }
        count += 1;
        if count.is_multiple_of(1 << 12) {
            count_turn();
        }
        if let Err(what) = table.add(&record) {
            let line = record.position().map_or(0, csv::Position::line);
            bad.get_or_insert((0, line, what)).0 += 1;
        }
    }
    if count == 0 {
        let dropped = vec![Dropped::of_file(file, Defect::NothingLogged)];
        return Ok(LogsReading { dropped, ..LogsReading::default() });
    }
    let mut reading = logs_of(file, table.kernels, &places);
    if let Some((rows, line, what)) = bad {
        reading.dropped.insert(0, Dropped::of_file(file, Defect::Rows { rows, line, what }));
        reading.logs.iter_mut().for_each(|log| log.incomplete = true);
    }
    Ok(reading)
}

/// How times become nanoseconds.
struct Scales {
    start: Scale,
    end: Scale,
    launched: Scale,
}

#[derive(Debug, Clone, Copy)]
enum Scale {
    /// Nanoseconds in one, as a power of ten.
    Decimals(u32),
    /// Cycles of a clock of so many kHz.
    Cycles(u64),
}

impl Scales {
    fn of(places: &Places) -> Result<Self, String> {
        let no_row = ByteRecord::new();
        let rate = places.field(Role::ClockMhz, &no_row);
        let rate =
            rate.and_then(|rate| decimal(rate, 3)).and_then(|khz| u64::try_from(khz).ok()).filter(|khz| *khz > 0);
        let of = |role| {
            let unit = places.unit(role).unwrap_or_default();
            let need = || {
                format!("times in cycles need the rate of their clock: {}", option("columns").with("clock_mhz=RATE"))
            };
            let cycles = || rate.map(Scale::Cycles).ok_or_else(need);
            unit.decimals().map_or_else(cycles, |decimals| Ok(Scale::Decimals(decimals)))
        };
        let scales = Self { start: of(Role::Start)?, end: of(Role::End)?, launched: of(Role::Launched)? };
        let in_cycles = |scale: &Scale| matches!(scale, Scale::Cycles(_));
        if rate.is_some() && ![scales.start, scales.end, scales.launched].iter().any(in_cycles) {
            return Err("clock_mhz is for times in cycles, and no column has such times".to_owned());
        }
        Ok(scales)
    }
}

impl Scale {
    fn ns(self, text: &[u8]) -> Option<i64> {
        // Differences fit 64 bits.
        const MOST: i128 = 1 << 62;
        let ns = match self {
            Self::Decimals(decimals) => decimal(text, decimals)?,
            Self::Cycles(khz) => decimal(text, 0)?.checked_mul(1_000_000)?.checked_div(i128::from(khz))?,
        };
        i64::try_from(ns).ok().filter(|ns| i128::from(*ns).abs() < MOST)
    }
}

/// A decimal times a power of ten, what is behind that left out; an exponent as an `f64` has it.
fn decimal(text: &[u8], decimals: u32) -> Option<i128> {
    let text = std::str::from_utf8(text).ok()?;
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !are_digits(whole) || !are_digits(fraction) || whole.len() + fraction.len() == 0 {
        let number: f64 = text.parse().ok()?;
        let scaled = number * 10_f64.powi(i32::try_from(decimals).ok()?);
        #[expect(clippy::cast_possible_truncation, reason = "it is less than 2^63")]
        return (scaled.abs() < 9.2e18).then_some(scaled.round() as i128);
    }
    let mut value = 0_i128;
    let kept = fraction.bytes().chain(std::iter::repeat(b'0')).take(decimals as usize);
    for digit in whole.bytes().chain(kept) {
        value = value.checked_mul(10)?.checked_add(i128::from(digit - b'0'))?;
    }
    Some(if is_negative { -value } else { value })
}

struct Table<'p> {
    places: &'p Places,
    scales: Scales,
    kernels: Vec<Rows>,
    by_key: FxHashMap<Vec<u8>, usize>,
    /// What the last row had in common with others, as it stands there, and which kernel that is.
    last: Option<(Vec<u8>, usize)>,
}

const IN_COMMON: [Role; 12] = [
    Role::Run,
    Role::Gpu,
    Role::Process,
    Role::Stream,
    Role::Priority,
    Role::NonBlocking,
    Role::Kernel,
    Role::Launch,
    Role::Threads,
    Role::SharedMemory,
    Role::Registers,
    Role::Launched,
];

impl Table<'_> {
    /// Adds a row, or says what is wrong with it.
    fn add(&mut self, record: &ByteRecord) -> Result<(), String> {
        let row = self.row(record)?;
        let mut key = Vec::with_capacity(64);
        for role in IN_COMMON {
            key.extend_from_slice(self.places.field(role, record).unwrap_or_default());
            key.push(0);
        }
        let kernel = match &self.last {
            Some((last, kernel)) if *last == key => *kernel,
            _ => {
                let known = self.by_key.get(&key).copied();
                let kernel = known.unwrap_or(self.kernels.len());
                if known.is_none() {
                    let shared = self.shared(record)?;
                    self.kernels.push(Rows { shared, rows: Vec::new() });
                    self.by_key.insert(key.clone(), kernel);
                }
                self.last = Some((key, kernel));
                kernel
            }
        };
        if let Some(kernel) = self.kernels.get_mut(kernel) {
            kernel.rows.push(row);
        }
        Ok(())
    }

    fn row(&self, record: &ByteRecord) -> Result<Row, String> {
        let time = |role: Role, scale: Scale| {
            let field = self.places.field(role, record).unwrap_or_default();
            scale.ns(field).ok_or_else(|| wrong(role, field))
        };
        let start_ns = time(Role::Start, self.scales.start)?;
        let end_ns = time(Role::End, self.scales.end)?;
        let sm = self.number(Role::Sm, record)?.ok_or_else(|| wrong(Role::Sm, b""))?;
        let block = match self.number(Role::Block, record)? {
            Some(block) => u64::from(block),
            None => self.place_in_grid(record)?,
        };
        Ok(Row { block, sm, start_ns, end_ns })
    }

    fn place_in_grid(&self, record: &ByteRecord) -> Result<u64, String> {
        let mut place = 0;
        for (role, shift) in [(Role::BlockX, 0), (Role::BlockY, 32), (Role::BlockZ, 48)] {
            let number = self.number(role, record)?.unwrap_or(0);
            if shift > 0 && number > u32::from(u16::MAX) {
                return Err(format!("{} is {number}, and a grid has 65535 at most", role.name()));
            }
            place |= u64::from(number) << shift;
        }
        Ok(place)
    }

    /// A whole number from 0, if the row has it.
    fn number(&self, role: Role, record: &ByteRecord) -> Result<Option<u32>, String> {
        let Some(field) = self.places.field(role, record) else { return Ok(None) };
        // Tools of statistics write whole numbers with a point.
        let whole = std::str::from_utf8(field).ok().map(|text| text.strip_suffix(".0").unwrap_or(text));
        let number = whole.and_then(|text| text.parse().ok()).filter(|number| *number < u32::MAX);
        number.map(Some).ok_or_else(|| wrong(role, field))
    }

    /// What a block takes, if that is told: then of each block.
    fn resource(&self, role: Role, record: &ByteRecord) -> Result<Option<u32>, String> {
        match self.number(role, record)? {
            None if self.places.tells(role) => Err(wrong(role, b"")),
            Some(0) if role == Role::Threads => Err(format!("{} is 0, and a block has one at least", role.name())),
            number => Ok(number),
        }
    }

    fn shared(&self, record: &ByteRecord) -> Result<Common, String> {
        let text = |role| -> Arc<str> {
            String::from_utf8_lossy(self.places.field(role, record).unwrap_or_default()).into_owned().into()
        };
        let priority = self.places.field(Role::Priority, record).map(|field| {
            let number = std::str::from_utf8(field).ok().and_then(|text| text.parse().ok());
            number.ok_or_else(|| wrong(Role::Priority, field))
        });
        let launched = self.places.field(Role::Launched, record);
        let launched = launched.map(|field| self.scales.launched.ns(field).ok_or_else(|| wrong(Role::Launched, field)));
        Ok(Common {
            run: text(Role::Run),
            gpu: text(Role::Gpu),
            process: text(Role::Process),
            stream: text(Role::Stream),
            priority: priority.transpose()?,
            non_blocking: self.number(Role::NonBlocking, record)?.is_some_and(|number| number > 0),
            kernel: text(Role::Kernel),
            launch: text(Role::Launch),
            threads: self.resource(Role::Threads, record)?,
            shared_memory_bytes: self.resource(Role::SharedMemory, record)?,
            registers_per_thread: self.resource(Role::Registers, record)?,
            launched_ns: launched.transpose()?,
        })
    }
}

fn wrong(role: Role, field: &[u8]) -> String {
    if field.is_empty() {
        return format!("{} is missing", role.name());
    }
    format!("{} is {:?}, which is no such number", role.name(), String::from_utf8_lossy(field))
}

impl TimeUnit {
    /// Whether a clock that counts in it is one of each SM.
    fn is_of_an_sm(self) -> bool {
        self == Self::Cycles
    }
}
