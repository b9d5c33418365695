//! The interactive timeline.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::Args;
use gpusched::pictures::HtmlTimeline;

use super::output::write_whole;

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

/// Refuses a file whose name does not say that it is a page.
pub(crate) fn check(option: &str, path: &Path) -> anyhow::Result<()> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    if !extension.is_some_and(|extension| ["html", "htm"].contains(&extension.to_ascii_lowercase().as_str())) {
        bail!("{option}: expected a file that ends in .html, found {}", path.display());
    }
    Ok(())
}

impl HtmlOptions {
    /// Whether a file is asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.html.is_some()
    }

    /// The file asked for, if any, after its name is checked.
    pub(crate) fn file(&self) -> anyhow::Result<Option<HtmlFile<'_>>> {
        let Some(path) = self.html.as_deref() else { return Ok(None) };
        check("--html", path)?;
        Ok(Some(HtmlFile(path)))
    }
}

impl HtmlFile<'_> {
    /// Writes it. Of very many blocks those that do the same are merged, unless `force` asks for each; if even then too
    /// many are left, or if turns are too many, it is refused.
    pub(crate) fn write(&self, timeline: HtmlTimeline<'_>, force: bool) -> anyhow::Result<()> {
        let timeline = if force { Ok(timeline) } else { timeline.sized() };
        let timeline = timeline
            .map_err(|error| anyhow!("--html {error}: draw a --figure, or let `gpusched simulate --force` write it"))?;
        write_whole(self.0, |out| timeline.write(out))
    }
}
