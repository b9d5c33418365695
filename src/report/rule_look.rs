//! How reports show the rules that make operations wait: a colour and a few words for each.

use crate::draw::theme::Colour;
use crate::trace::Rule;

/// Colour of the time that an operation waits under a rule, of Okabe and Ito's as far as they reach. Rules that say the
/// same of kernels and copies, or of the NULL stream and of the others, share one; their names are written beside it.
pub(crate) const fn rule_colour(rule: Rule) -> Colour {
    match rule {
        Rule::G2 | Rule::C1 => Colour(0xa8, 0xa8, 0xa8),
        Rule::X1 => Colour(0xf0, 0xe4, 0x42),
        Rule::A2 => Colour(0xcc, 0x79, 0xa7),
        Rule::R2 => Colour(0xd5, 0x5e, 0x00),
        Rule::R3 => Colour(0x00, 0x72, 0xb2),
        Rule::Registers => Colour(0x00, 0x9e, 0x73),
        Rule::C2 => Colour(0x56, 0xb4, 0xe9),
        Rule::N1 | Rule::N2 => Colour(0xe6, 0x9f, 0x00),
        Rule::E2 => Colour(0x8c, 0x62, 0x39),
        Rule::Channel => Colour(0x4d, 0x4d, 0x4d),
        Rule::L1 | Rule::L2 => Colour(0xd9, 0xd9, 0xd9),
    }
}

/// What a rule means, in few words.
pub(crate) const fn rule_meaning(rule: Rule) -> &'static str {
    match rule {
        Rule::G2 => "not at the head of its stream",
        Rule::C1 => "copy not at the head of its stream",
        Rule::X1 => "not at the head of its EE queue",
        Rule::A2 => "an EE queue of higher priority is not empty",
        Rule::R2 => "no SM has enough free threads and a free block slot",
        Rule::R3 => "no SM with enough threads has enough free shared memory",
        Rule::Registers => "no SM with enough of the rest has enough free registers",
        Rule::C2 => "the copy engine is busy",
        Rule::N1 => "the NULL stream waits for blocking streams",
        Rule::N2 => "a blocking stream waits for the NULL stream",
        Rule::Channel => "no hardware channel is free",
        Rule::E2 => "an event is not recorded yet",
        Rule::L1 => "launch latency",
        Rule::L2 => "gap between kernels of a stream",
    }
}
