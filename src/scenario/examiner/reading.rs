//! What reading a file leads to, and what every part of it may do to that.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::log_names::LogNames;
use crate::device::SmMask;
use crate::json::{Node, Object, Problem};
use crate::scenario::build::ScenarioBuilder;
use crate::scenario::examiner_logs::BenchmarkLog;
use crate::scenario::fields::{self, Place};
use crate::workload::{BlockClock, Kernel, KernelId};

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
        let mask = fields::sm_mask(node)?;
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

/// Adds a kernel, which stands at `place`.
pub(super) fn add_kernel(reading: &mut Reading<'_, '_>, place: Place<'_>, kernel: Kernel) -> Result<KernelId, Problem> {
    let title = Arc::clone(&kernel.title);
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
