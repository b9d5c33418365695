//! Models with something changed: whatever it is, reading ends with a model or with an error that has a message.

use gpusched::formats::TableStyle;
use gpusched::tables::amalthea_table;
use proptest::prelude::*;

use super::super::published;
use super::*;

/// Pieces that take the place of others, or stand beside them.
const PIECES: [&str; 24] = [
    "",
    "<",
    ">",
    "/>",
    "\"",
    "'",
    "&",
    "&lt;",
    "&x;",
    "]]>",
    "<!--",
    "<!DOCTYPE a>",
    "-1",
    "1e99",
    "9223372036854775808",
    "NaN",
    "xsi:type=\"am:Ticks\"",
    "<items xsi:type=\"am:Group\">",
    "</items>",
    "%zz+%C3",
    "?type=Runnable",
    "value=\"\"",
    "\u{0}",
    "\u{1F600}",
];

fn models() -> Vec<String> {
    let folder = std::fs::read_dir(published::root().join("amalthea")).expect("a readable folder");
    let mut paths: Vec<_> = folder.map(|entry| entry.expect("a readable entry").path()).collect();
    paths.sort();
    paths.into_iter().map(|path| std::fs::read_to_string(path).expect("text")).collect()
}

/// The borders between markup, names and values of a text, at which pieces of it begin and end.
fn borders(text: &str) -> Vec<usize> {
    let is_border = |c: char| "<>\"=/? :+".contains(c);
    let mut borders: Vec<usize> =
        text.char_indices().filter(|&(_, c)| is_border(c)).flat_map(|(at, c)| [at, at + c.len_utf8()]).collect();
    borders.dedup();
    borders
}

#[derive(Debug, Clone)]
enum Change {
    Replace(prop::sample::Index, usize, &'static str),
    Duplicate(prop::sample::Index, usize, prop::sample::Index),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<prop::sample::Index>(), 0..6_usize, prop::sample::select(&PIECES[..]))
            .prop_map(|(at, length, piece)| Change::Replace(at, length, piece)),
        (any::<prop::sample::Index>(), 1..60_usize, any::<prop::sample::Index>())
            .prop_map(|(at, length, to)| Change::Duplicate(at, length, to)),
    ]
}

fn changed(text: &str, change: &Change) -> String {
    let borders = borders(text);
    if borders.is_empty() {
        return text.to_owned();
    }
    let span = |at: &prop::sample::Index, length: usize| {
        let first = at.index(borders.len());
        borders[first]..borders[(first + length).min(borders.len() - 1)]
    };
    let mut result = text.to_owned();
    match change {
        Change::Replace(at, length, piece) => result.replace_range(span(at, *length), piece),
        Change::Duplicate(at, length, to) => {
            result.insert_str(borders[to.index(borders.len())], &text[span(at, *length)]);
        }
    }
    result
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_changed_model_is_read_or_refused_and_never_panics(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let models = models();
        let text = changes.iter().fold(models[which.index(models.len())].clone(), |text, one| changed(&text, one));
        match AmaltheaModel::parse("in.amxmi", &text) {
            Ok(model) => {
                let document = amalthea_table::ModelDocument::new(&model);
                serde_json::to_value(&document).expect("one document");
                prop_assert!(!amalthea_table::text(&model, TableStyle::Plain).is_empty());
                if let Err(error) = model.scenario(&AmaltheaOptions::default(), &ReadOptions::default()) {
                    prop_assert!(!error.what.is_empty());
                }
            }
            Err(error) => prop_assert!(!error.what.is_empty() && error.place.is_some(), "{}", error),
        }
    }
}
