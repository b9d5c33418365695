//! Files under temporary names, which are gone unless they are given their own.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::ending::temporaries;
use super::written;

/// A file under a temporary name, which is gone unless it is given its own.
pub(crate) struct Temporary(PathBuf);

impl Temporary {
    pub(crate) fn create(path: PathBuf) -> io::Result<(Self, File)> {
        // At once, so that a file is made or removed, and not made after it was to be removed.
        temporaries(|known| {
            let file = File::create_new(&path)?;
            known.insert(path.clone());
            Ok((Self(path), file))
        })
    }

    pub(crate) fn rename(&self, to: &Path) -> io::Result<()> {
        Self::rename_all([(self, to)]).map_err(|(_, error)| error)
    }

    /// Gives several files their names. The command does not end between two of them.
    ///
    /// # Errors
    /// The name that the system refuses to give, and why.
    pub(crate) fn rename_all<'t>(
        files: impl IntoIterator<Item = (&'t Self, &'t Path)>,
    ) -> Result<(), (&'t Path, io::Error)> {
        temporaries(|_| {
            files.into_iter().try_for_each(|(file, to)| {
                fs::rename(&file.0, to).map_err(|error| (to, error))?;
                written::remember(to);
                Ok(())
            })
        })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        temporaries(|known| {
            known.remove(&self.0);
            // It may have its name, and what is left of a failed attempt is of no use.
            let _ = fs::remove_file(&self.0);
        });
    }
}
