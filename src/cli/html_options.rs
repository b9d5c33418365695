//! The interactive timeline.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use gpusched::report::HtmlTimeline;

use super::output::write_whole;

/// Blocks above which a browser takes long to open the file.
const MANY_BLOCKS: u64 = 1_000_000;

/// Where to.
#[derive(Debug, Args)]
pub(crate) struct HtmlOptions {
    /// Write the timeline as one HTML file to look at in a browser: zoom, search, the rule that made each block wait,
    /// and the state at any instant; it loads nothing from elsewhere
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// An HTML file that is going to be written.
#[derive(Debug)]
pub(crate) struct HtmlFile<'a>(&'a Path);

impl HtmlOptions {
    /// The file asked for, if any, after its name is checked.
    pub(crate) fn file(&self) -> anyhow::Result<Option<HtmlFile<'_>>> {
        let Some(path) = self.html.as_deref() else { return Ok(None) };
        let extension = path.extension().and_then(|extension| extension.to_str());
        if !extension.is_some_and(|extension| ["html", "htm"].contains(&extension.to_ascii_lowercase().as_str())) {
            bail!("--html: expected a file that ends in .html, found {}", path.display());
        }
        Ok(Some(HtmlFile(path)))
    }
}

impl HtmlFile<'_> {
    /// Writes it, unless it would hold very many blocks and nobody asked for it by `force`.
    pub(crate) fn write(&self, timeline: &HtmlTimeline<'_>, force: bool) -> anyhow::Result<()> {
        let blocks = timeline.blocks();
        if blocks > MANY_BLOCKS && !force {
            bail!(
                "--html holds each block one by one, and {blocks} are more than a browser shows well ({MANY_BLOCKS}): \
                 draw a --figure, or let `gpusched simulate --force` write it"
            );
        }
        write_whole(self.0, |out| timeline.write(out))
    }
}
