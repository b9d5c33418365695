//! How many blocks each SM gets where they are dealt by GPCs.

use super::part::Part;

/// By GPCs: whole levels of one block on each SM with room, and what is left on the first of the next level: lone TPCs,
/// then SMs by number. `places` is room to work in.
pub(super) fn deal(parts: &mut [Part], blocks: u32, lone_from: u32, places: &mut Vec<u32>) {
    let within =
        |parts: &[Part], levels: u16| -> u32 { parts.iter().map(|part| u32::from(part.room.min(levels))).sum() };
    // The most levels that are whole.
    let (mut low, mut high) = (0, parts.iter().map(|part| part.room).max().unwrap_or(0));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if within(parts, middle) <= blocks { low = middle } else { high = middle - 1 }
    }
    let left = blocks - within(parts, low);
    places.clear();
    places.extend((0..).zip(parts.iter()).filter(|(_, part)| part.room > low).map(|(place, _)| place));
    places.sort_unstable_by_key(|&place| by_number(parts[place as usize], lone_from));
    for part in parts.iter_mut() {
        part.blocks = part.room.min(low);
    }
    for &place in places.iter().take(left as usize) {
        parts[place as usize].blocks += 1;
    }
}

/// The order in which blocks are dealt by GPCs.
pub(crate) fn by_number(part: Part, lone_from: u32) -> (bool, u16) {
    (u32::from(part.sm) < lone_from, part.sm)
}
