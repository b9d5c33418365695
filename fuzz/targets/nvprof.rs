//! Any bytes as nvprof CSV: a profile, and of it a scenario, or an error.

use crate::profile;

pub(crate) fn run(bytes: &[u8]) {
    // What tells the format comes first.
    profile::check("profile.csv", &[&b"==1== remark\n"[..], bytes].concat());
}
