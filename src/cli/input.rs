//! Reading input files.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, bail};
use gpusched::device::{BUILTIN_NAMES, Device};
use gpusched::effort::{self, Counted};
use gpusched::input::Input;
use gpusched::logs::{BlockColumns, LogsReading, read_logs_from};
use gpusched::words::{did_you_mean, did_you_mean_file};

use super::ending;
use super::progress::{self, Unit};

/// What a command that takes a scenario was given: a file, or standard input for `-`; gzip is decompressed.
pub(crate) fn scenario(path: &Path) -> anyhow::Result<Input> {
    let (file, bytes) = read_whole(path)?;
    Ok(Input::of(&file, bytes)?)
}

/// The same, where of profiles nothing is asked but what was recorded.
pub(crate) fn as_recorded(path: &Path) -> anyhow::Result<Input> {
    let (file, bytes) = read_whole(path)?;
    Ok(Input::as_recorded(&file, bytes)?)
}

/// The text of a file, or of standard input for `-`, and the name by which errors mention it.
pub(crate) fn read(path: &Path) -> anyhow::Result<(String, String)> {
    let (file, bytes) = read_whole(path)?;
    let text = as_text(&file, bytes)?;
    Ok((file, text))
}

fn as_text(file: &str, bytes: Vec<u8>) -> anyhow::Result<String> {
    String::from_utf8(bytes).with_context(|| format!("cannot read {file}: it is no text"))
}

/// The content of a file, or of standard input for `-`, and the name by which errors mention it.
pub(crate) fn read_whole(path: &Path) -> anyhow::Result<(String, Vec<u8>)> {
    let (name, mut bytes) = (path.display().to_string(), Vec::new());
    if path.as_os_str() == "-" {
        return Ok(("standard input".to_owned(), standard_input()?));
    }
    let file = File::open(path).with_context(|| format!("cannot open {name}{}", did_you_mean_file(path)))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        bail!("{name} is a directory; expected a file");
    }
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    is_allowed(&name, length)?;
    progress::begin("reading", Unit::Bytes, Some(length));
    // As much as it says at once; if that cannot be had, reading says so.
    let _ = bytes.try_reserve_exact(usize::try_from(length).unwrap_or(0).saturating_add(1));
    progress::read_to_end(file, &mut bytes).with_context(|| format!("cannot read {name}"))?;
    // Until something else begins.
    progress::begin("parsing", Unit::Bytes, Some(bytes.len() as u64));
    Ok((name, bytes))
}

/// Refuses a file that is known to be more than may be read.
fn is_allowed(name: &str, length: u64) -> anyhow::Result<()> {
    effort::spend(Counted::Bytes, length).with_context(|| name.to_owned())?;
    ending::refuse_beyond_memory(length, || format!("reading {name} takes"))
}

/// Reads the log or the table of blocks of a file, or of standard input for `-`.
pub(crate) fn log(path: &Path, columns: &BlockColumns) -> anyhow::Result<LogsReading> {
    let name = path.display().to_string();
    if path.as_os_str() == "-" {
        return Ok(read_logs_from(&name, &mut Cursor::new(standard_input()?), columns)?);
    }
    let cannot = || format!("cannot read {name}{}", did_you_mean_file(path));
    let metadata = std::fs::metadata(path).with_context(cannot)?;
    progress::begin("reading", Unit::Bytes, Some(metadata.len()));
    if metadata.is_file() {
        effort::spend(Counted::Bytes, metadata.len())?;
        let mut file = progress::Counted::reader(File::open(path).with_context(cannot)?);
        return read_logs_from(&name, &mut file, columns).with_context(cannot);
    }
    let bytes = std::fs::read(path).with_context(cannot)?;
    effort::spend(Counted::Bytes, bytes.len() as u64)?;
    Ok(read_logs_from(&name, &mut Cursor::new(bytes), columns)?)
}

/// Whether a path names logs, as its beginning tells.
pub(crate) fn are_logs(path: &Path) -> bool {
    path.as_os_str() != "-" && gpusched::input::are_logs(path)
}

/// Standard input, which can be asked for again.
fn standard_input() -> anyhow::Result<Vec<u8>> {
    static READ: OnceLock<Vec<u8>> = OnceLock::new();
    if let Some(bytes) = READ.get() {
        return Ok(bytes.clone());
    }
    let mut bytes = Vec::new();
    let most = effort::left(Counted::Bytes).map_or(u64::MAX, |left| left.saturating_add(1));
    std::io::stdin().lock().take(most).read_to_end(&mut bytes).context("cannot read standard input")?;
    effort::spend(Counted::Bytes, bytes.len() as u64)?;
    Ok(READ.get_or_init(|| bytes).clone())
}

/// A built-in device by name, or one from a file.
pub(crate) fn device(name: &str) -> anyhow::Result<Device> {
    if let Some(device) = Device::builtin(name)? {
        return Ok(device);
    }
    let path = PathBuf::from(name);
    if !path.exists() {
        let near = did_you_mean(name, BUILTIN_NAMES);
        bail!("no built-in device and no file is called {name:?}{near}; built in are {}", BUILTIN_NAMES.join(", "));
    }
    let (file, text) = read(&path)?;
    Ok(Device::from_json(&file, &text)?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gpusched::effort::{Effort, Limits};

    use super::*;

    #[test]
    fn only_strict_limits_refuse_a_file_for_its_length() {
        let allowed = |limits: Limits, length: u64| {
            let effort = Arc::new(Effort::new(limits, Arc::default()));
            effort.within(|| is_allowed("large.json", length)).expect("it has a result")
        };
        assert!(allowed(Limits::NONE, 5 << 30).is_ok());
        let error = allowed(Limits::STRICT, 5 << 30).expect_err("it is too much");
        assert!(format!("{error:#}").contains("large.json: the input asks for more than 67108864 bytes"), "{error:#}");
    }
}
