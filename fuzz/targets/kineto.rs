//! Any bytes as Kineto JSON: a profile, and of it a scenario, or an error.

use crate::profile;

pub(crate) fn run(bytes: &[u8]) {
    profile::check("profile.json", bytes);
}
