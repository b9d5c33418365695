//! Files that hold all or nothing of what is written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::errors::Failure;

/// Writes a file by way of a temporary one beside it, which is gone if `write` fails.
pub(crate) fn write_whole<E>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), Failure>
where
    Failure: From<E>,
{
    let failed = |error: io::Error| {
        Failure::File(io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display())))
    };
    if path.is_dir() {
        return Err(failed(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory")));
    }
    // Devices and pipes cannot be replaced by a renamed file.
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        let mut out = BufWriter::new(OpenOptions::new().write(true).open(path).map_err(failed)?);
        write(&mut out)?;
        return out.flush().map_err(failed);
    }
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = Temporary(path.with_file_name(name));
    let mut out = BufWriter::new(File::create_new(&temporary.0).map_err(failed)?);
    write(&mut out)?;
    out.flush().map_err(failed)?;
    fs::rename(&temporary.0, path).map_err(failed)
}

/// A file that is gone in the end, unless it was given another name.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
