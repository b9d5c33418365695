//! Any bytes as an SQLite export of Nsight Systems: a profile, and of it a scenario, or an error.

use crate::profile;

pub(crate) fn run(bytes: &[u8]) {
    // What tells the format comes first.
    profile::check("profile.sqlite", &[&b"SQLite format 3\0"[..], bytes].concat());
}
