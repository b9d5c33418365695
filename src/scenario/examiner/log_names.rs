//! Names of log files.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use rustc_hash::FxHashSet;

use crate::json::{Node, Problem};
use crate::scenario::examiner_logs::NOWHERE;
use crate::spelling::option;

/// The log files that a scenario's benchmarks write.
#[derive(Debug, Default)]
pub(super) struct LogNames<'a> {
    /// Without `.` and `..` where that can be; of the file itself as far as they stand in it.
    taken: FxHashSet<Cow<'a, str>>,
}

impl<'a> LogNames<'a> {
    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, names: usize) {
        self.taken.reserve(names);
    }

    /// Adds a log file. Refuses one that another benchmark writes already, however it is spelt, a name that names no
    /// file, and with `inside` one that leads out of the result directory.
    pub(super) fn add(&mut self, node: Node<'_>, file_name: Cow<'a, str>, inside: bool) -> Result<(), Problem> {
        if file_name == NOWHERE {
            return Ok(());
        }
        if is_plain(&file_name) {
            return self.taken.replace(file_name).map_or(Ok(()), |taken| Err(twice(node, &taken)));
        }
        let path = Path::new(&*file_name);
        let stays = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if inside && !stays {
            return Err(node
                .problem(format!("the log name {file_name:?} leads out of the result directory"))
                .with_help(format!("{} writes it there all the same", option("allow_log_paths"))));
        }
        let plain = normalized(path);
        if plain.file_name().is_none() || file_name.ends_with('/') {
            return Err(node.problem(format!("the log name {file_name:?} is not the name of a file")));
        }
        let plain = plain.to_string_lossy().into_owned();
        if self.taken.insert(plain.into()) { Ok(()) } else { Err(twice(node, &file_name)) }
    }
}

fn twice(node: Node<'_>, file_name: &str) -> Problem {
    node.problem(format!("two benchmarks write their logs to {file_name:?}"))
}

/// Whether this is the name of a file without any directory, as most are, on every operating system.
fn is_plain(file_name: &str) -> bool {
    file_name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && file_name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
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
