//! Which hardware channel a stream is dealt to.

use std::collections::BTreeMap;

use super::{CheckedStream, GreenContext, GreenContextId, ProcessId};
use crate::device::{ChannelOrder, Device};

/// A channel of a process, or of a green context that has work queues of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ChannelId {
    /// Whose channels.
    pool: (ProcessId, Option<GreenContextId>),
    /// Which of them.
    number: u32,
}

/// Which of `all` channels a stream is dealt to before which so many others were.
pub(crate) fn channel_of(streams: u32, all: u32) -> u32 {
    streams % all.max(1)
}

/// The channel of each stream, dealt in turn in the order of the streams, as [`ChannelOrder::Submission`] has it;
/// `None`: it need not share one.
pub(crate) fn dealt_channels(
    streams: &[CheckedStream],
    green_contexts: &[GreenContext],
    device: &Device,
) -> Vec<Option<ChannelId>> {
    let mut dealt: BTreeMap<(ProcessId, Option<GreenContextId>), u32> = BTreeMap::new();
    let channel = |stream: &CheckedStream| {
        let own = stream.green_context.and_then(|green| Some((green, green_contexts.get(green.index())?.work_queues?)));
        let of = own.map(|(_, queues)| queues).or(device.channels)?;
        let pool = (stream.process, own.map(|(green, _)| green));
        let streams = dealt.entry(pool).or_default();
        let number = channel_of(*streams, of);
        *streams += 1;
        Some(ChannelId { pool, number })
    };
    if device.channel_order == ChannelOrder::Submission {
        streams.iter().map(channel).collect()
    } else {
        vec![None; streams.len()]
    }
}
