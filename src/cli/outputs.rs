//! An output is never an input of the same command, nor another of its outputs: refused before anything is read.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Arg, ArgMatches, Command};

/// Options with files that are written.
const WRITTEN: [&str; 13] = [
    "blame_figure",
    "blocks_csv",
    "certificate",
    "export",
    "figure",
    "html",
    "out",
    "output",
    "perfetto",
    "responses",
    "runnable_times",
    "witness",
    "write_device",
];

/// Commands whose `--out` is standard output where it is `-`.
const TO_STANDARD_OUTPUT: [&str; 2] = ["convert", "import"];

/// Options with files that are read, beside whatever is given without an option. A device may be the name of a file.
const READ: [&str; 5] = ["block_times", "device", "instance", "precedence", "scenario"];

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// A file that is there, by whichever of its names.
    #[cfg(unix)]
    There(u64, u64),
    /// A file by its folder and name.
    Named(PathBuf),
}

impl Place {
    /// `None` for what is no file and never replaced: devices, pipes, folders.
    fn of(path: &Path) -> Option<Self> {
        let named = || {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(Self::Named(fs::canonicalize(folder).ok()?.join(path.file_name()?)))
        };
        match fs::metadata(path) {
            Ok(metadata) if !metadata.is_file() => None,
            #[cfg(unix)]
            Ok(metadata) => {
                use std::os::unix::fs::MetadataExt;
                Some(Self::There(metadata.dev(), metadata.ino()))
            }
            #[cfg(not(unix))]
            Ok(_) => fs::canonicalize(path).ok().map(Self::Named),
            Err(_) => named(),
        }
    }
}

/// Whether two paths lead to one file.
pub(crate) fn are_one(one: &Path, other: &Path) -> bool {
    Place::of(one).is_some_and(|place| Some(place) == Place::of(other))
}

/// Refuses outputs that are inputs, or each other.
pub(crate) fn check(command: &Command, matches: &ArgMatches) -> anyhow::Result<()> {
    if let Some((name, matches)) = matches.subcommand()
        && let Some(command) = command.find_subcommand(name)
    {
        return check(command, matches);
    }
    let paths = |arg: &Arg| -> Vec<PathBuf> {
        // Of arguments that the command does not have in this form, nothing is given.
        let values = matches.try_get_raw(arg.get_id().as_str()).ok().flatten();
        values.into_iter().flatten().map(PathBuf::from).filter(|path| path.as_os_str() != "-").collect()
    };
    let is_one_of = |arg: &Arg, list: &[&str]| list.contains(&arg.get_id().as_str());
    let is_read = |arg: &&Arg| arg.is_positional() || is_one_of(arg, &READ);
    let is_written = |arg: &&Arg| !arg.is_positional() && is_one_of(arg, &WRITTEN);
    // Replaced on purpose.
    let replaces = command.get_name() == "convert" && matches.get_flag("force");
    let mut known: Vec<(&Arg, Place, bool)> = Vec::new();
    for arg in command.get_arguments().filter(is_read).filter(|_| !replaces) {
        let with_content =
            paths(arg).into_iter().flat_map(|path| if path.is_dir() { files_in(&path) } else { vec![path] });
        known.extend(with_content.filter_map(|path| Some((arg, Place::of(&path)?, true))));
    }
    for arg in command.get_arguments().filter(is_written) {
        let given = matches.try_get_raw(arg.get_id().as_str()).ok().flatten();
        let is_known = arg.get_id() == "out" && TO_STANDARD_OUTPUT.contains(&command.get_name());
        if !is_known && given.is_some_and(|mut given| given.any(|path| path == "-")) {
            bail!("{arg}: expected the name of a file, found -, which is not standard output here");
        }
        for path in paths(arg) {
            let Some(place) = Place::of(&path) else { continue };
            if let Some((other, _, is_input)) = known.iter().find(|(_, known, _)| *known == place) {
                let force = if command.get_name() == "convert" { "; --force replaces it" } else { "" };
                let (path, what) = (path.display(), if *is_input { "read" } else { "written" });
                bail!("{arg}: {path} is {what} for {other} too; an output needs a name of its own{force}");
            }
            known.push((arg, place, false));
        }
    }
    Ok(())
}

/// What is in a folder; what cannot be read is found by whoever reads it.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()).collect()
}

#[cfg(test)]
mod tests {
    use std::any::TypeId;

    use super::*;

    fn with_paths(command: &Command, found: &mut Vec<(String, String)>) {
        for arg in command.get_arguments().filter(|arg| !arg.is_positional()) {
            if arg.get_value_parser().type_id() == TypeId::of::<PathBuf>() {
                found.push((command.get_name().to_owned(), arg.get_id().to_string()));
            }
        }
        command.get_subcommands().for_each(|command| with_paths(command, found));
    }

    #[test]
    fn of_every_option_with_a_path_it_is_known_whether_it_is_read_or_written() {
        let mut found = Vec::new();
        with_paths(&super::super::command(), &mut found);
        assert!(found.len() > 20, "{found:?}");
        for (command, option) in found {
            // Folders, in which each name is looked at by whoever writes there.
            let is_folder = matches!((&*command, &*option), ("simulate", "logs") | ("export", "to") | (_, "results"));
            let is_known = READ.contains(&&*option) || WRITTEN.contains(&&*option) || is_folder;
            assert!(is_known, "--{option} of {command}");
        }
    }
}
