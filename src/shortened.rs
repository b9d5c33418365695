//! Texts shortened to the room that there is, so that different ones stay different.

use std::collections::BTreeMap;
use std::ops::Range;

/// `text`, or as much of its beginning and its end as `fits` together with an ellipsis between them; empty if nothing
/// does. The middle goes first: names differ at their ends.
pub(crate) fn shortened(text: &str, fits: impl Fn(&str) -> bool) -> String {
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
pub(crate) fn joined(head: &[char], tail: &[char]) -> String {
    let (head, tail): (String, String) = (head.iter().collect(), tail.iter().collect());
    format!("{}…{}", head.trim_end(), tail.trim_start())
}

/// All of some texts [`shortened`] to what `fits` at the place of each, so that different ones stay different where
/// that can be: those that would look alike keep the place at which they differ instead of their end.
pub(crate) fn shortened_apart(texts: &[&str], fits: impl Fn(usize, &str) -> bool) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
