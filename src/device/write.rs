//! Writing device files.

use serde_json::{Map, Value, json};

use super::{ChannelOrder, CopySharing, Device, Placement, SmOrder, SynchronousMemset, TimeSlicing};
use crate::time::Duration;

impl Device {
    /// This device as a device file.
    pub fn to_json(&self) -> String {
        format!("{:#}", self.to_value())
    }

    /// Every number and setting of the device file with its dotted key, in the order of the file.
    pub fn entries(&self) -> Vec<(String, String)> {
        let mut entries = Vec::new();
        let Value::Object(file) = self.to_value() else { return entries };
        for (key, value) in file {
            match value {
                Value::Object(_) if key == "sources" || key == "assumptions" => {}
                Value::Object(group) => {
                    entries.extend(group.iter().map(|(member, value)| (format!("{key}.{member}"), plain(value))));
                }
                _ if key == "name" || key == "title" => {}
                value => entries.push((key, plain(&value))),
            }
        }
        entries
    }

    pub(crate) fn to_value(&self) -> Value {
        let order = match &self.sm_order {
            SmOrder::Explicit(ids) => json!(ids),
            SmOrder::Ascending => json!("ascending"),
            SmOrder::Descending => json!("descending"),
            SmOrder::EvenThenOdd => json!("even-then-odd"),
        };
        let mut file = Map::new();
        let mut put = |key: &str, value: Value| file.insert(key.to_owned(), value);
        put("name", json!(self.name));
        put("title", json!(self.title));
        put("compute_capability", json!(self.compute_capability));
        put("sms", json!(self.sms));
        put("sms_per_tpc", json!(self.sms_per_tpc));
        put("warp_size", json!(self.warp_size));
        put("per_sm", json!(self.per_sm));
        put("per_block", json!(self.per_block));
        put("register_allocation", json!(self.register_allocation));
        put("shared_memory_allocation", json!(self.shared_memory_allocation));
        put("priority_levels", json!(self.priority_levels));
        put("sm_order", order);
        if let Some(gpcs) = &self.gpcs {
            put("gpcs", json!(gpcs));
        }
        if self.placement != Placement::default() {
            put("placement", json!(self.placement));
        }
        put("copy_engines", json!(self.copy.engines));
        let mut copy = json!({
            "latency_ns": self.copy.latency,
            "host_to_device_bytes_per_s": self.copy.host_to_device_bytes_per_s,
            "device_to_host_bytes_per_s": self.copy.device_to_host_bytes_per_s,
            "device_to_device_bytes_per_s": self.copy.device_to_device_bytes_per_s,
        });
        if self.copy.device_to_device_engine > 0 {
            copy["device_to_device_engine"] = json!(self.copy.device_to_device_engine);
        }
        put("copy", copy);
        if self.copy.sharing != CopySharing::default() {
            put("copies", json!(self.copy.sharing));
        }
        if let Some(channels) = self.channels {
            put("channels", json!(channels));
        }
        if self.channel_order != ChannelOrder::default() {
            put("channel_order", json!(self.channel_order));
        }
        let latencies = [
            ("launch_latency_ns", self.launch_latency),
            ("kernel_gap_ns", self.kernel_gap),
            ("block_gap_ns", self.block_gap),
            ("pdl_trigger_latency_ns", self.pdl_trigger_latency),
            ("pdl_wait_latency_ns", self.pdl_wait_latency),
        ];
        for (key, latency) in latencies {
            if latency > Duration::ZERO {
                put(key, json!(latency));
            }
        }
        if self.synchronous_memset != SynchronousMemset::default() {
            put("synchronous_memset", json!(self.synchronous_memset));
        }
        let TimeSlicing { time_slice, switch_cost, copy_time_slice, runlists, preemption } = self.time_slicing;
        put("time_slice_ns", json!(time_slice));
        put("switch_cost_ns", json!(switch_cost));
        put("copy_time_slice_ns", json!(copy_time_slice));
        put("runlists", json!(runlists));
        put("preemption", json!(preemption));
        if let Some(clock) = self.boost_clock_mhz {
            put("boost_clock_mhz", json!(clock));
        }
        if let Some(bandwidth) = self.memory_bytes_per_s {
            put("memory_bytes_per_s", json!(bandwidth));
        }
        put("ns_per_spin_iteration", json!(self.spin_iteration_atto as f64 / 1e9));
        put("sources", json!(self.sources));
        put("assumptions", json!(self.assumptions));
        Value::Object(file)
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
