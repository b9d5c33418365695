//! Arguments of events.

use serde::Deserialize;
use serde_json::value::RawValue;

/// What events of the GPU and of CUDA calls say of themselves.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Arguments<'a> {
    // One is enough for all: the text then lives as long as they do.
    #[serde(borrow)]
    pub(super) device: Option<&'a RawValue>,
    pub(super) context: Option<&'a RawValue>,
    pub(super) stream: Option<&'a RawValue>,
    pub(super) correlation: Option<&'a RawValue>,
    #[serde(rename = "registers per thread")]
    pub(super) registers: Option<&'a RawValue>,
    #[serde(rename = "shared memory")]
    pub(super) shared_memory: Option<&'a RawValue>,
    pub(super) grid: Option<&'a RawValue>,
    pub(super) block: Option<&'a RawValue>,
    #[serde(rename = "est. achieved occupancy %")]
    pub(super) occupancy: Option<&'a RawValue>,
    pub(super) priority: Option<&'a RawValue>,
    #[serde(alias = "channel id", alias = "channel_id", alias = "channelID")]
    pub(super) channel: Option<&'a RawValue>,
    pub(super) bytes: Option<&'a RawValue>,
    #[serde(rename = "cuda_sync_kind")]
    pub(super) sync_kind: Option<&'a RawValue>,
    pub(super) wait_on_stream: Option<&'a RawValue>,
    #[serde(rename = "wait_on_cuda_event_record_corr_id")]
    pub(super) event_recorded_by: Option<&'a RawValue>,
}

/// What the head of the file says of a GPU.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Properties {
    pub(super) id: Option<u32>,
    pub(super) name: String,
    pub(super) total_global_mem: Option<u64>,
    pub(super) compute_major: Option<u32>,
    pub(super) compute_minor: Option<u32>,
    pub(super) max_threads_per_block: Option<u32>,
    pub(super) max_threads_per_multiprocessor: Option<u32>,
    pub(super) regs_per_block: Option<u32>,
    pub(super) regs_per_multiprocessor: Option<u32>,
    pub(super) warp_size: Option<u32>,
    pub(super) shared_mem_per_block_optin: Option<u32>,
    pub(super) shared_mem_per_multiprocessor: Option<u32>,
    pub(super) num_sms: Option<u32>,
}

/// What the head of the file says of a distributed run.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DistributedInfo {
    pub(super) rank: Option<u32>,
}
