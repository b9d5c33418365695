//! Which files a command has written: told once, in a line on standard error.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::screen::Screen;

/// Files that are told one by one.
const TOLD: usize = 4;

static WRITTEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file is complete and has its name.
pub(crate) fn remember(path: &Path) {
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    if !written.iter().any(|known| known == path) {
        written.push(path.to_owned());
    }
}

/// Tells which files were written, if any were.
pub(crate) fn tell() {
    let written = std::mem::take(&mut *WRITTEN.lock().unwrap_or_else(PoisonError::into_inner));
    if let Some(line) = line(&written) {
        // If stderr is closed there is nobody left to tell.
        let _ = writeln!(Screen::new(io::stderr()), "{line}");
    }
}

fn line(written: &[PathBuf]) -> Option<String> {
    let (first, others) = written.split_first()?;
    let folder = first.parent().unwrap_or(Path::new(""));
    if written.len() <= TOLD {
        let names: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
        return Some(format!("wrote {}", names.join(", ")));
    }
    let count = written.len();
    let are_together = others.iter().all(|path| path.parent() == first.parent());
    Some(if are_together && folder != Path::new("") {
        format!("wrote {count} files in {}", folder.display())
    } else {
        format!("wrote {count} files, {} and others", first.display())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_files_are_named_and_many_are_counted_with_their_folder() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(line(&[]), None);
        assert_eq!(line(&paths(&["a.svg", "b/c.csv"])).as_deref(), Some("wrote a.svg, b/c.csv"));
        assert_eq!(line(&paths(&["o/1", "o/2", "o/3", "o/4", "o/5"])).as_deref(), Some("wrote 5 files in o"));
        let apart = line(&paths(&["o/1", "o/2", "p/3", "o/4", "o/5"]));
        assert_eq!(apart.as_deref(), Some("wrote 5 files, o/1 and others"));
    }
}
