//! `gpusched warps`

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use gpusched::effort::Progress;
use gpusched::tables::WarpsDocument;
use gpusched::time::Duration;
use gpusched::warps::{
    self, Answer as Makespans, Ilp, Instance, KernelString, Question, SearchLimits, Sigma, Unit, WorkConserving,
};

use super::figure_options::{self, Look};
use super::needs::{self, Lacking};
use super::option_arguments::explained;
use super::output::{self, Format, note, print_report};
use super::written::write_whole;
use super::{Answer, ending, input, progress};

/// How long W warps of one kernel can take on one SM under any work-conserving warp scheduler.
///
/// STRING is one letter per instruction, L for load/store, C for compute, others by --unit. A number behind a letter is
/// the cycles of that instruction: L3C is a load of three cycles and a computation of one.
#[derive(Debug, Args)]
pub(crate) struct Warps {
    /// Kernel string, for example LLCLL
    #[arg(required_unless_present = "instance", requires = "count")]
    string: Option<String>,
    /// Read string, units and number of warps from a file (format gpusched-warps/1)
    #[arg(long, value_name = "F.json", conflicts_with_all = ["string", "count", "sigma_l", "sigma_c", "units", "cycles", "uninterrupted"])]
    instance: Option<PathBuf>,
    /// Number of warps
    #[arg(long = "warps", value_name = "W")]
    count: Option<u32>,
    /// Number of load/store units over the warp size: 1/2 or 0.5 for half as many, 2, or 3/2 for one warp and units
    /// left over
    #[arg(long, value_name = "SIGMA")]
    sigma_l: Option<Sigma>,
    /// Number of CUDA cores over the warp size
    #[arg(long, value_name = "SIGMA")]
    sigma_c: Option<Sigma>,
    /// Another kind of unit, a capital letter and its number over the warp size; may be repeated
    #[arg(long = "unit", value_name = "LETTER=SIGMA", value_parser = parse_unit)]
    units: Vec<(char, Sigma)>,
    /// Cycles of every instruction on a unit that has no number of its own in STRING; may be repeated
    #[arg(long, value_name = "LETTER=N", value_parser = parse_cycles)]
    cycles: Vec<(char, u32)>,
    /// An instruction of several cycles keeps its unit until it is done
    #[arg(long)]
    uninterrupted: bool,
    /// How to find the exact worst case
    #[arg(long, value_enum, default_value_t = Solver::Search)]
    solver: Solver,
    /// Work-conserving constraints of the integer program [default: short]
    #[arg(long, value_parser = explained(CONSTRAINTS))]
    constraints: Option<WorkConserving>,
    /// Take the report's estimate (no bound) from the worst cases of 1 to X warps [default: W/2, at most 8]
    #[arg(long, value_name = "X", value_parser = clap::value_parser!(u32).range(1..))]
    estimate_from: Option<u32>,
    /// Stop each exact search, or the solver, after this time and give bounds instead
    #[arg(long, value_name = "TIME", value_parser = Duration::parse)]
    time_limit: Option<Duration>,
    /// Memory that an exact search may use [MiB]
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    memory_limit: u64,
    /// Write the integer program as an LP file, for any solver
    #[arg(long, value_name = "F.lp")]
    export: Option<PathBuf>,
    /// Draw the schedule, warps down, cycles across [.svg, .png, .tex or .pdf]
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    #[command(flatten)]
    look: Look,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Solver {
    /// Dynamic programming over histograms of warps
    Search,
    /// The report's integer program on HiGHS; only in builds with the feature ilp
    Ilp,
}

const CONSTRAINTS: [(&str, WorkConserving, &str); 2] = [
    ("short", WorkConserving::Short, "One per warp, instruction and cycle (Eq. 34, 37)"),
    ("long", WorkConserving::Long, "One per warp and cycle (Eq. 33, 36)"),
];

fn letter_and<'a>(text: &'a str, what: &str) -> Result<(char, &'a str), String> {
    let expected = || format!("expected a capital letter, = and {what}");
    let (letter, value) = text.split_once('=').ok_or_else(expected)?;
    Ok((Unit::letter_of(letter).ok_or_else(expected)?, value))
}

fn parse_unit(text: &str) -> Result<(char, Sigma), String> {
    let (letter, sigma) = letter_and(text, "its sigma, for example S=1/8")?;
    Ok((letter, sigma.parse::<Sigma>().map_err(|error| error.to_string())?))
}

fn parse_cycles(text: &str) -> Result<(char, u32), String> {
    let (letter, cycles) = letter_and(text, "a number of cycles, for example C=4")?;
    let cycles = cycles.parse().ok().filter(|&cycles| cycles > 0);
    Ok((letter, cycles.ok_or("expected a whole number of cycles from 1")?))
}

impl Warps {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        figure_options::refuse_other_figure(self.figure.as_deref())?;
        if self.solver == Solver::Ilp && !cfg!(feature = "ilp") {
            bail!(
                "--solver ilp: this build has no integer program solver; build it with cargo build --release \
                 --features ilp, or write the program with --export F.lp and give it to a solver of your own"
            );
        }
        if self.constraints.is_some() && self.solver != Solver::Ilp && self.export.is_none() {
            bail!("--constraints is about the integer program: add --solver ilp or --export F.lp");
        }
        let Instance { text, string, warps: count, estimate_from } = self.instance()?;
        if let Some(path) = &self.export {
            if count == 0 {
                bail!("--export: there is no integer program for no warps");
            }
            let program = Ilp::new(&string, count, self.form())?;
            write_whole(path, |out| program.write_lp(out))?;
        }
        let limits = SearchLimits {
            memory_bytes: self.memory_limit.saturating_mul(1 << 20),
            time: self.time_limit.map(|time| std::time::Duration::from_nanos(time.as_ns())),
        };
        let question = Question { warps: count, estimate_from, limits };
        ending::keep_complete_results();
        let makespans = match self.solver {
            Solver::Search => {
                let states = progress::Unit::Of("states");
                progress::counted("searching the worst case", states, question.states(&string), |searched| {
                    warps::answer(&string, &question, searched)
                })
            }
            Solver::Ilp => self.solve(&string, &question)?,
        };
        ending::stop_working()?;
        makespans.check()?;
        if let Some(path) = &self.figure {
            let Some(schedule) = &makespans.schedule else { bail!("--figure: there is no schedule to draw") };
            figure_options::write_figure(
                path,
                &gpusched::pictures::schedule_figure(&string, schedule, self.look.options()),
            )?;
        }
        output::show_abridged(&makespans.notes, note);
        let report = WarpsDocument { written: &text, string: &string, answer: &makespans };
        print_report(&report, self.format)
    }

    /// What is asked, by the file or by the options.
    fn instance(&self) -> anyhow::Result<Instance> {
        if let Some(path) = &self.instance {
            let instance = Instance::from_json(&path.display().to_string(), &input::read(path)?.1)?;
            return Ok(Instance { estimate_from: self.estimate_from.or(instance.estimate_from), ..instance });
        }
        // clap asks for both where there is no file.
        let (text, warps) = self.string.clone().zip(self.count).context("neither a file nor warps of a string")?;
        let string = self.kernel_string(&text)?;
        Ok(Instance { text, string, warps, estimate_from: self.estimate_from })
    }

    /// The string over L, C and the units that were given.
    fn kernel_string(&self, text: &str) -> anyhow::Result<KernelString> {
        let mut units = vec![Unit::new('L'), Unit::new('C')];
        let sigmas = [('L', self.sigma_l), ('C', self.sigma_c)];
        let given = sigmas.into_iter().filter_map(|(letter, sigma)| Some((letter, sigma?)));
        let mut seen = Vec::new();
        for (letter, sigma) in given.chain(self.units.iter().copied()) {
            if seen.contains(&letter) {
                bail!("sigma of unit {letter} is given twice");
            }
            seen.push(letter);
            match units.iter_mut().find(|unit| unit.letter == letter) {
                Some(unit) => unit.sigma = sigma,
                None => units.push(Unit { sigma, ..Unit::new(letter) }),
            }
        }
        let others = self.units.iter().map(|(letter, _)| ("--unit", *letter));
        let cycles = self.cycles.iter().map(|(letter, _)| ("--cycles", *letter));
        let sigma = |option, letter, sigma: Option<Sigma>| sigma.map(|_| (option, letter));
        let sigmas = [sigma("--sigma-l", 'L', self.sigma_l), sigma("--sigma-c", 'C', self.sigma_c)];
        for (option, letter) in others.chain(cycles).chain(sigmas.into_iter().flatten()) {
            if !text.contains(letter) {
                note(&format!("{option} has no effect: the string has no {letter}"));
            }
        }
        seen.clear();
        for &(letter, cycles) in &self.cycles {
            if seen.contains(&letter) {
                bail!("--cycles is given twice for unit {letter}");
            }
            seen.push(letter);
            match units.iter_mut().find(|unit| unit.letter == letter) {
                Some(unit) => unit.cycles = cycles,
                None => bail!("--cycles {letter}={cycles}: there is no unit {letter}; describe it with --unit"),
            }
        }
        let string = KernelString::parse(text, &units)?;
        if string == string.clone().uninterrupted() {
            needs::note_lacking(Lacking::LongInstructions)?;
        }
        Ok(if self.uninterrupted { string.uninterrupted() } else { string })
    }

    fn form(&self) -> WorkConserving {
        self.constraints.unwrap_or(WorkConserving::Short)
    }

    #[cfg(feature = "ilp")]
    fn solve(&self, string: &KernelString, question: &Question) -> anyhow::Result<Makespans> {
        // The solver does not tell how far it is.
        progress::begin("searching the worst case", progress::Unit::None, None);
        if question.warps == 0 {
            return Ok(warps::answer(string, question, Progress::NONE));
        }
        Ok(warps::answer_by_program(string, question, self.form())?)
    }

    #[cfg(not(feature = "ilp"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the build with the feature needs both")]
    fn solve(&self, string: &KernelString, question: &Question) -> anyhow::Result<Makespans> {
        Ok(warps::answer(string, question, Progress::NONE))
    }
}
