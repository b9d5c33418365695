//! Samples that are not drawn: files of a folder, or of a list.

use std::cmp::Ordering;

use super::grid::{Files, Grid};
use crate::json::{Node, Problem};
use crate::limits::count_turn;

/// The key that names them.
pub(super) const KEY: &str = "files";

/// How the files of a folder end that are samples.
const EXTENSION: &str = ".json";

/// The files of the key, with what `of` makes of their names and contents.
pub(super) fn each<T>(
    value: Node<'_>,
    files: &Files<'_>,
    of: impl Fn(&str, Vec<u8>) -> Result<T, String>,
) -> Result<Vec<T>, Problem> {
    let named = if value.is_list() { of_list(value)? } else { of_folder(value, files)? };
    let made = named.into_iter().map(|(node, name)| {
        let content = files.bytes(node, &name)?;
        of(&name, content).map_err(|what| node.problem(what))
    });
    made.collect()
}

/// The same of files that are text.
pub(super) fn each_text<T>(
    value: Node<'_>,
    files: &Files<'_>,
    of: impl Fn(&str, &str) -> Result<T, String>,
) -> Result<Vec<T>, Problem> {
    each(value, files, |name, content| {
        let text = String::from_utf8(content).map_err(|_| format!("{name} is no text"))?;
        of(name, &text)
    })
}

fn of_list(value: Node<'_>) -> Result<Vec<(Node<'_>, String)>, Problem> {
    let mut named: Vec<(Node<'_>, String)> = Vec::new();
    for node in value.filled_list()? {
        let name = node.string()?;
        if named.iter().any(|(_, known)| *known == name) {
            return Err(node.problem(format!("{name:?} stands twice: samples are independent")));
        }
        named.push((node, name));
    }
    Ok(named)
}

fn of_folder<'a>(value: Node<'a>, files: &Files<'_>) -> Result<Vec<(Node<'a>, String)>, Problem> {
    let name = value.string().map_err(|_| value.expected("the name of a folder, or a list of files"))?;
    let folder = format!("{}/", name.trim_end_matches('/'));
    let help = "a string is a folder; a list has the names of files";
    let listed = files.text(value, &folder).map_err(|problem| problem.with_help(help))?;
    let mut names: Vec<&str> = listed.lines().filter(|name| name.ends_with(EXTENSION)).collect();
    if names.is_empty() {
        return Err(value.problem(format!("{folder} has no file that ends in {EXTENSION}")));
    }
    names.sort_by(|one, other| by_numbers(one, other));
    Ok(names.into_iter().map(|name| (value, format!("{folder}{name}"))).collect())
}

/// By name, where numbers in it count as numbers: sample-2 comes before sample-10.
fn by_numbers(one: &str, other: &str) -> Ordering {
    let key = |name: &str| -> Vec<(String, usize, String)> {
        let is_digit = |character: char| character.is_ascii_digit();
        let mut parts = Vec::new();
        let mut rest = name;
        while !rest.is_empty() {
            count_turn();
            let (text, behind) = rest.split_at(rest.find(is_digit).unwrap_or(rest.len()));
            let (number, behind) = behind.split_at(behind.find(|it| !is_digit(it)).unwrap_or(behind.len()));
            let number = number.trim_start_matches('0');
            parts.push((text.to_owned(), number.len(), number.to_owned()));
            rest = behind;
        }
        parts
    };
    key(one).cmp(&key(other)).then_with(|| one.cmp(other))
}

/// Refuses keys that say how samples are drawn where they are files; `others` are those that say something else.
pub(super) fn check_keys(grid: &Grid<'_>, others: &[&str]) -> Result<(), Problem> {
    let keys = grid.keys()?;
    let is_drawn = |(key, _): &&(String, Node<'_>)| key != KEY && key != "seed" && !others.contains(&&**key);
    match keys.iter().find(is_drawn).filter(|_| keys.iter().any(|(key, _)| key == KEY)) {
        Some((key, node)) => {
            Err(node.problem(format!("{key:?} is for samples that are drawn, and {KEY:?} names those there are")))
        }
        None => Ok(()),
    }
}

/// Refuses more samples than there are files at some point.
pub(super) fn check_count(
    counts: impl Iterator<Item = Option<usize>>,
    (samples, node): (u64, Node<'_>),
) -> Result<(), Problem> {
    match counts.flatten().min() {
        Some(files) if samples > files as u64 => {
            Err(node.problem(format!("there are {samples} samples, and {KEY:?} has {files} of them")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_as_numbers() {
        let mut names = ["s-10.json", "a.json", "s-2.json", "s-02.json", "s-1-9.json", "s.json", "s-1-10.json"];
        names.sort_by(|one, other| by_numbers(one, other));
        let order = ["a.json", "s-1-9.json", "s-1-10.json", "s-02.json", "s-2.json", "s-10.json", "s.json"];
        assert_eq!(names, order);
    }
}
