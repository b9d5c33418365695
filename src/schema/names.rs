//! The names of enumerations, from the types that the readers take them for.

use crate::analysis::Rung;
use crate::applications::{BUILTIN_SETS, Class};
use crate::device::{
    BUILTIN_NAMES, ChannelOrder, CopyDirection, CopySharing, Preemption, RegisterDealing, Runlists, SmNumbering,
    SynchronousMemset,
};
use crate::experiments::study::StudyCommand;
use crate::experiments::validation::Family;
use crate::hosts::Scheduler;
use crate::hosts::gpu_evr::{FullGpu, Keep, Late, Leftover, Remaining, UrgentQueue};
use crate::tasks::ReservationTest;
use crate::tasks::segments::{SegmentPreset, SegmentTest};
use crate::workload::{BlockClock, InterleaveLevel, Placement};

/// The names of what a schema asks for.
pub(super) fn names(what: &str) -> Option<Vec<&'static str>> {
    Some(match what {
        "application set" => BUILTIN_SETS.to_vec(),
        "channel order" => ChannelOrder::ALL.map(ChannelOrder::name).to_vec(),
        "assumption" => Rung::ALL.map(Rung::name).to_vec(),
        "class" => Class::ALL.map(Class::name).to_vec(),
        "clock" => BlockClock::ALL.map(BlockClock::name).to_vec(),
        "synchronous memset" => SynchronousMemset::ALL.map(SynchronousMemset::name).to_vec(),
        "copy sharing" => CopySharing::ALL.map(CopySharing::name).to_vec(),
        "device" => BUILTIN_NAMES.to_vec(),
        "direction" => CopyDirection::ALL.map(CopyDirection::name).to_vec(),
        "family" => Family::ALL.map(Family::name).to_vec(),
        "full GPU" => FullGpu::ALL.iter().map(|rule| rule.name()).collect(),
        "interleave level" => InterleaveLevel::ALL.map(InterleaveLevel::name).to_vec(),
        "keep" => Keep::ALL.iter().map(|rule| rule.name()).collect(),
        "late" => Late::ALL.iter().map(|rule| rule.name()).collect(),
        "leftover" => Leftover::ALL.iter().map(|rule| rule.name()).collect(),
        "placement" => Placement::ALL.map(Placement::name).to_vec(),
        "preemption" => Preemption::ALL.map(Preemption::name).to_vec(),
        "remaining" => Remaining::ALL.iter().map(|rule| rule.name()).collect(),
        "runlists" => Runlists::ALL.map(Runlists::name).to_vec(),
        "register dealing" => RegisterDealing::ALL.map(RegisterDealing::name).to_vec(),
        "SM numbering" => SmNumbering::ALL.map(SmNumbering::name).to_vec(),
        "scheduler" => Scheduler::ALL.map(Scheduler::name).to_vec(),
        "segment preset" => SegmentPreset::ALL.map(SegmentPreset::name).to_vec(),
        "segment test" => SegmentTest::ALL.map(SegmentTest::name).to_vec(),
        "study command" => StudyCommand::ALL.map(StudyCommand::name).to_vec(),
        "test" => ReservationTest::ALL.map(ReservationTest::name).to_vec(),
        "urgent queue" => UrgentQueue::ALL.iter().map(|rule| rule.name()).collect(),
        _ => return None,
    })
}
