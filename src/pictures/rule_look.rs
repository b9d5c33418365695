//! How reports show the rules that make operations wait: a fill for each.

use crate::draw::theme::{Colour, Fill, Hatch};
use crate::trace::Rule;

/// How much of its background's colour is left in a hatch \[percent\].
const INK: u16 = 50;

/// The fill of the time that an operation waits under a rule: of Okabe and Ito's colours as far as they reach. In grey,
/// rules differ in hatch or in lightness.
pub(crate) fn rule_fill(rule: Rule) -> Fill {
    let (background, hatch) = match rule {
        Rule::G2 => (Colour(0xa8, 0xa8, 0xa8), Hatch::Plain),
        Rule::C1 => (Colour(0xa8, 0xa8, 0xa8), Hatch::Rising),
        Rule::X1 => (Colour(0xf0, 0xe4, 0x42), Hatch::Dots),
        Rule::A2 => (Colour(0xcc, 0x79, 0xa7), Hatch::Falling),
        Rule::R2 => (Colour(0xd5, 0x5e, 0x00), Hatch::Horizontal),
        Rule::R3 => (Colour(0x00, 0x72, 0xb2), Hatch::Plain),
        Rule::Registers => (Colour(0x00, 0x9e, 0x73), Hatch::Vertical),
        Rule::C2 => (Colour(0x56, 0xb4, 0xe9), Hatch::Crossed),
        Rule::N1 => (Colour(0xe6, 0x9f, 0x00), Hatch::Grid),
        Rule::N2 => (Colour(0xe6, 0x9f, 0x00), Hatch::Dots),
        Rule::E2 => (Colour(0x8c, 0x62, 0x39), Hatch::Falling),
        Rule::Channel => (Colour(0x4d, 0x4d, 0x4d), Hatch::Plain),
        Rule::L1 => (Colour(0xd9, 0xd9, 0xd9), Hatch::Plain),
        Rule::L2 => (Colour(0xd9, 0xd9, 0xd9), Hatch::Rising),
        Rule::T1 => (Colour(0xf7, 0xf7, 0xf7), Hatch::Crossed),
        Rule::T4 => (Colour(0xff, 0xff, 0xff), Hatch::Vertical),
        Rule::T5 => (Colour(0xff, 0xff, 0xff), Hatch::Falling),
        Rule::Mps => (Colour(0x4d, 0x4d, 0x4d), Hatch::Dots),
    };
    match hatch {
        Hatch::Plain => Fill::plain(background),
        _ => Fill { background, hatch, ink: background.shade(INK) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
