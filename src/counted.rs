//! Numbers of things, as sentences have them.

/// So many of what is called `thing` if there is one: `1 kernel`, `2 kernels`, `3 copies`.
pub(crate) fn counted(count: impl TryInto<u64>, thing: &str) -> String {
    // No more than that fits into what is counted in.
    let count = count.try_into().unwrap_or(u64::MAX);
    match (count, thing.strip_suffix('y')) {
        (1, _) => format!("1 {thing}"),
        (_, Some(begin)) => format!("{count} {begin}ies"),
        (_, None) if thing.ends_with("ch") => format!("{count} {thing}es"),
        (_, None) => format!("{count} {thing}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn only_one_thing_is_called_by_its_own_name() {
        assert_eq!([0_u64, 1, 2].map(|count| counted(count, "kernel")), ["0 kernels", "1 kernel", "2 kernels"]);
        assert_eq!(["copy", "launch"].map(|thing| counted(3_usize, thing)), ["3 copies", "3 launches"]);
    }
}
