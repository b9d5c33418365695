//! `gpusched study export`

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, anyhow, bail};
use clap::Args;

use super::super::output::{note, write_whole};
use super::super::progress::{self, Unit};
use super::super::{Answer, ending};

/// Files that are written at most, unless fewer are asked for.
const MOST_FILES: u64 = 100_000;

/// Write the scenarios or task sets that a study draws, one file for each sample, so that any command reads again what
/// a row is about: `point-0-sample-0.json` and so on. Numbers are those of the study's rows.
#[derive(Debug, Args)]
pub(super) struct Export {
    /// Study file (see `gpusched schema study`)
    file: PathBuf,
    /// Directory for the files
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Write those of this point alone [default: of all points]
    #[arg(long, value_name = "N")]
    point: Option<u64>,
    /// Write the first N samples of each point [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    samples: Option<u64>,
}

impl Export {
    pub(super) fn run(&self) -> anyhow::Result<Answer> {
        let study = super::study_of(&self.file)?;
        let points = match self.point {
            Some(point) if point >= study.layout.points => {
                bail!("--point: the study has points 0 to {}", study.layout.points - 1)
            }
            Some(point) => point..point + 1,
            None => 0..study.layout.points,
        };
        let samples = self.samples.unwrap_or(study.layout.samples);
        if samples > study.layout.samples {
            bail!("--samples: each point has {}", study.layout.samples);
        }
        let files = (points.end - points.start).saturating_mul(samples);
        if files > MOST_FILES {
            bail!("these are {files} files, more than {MOST_FILES}: say --point or --samples");
        }
        std::fs::create_dir_all(&self.to).with_context(|| format!("cannot make {}", self.to.display()))?;
        progress::begin("writing files", Unit::Of("files"), Some(files));
        for point in points {
            for sample in 0..samples {
                let text = study.input(point, sample).map_err(|what| anyhow!("{}: {what}", study.command_name()))?;
                let path = self.to.join(format!("point-{point}-sample-{sample}.json"));
                write_whole(&path, |out| out.write_all(text.as_bytes()))?;
                progress::advance(1);
            }
        }
        ending::stop_working()?;
        progress::end();
        note(&format!("{files} files are in {}", self.to.display()));
        Ok(Answer::Done)
    }
}
