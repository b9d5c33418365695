//! A random scenario, chosen by the first bytes: engine, reference simulator and audit agree, and own logs replay.

pub(crate) fn run(bytes: &[u8]) {
    gpusched_referees::holds(bytes);
}
