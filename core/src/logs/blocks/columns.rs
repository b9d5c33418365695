//! Which column of a table of blocks says what.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::named::named;
use crate::words::did_you_mean;

named! {
    /// What a column says.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub(super) enum Role: ALL, from_name {
        /// Rows of one value are of one run.
        Run = "run",
        /// Rows of one value are of one GPU; each GPU has a clock of its own.
        Gpu = "gpu",
        Process = "process",
        Stream = "stream",
        Priority = "priority",
        /// 1: N1 and N2 do not hold for the stream; 0: they do.
        NonBlocking = "non_blocking",
        Kernel = "kernel",
        /// Which launch of the kernel in its stream.
        Launch = "launch",
        Block = "block",
        BlockX = "block_x",
        BlockY = "block_y",
        BlockZ = "block_z",
        Sm = "sm",
        Start = "start",
        End = "end",
        /// When the call that launched it returned, on the host's clock.
        Launched = "launched",
        Threads = "threads",
        SharedMemory = "shared_memory_bytes",
        Registers = "registers_per_thread",
        /// Cycles of the clock in a microsecond, for times in cycles.
        ClockMhz = "clock_mhz",
    }
}

/// Names under which others write the same, in lower case. Times have a unit behind these.
const ALIASES: [(Role, &[&str]); 17] = [
    (Role::Run, &["tag", "experiment"]),
    (Role::Gpu, &["gpu_id", "device", "device_id"]),
    (Role::Process, &["pid", "process_id"]),
    (Role::Stream, &["stream_id", "stream_name"]),
    (Role::Priority, &["stream_priority"]),
    (Role::Kernel, &["kernel_name", "kernel_id", "task"]),
    (Role::Launch, &["launch_id", "iteration"]),
    (Role::Block, &["block_id", "block_idx", "block_index", "blockidx", "cta", "cta_id", "ctaid"]),
    (Role::BlockX, &["block_idx_x", "blockidx_x", "blockidx.x", "ctaid_x"]),
    (Role::BlockY, &["block_idx_y", "blockidx_y", "blockidx.y", "ctaid_y"]),
    (Role::BlockZ, &["block_idx_z", "blockidx_z", "blockidx.z", "ctaid_z"]),
    (Role::Sm, &["sm_id", "smid"]),
    (
        Role::Start,
        &["t_start", "start_time", "time_start", "t_launch", "begin", "globaltimer_start", "start_globaltimer"],
    ),
    (Role::End, &["t_end", "end_time", "time_end", "stop", "globaltimer_end", "end_globaltimer"]),
    (Role::Threads, &["thread_count", "threads_per_block", "block_size"]),
    (Role::SharedMemory, &["shared_memory", "shared_bytes", "smem", "smem_bytes"]),
    (Role::Registers, &["registers", "regs", "num_regs"]),
];

named! {
    /// What times count.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub(super) enum TimeUnit: ALL, from_name {
        #[default]
        Ns = "ns",
        Us = "us",
        Ms = "ms",
        S = "s",
        Cycles = "cycles",
    }
}

impl TimeUnit {
    /// Nanoseconds in one, as a power of ten; `None`: the clock's rate says it.
    pub(super) const fn decimals(self) -> Option<u32> {
        match self {
            Self::Ns => Some(0),
            Self::Us => Some(3),
            Self::Ms => Some(6),
            Self::S => Some(9),
            Self::Cycles => None,
        }
    }

    /// The unit that a name ends with, and what stands before it.
    fn behind(name: &str) -> (&str, Option<Self>) {
        let Some((stem, unit)) = name.rsplit_once('_') else { return (name, None) };
        let unit = Self::from_name(unit).or(matches!(unit, "cyc" | "clk").then_some(Self::Cycles));
        if unit.is_some() { (stem, unit) } else { (name, None) }
    }
}

impl Role {
    const fn is_time(self) -> bool {
        matches!(self, Self::Start | Self::End | Self::Launched)
    }

    /// What a column of that name says, and in which unit if the name has one.
    fn of_header(name: &str) -> Option<(Self, Option<TimeUnit>)> {
        let name = name.trim().to_ascii_lowercase();
        let of = |name: &str| {
            let alias = ALIASES.iter().find(|(_, names)| names.contains(&name)).map(|(role, _)| *role);
            Self::from_name(name).or(alias)
        };
        let (stem, unit) = TimeUnit::behind(&name);
        match of(stem).filter(|role| role.is_time()) {
            Some(time) => Some((time, unit)),
            None => of(&name).map(|role| (role, None)),
        }
    }
}

/// What the user says of a table's columns: `sm=smid,start_ns=t0`. What is said of none is known by its name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlockColumns {
    said: BTreeMap<Role, (String, Option<TimeUnit>)>,
}

/// Why a text does not say which column is which.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BlockColumnsError {
    /// There is no `=`.
    #[error("expected COLUMN=NAME of the file, for example sm=smid, found {0:?}")]
    NoPair(String),
    /// No column is called so.
    #[error("there is no column {name:?}{near}; there are {}, and times end in _ns, _us, _ms, _s or _cycles",
        Role::ALL.map(Role::name).join(", "), near = did_you_mean(name, Role::ALL.map(Role::name)))]
    Unknown {
        /// The name.
        name: String,
    },
    /// A column is named twice.
    #[error("{0:?} is said twice")]
    Twice(String),
}

impl BlockColumns {
    /// Reads `COLUMN=NAME,COLUMN=NAME`; where a file has no column of that name, the name is the value of all rows.
    ///
    /// # Errors
    /// [`BlockColumnsError`] with what is wrong.
    pub fn parse(text: &str) -> Result<Self, BlockColumnsError> {
        let mut columns = Self::default();
        for pair in text.split(',') {
            let (ours, theirs) = pair.split_once('=').ok_or_else(|| BlockColumnsError::NoPair(pair.to_owned()))?;
            let ours = ours.trim();
            let (stem, unit) = TimeUnit::behind(ours);
            let time = Role::from_name(stem).filter(|role| role.is_time()).map(|role| (role, unit));
            let role = time.or_else(|| Some((Role::from_name(ours)?, None)));
            let (role, unit) = role.ok_or_else(|| BlockColumnsError::Unknown { name: ours.to_owned() })?;
            if columns.said.insert(role, (theirs.trim().to_owned(), unit)).is_some() {
                return Err(BlockColumnsError::Twice(ours.to_owned()));
            }
        }
        Ok(columns)
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.said.is_empty()
    }

    /// Which place of a row says what.
    pub(super) fn places(&self, header: &[String]) -> Places {
        let mut places = Places::default();
        let mut is_used = vec![false; header.len()];
        for (&role, (name, unit)) in &self.said {
            let named = header.iter().position(|column| column.trim() == name);
            let named = named.or_else(|| header.iter().position(|column| column.trim().eq_ignore_ascii_case(name)));
            let told = named.map_or_else(|| Told::All(name.clone()), Told::At);
            if let Some(used) = named.and_then(|at| is_used.get_mut(at)) {
                *used = true;
            }
            let unit = unit.or_else(|| Role::of_header(name)?.1).or_else(|| TimeUnit::behind(name).1);
            places.told.insert(role, (told, unit));
        }
        for (at, column) in header.iter().enumerate().filter(|(at, _)| !is_used[*at]) {
            match Role::of_header(column) {
                // The first of two that say the same.
                Some((role, unit)) if !places.told.contains_key(&role) => {
                    places.told.insert(role, (Told::At(at), unit));
                }
                _ => places.unused.push(column.trim().to_owned()),
            }
        }
        places
    }
}

/// Where something stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Told {
    /// In this place of each row.
    At(usize),
    /// It is the same of all rows.
    All(String),
}

/// Which place of a row says what.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Places {
    told: BTreeMap<Role, (Told, Option<TimeUnit>)>,
    /// Columns that say nothing that is read.
    pub(super) unused: Vec<String>,
}

impl Places {
    pub(super) fn tells(&self, role: Role) -> bool {
        self.told.contains_key(&role)
    }

    /// Whether blocks have numbers.
    pub(super) fn tells_numbers(&self) -> bool {
        self.tells(Role::Block) || self.tells(Role::BlockX)
    }

    pub(super) fn unit(&self, role: Role) -> Option<TimeUnit> {
        self.told.get(&role)?.1
    }

    /// What it says in a row, if it says anything.
    pub(super) fn field<'r>(&'r self, role: Role, row: &'r csv::ByteRecord) -> Option<&'r [u8]> {
        let field = match &self.told.get(&role)?.0 {
            Told::At(place) => row.get(*place)?,
            Told::All(value) => value.as_bytes(),
        };
        Some(field.trim_ascii()).filter(|field| !field.is_empty())
    }

    /// What a table of blocks has to say and this one does not.
    pub(super) fn missing(&self) -> Option<Role> {
        let is_column = |role: Role| matches!(self.told.get(&role), Some((Told::At(_), _)));
        [Role::Sm, Role::Start, Role::End].into_iter().find(|role| !is_column(*role))
    }

    /// Whether these are columns of blocks, if not all that there must be: two of those that nothing else has together.
    pub(super) fn are_of_blocks(&self) -> bool {
        let known = [&[Role::Sm][..], &[Role::Start], &[Role::End], &[Role::Block, Role::BlockX]];
        known.into_iter().filter(|roles| roles.iter().any(|role| self.tells(*role))).count() > 1
    }

    /// What is said to be a column and is none.
    pub(super) fn no_column(&self) -> Option<(Role, &str)> {
        let takes_any = |role: Role| matches!(role, Role::Run | Role::Gpu | Role::Stream | Role::Kernel | Role::Launch);
        self.told.iter().find_map(|(&role, (told, _))| match told {
            Told::All(value) if !takes_any(role) && value.parse::<f64>().is_err() => Some((role, value.as_str())),
            _ => None,
        })
    }
}
