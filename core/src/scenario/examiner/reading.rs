//! What reading a file leads to, the names of its logs among it, and what kinds of benchmark are told and answer.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::device::{BlockShape, Sided, SmMask};
use crate::json::{Node, Object, Problem};
use crate::scenario::build::ScenarioBuilder;
use crate::scenario::examiner_logs::{BenchmarkLog, KernelSync, NOWHERE};
use crate::scenario::host_thread::Step;
use crate::scenario::reader::{self, Place, dimensions};
use crate::spelling::option;
use crate::time::Duration;
use crate::workload::{BlockClock, BlockTime, Kernel, KernelId, StreamId};

/// What reading a file, nested ones included, leads to.
pub(super) struct Reading<'a, 'o> {
    pub(super) builder: ScenarioBuilder<'o>,
    /// Where each host thread stands in the file.
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) logs: Vec<BenchmarkLog>,
    pub(super) log_names: LogNames<'a>,
    /// The host thread with which the others of the level end that is being read.
    pub(super) terminator: Option<u32>,
    /// What a kernel that watches a timer counts: on the only context all the same.
    pub(super) timer: BlockClock,
    /// Names of kernels, as far as they are stored once.
    names: FxHashSet<Arc<str>>,
}

/// So many different names of kernels are looked for among those before; where there are more, few come again.
const MOST_NAMES: usize = 4_096;

impl<'o> Reading<'_, 'o> {
    /// Nothing has been read.
    pub(super) fn new(builder: ScenarioBuilder<'o>) -> Self {
        let (log_names, names) = (LogNames::default(), FxHashSet::default());
        let timer = BlockClock::RunTime;
        Self { builder, nodes: Vec::new(), logs: Vec::new(), log_names, terminator: None, timer, names }
    }

    /// A mask, of which the examiner knows 64 bits; libsmctrl takes all TPCs behind those away.
    pub(super) fn sm_mask(&mut self, node: Node<'_>) -> Result<SmMask, Problem> {
        const BITS: u32 = 64;
        let mask = reader::sm_mask(node)?;
        let of_64_tpcs = mask.of_64_tpcs().ok_or_else(|| node.expected("a mask of 64 bits, as the examiner has it"))?;
        let device = self.builder.device();
        let tpcs = device.sms.div_ceil(device.sms_per_tpc);
        if tpcs <= BITS {
            return Ok(mask);
        }
        let note = format!(
            "a mask of the examiner has {BITS} bits, and takes the TPCs behind those away, of {tpcs} of {}",
            device.name
        );
        self.builder.note(note);
        Ok(of_64_tpcs)
    }

    /// The name of a kernel, which is stored once if it comes again.
    pub(super) fn name(&mut self, name: &str) -> Arc<str> {
        let next = self.builder.next_kernel_name().filter(|next| ***next == *name);
        if let Some(known) = next.or_else(|| self.names.get(name)) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        if self.names.len() < MOST_NAMES {
            self.names.insert(Arc::clone(&name));
        }
        name
    }
}

/// A kernel that a benchmark launches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Launched {
    pub(super) blocks: u32,
    pub(super) threads: u32,
    pub(super) duration: Duration,
    pub(super) clock: BlockClock,
    pub(super) shared_memory_bytes: u32,
}

/// Adds a kernel, which stands at `place`, under its name and what reports call it.
pub(super) fn add_kernel(
    reading: &mut Reading<'_, '_>,
    place: Place<'_>,
    (name, title): (Arc<str>, Arc<str>),
    launched: Launched,
    sm_mask: Option<SmMask>,
) -> Result<KernelId, Problem> {
    let Launched { blocks, threads, duration, clock, shared_memory_bytes } = launched;
    let shape = BlockShape { threads, registers_per_thread: 0, shared_memory_bytes };
    let duration = BlockTime::fixed(duration);
    let kernel = Kernel { name, title: Arc::clone(&title), blocks, shape, duration, clock, sm_mask };
    let added = reading.builder.add_kernel(kernel);
    added.map_err(|error| place.of(&error).problem(format!("kernel {title:?}: {error}")))
}

/// What a scenario is called that has no name, as the first ones of March 2017 do not.
pub(super) const UNNAMED: &str = "unnamed";

/// The name of a level of the file.
pub(super) fn name_of(file: &mut Object<'_>) -> Result<Arc<str>, Problem> {
    let name = file.optional("name")?.map(|node| node.text()).transpose()?;
    Ok(name.map_or_else(|| UNNAMED.into(), |name| (*name).into()))
}

/// The log files that a scenario's benchmarks write.
#[derive(Debug, Default)]
pub(super) struct LogNames<'a> {
    /// Without `.` and `..` where that can be; of the file itself as far as they stand in it.
    taken: FxHashSet<Cow<'a, str>>,
}

impl<'a> LogNames<'a> {
    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, names: usize) {
        self.taken.reserve(names);
    }

    /// Adds a log file. Refuses one that another benchmark writes already, however it is spelt, a name that names no
    /// file, and with `inside` one that leads out of the result directory.
    pub(super) fn add(&mut self, node: Node<'_>, file_name: Cow<'a, str>, inside: bool) -> Result<(), Problem> {
        if file_name == NOWHERE {
            return Ok(());
        }
        if is_plain(&file_name) {
            return self.taken.replace(file_name).map_or(Ok(()), |taken| Err(twice(node, &taken)));
        }
        let path = Path::new(&*file_name);
        let stays = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if inside && !stays {
            return Err(node
                .problem(format!("the log name {file_name:?} leads out of the result directory"))
                .with_help(format!("{} writes it there all the same", option("allow_log_paths"))));
        }
        let plain = normalized(path);
        if plain.file_name().is_none() || file_name.ends_with('/') {
            return Err(node.problem(format!("the log name {file_name:?} is not the name of a file")));
        }
        let plain = plain.to_string_lossy().into_owned();
        if self.taken.insert(plain.into()) { Ok(()) } else { Err(twice(node, &file_name)) }
    }
}

fn twice(node: Node<'_>, file_name: &str) -> Problem {
    node.problem(format!("two benchmarks write their logs to {file_name:?}"))
}

/// Whether this is the name of a file without any directory, as most are, on every operating system.
fn is_plain(file_name: &str) -> bool {
    file_name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && file_name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

/// A path without `.`, and without `..` behind a directory.
fn normalized(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(plain.components().next_back(), Some(Component::Normal(_))) => {
                plain.pop();
            }
            _ => plain.push(part),
        }
    }
    plain
}

/// One benchmark, as far as all kinds have it.
pub(super) struct Benchmark<'a> {
    pub(super) node: Node<'a>,
    /// File name without directory and `.so`.
    pub(super) kind: &'a str,
    /// The label, or else the kind.
    pub(super) title: Arc<str>,
    pub(super) threads: Node<'a>,
    pub(super) blocks: Node<'a>,
    pub(super) data_size: Node<'a>,
    pub(super) info: Option<Node<'a>>,
    pub(super) stream: StreamId,
    /// The NULL stream of its process.
    pub(super) null: StreamId,
}

impl Benchmark<'_> {
    /// Checks both counts where kernels state their own.
    pub(super) fn check_counts(&self) -> Result<(), Problem> {
        [self.threads, self.blocks].into_iter().try_for_each(|count| sides(count).map(drop))
    }

    /// The blocks that the file states.
    pub(super) fn stated_grid(&self) -> Result<u32, Problem> {
        dimensions(self.blocks, Sided::Grid)
    }

    pub(super) fn needs_info(&self) -> Problem {
        self.node.problem(format!("{}.so needs additional_info", self.kind))
    }
}

/// A number, or one to three of them: those of a count that may be left at 0 where nothing asks for it.
pub(super) fn sides(count: Node<'_>) -> Result<Vec<u32>, Problem> {
    let sides = if count.is_list() { count.filled_list()? } else { vec![count] };
    if sides.len() > 3 {
        return Err(count.expected("a number or a list of at most three numbers"));
    }
    sides.iter().map(|side| side.whole_u32(0, u32::MAX)).collect()
}

/// What a kind of benchmark does, and how the examiner calls it.
pub(super) struct Behaviour {
    pub(super) steps: Vec<Step>,
    pub(super) benchmark_name: &'static str,
    pub(super) sync: KernelSync,
}
