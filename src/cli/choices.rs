//! Values of options that are one of a few, by name.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Takes the name of one of these values.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    taking(all.map(|value| (PossibleValue::new(name(value)), value)))
}

/// The same, with what help says of each.
pub(crate) fn explained<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [(&'static str, T, &'static str); N],
) -> impl TypedValueParser<Value = T> {
    taking(all.map(|(name, value, help)| (PossibleValue::new(name).help(help), value)))
}

fn taking<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [(PossibleValue, T); N],
) -> impl TypedValueParser<Value = T> {
    let names = PossibleValuesParser::new(all.clone().map(|(name, _)| name));
    names.try_map(move |text| {
        let found = all.iter().find(|(name, _)| name.get_name() == text);
        found.map(|(_, value)| *value).ok_or("it is none of these values")
    })
}
