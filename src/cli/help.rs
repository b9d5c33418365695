//! Help that is short unless more is asked for: `--help` has the options that are used most, `--help TOPIC` those under
//! one heading, `--help-all` everything. Below it stands an example of each command.

use std::collections::BTreeSet;
use std::ffi::OsString;

use clap::builder::{Resettable, Str};
use clap::{Arg, ArgAction, Command};
use gpusched::words::did_you_mean;

/// A command with more options than these shows only those of [`USED_MOST`] by default.
const MANY: usize = 30;

/// Flags that the short help of a command with many shows.
const USED_MOST: &[&str] = &[
    "at",
    "blame",
    "critical-path",
    "blocks",
    "check",
    "deadline",
    "device",
    "figure",
    "format",
    "grid-barrier",
    "horizon",
    "html",
    "ladder",
    "largest-grid",
    "logs-alone",
    "occupancy",
    "order",
    "out",
    "period",
    "placement",
    "progress",
    "queues",
    "rules",
    "samples",
    "search",
    "seed",
    "set-block-time",
    "set-priority",
    "sporadic",
    "state-at",
    "vary",
    "verdicts",
    "witness",
];

/// The heading of options about all commands, which no short help repeats.
const LIMITS: &str = "Limits";

/// The topic of options without a heading.
const OPTIONS: &str = "Options";

/// A command with our options of help, also in the commands within it, in place of clap's.
pub(super) fn with_options(command: Command) -> Command {
    // Not under the heading that an option before them has.
    let of_help = |id: &'static str| Arg::new(id).help_heading(Resettable::<Str>::Reset);
    let help = of_help("help").short('h').long("help").action(ArgAction::HelpShort);
    let all = of_help("help_all").long("help-all").action(ArgAction::HelpLong);
    let help = help.help("Print the options that are used most; with a TOPIC behind it, those of that topic");
    let command = command.disable_help_flag(true).arg(help).arg(all.help("Print all options, in full"));
    command.mut_subcommands(with_options)
}

fn heading(arg: &Arg) -> &str {
    arg.get_help_heading().unwrap_or(OPTIONS)
}

/// A heading as it is asked for.
fn topic(heading: &str) -> String {
    heading.to_lowercase().replace(' ', "-")
}

/// What is asked for by the headings of some of a command's options.
fn topics(command: &Command, is_meant: impl Fn(&Arg) -> bool) -> BTreeSet<String> {
    command.get_arguments().filter(|arg| is_meant(arg)).map(|arg| topic(heading(arg))).collect()
}

/// A command whose short help leaves out what is used less, and says how to ask for it.
pub(super) fn shortened(command: Command) -> Command {
    shortened_under(command, "")
}

fn shortened_under(command: Command, path: &str) -> Command {
    let path = format!("{path} {}", command.get_name()).trim().to_owned();
    let is_shown =
        |arg: &Arg| arg.is_positional() || matches!(arg.get_action(), ArgAction::HelpShort | ArgAction::HelpLong);
    let are_many = command.get_arguments().count() > MANY;
    let is_left_out = |arg: &Arg| {
        !is_shown(arg)
            && (heading(arg) == LIMITS || are_many && arg.get_long().is_some_and(|flag| !USED_MOST.contains(&flag)))
    };
    let mut topics = topics(&command, is_left_out);
    // They come from the outermost command once all are put together.
    topics.insert(topic(LIMITS));
    let topics: Vec<String> = topics.into_iter().collect();
    let command = command.mut_args(|arg| if is_left_out(&arg) { arg.hide_short_help(true) } else { arg });
    let example = command.get_after_help().cloned().unwrap_or_default();
    let more = format!("{example}\n\nMore options: {path} --help TOPIC ({}), or --help-all", topics.join(", "));
    command.after_long_help(example).after_help(more).mut_subcommands(|inner| shortened_under(inner, &path))
}

/// What `--help WORD` prints, if that is asked for: the options under a heading, or the help of a command.
///
/// # Errors
/// There is no such topic.
pub(super) fn asked(command: &Command, arguments: &[OsString]) -> Result<Option<String>, String> {
    let words = arguments.iter().skip(1).map_while(|word| word.to_str());
    let words: Vec<&str> = words.take_while(|word| *word != "--").collect();
    let Some(place) = words.iter().position(|word| matches!(*word, "--help" | "-h")) else { return Ok(None) };
    let is_word = |word: &&&str| word.chars().all(|c| c.is_ascii_alphabetic() || c == '-') && !word.starts_with('-');
    let Some(&word) = words.get(place + 1).filter(is_word) else { return Ok(None) };
    let mut whole = command.clone();
    whole.build();
    let mut of = &whole;
    for word in &words[..place] {
        of = of.find_subcommand(word).unwrap_or(of);
    }
    if let Some(inner) = of.find_subcommand(word) {
        return Ok(Some(inner.clone().render_help().to_string()));
    }
    let topics: Vec<String> = topics(of, |_| true).into_iter().collect();
    let meant: Vec<&String> = topics.iter().filter(|topic| topic.starts_with(&word.to_lowercase())).collect();
    let [meant] = *meant else {
        let near = did_you_mean(word, topics.iter().map(String::as_str));
        return Err(format!("--help has no topic {word:?}{near}; there are {}", topics.join(", ")));
    };
    let mut of = of.clone().mut_args(|arg| {
        let is_meant = topic(heading(&arg)) == *meant;
        arg.hide(!is_meant)
    });
    Ok(Some(of.render_long_help().to_string()))
}

/// Commands as they are typed, and what to try. A test runs all of them, in this order and in one directory, beside the
/// folders `scenarios`, `studies` and `witnesses`.
const EXAMPLES: [(&str, &str); 31] = [
    ("", "gpusched simulate scenarios/rtss2017/figure-3.json"),
    ("simulate", "gpusched simulate scenarios/rtss2017/figure-3.json --queues --figure figure-3.svg"),
    ("analyze", "gpusched analyze scenarios/deadlines/camera-and-lidar.json --verdicts"),
    ("compare", "gpusched compare scenarios/thesis2019/section-4-3-figure-4-7.json"),
    ("orders", "gpusched orders scenarios/thesis2019/section-3-5.json"),
    ("merged-sm", "gpusched merged-sm --samples 20 --family unequal"),
    ("audit", "gpusched audit scenarios/profiles/synthetic.json"),
    ("replay-log", "gpusched replay-log scenarios/profiles/synthetic.json --launches recorded"),
    ("convert", "gpusched convert scenarios/rtss2017/figure-3.json --horizon 4s --out mine.json"),
    ("import", "gpusched import scenarios/profiles/synthetic.json"),
    ("residents", "gpusched residents scenarios/rtss2017/figure-3.json --at 1.7s"),
    ("occupancy", "gpusched occupancy scenarios/rtss2017/figure-3.json --device a100-40gb"),
    ("amalthea", "gpusched amalthea scenarios/amalthea/thesis-kernels-0.9.2.amxmi"),
    ("tasks", "gpusched tasks witnesses/ecrts2024/case-study.json --tests gcaps-suspend"),
    ("tasks run", "gpusched tasks run witnesses/ecrts2024/case-study.json --strategy gcaps-suspend"),
    ("tasks curve", "gpusched tasks curve --samples 5 --step 500"),
    ("warps", "gpusched warps LLCLL --warps 4"),
    ("evr", "gpusched evr gpu-evr-figure-1"),
    ("figures", "gpusched figures --only rtss2017-figure-3 --out pictures"),
    ("study", "gpusched study status studies/slice-length.json --results rows"),
    ("study run", "gpusched study run studies/slice-length.json --shard 0/2 --results rows"),
    ("study status", "gpusched study status studies/slice-length.json --results rows"),
    ("study merge", "gpusched study merge studies/slice-length.json --results rows"),
    ("study plot", "gpusched study plot studies/slice-length.json --results rows --figure slices.svg"),
    ("study export", "gpusched study export studies/four-streams.json --point 0 --samples 1 --to drawn"),
    ("study submit", "gpusched study submit studies/merged-sm-10-million.json --array 64 --results rows --dry-run"),
    ("tour", "gpusched tour --output tour.html"),
    ("devices", "gpusched devices tx2"),
    ("explain", "gpusched explain R3"),
    ("schema", "gpusched schema scenario"),
    ("completions", "gpusched completions bash"),
];

/// A command with the examples of it and of all that it consists of.
pub(super) fn added_to(command: Command) -> Command {
    EXAMPLES.iter().fold(command, |command, (path, example)| {
        let words: Vec<&str> = path.split_whitespace().collect();
        added(command, &words, &format!("Example:\n  {example}"))
    })
}

fn added(command: Command, path: &[&str], text: &str) -> Command {
    match path {
        [] => command.after_help(text.to_owned()),
        [first, rest @ ..] => command.mut_subcommand(*first, |inner| added(inner, rest, text)),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::super::Cli;
    use super::*;

    fn flags(command: &Command, found: &mut Vec<String>) {
        found.extend(command.get_arguments().filter_map(|arg| Some(arg.get_long()?.to_owned())));
        command.get_subcommands().for_each(|inner| flags(inner, found));
    }

    #[test]
    fn options_that_are_used_most_are_options() {
        let mut known = Vec::new();
        flags(&super::super::command(), &mut known);
        for flag in USED_MOST {
            assert!(known.iter().any(|known| known == flag), "no command has --{flag}");
        }
    }

    #[test]
    fn short_help_is_read_at_a_glance_and_the_long_one_has_every_option() {
        let mut whole = shortened(super::super::command());
        whole.build();
        for command in whole.get_subcommands().filter(|command| command.get_name() != "help") {
            let [short, long] =
                [command.clone().render_help(), command.clone().render_long_help()].map(|it| it.to_string());
            assert!(short.lines().count() <= 80, "{}: {short}", command.get_name());
            for option in command.get_arguments().filter_map(Arg::get_long) {
                assert!(long.contains(&format!("--{option}")), "{}: {option}", command.get_name());
            }
        }
    }

    #[test]
    fn what_is_asked_for_is_a_topic_a_command_or_nothing_that_there_is() {
        let known = shortened(super::super::command());
        let asked = |line: &str| asked(&known, &line.split(' ').map(OsString::from).collect::<Vec<_>>());
        let profiles = asked("gpusched simulate --help profiles").expect("there is one").expect("it is asked for");
        assert!(profiles.contains("--launches") && !profiles.contains("--frequency"), "{profiles}");
        assert_eq!(asked("gpusched --max-time 5s simulate -h prof"), Ok(Some(profiles)));
        let simulate = asked("gpusched --help simulate").expect("there is one").expect("it is asked for");
        assert!(simulate.contains("Usage: gpusched simulate"), "{simulate}");
        for nothing in ["gpusched simulate --help", "gpusched simulate --help a.json", "gpusched x -- --help profiles"]
        {
            assert_eq!(asked(nothing), Ok(None), "{nothing}");
        }
        let error = asked("gpusched simulate --help figrue").expect_err("there is none");
        assert!(error.contains("did you mean \"figure\"?") && error.contains("what-if"), "{error}");
    }

    fn without_example(command: &Command, path: &str, found: &mut Vec<String>) {
        if command.get_after_help().is_none() && !command.is_hide_set() {
            found.push(path.to_owned());
        }
        for inner in command.get_subcommands() {
            without_example(inner, &format!("{path} {}", inner.get_name()), found);
        }
    }

    #[test]
    fn every_command_has_an_example() {
        let mut found = Vec::new();
        without_example(&added_to(Cli::command()), "gpusched", &mut found);
        assert!(found.is_empty(), "no example: {found:?}");
    }
}
