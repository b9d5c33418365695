//! What the library makes public, read from the sources of its crates as text: each function, struct, enumeration,
//! trait, type and constant that a path of public modules and re-exports leads to from a crate's root, once. Methods,
//! fields, variants and what documentation hides do not count. `cargo doc` lists the same on its page of all items.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::imports::Module;

/// An item: the module that declares it, and its name.
type Item = (Module, String);

pub(super) fn public_items(roots: &[PathBuf]) -> BTreeSet<Item> {
    let (mut found, mut open) = (BTreeSet::new(), vec![Module::new()]);
    while let Some(module) = open.pop() {
        let text = source(roots, &module).expect("a module has a file");
        found.extend(declared(&text).map(|name| (module.clone(), name.to_owned())));
        // What a crate gives again of those below it is found there.
        let inner = statements(&text, "pub mod ").filter(|name| !name.contains(' '));
        open.extend(inner.map(|name| child(&module, name)));
        let again = statements(&text, "pub use ").filter(|tree| !tree.starts_with("gpusched_"));
        for mut path in again.flat_map(|tree| leaves(&module, tree)) {
            if source(roots, &path).is_some() {
                open.push(path);
            } else {
                let name = path.pop().expect("a path ends with a name");
                let (module, name) = home(roots, path, name);
                if !is_hidden(&source(roots, &module).unwrap_or_default(), &name) {
                    found.insert((module, name));
                }
            }
        }
    }
    found
}

/// Where that is declared which `module` calls `name`.
fn home(roots: &[PathBuf], module: Module, name: String) -> Item {
    let text = source(roots, &module).unwrap_or_default();
    if declared(&text).any(|declared| declared == name) {
        return (module, name);
    }
    let all = ["pub use ", "pub(crate) use ", "use "].into_iter().flat_map(|start| statements(&text, start));
    let through = all.flat_map(|tree| leaves(&module, tree)).find(|path| path.last() == Some(&name));
    match through {
        Some(mut path) if path.len() > 1 && path[..path.len() - 1] != module => {
            path.pop();
            home(roots, path, name)
        }
        _ => (module, name),
    }
}

fn source(roots: &[PathBuf], module: &Module) -> Option<String> {
    let file = if module.is_empty() { "lib.rs".to_owned() } else { format!("{}.rs", module.join("/")) };
    let texts: Vec<String> = roots.iter().filter_map(|root| fs::read_to_string(root.join(&file)).ok()).collect();
    (!texts.is_empty()).then(|| texts.concat())
}

fn child(module: &Module, name: &str) -> Module {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

/// What stands above that which only the project's own crates may use.
const HIDDEN: &str = "#[doc(hidden)]\n";

/// Whether what a file declares under a name is marked so where it stands.
fn is_hidden(text: &str, name: &str) -> bool {
    let marked = text.split(HIDDEN).skip(1).filter_map(|rest| rest.lines().next()?.strip_prefix("pub "));
    marked.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_').take(3)).any(|word| word == name)
}

/// The names of the public items in a file: those that stand at the margin, and those within a macro that declares
/// them.
fn declared(text: &str) -> impl Iterator<Item = &str> {
    let lines = std::iter::once("").chain(text.lines()).zip(text.lines());
    lines.filter(|(before, _)| before.trim_start() != HIDDEN.trim_end()).filter_map(|(_, line)| {
        let within = line
            .strip_prefix("    ")
            .filter(|line| ["pub enum ", "pub struct "].iter().any(|start| line.starts_with(start)));
        let mut words = within.unwrap_or(line).strip_prefix("pub ")?.split_whitespace();
        let kind = words.next()?;
        let name = words.next()?;
        let name = if (kind, name) == ("const", "fn") { words.next()? } else { name };
        let is_item = ["fn", "struct", "enum", "trait", "type", "const", "static"].contains(&kind);
        is_item.then(|| name.split(|c: char| !c.is_alphanumeric() && c != '_').next()).flatten()
    })
}

/// What follows `start` at the margin, up to a semicolon.
fn statements<'t>(text: &'t str, start: &'t str) -> impl Iterator<Item = &'t str> {
    let at_margin = text.match_indices(start).filter(|(at, _)| *at == 0 || text.as_bytes()[at - 1] == b'\n');
    let shown = at_margin.filter(|(at, _)| !text[..*at].ends_with(HIDDEN));
    shown.filter_map(move |(at, _)| text[at + start.len()..].split(';').next())
}

/// The paths that an import in `module` names, from the crate's root.
fn leaves(module: &Module, tree: &str) -> Vec<Module> {
    let (before, inner) = tree.split_once('{').unwrap_or((tree, ""));
    assert!(!inner.contains('{'), "{tree}: one level of braces is read");
    let names: Vec<&str> = inner.trim_end_matches(['}', ' ', '\n']).split(',').map(str::trim).collect();
    let path = |name: &str| {
        let mut path = module.clone();
        for part in before.split("::").chain([name]).map(|part| part.split(" as ").next().unwrap_or(part).trim()) {
            match part {
                "" | "self" => {}
                "crate" => path.clear(),
                "super" => drop(path.pop()),
                part => path.push(part.to_owned()),
            }
        }
        path
    };
    names
        .into_iter()
        .enumerate()
        .filter(|(at, name)| *at == 0 || !name.is_empty())
        .map(|(_, name)| path(name))
        .collect()
}
