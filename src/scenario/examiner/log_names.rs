//! Names of log files.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::json::{Node, Problem};

/// The log files that a scenario's benchmarks write.
#[derive(Debug, Default)]
pub(super) struct LogNames {
    taken: BTreeSet<PathBuf>,
}

impl LogNames {
    /// Adds a log file. Refuses one that another benchmark writes already, however it is spelt, a name that names no
    /// file, and with `inside` one that leads out of the result directory.
    pub(super) fn add(&mut self, node: Node<'_>, file_name: &str, inside: bool) -> Result<(), Problem> {
        let path = Path::new(file_name);
        let stays = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if inside && !stays {
            return Err(node
                .problem(format!("the log name {file_name:?} leads out of the result directory"))
                .with_help("--allow-log-paths writes it there all the same"));
        }
        let plain = normalized(path);
        if plain.file_name().is_none() || file_name.ends_with('/') {
            return Err(node.problem(format!("the log name {file_name:?} is not the name of a file")));
        }
        if self.taken.insert(plain) {
            return Ok(());
        }
        Err(node.problem(format!("two benchmarks write their logs to {file_name:?}")))
    }
}

/// A path without `.`, and without `..` behind a directory.
fn normalized(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(plain.components().next_back(), Some(Component::Normal(_))) => {
                plain.pop();
            }
            _ => plain.push(part),
        }
    }
    plain
}
