//! How far off measured times may be.

/// What is put down to the clocks. The defaults come from measurements: the clocks of a Jetson TX2's GPU and CPU drift
/// apart by up to 0.36 ms in 12 s, and its block clock steps by about 1 us (see `docs/measured-logs.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tolerances {
    /// Between a time on the host's clock and one on the GPU's \[ns\].
    pub across_clocks_ns: i64,
    /// Between two times on one clock \[ns\].
    pub one_clock_ns: i64,
}

impl Default for Tolerances {
    fn default() -> Self {
        Self { across_clocks_ns: 500_000, one_clock_ns: 10_000 }
    }
}

impl Tolerances {
    /// For simulated traces.
    pub const EXACT: Self = Self { across_clocks_ns: 0, one_clock_ns: 0 };
}
