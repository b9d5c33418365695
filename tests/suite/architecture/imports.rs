//! Which file imports which, read from the sources as text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A module: its crate, the names of the modules it is in, and its own.
pub(super) type Module = Vec<String>;

/// What one file says.
struct TimeSource {
    /// Every name it imports, under which name, and from where; under `*`, all of a module.
    uses: Vec<(String, Vec<String>)>,
    /// Every path it names without importing it.
    paths: Vec<Vec<String>>,
}

/// The crates' files, and what they name of each other.
pub(super) struct Imports {
    modules: BTreeMap<Module, TimeSource>,
}

impl Imports {
    /// Reads all files below the roots of the crates, tests aside. A module's first name is that of its crate: the
    /// folder's, or `src` of the one at the top.
    pub(super) fn of(roots: &[(PathBuf, String)]) -> Self {
        let mut modules = BTreeMap::new();
        let mut folders: Vec<_> =
            roots.iter().map(|(root, crate_name)| (root.clone(), vec![crate_name.clone()])).collect();
        while let Some((folder, within)) = folders.pop() {
            for entry in folder.read_dir().expect("a folder of sources") {
                let path = entry.expect("a file").path();
                let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name in ASCII").to_owned();
                if name == "tests" || name == "main" {
                    continue;
                }
                let module: Module =
                    if name == "lib" { within.clone() } else { within.iter().cloned().chain([name]).collect() };
                if path.is_dir() {
                    folders.push((path, module));
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    modules.insert(module, TimeSource::read(&path));
                }
            }
        }
        Self { modules }
    }

    /// Who imports from whom: the module, the module whose file has what it names, and that name's path.
    pub(super) fn arrows(&self) -> BTreeSet<(&Module, &Module)> {
        let mut arrows = BTreeSet::new();
        for (module, source) in &self.modules {
            let named = source.uses.iter().map(|(_, path)| path).chain(&source.paths);
            for path in named {
                if let Some(target) = self.home(module, path, 0).filter(|&target| target != module) {
                    arrows.insert((module, target));
                }
            }
        }
        arrows
    }

    /// All modules that have a file.
    pub(super) fn modules(&self) -> impl Iterator<Item = &Module> {
        self.modules.keys()
    }

    /// The module in whose file that is which `path` names in `module`; `None` if it is of another crate.
    fn home(&self, module: &Module, path: &[String], depth: usize) -> Option<&Module> {
        // Names that import each other through `*` lead nowhere.
        if depth > 8 {
            return None;
        }
        let mut at = module.clone();
        let mut rest = path;
        while let [first, after @ ..] = rest {
            match first.as_str() {
                "crate" => at.truncate(1),
                "super" => drop(at.pop()),
                "self" => {}
                "gpusched" => at = vec!["src".to_owned()],
                name if name.starts_with("gpusched_") => at = vec![name["gpusched_".len()..].to_owned()],
                _ => break,
            }
            rest = after;
        }
        let anchored = rest.len() < path.len();
        while let [first, after @ ..] = rest {
            let child: Module = at.iter().cloned().chain([first.clone()]).collect();
            if self.modules.contains_key(&child) {
                at = child;
                rest = after;
                continue;
            }
            let source = self.modules.get(&at)?;
            let through = source.uses.iter().find(|(name, target)| name == first && target != path);
            if let Some((_, target)) = through {
                let target: Vec<String> = target.iter().chain(after).cloned().collect();
                return self.home(&at, &target, depth + 1);
            }
            if !anchored && at == *module {
                return None;
            }
            let mut all = source.uses.iter().filter(|(name, _)| name == "*");
            let through_all = all.find_map(|(_, target)| {
                let target: Vec<String> = target.iter().chain(rest).cloned().collect();
                self.home(&at, &target, depth + 1).filter(|&found| *found != at)
            });
            if let Some(found) = through_all {
                return Some(found);
            }
            break;
        }
        self.modules.get_key_value(&at).map(|(found, _)| found)
    }
}

impl TimeSource {
    fn read(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).expect("a source file");
        let tokens = tokens(&text);
        let (mut uses, mut paths) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < tokens.len() {
            if tokens[at] == "use" {
                at += 1;
                use_tree(&tokens, &mut at, &[], &mut uses);
            } else if is_name(&tokens[at]) && tokens.get(at + 1).is_some_and(|next| next == "::") {
                let mut path = vec![tokens[at].clone()];
                while tokens.get(at + 1).is_some_and(|next| next == "::")
                    && tokens.get(at + 2).is_some_and(|next| is_name(next))
                {
                    path.push(tokens[at + 2].clone());
                    at += 2;
                }
                paths.push(path);
                at += 1;
            } else {
                at += 1;
            }
        }
        Self { uses, paths }
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// What the tree of an import names, from `tokens[*at]` on: under which name, and the path.
fn use_tree(tokens: &[String], at: &mut usize, before: &[String], found: &mut Vec<(String, Vec<String>)>) {
    let mut path = before.to_vec();
    loop {
        match tokens[*at].as_str() {
            "{" => {
                *at += 1;
                while tokens[*at] != "}" {
                    use_tree(tokens, at, &path, found);
                    if tokens[*at] == "," {
                        *at += 1;
                    }
                }
                *at += 1;
                return;
            }
            "*" => {
                *at += 1;
                found.push(("*".to_owned(), path));
                return;
            }
            "::" => *at += 1,
            name if is_name(name) => {
                // `use a::{self}` names `a`.
                if name != "self" || path.is_empty() {
                    path.push(name.to_owned());
                }
                *at += 1;
                if tokens[*at] == "as" {
                    found.push((tokens[*at + 1].clone(), path));
                    *at += 2;
                    return;
                }
                if tokens[*at] != "::" {
                    found.push((path.last().expect("just pushed").clone(), path));
                    return;
                }
            }
            _ => return,
        }
    }
}

/// The words and marks of a source file, without comments, strings and the tests at its end.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    while let Some(first) = rest.chars().next() {
        let word = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(raw) = rest.strip_prefix("r#\"") {
            raw.find("\"#").map_or(rest.len(), |end| 3 + end + 2)
        } else if first == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            end.map_or(rest.len(), |end| 1 + end + 1)
        } else if rest.starts_with("'\\") {
            rest[3..].find('\'').map_or(rest.len(), |end| 3 + end + 1)
        } else if first == '\'' && rest.chars().nth(2) == Some('\'') {
            rest.char_indices().nth(3).map_or(rest.len(), |(end, _)| end)
        } else {
            let length = if rest.starts_with("::") { 2 } else { word(rest).max(first.len_utf8()) };
            tokens.extend(Some(&rest[..length]).filter(|token| !token.trim().is_empty()).map(str::to_owned));
            length
        };
        rest = &rest[length..];
    }
    tokens
}
