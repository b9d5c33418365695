//! A linear model of the board's power.

use serde::Serialize;

use crate::time::NS_PER_SECOND;

/// Power as a constant and a share for each SM that runs blocks. A stated parameter set, not a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct PowerModel {
    /// Drawn always \[W\].
    pub idle_w: f64,
    /// Added for every SM on which at least one block runs \[W\].
    pub per_busy_sm_w: f64,
}

impl Default for PowerModel {
    /// For a K20m: 225 W is the board's published maximum (Tesla K20 GPU accelerator board specification, NVIDIA,
    /// 2013). That the whole GPU reaches it with all 13 SMs busy, and that 50 W of it are drawn in the high-performance
    /// state with no SM busy, are assumptions, as is linearity.
    fn default() -> Self {
        Self { idle_w: 50.0, per_busy_sm_w: 175.0 / 13.0 }
    }
}

impl PowerModel {
    /// Mean power over a span \[ns\] in which the SMs together were busy for `busy_ns` \[ns\]; 0 for an empty span.
    pub(crate) fn mean_w(&self, busy_ns: u128, span_ns: u64) -> f64 {
        if span_ns == 0 { 0.0 } else { self.idle_w + self.per_busy_sm_w * (busy_ns as f64 / span_ns as f64) }
    }

    /// Energy over a span, as in [`PowerModel::mean_w`] \[J\].
    pub(crate) fn energy_j(&self, busy_ns: u128, span_ns: u64) -> f64 {
        self.mean_w(busy_ns, span_ns) * (span_ns as f64 / NS_PER_SECOND as f64)
    }
}
