//! How many lines of code a room has.

use std::fs;
use std::path::Path;

/// Lines of code proper of a room of `root`: neither empty, nor a comment, nor an import, nor of tests, nor a mark of
/// what documentation hides or the compiler inlines.
pub(super) fn lines_of_code(root: &Path, room: &str) -> usize {
    let file = root.join(room).with_extension("rs");
    let own = fs::read_to_string(file).map_or(0, |text| of_text(&text));
    own + of_folder(&root.join(room))
}

fn of_folder(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let of = |path: &Path| match path.extension() {
        _ if path.file_stem().is_some_and(|name| name == "tests") => 0,
        Some(extension) if extension == "rs" => of_text(&fs::read_to_string(path).expect("a source is text")),
        _ => of_folder(path),
    };
    entries.map(|entry| of(&entry.expect("it can be read").path())).sum()
}

fn of_text(text: &str) -> usize {
    let (mut is_import, mut is_test) = (false, false);
    let is_code = |line: &&str| {
        // Tests that stand in a file are its last module.
        is_test |= *line == "mod tests {";
        let line = line.trim();
        let begins = ["use ", "pub use ", "pub(crate) use ", "pub(super) use ", "mod ", "pub mod ", "pub(crate) mod "];
        let begins = begins.iter().any(|word| line.starts_with(word));
        let is_of_import = is_import || begins;
        is_import = is_of_import && !line.ends_with(';');
        !line.is_empty()
            && !["#[cfg(test)]", "#[doc(hidden)]", "#[inline]"].contains(&line)
            && !line.starts_with("//")
            && !is_of_import
            && !is_test
    };
    text.lines().filter(is_code).count()
}

#[test]
fn what_is_no_code_is_not_counted() {
    let text = "//! A room.\n\nuse std::{\n    fs,\n    io,\n};\nmod a;\n\n/// One.\nfn one() -> u32 {\n    // Why.\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    fn of_one() {}\n}\n";
    assert_eq!(of_text(text), 3);
}
