//! `gpusched figures`, which makes what the papers show, and `gpusched tour`, a page that explains it.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};
use clap::Args;
use gpusched::figures::{Figure, FigureKind, GALLERY_MARK, Made, TIME_LIMIT, catalogue, gallery, write_tour};
use gpusched::tables::{OfPaper, PrintedDocument};
use gpusched::time::Duration;
use gpusched::words::did_you_mean;

use super::output::{self, Format, note, print_report};
use super::progress::{self, Unit};
use super::written::write_bytes;
use super::{Answer, resources, run_files};

/// Make every figure and table of the papers that can be computed: SVG pictures, the data behind each as CSV, and a
/// gallery page beside what was published. All of them take some minutes.
#[derive(Debug, Args)]
pub(crate) struct Figures {
    /// Make this one only, without the gallery; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// The folder to write into; files there with the figures' names are replaced
    #[arg(long, value_name = "DIR", default_value = "output")]
    out: PathBuf,
    /// List the figures' names and what they show, and make none
    #[arg(long, conflicts_with_all = ["only", "out"])]
    list: bool,
    /// Give up each computation whose time is shown after this long (the integer programs of CISTER 2012, Figs. 5 and
    /// 7) [default: 20 s]
    #[arg(long, value_name = "TIME", value_parser = Duration::parse, requires = "only")]
    time_limit: Option<Duration>,
    /// Write nothing; compare with what print gives in values, each with its place in print; exit status 1 if one
    /// differs
    #[arg(long, conflicts_with_all = ["out", "time_limit"])]
    check: bool,
    /// How to print what was compared
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table, requires = "check")]
    format: Format,
    #[command(flatten)]
    jobs: resources::Jobs,
}

impl Figures {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let figures = catalogue();
        if self.list {
            return list(&figures);
        }
        let asked = self.asked(&figures)?;
        if self.check {
            return self.compare(&asked);
        }
        let page = self.out.join("README.md");
        if self.only.is_empty() {
            refuse_to_replace(&page)?;
        }
        fs::create_dir_all(&self.out).with_context(|| format!("cannot create {}", self.out.display()))?;
        let limit = self.time_limit.map_or(TIME_LIMIT, |limit| std::time::Duration::from_nanos(limit.as_ns()));
        self.jobs.share()?;
        let mut made = Vec::with_capacity(asked.len());
        progress::hold("making", Unit::Of("figures"), Some(asked.len() as u64));
        let (began, mut spent) = (Instant::now(), 0);
        let mut left: u32 = asked.iter().map(|figure| parts_of(figure.name)).sum();
        for figure in asked {
            left -= parts_of(figure.name);
            if self.only.is_empty() && self.is_there(&figure) {
                note(&format!("{}: states times, kept as it is; --only {0} makes it anew", figure.name));
                made.push((figure, None));
                progress::advance(1);
                continue;
            }
            let result = figure.make_within(limit)?;
            self.write(&result)?;
            spent += parts_of(figure.name);
            made.push((figure, Some(result)));
            progress::advance(1);
            progress::expect(began.elapsed() * left / spent);
        }
        progress::end();
        if self.only.is_empty() {
            write_bytes(&page, gallery(&made).as_bytes())?;
        }
        Ok(Answer::Done)
    }

    /// The figures asked for, in the order of the catalogue.
    fn asked(&self, figures: &[Figure]) -> anyhow::Result<Vec<Figure>> {
        if let Some(unknown) = self.only.iter().find(|name| !figures.iter().any(|figure| figure.name == **name)) {
            let known: Vec<&str> = figures.iter().map(|figure| figure.name).collect();
            let near = did_you_mean(unknown, known.iter().copied());
            bail!("--only {unknown}: no such figure{near}; there are {}", known.join(", "));
        }
        let wanted = |figure: &&Figure| self.only.is_empty() || self.only.iter().any(|name| name == figure.name);
        Ok(figures.iter().filter(wanted).copied().collect())
    }

    /// Prints the values that print gives of figures beside those that come out here.
    fn compare(&self, asked: &[Figure]) -> anyhow::Result<Answer> {
        self.jobs.share()?;
        let mut compared = Vec::with_capacity(asked.len());
        progress::hold("comparing", Unit::Of("figures"), Some(asked.len() as u64));
        for figure in asked {
            let values = figure.printed()?;
            if values.is_empty() {
                bail!(
                    "--check: nothing that print says of {} is a value to compare with; it says: {}",
                    figure.name,
                    figure.published
                );
            }
            compared.push((figure.paper.name(), values));
            progress::advance(1);
        }
        progress::end();
        let values: Vec<OfPaper<'_>> =
            compared.iter().flat_map(|(paper, values)| values.iter().map(|value| (*paper, value))).collect();
        print_report(&PrintedDocument(&values), self.format)?;
        Ok(if values.iter().all(|(_, value)| value.agrees()) { Answer::Done } else { Answer::No })
    }

    /// Whether all files of a figure that states times exist already.
    fn is_there(&self, figure: &Figure) -> bool {
        match figure.kind {
            FigureKind::Computed => false,
            FigureKind::Timed { files, .. } => files.iter().all(|name| self.out.join(name).exists()),
        }
    }

    /// Writes a figure's files, and says so on standard output, with what was found if it was asked for by name.
    fn write(&self, made: &Made) -> anyhow::Result<()> {
        let mut out = output::stdout();
        for file in &made.files {
            let path = self.out.join(&file.name);
            write_bytes(&path, file.text.as_bytes())?;
            writeln!(out, "{}", path.display())?;
        }
        if !self.only.is_empty() {
            writeln!(out, "{}", made.finding.trim_end())?;
        }
        out.flush()?;
        Ok(())
    }
}

/// What the figures take that take longest, in parts of what most take.
const DEAR: [(&str, u32); 14] = [
    ("rtss2017-figure-3-placements", 25),
    ("thesis2019-figure-3-11", 15),
    ("thesis2019-figure-3-12", 40),
    ("thesis2019-figure-3-13", 30),
    ("thesis2019-merged-sm", 200),
    ("ecrts2024-figure-8", 115),
    ("gpu-evr2014-figures-3-4-5", 30),
    ("gpu-evr2014-figure-6", 145),
    ("gpu-evr2014-figure-6-full-gpu-wait", 45),
    ("gpu-evr2014-regions", 115),
    ("gpu-evr2014-figures-3-4-5-rodinia-like", 145),
    ("gpu-evr2014-figure-6-rodinia-like", 440),
    ("cister2012-figure-5", 80),
    ("cister2012-figure-7-times", 45),
];

fn parts_of(figure: &str) -> u32 {
    DEAR.iter().find(|(dear, _)| *dear == figure).map_or(1, |(_, parts)| *parts)
}

/// A gallery is replaced, anybody else's page is not.
fn refuse_to_replace(page: &Path) -> anyhow::Result<()> {
    match fs::read_to_string(page) {
        Ok(text) if text.starts_with(GALLERY_MARK) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Ok(_) => bail!("{} exists and is not a gallery of gpusched: choose another --out", page.display()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", page.display())),
    }
}

fn list(figures: &[Figure]) -> anyhow::Result<Answer> {
    let mut out = output::stdout();
    let width = figures.iter().map(|figure| figure.name.len()).max().unwrap_or(0);
    for figure in figures {
        let place = format!("{}, {}", figure.paper.name(), figure.part);
        writeln!(out, "{:width$}  {place}: {}", figure.name, figure.subject)?;
    }
    out.flush()?;
    Ok(Answer::Done)
}

/// Write a tour of how a GPU schedules blocks, to read in a browser: eight scenes on shipped scenarios, from one kernel
/// to why a kernel waits, and six on newer GPUs, each with a figure, a few sentences and a question.
#[derive(Debug, Args)]
pub(crate) struct Tour {
    /// The file to write; one of that name is replaced
    #[arg(short, long, value_name = "FILE", default_value = "tour.html")]
    output: PathBuf,
}

impl Tour {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        run_files::refuse_other_page("--output", &self.output)?;
        progress::begin("making", Unit::Of("scenes"), None);
        let mut page = Vec::new();
        write_tour(&mut page)?;
        write_bytes(&self.output, &page)?;
        output::print(format!("{}: open it in a browser\n", self.output.display()).as_bytes())?;
        Ok(Answer::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_longest_are_figures() {
        for (dear, _) in DEAR {
            assert!(catalogue().iter().any(|figure| figure.name == dear), "{dear}");
        }
    }
}
