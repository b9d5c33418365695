//! How pictures show rules, kernels, copies and pauses, the same in each of them: their fills, their words, and what is
//! shown at all.

use std::cmp::Ordering;
use std::iter::Peekable;
use std::str::Chars;

use crate::device::CopyDirection;
use crate::draw::theme::{Colour, Fill, Hatch, Theme};
use crate::draw::{Dash, Point, Shape, Stroke};
use crate::limits::count_turn;
use crate::trace::{OperationRecord, Queue, Rule, Trace};
use crate::workload::{KernelId, Kernels};

/// How much of its background's colour is left in a hatch \[percent\].
const INK: u16 = 30;

/// How a rule is shown and told in every picture. Its name and what it says are in `trace/rule.rs`.
pub(crate) struct RuleLook {
    /// The time that an operation waits under it: light strokes on a dark ground, where kernels and copies have dark
    /// strokes on a light one, so that no rule looks like one of them in colour or in grey. In grey, rules differ in
    /// hatch or in lightness.
    pub(crate) fill: Fill,
    /// The same on a dark page, where kernels have light strokes on a dark ground: dark strokes on a light one.
    pub(crate) on_dark: Fill,
    /// Where an operation waits under it, or for what, as it follows "waits".
    pub(crate) in_short: &'static str,
}

/// The ground and the hatch of a rule's fill, and how it is told in short: the only place that decides them.
const fn chosen_look(rule: Rule) -> (Colour, Hatch, &'static str) {
    const GREY: Colour = Colour(0x4a, 0x4a, 0x4a);
    const BLACK: Colour = Colour(0x1a, 0x1a, 0x1a);
    const AMBER: Colour = Colour(0x85, 0x52, 0x00);
    const LATENCY: Colour = Colour(0x6e, 0x6e, 0x6e);
    const TURN: Colour = Colour(0x22, 0x22, 0x44);
    match rule {
        Rule::G2 => (GREY, Hatch::Plain, "in its stream"),
        Rule::C1 => (GREY, Hatch::Rising, "in its stream"),
        Rule::X1 => (Colour(0x5c, 0x53, 0x00), Hatch::Dots, "in its EE queue"),
        Rule::A2 => (Colour(0x6a, 0x1f, 0x55), Hatch::Falling, "for higher priority"),
        Rule::R2 => (Colour(0x8f, 0x36, 0x00), Hatch::Horizontal, "for threads"),
        Rule::R3 => (Colour(0x00, 0x1f, 0x52), Hatch::Plain, "for shared memory"),
        Rule::Registers => (Colour(0x00, 0x55, 0x3c), Hatch::Vertical, "for registers"),
        Rule::C2 => (Colour(0x0a, 0x4f, 0x6e), Hatch::Crossed, "for copy engine"),
        Rule::N1 => (AMBER, Hatch::Grid, "for blocking streams"),
        Rule::N2 => (AMBER, Hatch::Falling, "for NULL stream"),
        Rule::E2 => (Colour(0x45, 0x22, 0x10), Hatch::Dots, "for an event"),
        Rule::Channel => (BLACK, Hatch::Crossed, "for a channel"),
        Rule::L1 => (LATENCY, Hatch::Plain, "for launch latency"),
        Rule::L2 => (LATENCY, Hatch::Rising, "for the gap before it"),
        Rule::T1 => (TURN, Hatch::Horizontal, "for its turn"),
        Rule::T4 => (TURN, Hatch::Vertical, "for its turn"),
        Rule::T5 => (TURN, Hatch::Grid, "for its turn"),
        Rule::Mps => (BLACK, Hatch::Rising, "for SMs of its share"),
        Rule::Cluster => (BLACK, Hatch::Falling, "for SMs of one GPC"),
        Rule::Cooperative => (Colour(0x38, 0x6c, 0x88), Hatch::Crossed, "for room for all its blocks"),
        Rule::Counter => (Colour(0xc4, 0x40, 0x48), Hatch::Dots, "for a counter"),
        Rule::H1 => (Colour(0x84, 0x14, 0x24), Hatch::Grid, "to free memory"),
        Rule::H2 => (Colour(0xb8, 0x34, 0x44), Hatch::Vertical, "for memory to be freed"),
    }
}

pub(crate) fn rule_look(rule: Rule) -> RuleLook {
    let (ground, hatch, in_short) = chosen_look(rule);
    let pale = ground.tint(INK);
    let filled = |background, ink| match hatch {
        Hatch::Plain => Fill::plain(background),
        _ => Fill { background, hatch, ink },
    };
    RuleLook { fill: filled(ground, pale), on_dark: filled(pale, ground), in_short }
}

/// How areas of a fill look while what they stand for waits for others: dark with light dots, as [`rule_look`] has what
/// waits in streams.
pub(crate) const fn waiting_fill(Fill { background, ink, .. }: Fill) -> Fill {
    Fill { background: ink, hatch: Hatch::Dots, ink: background }
}

/// For each kernel, the number of its title among all titles in natural order (`K2` before `K10`). It depends on
/// nothing but the titles, so the same kernels look the same in a simulation, in its measurement and in any picture of
/// either.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KernelSeries(Vec<usize>);

impl KernelSeries {
    pub(crate) fn new(kernels: &Kernels) -> Self {
        let mut titles: Vec<&str> = kernels.iter().map(|kernel| &*kernel.title).collect();
        titles.sort_unstable_by(|one, other| natural_order(one, other));
        titles.dedup();
        let number = |title: &str| titles.binary_search_by(|other| natural_order(other, title)).unwrap_or(0);
        Self(kernels.iter().map(|kernel| number(&kernel.title)).collect())
    }

    /// The number of a kernel's title, as for [`series_fill`](crate::draw::theme::series_fill).
    pub(crate) fn of(&self, kernel: KernelId) -> usize {
        self.0.get(kernel.index()).copied().unwrap_or(kernel.index())
    }
}

/// The order in which people sort names: numbers in them count by their value. Different texts are never equal.
pub(crate) fn natural_order(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one.chars().peekable(), other.chars().peekable());
    loop {
        count_turn();
        let (Some(a), Some(b)) = (left.peek().copied(), right.peek().copied()) else {
            let ends = left.peek().is_some().cmp(&right.peek().is_some());
            return ends.then_with(|| one.cmp(other));
        };
        let order = if a.is_ascii_digit() && b.is_ascii_digit() {
            let (a, b) = (number(&mut left), number(&mut right));
            a.len().cmp(&b.len()).then_with(|| a.cmp(&b))
        } else {
            left.next();
            right.next();
            a.cmp(&b)
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// The digits that come next, without leading zeros.
fn number(text: &mut Peekable<Chars<'_>>) -> String {
    let mut digits = String::new();
    while let Some(digit) = text.next_if(char::is_ascii_digit) {
        digits.push(digit);
    }
    digits.trim_start_matches('0').to_owned()
}

/// The fill of a copy.
pub(crate) fn copy_fill(direction: CopyDirection) -> Fill {
    let ink = Colour(0x80, 0x80, 0x80);
    match direction {
        CopyDirection::HostToDevice => Fill { background: Colour(0xf4, 0xf4, 0xf4), hatch: Hatch::Rising, ink },
        CopyDirection::DeviceToHost => Fill { background: Colour(0xd8, 0xd8, 0xd8), hatch: Hatch::Falling, ink },
        CopyDirection::DeviceToDevice => Fill { background: Colour(0xf4, 0xf4, 0xf4), hatch: Hatch::Grid, ink },
    }
}

/// From where to where, with H for the host and D for the device.
pub(crate) const fn direction_name(direction: CopyDirection) -> &'static str {
    match direction {
        CopyDirection::HostToDevice => "H→D",
        CopyDirection::DeviceToHost => "D→H",
        CopyDirection::DeviceToDevice => "D→D",
    }
}

/// Whether a queue is shown by itself: it lies between the streams and what executes.
pub(crate) const fn is_shown(queue: Queue) -> bool {
    matches!(queue, Queue::Ee(..) | Queue::Ce(_))
}

/// Places of a queue that are shown, from the head on.
pub(crate) const MOST_PLACES: usize = 5;

/// The context whose EE queue it is, if there are several.
pub(crate) fn queue_owner(trace: &Trace, queue: Queue) -> Option<&str> {
    let Queue::Ee(context, _) = queue else { return None };
    trace.queue_context_name(context)
}

/// What a queue is called beside its places: with its priority or its engine only where there are several.
pub(crate) fn queue_name(queue: Queue, owner: Option<&str>, has_priorities: bool, has_engines: bool) -> String {
    match (queue, owner) {
        (Queue::Ee(_, 0), Some(owner)) => format!("EE {owner}"),
        (Queue::Ee(_, priority), Some(owner)) => format!("EE {owner} {}", signed(priority)),
        (Queue::Ee(_, priority), None) if has_priorities || priority != 0 => format!("EE prio. {}", signed(priority)),
        (Queue::Ee(..), None) => "EE queue".to_owned(),
        (Queue::Ce(engine), _) if has_engines => format!("CE queue {engine}"),
        (Queue::Ce(_), _) => "CE queue".to_owned(),
        (Queue::Stream(_) | Queue::CopyEngine(_), _) => queue.to_string(),
    }
}

/// With a real minus sign.
pub(crate) fn signed(number: i32) -> String {
    if number < 0 { format!("−{}", number.unsigned_abs()) } else { number.to_string() }
}

/// A size with at most one decimal, rounded down, in the largest unit of which it holds one.
pub(crate) fn bytes(bytes: u64) -> String {
    let units: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let Some((unit, name)) = units.into_iter().find(|(unit, _)| bytes >= *unit) else { return format!("{bytes} B") };
    let tenths = u128::from(bytes) * 10 / u128::from(unit);
    match tenths % 10 {
        0 => format!("{} {name}", tenths / 10),
        rest => format!("{}.{rest} {name}", tenths / 10),
    }
}

/// Whether the launch of an operation is shown: of what nobody measured it is that of another run.
pub(crate) fn is_launch_known(trace: &Trace, record: &OperationRecord) -> bool {
    !trace.is_observed() || record.first_start().is_some()
}

/// A line from where a block stops to where it goes on.
pub fn pause_line(from: Point, to: Point, fill: Fill) -> Shape {
    // A plain fill has no ink of its own.
    let colour = if fill.ink == fill.background { Colour::FRAME } else { fill.ink };
    Shape::Path { points: vec![from, to], stroke: Stroke { colour, width: Theme::PAPER.line }, dash: Dash::Dotted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::theme::{series_colour, series_fill};

    /// Relative luminance, as WCAG 2 defines it.
    fn luminance(Colour(red, green, blue): Colour) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    fn contrast(one: Colour, other: Colour) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn rules_differ_in_grey_by_hatch_or_lightness() {
        for (number, one) in Rule::ALL.into_iter().enumerate() {
            let own = rule_look(one).fill;
            assert!(own.hatch == Hatch::Plain || contrast(own.background, own.ink) >= 1.5, "{one}");
            for other in Rule::ALL.into_iter().skip(number + 1) {
                let fill = rule_look(other).fill;
                let apart = contrast(own.background, fill.background);
                assert!(own.hatch != fill.hatch || apart >= 1.5, "{one} and {other}: {apart:.2}");
            }
        }
    }

    #[test]
    fn no_rule_looks_like_a_kernel() {
        for rule in Rule::ALL {
            for series in 0..64 {
                let kernel = series_fill(series);
                let apart = contrast(rule_look(rule).fill.background, kernel.background);
                assert!(apart >= 2.5, "{rule} and series {series}: {apart:.2}");
                let apart = contrast(rule_look(rule).on_dark.background, series_colour(series).shade(45));
                assert!(apart >= 2.5, "{rule} and series {series} on a dark page: {apart:.2}");
            }
        }
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!([bytes(0), bytes(1_023), bytes(1_536), bytes(256 << 20)], ["0 B", "1023 B", "1.5 KiB", "256 MiB"]);
    }

    #[test]
    fn numbers_in_names_count_by_their_value() {
        let mut names = ["K10", "K2", "stage 2 b", "K1", "stage 2", "K02", "stage 11"];
        names.sort_unstable_by(|one, other| natural_order(one, other));
        assert_eq!(names, ["K1", "K02", "K2", "K10", "stage 2", "stage 2 b", "stage 11"]);
    }
}
