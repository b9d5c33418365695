//! `gpusched analyze --report`.

use std::path::{Path, PathBuf};

use clap::Args;
use gpusched::analysis::Certificate;
use gpusched::formats::TableStyle;
use gpusched::scenario::ModelDemands;
use gpusched::tables::{AnalysisReport, SafetyReport};

use crate::cli::written::write_bytes;

/// A page for a safety case.
#[derive(Debug, Args)]
pub(super) struct SafetyOptions {
    /// Write a page for a safety case, in HTML or Markdown by the end of the file's name (.html, .md): question,
    /// assumptions, verdicts, evidence, and what is not covered; with --certificate its hash too
    #[arg(long = "report", value_name = "FILE", value_parser = page, conflicts_with_all = ["ladder", "sporadic", "progress"])]
    report: Option<(PathBuf, Style)>,
}

/// In which language a page is written.
#[derive(Debug, Clone, Copy)]
enum Style {
    Html,
    Markdown,
}

fn page(text: &str) -> Result<(PathBuf, Style), String> {
    let path = PathBuf::from(text);
    let style = match path.extension().and_then(|extension| extension.to_str()) {
        Some("html" | "htm") => Style::Html,
        Some("md") => Style::Markdown,
        _ => return Err("its name has to end with .html or .md".to_owned()),
    };
    Ok((path, style))
}

impl SafetyOptions {
    pub(super) fn is_given(&self) -> bool {
        self.report.is_some()
    }

    /// Writes the page, if it is asked for.
    pub(super) fn write(
        &self,
        analysis: &AnalysisReport<'_>,
        demands: Option<&ModelDemands>,
        certificate: Option<(&Path, &Certificate)>,
        note: impl Fn(&str),
    ) -> anyhow::Result<()> {
        let Some((path, style)) = &self.report else { return Ok(()) };
        let mut report = SafetyReport::new(analysis, env!("CARGO_PKG_VERSION"))
            .with_unjudged_chains(demands.map_or(0, |demands| demands.unjudged_chains));
        if let Some((file, certificate)) = certificate {
            report = report.with_certificate(&std::fs::read(file)?, certificate.proven());
        }
        let style = match style {
            Style::Html => TableStyle::Html,
            Style::Markdown => TableStyle::Markdown,
        };
        write_bytes(path, report.page(style).as_bytes())?;
        note(&format!("{} is a page for a safety case", path.display()));
        Ok(())
    }
}
