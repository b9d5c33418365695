//! How reports show the rules that make operations wait: a fill for each.

use crate::draw::theme::{Colour, Fill, Hatch};
use crate::trace::Rule;

/// How much of its background's colour is left in a hatch \[percent\].
const INK: u16 = 30;

/// The fill of the time that an operation waits under a rule: light strokes on a dark ground, where kernels and copies
/// have dark strokes on a light one, so that no rule looks like one of them in colour or in grey. In grey, rules differ
/// in hatch or in lightness.
pub(crate) fn rule_fill(rule: Rule) -> Fill {
    const GREY: Colour = Colour(0x4a, 0x4a, 0x4a);
    const BLACK: Colour = Colour(0x1a, 0x1a, 0x1a);
    const AMBER: Colour = Colour(0x85, 0x52, 0x00);
    const LATENCY: Colour = Colour(0x6e, 0x6e, 0x6e);
    const TURN: Colour = Colour(0x22, 0x22, 0x44);
    let (background, hatch) = match rule {
        Rule::G2 => (GREY, Hatch::Plain),
        Rule::C1 => (GREY, Hatch::Rising),
        Rule::X1 => (Colour(0x5c, 0x53, 0x00), Hatch::Dots),
        Rule::A2 => (Colour(0x6a, 0x1f, 0x55), Hatch::Falling),
        Rule::R2 => (Colour(0x8f, 0x36, 0x00), Hatch::Horizontal),
        Rule::R3 => (Colour(0x00, 0x1f, 0x52), Hatch::Plain),
        Rule::Registers => (Colour(0x00, 0x55, 0x3c), Hatch::Vertical),
        Rule::C2 => (Colour(0x0a, 0x4f, 0x6e), Hatch::Crossed),
        Rule::N1 => (AMBER, Hatch::Grid),
        Rule::N2 => (AMBER, Hatch::Falling),
        Rule::E2 => (Colour(0x45, 0x22, 0x10), Hatch::Dots),
        Rule::Channel => (BLACK, Hatch::Crossed),
        Rule::L1 => (LATENCY, Hatch::Plain),
        Rule::L2 => (LATENCY, Hatch::Rising),
        Rule::T1 => (TURN, Hatch::Horizontal),
        Rule::T4 => (TURN, Hatch::Vertical),
        Rule::T5 => (TURN, Hatch::Grid),
        Rule::Mps => (BLACK, Hatch::Rising),
        Rule::Cluster => (BLACK, Hatch::Falling),
        Rule::H1 => (Colour(0x84, 0x14, 0x24), Hatch::Grid),
        Rule::H2 => (Colour(0xb8, 0x34, 0x44), Hatch::Vertical),
    };
    match hatch {
        Hatch::Plain => Fill::plain(background),
        _ => Fill { background, hatch, ink: background.tint(INK) },
    }
}

/// The same on a dark page, where kernels have light strokes on a dark ground: dark strokes on a light one.
pub(crate) fn rule_fill_on_dark(rule: Rule) -> Fill {
    let Fill { background: ink, hatch, .. } = rule_fill(rule);
    match hatch {
        Hatch::Plain => Fill::plain(ink.tint(INK)),
        _ => Fill { background: ink.tint(INK), hatch, ink },
    }
}

/// Where an operation waits under a rule, or for what, as it follows "waits".
pub(crate) const fn rule_in_short(rule: Rule) -> &'static str {
    match rule {
        Rule::G2 | Rule::C1 => "in its stream",
        Rule::X1 => "in its EE queue",
        Rule::A2 => "for higher priority",
        Rule::R2 => "for threads",
        Rule::R3 => "for shared memory",
        Rule::Registers => "for registers",
        Rule::C2 => "for copy engine",
        Rule::N1 => "for blocking streams",
        Rule::N2 => "for NULL stream",
        Rule::Channel => "for a channel",
        Rule::E2 => "for an event",
        Rule::L1 => "for launch latency",
        Rule::L2 => "for the gap before it",
        Rule::T1 | Rule::T4 | Rule::T5 => "for its turn",
        Rule::Mps => "for SMs of its share",
        Rule::Cluster => "for SMs of one GPC",
        Rule::H1 => "to free memory",
        Rule::H2 => "for memory to be freed",
    }
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
            let own = rule_fill(one);
            assert!(own.hatch == Hatch::Plain || contrast(own.background, own.ink) >= 1.5, "{one}");
            for other in Rule::ALL.into_iter().skip(number + 1) {
                let fill = rule_fill(other);
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
                let apart = contrast(rule_fill(rule).background, kernel.background);
                assert!(apart >= 2.5, "{rule} and series {series}: {apart:.2}");
                let apart = contrast(rule_fill_on_dark(rule).background, series_colour(series).shade(45));
                assert!(apart >= 2.5, "{rule} and series {series} on a dark page: {apart:.2}");
            }
        }
    }
}
