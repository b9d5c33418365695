//! The first lines of a result file, which say to what its rows belong.

use std::path::Path;

use serde_json::{Value, json};

use super::error::StudyError;
use super::file::Study;
use super::layout::Shard;
use super::row::{CHECKSUM_COLUMN, FIRST_COLUMNS};
use crate::spelling::option;

/// How a result file begins.
const MAGIC: &str = "# gpusched-rows/1 ";
/// The version that computes the rows; another one may compute others.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The header of the rows of a shard, two lines: it depends on the study, the version and the shard only.
pub(super) fn text(study: &Study, shard: Shard) -> String {
    let about = json!({
        "study": study.name,
        "command": study.command.name(),
        "digest": study.digest,
        "gpusched": VERSION,
        "shard": shard.to_string(),
        "rows": shard.rows(study.layout.rows()),
    });
    format!("{MAGIC}{about}\n{FIRST_COLUMNS},{},{CHECKSUM_COLUMN}\n", study.columns())
}

/// Checks that `first_line`, without its end, is the header of rows of this study by this version; returns whose.
pub(super) fn shard_of(study: &Study, path: &Path, first_line: &[u8]) -> Result<Shard, StudyError> {
    let not_rows = || StudyError::NotRows { path: path.to_owned() };
    let line = std::str::from_utf8(first_line).map_err(|_| not_rows())?;
    let about: Value =
        line.strip_prefix(MAGIC).and_then(|json| serde_json::from_str(json).ok()).ok_or_else(not_rows)?;
    let field = |key: &str| about.get(key).and_then(Value::as_str).ok_or_else(not_rows);
    let foreign = |what: String| Err(StudyError::Foreign { path: path.to_owned(), what });
    let (name, digest, version) = (field("study")?, field("digest")?, field("gpusched")?);
    if name != study.name {
        return foreign(format!("its rows are of study {name:?}, not {:?}", study.name));
    }
    let results = option("results");
    if version != VERSION {
        return foreign(format!(
            "its rows were computed by gpusched {version}, and this is {VERSION}: rows of two versions are not mixed. \
             Finish with {version}, or choose another {results}"
        ));
    }
    if digest != study.digest {
        return foreign(format!(
            "the study {name:?}, or a file that it names, was changed since its rows were computed. Undo the change, or \
             choose another {results} (rows: {digest}, file: {})",
            study.digest
        ));
    }
    let shard: Shard = field("shard")?.parse().map_err(|_| not_rows())?;
    // Name, version and digest leave nothing that could differ but an edited header.
    if text(study, shard).lines().next() == Some(line) { Ok(shard) } else { Err(not_rows()) }
}

/// Whether a text without line end is what a header may look like that was not written to its end.
pub(super) fn is_torn(text: &[u8]) -> bool {
    let magic = MAGIC.as_bytes();
    text.starts_with(magic) || magic.starts_with(text)
}
