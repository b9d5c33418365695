//! Why an operation waited, as a sentence.

use super::timeline::bytes;
use crate::device::BlockDemand;
use crate::run::Summary;
use crate::trace::{Phase, Rule};
use crate::workload::{Clusters, OperationKind};

/// What is said of a phase, with places for what differs between phases that say the same: `{operation}`, `{from}`,
/// `{to}` and `{blocking}`, which is a list.
pub(crate) fn sentence(summary: &Summary<'_>, phase: &Phase) -> String {
    let why = if phase.blocking.is_empty() && !is_about_room(phase.rule) {
        phase.rule.meaning().to_owned()
    } else {
        why(summary, phase)
    };
    format!("{{operation}} waits from {{from}} to {{to}}: {why}; rule {}", phase.rule)
}

const fn is_about_room(rule: Rule) -> bool {
    matches!(rule, Rule::R2 | Rule::R3 | Rule::Registers | Rule::Cluster)
}

fn why(summary: &Summary<'_>, phase: &Phase) -> String {
    let records = summary.trace.operations();
    let record = |id: crate::workload::OperationId| records.get(id.index());
    let own = record(phase.operation).map(|record| record.stream);
    match phase.rule {
        Rule::G2 | Rule::C1 => {
            let in_own = phase.blocking.iter().all(|id| record(*id).map(|other| other.stream) == own);
            let text = if in_own {
                "in its stream, behind {blocking}"
            } else {
                "in its stream, whose head waits for {blocking}"
            };
            text.to_owned()
        }
        Rule::X1 => "in its EE queue, behind {blocking}, and only blocks of the head are assigned".to_owned(),
        Rule::A2 => "an EE queue of higher priority holds {blocking}".to_owned(),
        Rule::N1 => "the NULL stream waits for what was launched before it in blocking streams: {blocking}".to_owned(),
        Rule::N2 => "it waits for what was launched before it in the NULL stream: {blocking}".to_owned(),
        Rule::C2 => "its copy engine serves {blocking}".to_owned(),
        Rule::E2 => "its event is recorded only behind {blocking}".to_owned(),
        Rule::Channel | Rule::L1 | Rule::L2 | Rule::T1 | Rule::T4 | Rule::T5 | Rule::Mps | Rule::H1 | Rule::H2 => {
            phase.rule.meaning().to_owned()
        }
        Rule::R2 | Rule::R3 | Rule::Registers | Rule::Cluster => {
            let lacks = lacks(summary, phase);
            match (&phase.blocking[..], phase.more) {
                ([], _) => lacks,
                ([one], 0) if record(*one).is_some_and(|other| other.finish() == Some(phase.to)) => {
                    format!("{lacks}; {{blocking}} holds it until {{to}}")
                }
                ([_], 0) => format!("{lacks}; {{blocking}} holds some of it"),
                _ => format!("{lacks}; {{blocking}} hold it, one after another"),
            }
        }
    }
}

fn clusters_of(summary: &Summary<'_>, phase: &Phase) -> Option<Clusters> {
    let OperationKind::Kernel(kernel) = summary.trace.operations().get(phase.operation.index())?.kind else {
        return None;
    };
    summary.trace.kernels().get(kernel.index())?.clusters()
}

/// What there is too little of.
fn lacks(summary: &Summary<'_>, phase: &Phase) -> String {
    let device = summary.scenario.device();
    let kernel = summary.trace.kernel_of(phase.operation);
    let Some(demand) = kernel.and_then(|kernel| BlockDemand::new(&kernel.shape, device).ok()) else {
        return phase.rule.meaning().to_owned();
    };
    let threads = demand.warps * device.warp_size;
    match phase.rule {
        Rule::Cluster => match clusters_of(summary, phase) {
            Some(clusters) => format!("no GPC has {} SMs free for a cluster of its blocks", clusters.least()),
            None => phase.rule.meaning().to_owned(),
        },
        Rule::R2 => format!("no SM has {threads} threads and a block slot free"),
        Rule::R3 => format!(
            "no SM with room for its {threads} threads has {} of shared memory free",
            bytes(demand.shared_memory_bytes.into())
        ),
        _ => format!(
            "no SM with room for the rest of a block has {} registers free, {} for each warp",
            demand.registers,
            demand.registers_per_warp()
        ),
    }
}
