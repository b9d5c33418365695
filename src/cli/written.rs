//! Files that a command writes: all or nothing of each, under a temporary name until then; never one that the command
//! reads; and told once in a line on standard error.

use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, bail};
use clap::{Arg, ArgMatches, Command};

use super::ending::temporaries;
use super::output::{self, stderr};
use super::progress::Counted;

pub(crate) type OutFile = BufWriter<Counted<File>>;

fn buffered(file: File) -> OutFile {
    BufWriter::with_capacity(1 << 16, Counted::writer(file, false))
}

/// Writes `path` by way of a temporary file beside it, so that it holds all or nothing of what `write` writes.
pub(crate) fn write_whole(path: &Path, write: impl FnOnce(&mut OutFile) -> io::Result<()>) -> anyhow::Result<()> {
    // Devices and pipes cannot be replaced by a renamed file.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        let opened = OpenOptions::new().write(true).open(path);
        let written = opened.and_then(|file| {
            let mut out = buffered(file);
            write(&mut out).and_then(|()| out.flush())
        });
        return written.with_context(|| format!("cannot write {}", path.display()));
    }
    Written::rename_all(&[Written::beside(path, write)?])
}

/// The same of what is there as a whole.
pub(crate) fn write_bytes(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    write_whole(path, |out| out.write_all(bytes))
}

/// The same, or prints it for `-`.
pub(crate) fn write_or_print(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if path.as_os_str() == "-" { Ok(output::print(bytes)?) } else { write_bytes(path, bytes) }
}

/// Writes several files, all or none of them.
pub(crate) fn write_together<T>(
    files: &[T],
    path: impl Fn(&T) -> PathBuf,
    write: impl Fn(&T, &mut OutFile) -> io::Result<()>,
) -> anyhow::Result<()> {
    let written = files.iter().map(|file| Written::beside(&path(file), |out| write(file, out)));
    let written: Vec<Written> = written.collect::<anyhow::Result<_>>()?;
    Written::rename_all(&written)
}

/// Writes several files at once, all or none of them. Each is open meanwhile.
pub(crate) fn write_side_by_side(
    paths: &[PathBuf],
    write: impl FnOnce(&mut [OutFile]) -> io::Result<()>,
) -> anyhow::Result<()> {
    let begun = paths.iter().map(|path| Written::begin(path));
    let (written, mut outs): (Vec<Written>, Vec<OutFile>) = begun.collect::<anyhow::Result<_>>()?;
    let done = write(&mut outs).and_then(|()| outs.iter_mut().try_for_each(Write::flush));
    let names = || paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    done.with_context(|| format!("cannot write {}", names()))?;
    Written::rename_all(&written)
}

/// A file under a temporary name, which is gone unless it is given its own.
struct Written {
    temporary: PathBuf,
    path: PathBuf,
}

impl Written {
    fn begin(path: &Path) -> anyhow::Result<(Self, OutFile)> {
        if path.is_dir() {
            bail!("cannot write {}: it is a directory", path.display());
        }
        let temporary = temporary_beside(path);
        // At once, so that a file is made or removed, and not made after it was to be removed.
        let created = temporaries(|known| {
            let file = File::create_new(&temporary)?;
            known.insert(temporary.clone());
            io::Result::Ok(file)
        });
        let file = created.with_context(|| format!("cannot write {}", path.display()))?;
        Ok((Self { temporary, path: path.to_owned() }, buffered(file)))
    }

    /// All of it.
    fn beside(path: &Path, write: impl FnOnce(&mut OutFile) -> io::Result<()>) -> anyhow::Result<Self> {
        let (written, mut out) = Self::begin(path)?;
        let done = write(&mut out).and_then(|()| out.flush());
        done.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(written)
    }

    /// Gives files their names. What could fail has been done: there is room for all, and every folder takes files. The
    /// command does not end between two of them.
    fn rename_all(written: &[Self]) -> anyhow::Result<()> {
        temporaries(|_| {
            written.iter().try_for_each(|Self { temporary, path }| {
                fs::rename(temporary, path).with_context(|| format!("cannot write {}", path.display()))?;
                remember(path);
                Ok(())
            })
        })
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        temporaries(|known| {
            known.remove(&self.temporary);
            // It may have its name, and what is left of a failed attempt is of no use.
            let _ = fs::remove_file(&self.temporary);
        });
    }
}

/// What file systems take as a name \[bytes\].
const LONGEST_NAME: usize = 255;

fn temporary_beside(path: &Path) -> PathBuf {
    let own = path.file_name().unwrap_or_default();
    let end = format!(".{}.tmp", std::process::id());
    let mut name = std::ffi::OsString::from(".");
    if own.len() + end.len() < LONGEST_NAME {
        name.push(own);
    } else {
        // A name that leaves no room for more is told from others by what it hashes to.
        let mut hasher = DefaultHasher::new();
        own.hash(&mut hasher);
        name.push(format!("{:016x}", hasher.finish()));
    }
    name.push(end);
    path.with_file_name(name)
}

/// Files that are told one by one.
const TOLD: usize = 4;

static COMPLETE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file is complete and has its name.
pub(crate) fn remember(path: &Path) {
    let mut written = COMPLETE.lock().unwrap_or_else(PoisonError::into_inner);
    if !written.iter().any(|known| known == path) {
        written.push(path.to_owned());
    }
}

/// Tells which files were written, if any were.
pub(crate) fn tell() {
    let written = std::mem::take(&mut *COMPLETE.lock().unwrap_or_else(PoisonError::into_inner));
    if let Some(line) = line(&written) {
        // If stderr is closed there is nobody left to tell.
        let _ = writeln!(stderr(), "{line}");
    }
}

fn line(written: &[PathBuf]) -> Option<String> {
    let (first, others) = written.split_first()?;
    let folder = first.parent().unwrap_or(Path::new(""));
    if written.len() <= TOLD {
        let names: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
        return Some(format!("wrote {}", names.join(", ")));
    }
    let count = written.len();
    let are_together = others.iter().all(|path| path.parent() == first.parent());
    Some(if are_together && folder != Path::new("") {
        format!("wrote {count} files in {}", folder.display())
    } else {
        format!("wrote {count} files, {} and others", first.display())
    })
}

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
pub(crate) fn refuse_same_files(command: &Command, matches: &ArgMatches) -> anyhow::Result<()> {
    if let Some((name, matches)) = matches.subcommand()
        && let Some(command) = command.find_subcommand(name)
    {
        return refuse_same_files(command, matches);
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

    #[test]
    fn few_files_are_named_and_many_are_counted_with_their_folder() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(line(&[]), None);
        assert_eq!(line(&paths(&["a.svg", "b/c.csv"])).as_deref(), Some("wrote a.svg, b/c.csv"));
        assert_eq!(line(&paths(&["o/1", "o/2", "o/3", "o/4", "o/5"])).as_deref(), Some("wrote 5 files in o"));
        let apart = line(&paths(&["o/1", "o/2", "p/3", "o/4", "o/5"]));
        assert_eq!(apart.as_deref(), Some("wrote 5 files, o/1 and others"));
    }

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
