//! A random scenario, chosen by the first bytes: engine, reference simulator and audit agree, and own logs replay.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| gpusched_referees::holds(bytes));
