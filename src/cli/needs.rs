//! What options need to have an effect: one table, by which every command refuses them or says that they change
//! nothing.

use std::ffi::OsStr;
use std::sync::OnceLock;

use anyhow::bail;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use gpusched::input::options::{OptionGroup, ScenarioOption};
use gpusched::scenario::{ReadOptions, Scenario};

use super::output::note;

/// What an input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A scenario file, of gpusched's own format or the examiner's.
    Scenario,
    Model,
    /// A profile of a real application.
    Profile,
    Logs,
    /// Jobs on processors, as comma-separated values.
    Jobs,
    Tasks,
    /// Tasks with CPU and GPU segments.
    Segments,
}

impl Kind {
    const fn plural(self) -> &'static str {
        match self {
            Self::Scenario => "scenario files",
            Self::Model => "AMALTHEA models",
            Self::Profile => "profiles",
            Self::Logs => "logs",
            Self::Jobs => "sets of jobs",
            Self::Tasks => "tasks of SMs",
            Self::Segments => "tasks with CPU and GPU segments",
        }
    }
}

/// What an input, or what is done with it, may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lacking {
    /// Nothing is drawn at random.
    Draws,
    /// All orders are tried, and none is drawn.
    DrawnOrders,
    /// Neither orders nor anything else is drawn.
    OrdersOrDraws,
    /// The figure has no pixels.
    Pixels,
    /// The block times of all kernels are fixed.
    Variation,
    /// No task has a kernel.
    Kernels,
    /// No instruction takes several cycles.
    LongInstructions,
    /// GPU-EvR is not among the schedulers.
    GpuEvr,
    /// Nothing but the scenario is printed.
    Report,
    /// No verdicts are printed.
    Verdicts,
    /// No test is one of reservations.
    Reservations,
    /// More than a quarter of an SM is in use.
    UnusedSms,
}

#[derive(Debug)]
enum Needs {
    /// An input of one of these kinds.
    Input(&'static [Kind]),
    /// One of these options.
    Option(&'static [&'static str]),
    /// That this option is not given.
    Without(&'static str),
    /// One of these formats.
    Format(&'static [&'static str]),
    /// Something that the input may lack; why the option is refused without it.
    Fact(Lacking, &'static str),
    /// The same, where scripts may well give the option to all of many inputs: a note says why it changes nothing.
    Noted(Lacking, &'static str),
    /// Nothing helps: what the command does not look at.
    Another(&'static str),
    /// The same, where the option may be needed to read the input at all.
    Read(&'static str),
}

impl Needs {
    /// Whether the option means nothing without it, so that it is refused with its usual value too: that would seem to
    /// hold. What is only without effect then has none with the usual value either.
    const fn is_of_kind(&self) -> bool {
        matches!(self, Self::Input(_) | Self::Option(_) | Self::Without(_))
    }
}

/// What options of commands need.
struct Need {
    /// Commands, or all that have the options.
    commands: &'static [&'static str],
    options: &'static [&'static str],
    /// Options of scenarios by what they are about, but for some.
    groups: &'static [OptionGroup],
    but: &'static [&'static str],
    needs: Needs,
}

const fn need(commands: &'static [&'static str], options: &'static [&'static str], needs: Needs) -> Need {
    Need { commands, options, groups: &[], but: &[], needs }
}

impl Need {
    const fn of(self, groups: &'static [OptionGroup]) -> Self {
        Self { groups, ..self }
    }

    const fn but(self, but: &'static [&'static str]) -> Self {
        Self { but, ..self }
    }

    fn is_about(&self, id: &str) -> bool {
        let is_of_group = |option: &ScenarioOption| self.groups.contains(&option.group) && !self.but.contains(&id);
        self.options.contains(&id) || ScenarioOption::of(id).is_some_and(is_of_group)
    }
}

const TEXT_AND_JSON: Needs = Needs::Format(&["table", "json", "jsonl"]);
/// What options of scenarios need that are about one kind of input.
const OF_MODELS: Needs = Needs::Input(&[Kind::Model]);
const OF_PROFILES: Needs = Needs::Input(&[Kind::Profile]);
const RUNS: &str = "it is about runs, and the occupancy of a kernel depends on none";

/// What is asked of all options; those that clap asks for by itself are missing where another option contradicts what
/// they require, which clap then takes as an excuse.
const TABLE: &[Need] = &[
    need(&["convert"], &[], Needs::Input(&[Kind::Scenario, Kind::Model, Kind::Profile]))
        .of(&[OptionGroup::Run, OptionGroup::WhatIf])
        .but(&["device", "placement"]),
    need(&["audit", "replay-log"], &[], Needs::Input(&[Kind::Profile])).of(&[OptionGroup::WhatIf]),
    need(
        &["replay-log"],
        &["kernel_times", "blame", "own_waits", "critical_path", "overlap"],
        Needs::Input(&[Kind::Profile]),
    ),
    need(&["simulate"], &["mps", "logs", "runnable_times"], Needs::Without("as")),
    need(
        &["audit", "replay-log"],
        &["scenario", "logs_alone", "tolerance_us", "clock_tolerance_us", "learn_placement", "write_device"],
        Needs::Input(&[Kind::Logs]),
    ),
    need(
        &["audit"],
        &[
            "scenario",
            "logs_alone",
            "columns",
            "tolerance_us",
            "clock_tolerance_us",
            "learn_placement",
            "gpu",
            "set_priority",
        ],
        Needs::Without("probe"),
    ),
    need(&["audit"], &["write_device"], Needs::Option(&["learn_placement", "probe"])),
    need(
        &["audit"],
        &["placement"],
        Needs::Another("rules do not say where blocks go; --learn-placement tells which policy explains most"),
    ),
    need(
        &["occupancy"],
        &["one_job", "without_copies", "cores", "access_time", "launches", "collectives", "rescale"],
        Needs::Another(RUNS),
    )
    .of(&[OptionGroup::Run, OptionGroup::WhatIf])
    .but(&["device", "as_threads", "mps", "horizon", "period", "block_duration"]),
    need(
        &["occupancy"],
        &["as_threads", "mps", "horizon", "period", "block_duration", "ticks", "frequency", "block_times"],
        Needs::Read(RUNS),
    ),
    need(&["simulate"], &["blocks"], Needs::Format(&["json", "jsonl", "csv", "arrow"])),
    need(&["simulate"], &["rules", "state_at"], TEXT_AND_JSON),
    need(&["simulate", "replay-log"], &["blame", "critical_path", "overlap"], TEXT_AND_JSON),
    need(&["simulate", "replay-log"], &["own_waits"], Needs::Format(&["table", "markdown"])),
    need(&["analyze"], &["processors", "precedence"], Needs::Input(&[Kind::Jobs])),
    need(
        &["analyze"],
        &[
            "verdicts_alone",
            "steps",
            "ladder",
            "slack",
            "sensitivity",
            "progress",
            "sporadic",
            "order",
            "time",
            "witness",
            "certificate",
            "runnable_times",
            "allow_unchecked",
        ],
        Needs::Input(&[Kind::Scenario, Kind::Model, Kind::Profile]),
    )
    .of(&[OptionGroup::Run, OptionGroup::WhatIf]),
    need(&["analyze"], &["steps"], TEXT_AND_JSON),
    need(&["analyze"], &["slack"], Needs::Format(&["table", "markdown", "json", "jsonl"])),
    need(&["analyze"], &["verdicts_alone"], Needs::Format(&["table", "markdown", "csv", "arrow"])),
    need(
        &["analyze"],
        &["order"],
        Needs::Noted(Lacking::Verdicts, "these rows are of the declared order; those of --verdicts depend on it"),
    ),
    need(
        &["simulate", "compare", "analyze", "residents"],
        &["seed"],
        Needs::Noted(Lacking::Draws, "nothing is drawn, neither placement nor block times nor channels"),
    ),
    need(
        &["orders"],
        &["seed"],
        Needs::Noted(Lacking::OrdersOrDraws, "all orders are tried, and nothing else is drawn"),
    ),
    need(&["orders"], &["samples"], Needs::Noted(Lacking::DrawnOrders, "all orders are tried, and none is drawn")),
    need(&[], &["scale"], Needs::Fact(Lacking::Pixels, "it is the resolution of a .png, and the figure is none")),
    need(&[], &["full_height"], Needs::Noted(Lacking::UnusedSms, "the figure shows all that SMs have anyhow")),
    need(&["import"], &["as_threads"], Needs::Read("a profile is of one process")),
    need(&["import"], &["format"], Needs::Fact(Lacking::Report, "--out - prints the scenario, and no report")),
    need(&["tasks"], &["reservation_period", "smallest_budgets", "figure", "device"], Needs::Input(&[Kind::Tasks])),
    need(&["tasks"], &["slack"], Needs::Input(&[Kind::Segments])),
    need(
        &["tasks"],
        &["reservation_period"],
        Needs::Noted(Lacking::Reservations, "none of the tests looks at reservations"),
    ),
    need(
        &["tasks", "tasks run"],
        &["device"],
        Needs::Noted(Lacking::Kernels, "no task has a kernel that it could measure"),
    ),
    need(
        &["tasks run"],
        &["seed"],
        Needs::Noted(Lacking::Draws, "nothing is drawn: no task is sporadic, and there is no --synchronization"),
    ),
    need(
        &["warps"],
        &["uninterrupted"],
        Needs::Noted(Lacking::LongInstructions, "no instruction takes several cycles"),
    ),
    need(&["import"], &["launches"], Needs::Option(&["out"])).of(&[OptionGroup::Run, OptionGroup::WhatIf]).but(&[
        "device",
        "block_duration",
        "as_threads",
    ]),
    need(&["tasks run"], &["policy", "synchronization"], Needs::Input(&[Kind::Tasks])),
    need(&["tasks curve"], &["inputs", "theorem_6"], Needs::Option(&["figure_number"])),
    need(
        &["tasks curve"],
        &[
            "gang_utilization",
            "tasks_per_sm",
            "gang_tasks",
            "sms",
            "periods",
            "harmonic",
            "utilizations",
            "deadlines_from",
            "shortest_reservation",
        ],
        Needs::Without("segments"),
    ),
    need(&["evr"], &["gap"], Needs::Option(&["inject"])),
    need(&["evr"], &["period", "periods"], Needs::Option(&["per_period"])),
    need(&["evr", "analyze"], &["width", "no_title"], Needs::Option(&["figure"])),
    need(&["evr"], &["seed"], Needs::Noted(Lacking::Draws, "the arrivals are stated, and none is drawn")),
    need(
        &["evr"],
        &["rule"],
        Needs::Fact(Lacking::GpuEvr, "it is a rule of gpu-evr, which is not among the schedulers"),
    ),
    need(&["tasks curve"], &["preset", "sets"], Needs::Option(&["segments"])),
    need(&["tasks"], &["smallest_budgets"], Needs::Format(&["table", "markdown", "json", "jsonl"])),
    need(&["replay-log"], &["sms"], Needs::Input(&[Kind::Logs])),
    need(
        &["simulate", "analyze", "compare", "orders", "residents", "convert"],
        &["vary"],
        Needs::Noted(Lacking::Variation, "no kernel has a block time that it could vary"),
    ),
    need(&["study plot"], &["x", "y"], Needs::Option(&["figure"])),
    need(&["figures"], &["format"], Needs::Option(&["check"])),
    need(&["figures"], &["time_limit", "check"], Needs::Option(&["only"])),
    need(&["analyze"], &["largest_grid"], Needs::Option(&["progress"])),
    need(&["analyze"], &["largest_grid_on"], Needs::Option(&["largest_grid"])),
    need(&["analyze"], &["jitter"], Needs::Option(&["sporadic"])),
    need(&["analyze"], &["allow_unchecked"], Needs::Option(&["check"])),
    need(&["analyze"], &["allow_unchecked"], Needs::Without("progress")),
];

/// What the user gave.
#[derive(Debug, Default)]
struct Given {
    command: String,
    options: Vec<GivenOption>,
    format: Option<String>,
}

#[derive(Debug)]
struct GivenOption {
    id: String,
    /// As the user calls it.
    name: String,
    /// Whether it has the value that it would have anyhow.
    is_default: bool,
}

static GIVEN: OnceLock<Given> = OnceLock::new();

impl Given {
    fn of(command: &Command, matches: &ArgMatches) -> Self {
        if let Some((name, matches)) = matches.subcommand()
            && let Some(command) = command.find_subcommand(name)
        {
            let inner = Self::of(command, matches);
            let command = format!("{name} {}", inner.command).trim_end().to_owned();
            return Self { command, ..inner };
        }
        let ids: Vec<&str> = matches.ids().map(clap::Id::as_str).collect();
        let raw = |arg: &Arg| -> Vec<_> {
            // Flags have no values, and groups are no options.
            matches.try_get_raw(arg.get_id().as_str()).ok().flatten().into_iter().flatten().collect()
        };
        let is_given = |arg: &&Arg| {
            let id = arg.get_id().as_str();
            ids.contains(&id) && matches.value_source(id) == Some(ValueSource::CommandLine)
        };
        // Of what it says of verdicts no profile is needed.
        let is_of_verdicts =
            |arg: &&Arg| arg.get_id() == "block_times" && raw(arg).iter().all(|word| names_no_file(word));
        let option = |arg: &Arg| {
            let is_default = arg.get_default_values().iter().map(clap::builder::OsStr::as_os_str).eq(raw(arg));
            Some(GivenOption { id: arg.get_id().to_string(), name: format!("--{}", arg.get_long()?), is_default })
        };
        let options = command.get_arguments().filter(is_given).filter(|arg| !is_of_verdicts(arg));
        let options = options.filter_map(option).collect();
        let format = command.get_arguments().find(|arg| arg.get_id() == "format");
        let format = format.and_then(|arg| Some(raw(arg).first()?.to_string_lossy().into_owned()));
        Self { command: String::new(), options, format }
    }

    fn has(&self, id: &str) -> bool {
        self.options.iter().any(|option| option.id == id)
    }

    /// What was given of the table, by the name that the user knows, and what it needs.
    fn needs(&self) -> impl Iterator<Item = (&str, &'static Needs)> {
        let is_meant = |need: &&Need| need.commands.is_empty() || need.commands.contains(&&*self.command);
        let stated = TABLE.iter().filter(is_meant).flat_map(|need| {
            let asks = |option: &&GivenOption| !option.is_default || need.needs.is_of_kind();
            let given = self.options.iter().filter(|option| need.is_about(&option.id)).filter(asks);
            given.map(|option| (&*option.name, &need.needs))
        });
        let of_inputs = self.options.iter().filter_map(|option| match ScenarioOption::of(&option.id)?.group {
            OptionGroup::Models => Some((&*option.name, &OF_MODELS)),
            OptionGroup::Profiles => Some((&*option.name, &OF_PROFILES)),
            OptionGroup::Run | OptionGroup::WhatIf => None,
        });
        of_inputs.chain(stated)
    }

    /// Refuses options that need others, or that the command does not look at.
    fn check(&self) -> anyhow::Result<()> {
        let long = |id: &&str| format!("--{}", id.replace('_', "-"));
        for (option, needs) in self.needs() {
            match needs {
                Needs::Option(others) if !others.iter().any(|other| self.has(other)) => {
                    let others: Vec<String> = others.iter().map(long).collect();
                    bail!("{option} needs {}", listed(&others, "or"));
                }
                Needs::Without(other) if self.has(other) => bail!("{option} has no effect with {}", long(other)),
                Needs::Format(formats) if self.format.as_deref().is_some_and(|given| !formats.contains(&given)) => {
                    bail!("{option} needs --format {}", listed(formats, "or"));
                }
                Needs::Read(why) => note(&format!("{option} has no effect: {why}")),
                Needs::Another(why) => bail!("{option} has no effect: {why}"),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Whether `--block-times` says with this word which times verdicts are to hold for, as it does for `analyze`.
pub(crate) fn names_no_file(word: &OsStr) -> bool {
    word.to_str().is_some_and(|word| word == "stated" || ReadOptions::parse_vary(word).is_some())
}

/// `a`, `a or b`, `a, b or c`.
fn listed(words: &[impl ToString], between: &str) -> String {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} {between} {last}", others.join(", ")),
        _ => words.concat(),
    }
}

/// Keeps in mind what was given, and refuses options that need others.
pub(crate) fn remember(command: &Command, matches: &ArgMatches) -> anyhow::Result<()> {
    GIVEN.get_or_init(|| Given::of(command, matches)).check()
}

fn given() -> impl Iterator<Item = (&'static str, &'static Needs)> {
    GIVEN.get().into_iter().flat_map(Given::needs)
}

/// Refuses options that mean nothing to an input of this kind.
pub(crate) fn input(kind: Kind, file: &str) -> anyhow::Result<()> {
    for (option, needs) in given() {
        if let Needs::Input(kinds) = needs
            && !kinds.contains(&kind)
        {
            let kinds: Vec<&str> = kinds.iter().map(|kind| kind.plural()).collect();
            let kinds = listed(&kinds, "and");
            bail!("{option} is for {kinds}, and {file} is one of {}", kind.plural());
        }
    }
    Ok(())
}

/// Refuses options that need what is lacking; notes on those that change nothing without it.
pub(crate) fn lacking(what: Lacking) -> anyhow::Result<Vec<String>> {
    let mut notes = Vec::new();
    for (option, needs) in given() {
        match needs {
            Needs::Fact(fact, why) if *fact == what => bail!("{option} has no effect: {why}"),
            Needs::Noted(fact, why) if *fact == what => notes.push(format!("{option} has no effect: {why}")),
            _ => {}
        }
    }
    Ok(notes)
}

/// Says that of options which change nothing without what is lacking.
pub(crate) fn note_lacking(what: Lacking) -> anyhow::Result<()> {
    lacking(what)?.iter().for_each(|text| note(text));
    Ok(())
}

/// Says that options change nothing of what is made of the scenario of a file.
pub(crate) fn note_lacking_of_scenario(file: &str, scenario: &Scenario) -> anyhow::Result<()> {
    let mut notes = if scenario.depends_on_seed() { Vec::new() } else { lacking(Lacking::Draws)? };
    if !scenario.kernels().iter().any(|kernel| kernel.duration.varies()) {
        notes.extend(lacking(Lacking::Variation)?);
    }
    for text in notes {
        note(&format!("{file}: {text}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(command: &Command, path: &str, found: &mut Vec<(String, Vec<String>)>) {
        let ids = command.get_arguments().map(|arg| arg.get_id().to_string()).collect();
        found.push((path.to_owned(), ids));
        for inner in command.get_subcommands() {
            commands(inner, format!("{path} {}", inner.get_name()).trim(), found);
        }
    }

    /// clap does not ask for what an option requires where something that conflicts with that is given.
    fn required_in_vain(command: &Command, path: &str, found: &mut Vec<String>) {
        let conflicts = |one: &Arg, other: &Arg| {
            let of = |one: &Arg, other: &Arg| {
                command.get_arg_conflicts_with(one).iter().any(|arg| arg.get_id() == other.get_id())
            };
            of(one, other) || of(other, one)
        };
        let required = |arg: &Arg| {
            let text = format!("{arg:?}");
            let list = text.split("requires: [").nth(1).and_then(|rest| rest.split(']').next());
            list.unwrap_or_default().split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()
        };
        for arg in command.get_arguments() {
            for of in command.get_arguments().filter(|of| required(arg).contains(&of.get_id().to_string())) {
                let is_in_table = TABLE.iter().any(|need| {
                    need.commands.iter().any(|name| path.ends_with(&format!(" {name}")))
                        && need.options.contains(&arg.get_id().as_str())
                        && matches!(need.needs, Needs::Option(others) if others.contains(&of.get_id().as_str()))
                });
                let is_missed = |other: &&Arg| !is_in_table && conflicts(of, other) && !conflicts(arg, other);
                let others = command.get_arguments().filter(is_missed);
                found.extend(others.map(|other| format!("{path}: {} beside {}", arg.get_id(), other.get_id())));
            }
        }
        for inner in command.get_subcommands() {
            required_in_vain(inner, &format!("{path} {}", inner.get_name()), found);
        }
    }

    #[test]
    fn no_option_is_passed_over_because_what_it_requires_conflicts_with_another() {
        let mut found = Vec::new();
        required_in_vain(&super::super::command(), "gpusched", &mut found);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn every_command_and_option_of_the_table_is_there() {
        let mut known = Vec::new();
        commands(&super::super::command(), "", &mut known);
        for need in TABLE {
            for command in need.commands {
                assert!(known.iter().any(|(known, _)| known == command), "there is no command {command}");
            }
            let others: &[&str] = match &need.needs {
                Needs::Option(others) => others,
                Needs::Without(other) => std::slice::from_ref(other),
                _ => &[],
            };
            for option in need.options.iter().chain(need.but).chain(others) {
                let of_command = |(path, options): &(String, Vec<String>)| {
                    (need.commands.is_empty() || need.commands.contains(&&**path))
                        && options.iter().any(|id| id == option)
                };
                assert!(known.iter().any(of_command), "no command of {:?} has {option}", need.commands);
            }
        }
    }
}
