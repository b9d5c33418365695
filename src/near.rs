//! Names that are near to one that is unknown: what its author may have meant.

use std::ffi::OsStr;
use std::fmt::Debug;
use std::fs;
use std::path::Path;

/// Names told at most.
const MOST: usize = 3;

/// Characters above which names are compared no further: of two long ones that would take long.
const LONGEST: usize = 64;

/// Names that a message lists at most.
const MOST_LISTED: usize = 12;

/// The first names that there are, as they follow "there are".
pub(crate) fn listed<'n>(mut known: impl Iterator<Item = &'n str>) -> String {
    let mut names: Vec<&str> = known.by_ref().take(MOST_LISTED).collect();
    names.extend(known.next().map(|_| "…"));
    names.join(", ")
}

/// How near a name is, the smaller the nearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    /// The same but for capitals and what is neither letter nor digit: `tx-2` and `tx2`.
    Spelling,
    /// The one begins with the other: `a100` and `a100-40gb`.
    Beginning,
    /// The known one is the end of the given: `tx2` and `jetson-tx2`.
    Ending,
    /// So many letters were mistyped.
    Typos(usize),
}

/// Letters and digits alone, without capitals.
fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn nearness(given: &str, known: &str) -> Option<Nearness> {
    let known = folded(known);
    if given == known {
        return Some(Nearness::Spelling);
    }
    let (own, other) = (given.chars().count(), known.chars().count());
    let shorter = own.min(other);
    if shorter >= 2 && (known.starts_with(given) || (given.starts_with(&*known) && shorter >= 3)) {
        return Some(Nearness::Beginning);
    }
    if other >= 3 && given.ends_with(&*known) {
        return Some(Nearness::Ending);
    }
    // One letter in three: of shorter names nearly all are near to each other.
    let most = shorter / 3;
    if own.abs_diff(other) > most || own.max(other) > LONGEST {
        return None;
    }
    // Digits are not mistyped: they tell names apart.
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    let typos = strsim::osa_distance(given, &known);
    (typos <= most && digits(given) == digits(&known)).then_some(Nearness::Typos(typos))
}

/// Those of the known names that are nearest to `given`, in their order, three at most; none if none is near.
pub(crate) fn near_names<'n>(given: &str, known: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let given = folded(given);
    if given.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<(Nearness, &str)> =
        known.into_iter().filter_map(|name| Some((nearness(&given, name)?, name))).collect();
    let Some(best) = found.iter().map(|(nearness, _)| *nearness).min() else { return Vec::new() };
    found.retain(|(nearness, _)| *nearness == best);
    let mut names: Vec<&str> = Vec::new();
    for (_, name) in found {
        if !names.contains(&name) && names.len() < MOST {
            names.push(name);
        }
    }
    names
}

/// Entries of a folder that are looked at.
const MOST_ENTRIES: usize = 10_000;

/// What a message says behind a path at which there is nothing: ` (did you mean "scenarios/figure-3.json"?)`, from what
/// is in the first of its folders that lacks the next, or nothing if no name there is near.
pub fn did_you_mean_file(path: &Path) -> String {
    let Some(missing) = path.ancestors().take_while(|part| part.file_name().is_some() && !part.exists()).last() else {
        return String::new();
    };
    let (Some(folder), Some(given)) = (missing.parent(), missing.file_name().and_then(OsStr::to_str)) else {
        return String::new();
    };
    let entries = fs::read_dir(if folder == Path::new("") { Path::new(".") } else { folder });
    let entries = entries.into_iter().flatten().take(MOST_ENTRIES).filter_map(Result::ok);
    let is_shown = |name: &String| given.starts_with('.') || !name.starts_with('.');
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(is_shown).collect();
    names.sort_unstable();
    let near = near_names(given, names.iter().map(String::as_str));
    one_of(near.into_iter().map(|name| folder.join(name).display().to_string()))
}

/// What a message says behind an unknown name: ` (did you mean "tx2"?)`, or nothing if no known name is near.
pub fn did_you_mean<'n>(given: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    one_of(near_names(given, known))
}

fn one_of(names: impl IntoIterator<Item = impl Debug>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("{name:?}")).collect();
    match names.split_last() {
        None => String::new(),
        Some((only, [])) => format!(" (did you mean {only}?)"),
        Some((last, others)) => format!(" (did you mean {} or {last}?)", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICES: [&str; 7] = ["tx2", "tx1", "gtx1070", "k20m", "a100-40gb", "a100-80gb", "rtx3080"];

    #[test]
    fn other_spellings_beginnings_and_mistyped_letters_are_near() {
        let near = |given: &str| near_names(given, DEVICES);
        assert_eq!(near("tx-2"), ["tx2"]);
        assert_eq!(near("TX2"), ["tx2"]);
        assert_eq!(near("a100"), ["a100-40gb", "a100-80gb"]);
        assert_eq!(near("A100_80GB"), ["a100-80gb"]);
        assert_eq!(near("gxt1070"), ["gtx1070"]);
        assert_eq!(near("rtx3080ti"), ["rtx3080"]);
        assert_eq!(near("jetson-tx2"), ["tx2"]);
        assert_eq!(near_names("camra", ["camera", "lidar"]), ["camera"]);
    }

    #[test]
    fn what_is_far_off_and_short_names_that_differ_are_not_near() {
        for far in ["radeon", "", "-", "t", "tx3", "gtx1080"] {
            assert!(near_names(far, DEVICES).is_empty(), "{far}");
        }
        assert!(near_names("K9", ["K1", "K2", "K3"]).is_empty());
        let long = "a".repeat(100_000);
        assert!(near_names(&long, [&*format!("{long}bc")]).contains(&&*format!("{long}bc")));
        assert!(near_names(&long, [&*format!("b{long}")]).is_empty());
    }

    #[test]
    fn files_near_to_one_that_is_missing_are_told_with_their_folder() {
        let near = |path: &str| did_you_mean_file(Path::new(path));
        assert_eq!(near("scenarios/rtss2017/figure3.json"), " (did you mean \"scenarios/rtss2017/figure-3.json\"?)");
        assert_eq!(near("scenaros/rtss2017/figure-3.json"), " (did you mean \"scenarios\"?)");
        assert_eq!(near("Cargo.tml"), " (did you mean \"Cargo.toml\"?)");
        // Folders like the one that is there; what is there is not missing; nothing is near.
        for none in ["scenarios/rtss2017/figure-3.json", "scenarios/rtss2017/no such thing", "", "/"] {
            assert_eq!(near(none), "", "{none}");
        }
    }

    #[test]
    fn one_several_and_none_are_told() {
        assert_eq!(did_you_mean("tx-2", DEVICES), " (did you mean \"tx2\"?)");
        assert_eq!(did_you_mean("a100", DEVICES), " (did you mean \"a100-40gb\" or \"a100-80gb\"?)");
        assert_eq!(did_you_mean("radeon", DEVICES), "");
    }
}
