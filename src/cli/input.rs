//! Reading input files.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use gpusched::device::{BUILTIN_NAMES, Device};

/// The largest input file that is read into memory \[bytes\].
const MAX_BYTES: u64 = 1 << 32;

/// The text of a file, or of standard input for `-`, and the name by which errors mention it.
pub(crate) fn read(path: &Path) -> anyhow::Result<(String, String)> {
    let (name, mut text) = (path.display().to_string(), String::new());
    if path.as_os_str() == "-" {
        std::io::stdin().lock().take(MAX_BYTES).read_to_string(&mut text).context("cannot read standard input")?;
        return Ok(("standard input".to_owned(), text));
    }
    let file = std::fs::File::open(path).with_context(|| format!("cannot open {name}"))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        bail!("{name} is a directory; expected a file");
    }
    file.take(MAX_BYTES).read_to_string(&mut text).with_context(|| format!("cannot read {name}"))?;
    Ok((name, text))
}

/// The bytes of a file, or of standard input for `-`.
pub(crate) fn read_bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
    } else {
        bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    }
    Ok(bytes)
}

/// A built-in device by name, or one from a file.
pub(crate) fn device(name: &str) -> anyhow::Result<Device> {
    if let Some(device) = Device::builtin(name)? {
        return Ok(device);
    }
    let path = PathBuf::from(name);
    if !path.exists() {
        bail!("no built-in device and no file is called {name:?}; built in are {}", BUILTIN_NAMES.join(", "));
    }
    let (file, text) = read(&path)?;
    Ok(Device::from_json(&file, &text)?)
}
