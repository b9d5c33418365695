//! An example for each command, below its help and on its man page.

use clap::Command;

/// Commands as they are typed, and what to try. A test runs all of them, in this order and in one directory, beside the
/// folders `scenarios`, `studies` and `witnesses`.
const EXAMPLES: [(&str, &str); 30] = [
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
