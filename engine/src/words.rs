//! What messages say: names near to an unknown one, texts shortened to the room that there is, counts, and causes of
//! errors.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error;
use std::ffi::OsStr;
use std::fmt::Debug;
use std::fs;
use std::ops::Range;
use std::path::Path;

/// Names told at most.
const MOST: usize = 3;

/// Characters above which names are compared no further: of two long ones that would take long.
const LONGEST: usize = 64;

/// Names that a message lists at most.
const MOST_LISTED: usize = 12;

/// The first names that there are, as they follow "there are".
#[doc(hidden)]
pub fn listed<'n>(mut known: impl Iterator<Item = &'n str>) -> String {
    let mut names: Vec<&str> = known.by_ref().take(MOST_LISTED).collect();
    names.extend(known.next().map(|_| "…"));
    names.join(", ")
}

/// The first of some names, and how many more there are: `A, B, C and 8 more`.
#[doc(hidden)]
pub fn first_of(names: &[impl AsRef<str>]) -> String {
    // For one more there is room as well.
    let told = if names.len() > MOST + 1 { MOST } else { names.len() };
    let all: Vec<&str> = names[..told].iter().map(AsRef::as_ref).collect();
    let more = names.len() - told;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", all.join(", "))
}

/// Texts of which several differ in one name in quotation marks alone: these become one, in the place of the first of
/// them, with the [first of the names](first_of). With each, the places of those that it was made of.
#[doc(hidden)]
pub fn merged<T: AsRef<str>>(texts: &[T]) -> Vec<(String, Vec<usize>)> {
    let parts: Vec<Vec<&str>> = texts.iter().map(|text| by_quotes(text.as_ref())).collect();
    let mut alike: HashMap<Vec<&str>, Vec<usize>> = HashMap::new();
    for (number, parts) in parts.iter().enumerate() {
        alike.entry(parts.iter().copied().step_by(2).collect()).or_default().push(number);
    }
    let alone = |(number, text): (usize, &T)| Some((text.as_ref().to_owned(), vec![number]));
    let mut all: Vec<Option<(String, Vec<usize>)>> = texts.iter().enumerate().map(alone).collect();
    for numbers in alike.into_values() {
        let first = &parts[numbers[0]];
        let differs = |at: &usize| numbers.iter().any(|&number| parts[number][*at] != first[*at]);
        let mut places = (0..first.len()).filter(differs);
        let (Some(place), None) = (places.next(), places.next()) else { continue };
        let mut known = HashSet::new();
        let names = numbers.iter().map(|&number| parts[number][place]).filter(|name| known.insert(*name));
        let told: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
        for &number in &numbers {
            all[number] = None;
        }
        let (head, tail) = (first[..place].join("\""), first[place + 1..].join("\""));
        let place = numbers[0];
        all[place] = Some((format!("{head}{}{tail}", first_of(&told)), numbers));
    }
    all.into_iter().flatten().collect()
}

/// What stands outside quotation marks and within, in turns; all of a text in which one is not closed.
fn by_quotes(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut is_escaped) = (Vec::new(), 0, false);
    for (at, letter) in text.char_indices() {
        let is_quoted = parts.len() % 2 == 1;
        if letter == '"' && !is_escaped {
            parts.push(&text[from..at]);
            from = at + 1;
        }
        is_escaped = is_quoted && letter == '\\' && !is_escaped;
    }
    parts.push(&text[from..]);
    if parts.len() % 2 == 1 { parts } else { vec![text] }
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

/// `text`, or as much of its beginning and its end as `fits` together with an ellipsis between them; empty if nothing
/// does. The middle goes first: names differ at their ends.
#[doc(hidden)]
pub fn shortened(text: &str, fits: impl Fn(&str) -> bool) -> String {
    if fits(text) {
        return text.to_owned();
    }
    let characters: Vec<char> = text.chars().collect();
    let keep = |kept: usize| {
        let (head, tail) = (kept.div_ceil(2), characters.len() - kept / 2);
        joined(&characters[..head], &characters[tail..])
    };
    let most = last_of(1..characters.len(), |kept| fits(&keep(kept)));
    most.map_or_else(String::new, keep)
}

/// The last number for which `fits` holds, if it holds for all smaller ones of the range too: keeping more of a text
/// never makes it shorter.
fn last_of(range: Range<usize>, fits: impl Fn(usize) -> bool) -> Option<usize> {
    let numbers: Vec<usize> = range.collect();
    let after = numbers.partition_point(|&number| fits(number));
    numbers[..after].last().copied()
}

/// A beginning and an end, with an ellipsis for what is left out between them.
#[doc(hidden)]
pub fn joined(head: &[char], tail: &[char]) -> String {
    let (head, tail): (String, String) = (head.iter().collect(), tail.iter().collect());
    format!("{}…{}", head.trim_end(), tail.trim_start())
}

/// All of some texts [`shortened`] to what `fits` at the place of each, so that different ones stay different where
/// that can be: those that would look alike keep the place at which they differ instead of their end.
#[doc(hidden)]
pub fn shortened_apart(texts: &[&str], fits: impl Fn(usize, &str) -> bool) -> Vec<String> {
    let mut short: Vec<String> =
        texts.iter().enumerate().map(|(place, text)| shortened(text, |text| fits(place, text))).collect();
    let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, text) in short.iter().enumerate() {
        alike.entry(text.clone()).or_default().push(place);
    }
    for mut places in alike.into_values() {
        // Among sorted texts, one has most in common with one beside it.
        places.sort_by_key(|&place| texts[place]);
        let groups: Vec<&[usize]> = places.chunk_by(|&one, &next| texts[one] == texts[next]).collect();
        let common: Vec<usize> = groups.windows(2).map(|two| common(texts[two[0][0]], texts[two[1][0]])).collect();
        for (number, group) in groups.iter().enumerate().filter(|_| groups.len() > 1) {
            let beside = [number.checked_sub(1).and_then(|before| common.get(before)), common.get(number)];
            let differs = beside.into_iter().flatten().max().copied().unwrap_or(0);
            for &place in *group {
                let characters: Vec<char> = texts[place].chars().collect();
                // A number keeps its digits before the one that differs.
                let from = (0..differs).rev().find(|&at| !characters[at].is_ascii_digit()).map_or(0, |at| at + 1);
                short[place] = around(&characters, from.min(differs), |text| fits(place, text));
            }
        }
    }
    short
}

/// How many characters two texts have in common at their beginnings.
fn common(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
}

/// The beginning of a text and what follows from `from` on, as much as fits.
fn around(characters: &[char], from: usize, fits: impl Fn(&str) -> bool) -> String {
    let whole = |head: usize| joined(&characters[..head], &characters[from..]);
    if let Some(head) = last_of(0..from, |head| fits(&whole(head))) {
        return whole(head);
    }
    let head = from.min(3);
    let cut = |end: usize| format!("{}…", joined(&characters[..head], &characters[from..end]));
    last_of(from + 1..characters.len(), |end| fits(&cut(end))).map_or_else(String::new, cut)
}

/// So many of what is called `thing` if there is one: `1 kernel`, `2 kernels`, `3 copies`.
#[doc(hidden)]
pub fn counted(count: impl TryInto<u64>, thing: &str) -> String {
    // No more than that fits into what is counted in.
    let count = count.try_into().unwrap_or(u64::MAX);
    match (count, thing.strip_suffix('y')) {
        (1, _) => format!("1 {thing}"),
        (_, Some(begin)) => format!("{count} {begin}ies"),
        (_, None) if thing.ends_with("ch") => format!("{count} {thing}es"),
        (_, None) => format!("{count} {thing}s"),
    }
}

/// An error and what caused it, as the command prints both behind `error: `.
pub fn with_causes(error: &dyn Error) -> String {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        text += ": ";
        text += &error.to_string();
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{counted, *};

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
    fn texts_that_differ_in_one_name_alone_are_one() {
        let late = |name: &str| format!("stimulus {name:?} of \"T\" is late: 3 ms");
        let other = || "nothing \"else".to_owned();
        let two = late("a").replace("\"a\"", "\"a\", \"b\"");
        assert_eq!(merged(&[late("a"), other(), late("b")]), [(two, vec![0, 2]), (other(), vec![1])]);
        let many = late("a").replace("\"a\"", r#""a", "\"", "c\\" and 2 more"#);
        assert_eq!(merged(&["a", "\"", "c\\", "d", "e", "e"].map(late)), [(many, (0..6).collect())]);
        // In two names, or in a number, and not at all.
        let apart = [r#""a" by "b""#, r#""c" by "d""#, "2 ms", "3 ms", "3 ms", r#"a "quote"#];
        assert_eq!(merged(&apart).into_iter().map(|(text, _)| text).collect::<Vec<_>>(), apart);
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
        assert_eq!(near("src/gpu/backend/sm_backnd.rs"), " (did you mean \"src/gpu/backend/sm_backend.rs\"?)");
        assert_eq!(near("srcs/gpu/backend.rs"), " (did you mean \"src\"?)");
        assert_eq!(near("Cargo.tml"), " (did you mean \"Cargo.toml\"?)");
        // Folders like the one that is there; what is there is not missing; nothing is near.
        for none in ["src/gpu/backend.rs", "src/gpu/no such thing", "", "/"] {
            assert_eq!(near(none), "", "{none}");
        }
    }

    #[test]
    fn one_several_and_none_are_told() {
        assert_eq!(did_you_mean("tx-2", DEVICES), " (did you mean \"tx2\"?)");
        assert_eq!(did_you_mean("a100", DEVICES), " (did you mean \"a100-40gb\" or \"a100-80gb\"?)");
        assert_eq!(did_you_mean("radeon", DEVICES), "");
    }

    #[test]
    fn texts_lose_what_they_have_in_common() {
        let fits = |_: usize, text: &str| text.chars().count() <= 12;
        let names = ["stage_of_the_left_camera_a", "stage_of_the_left_camera_b", "short"];
        assert_eq!(shortened_apart(&names, fits), ["stage_…era_a", "stage_…era_b", "short"]);
        // They differ in their middle, at which they are cut otherwise.
        let names = ["gemm_kernel_tile_64_of_the_left_camera", "gemm_kernel_tile_32_of_the_left_camera"];
        assert_eq!(shortened_apart(&names, fits), ["gem…64_of_t…", "gem…32_of_t…"]);
        // The same name twice is no name to tell apart.
        assert_eq!(shortened_apart(&[names[0], names[0]], fits), ["gemm_k…amera", "gemm_k…amera"]);
    }

    #[test]
    fn only_one_thing_is_called_by_its_own_name() {
        assert_eq!([0_u64, 1, 2].map(|count| counted(count, "kernel")), ["0 kernels", "1 kernel", "2 kernels"]);
        assert_eq!(["copy", "launch"].map(|thing| counted(3_usize, thing)), ["3 copies", "3 launches"]);
    }
}
