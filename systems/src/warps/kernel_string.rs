//! The kernel instruction string, its transformation to one cycle per letter, and how many warps a unit serves per
//! cycle.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use num_integer::gcd;

use crate::limits::count_turn;

/// The longest string after transformation \[cycles of one warp\].
pub(crate) const MAX_STEPS: usize = 4096;

/// One kind of unit of the SM, as the user describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// The letter of its instructions, `A` to `Z`: L for load/store, C for CUDA cores in the report.
    pub letter: char,
    /// How many there are, as a share of a warp's threads.
    pub sigma: Sigma,
    /// Cycles of an instruction that does not give its own number; at least 1.
    pub cycles: u32,
}

impl Unit {
    /// A unit that serves one warp per cycle with instructions of one cycle.
    pub fn new(letter: char) -> Self {
        Self { letter, sigma: Sigma::ONE, cycles: 1 }
    }

    /// The letter that `text` is, if it can be that of a unit: one capital letter.
    pub fn letter_of(text: &str) -> Option<char> {
        let mut letters = text.chars();
        letters.next().filter(|letter| letter.is_ascii_uppercase() && letters.next().is_none())
    }
}

/// A kind of unit after the transformation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitKind {
    /// The letter of its instructions.
    pub letter: char,
    /// Sigma before the transformation.
    pub sigma: Sigma,
    /// Warps it serves per cycle; at least 1.
    pub capacity: u32,
}

/// One cycle of one instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstructionCycle {
    /// Index into [`KernelString::units`].
    pub unit: usize,
    /// Whether the warp still holds the unit from the step before and must go on without a pause.
    pub held: bool,
}

/// What every warp executes, one `InstructionCycle` per cycle.
///
/// Written as letters, each optionally followed by the cycles it takes: `L3C` is a load of three cycles and a
/// computation of one. A unit with sigma = 1/n takes n turns for each of them. Both become repeated letters (report,
/// section 3 and Fig. 1: `LC` with `sigma_L` = 1/2 is `LLC` with `sigma_L` = 1); other warps may come between the
/// repetitions unless the string is made [uninterrupted](Self::uninterrupted).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelString {
    units: Vec<UnitKind>,
    steps: Vec<InstructionCycle>,
    /// Whether the step goes on with the instruction of the step before.
    continues: Vec<bool>,
}

/// Why a kernel string cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelStringError {
    /// No instruction at all.
    #[error("the kernel string is empty; expected instructions such as LLC")]
    Empty,
    /// Something that is neither a letter of a unit nor a number of cycles.
    #[error(
        "kernel string, character {column}: found {found:?}; expected one of the units {known}, or the cycles of \
             the instruction before it"
    )]
    UnknownLetter {
        /// From 1.
        column: usize,
        /// The character.
        found: char,
        /// The letters that have a unit.
        known: String,
    },
    /// A number of cycles that is zero, too large, or stands before any letter.
    #[error(
        "kernel string, character {column}: found {found:?}; expected the cycles of the instruction before it, \
             1 to {MAX_STEPS}"
    )]
    BadCycles {
        /// From 1.
        column: usize,
        /// The digits.
        found: String,
    },
    /// The same letter for two units.
    #[error("unit {0} is described twice")]
    TwiceDescribed(char),
    /// A unit that is not called by a capital letter.
    #[error("found unit {0:?}; expected one capital letter from A to Z")]
    NoLetter(char),
    /// Too many cycles of one warp.
    #[error("one warp would take more than {MAX_STEPS} cycles")]
    TooLong,
}

impl KernelString {
    /// Reads a string over the letters of `units`.
    ///
    /// # Errors
    /// [`KernelStringError`] says what is wrong and where.
    pub fn parse(text: &str, units: &[Unit]) -> Result<Self, KernelStringError> {
        for (index, unit) in units.iter().enumerate() {
            if !unit.letter.is_ascii_uppercase() {
                return Err(KernelStringError::NoLetter(unit.letter));
            }
            if units.iter().take(index).any(|other| other.letter == unit.letter) {
                return Err(KernelStringError::TwiceDescribed(unit.letter));
            }
        }
        let kind = |&Unit { letter, sigma, .. }: &Unit| UnitKind { letter, sigma, capacity: sigma.capacity().get() };
        let kinds = units.iter().map(kind).collect();
        let mut string = Self { units: kinds, steps: Vec::new(), continues: Vec::new() };
        let mut rest = text.char_indices().peekable();
        let mut column = 0;
        while let Some((_, found)) = rest.next() {
            count_turn();
            column += 1;
            if found.is_ascii_digit() && string.steps.is_empty() {
                return Err(KernelStringError::BadCycles { column, found: found.to_string() });
            }
            let Some(index) = units.iter().position(|unit| unit.letter == found) else {
                let known = units.iter().map(|unit| unit.letter.to_string()).collect::<Vec<_>>().join(", ");
                return Err(KernelStringError::UnknownLetter { column, found, known });
            };
            let mut digits = String::new();
            while let Some((_, digit)) = rest.next_if(|(_, next)| next.is_ascii_digit()) {
                digits.push(digit);
            }
            let cycles = match (digits.as_str(), digits.parse::<u32>()) {
                ("", _) => units[index].cycles,
                (_, Ok(cycles)) if cycles > 0 => cycles,
                _ => return Err(KernelStringError::BadCycles { column: column + 1, found: digits }),
            };
            column += digits.len();
            string.push(index, u64::from(cycles) * u64::from(units[index].sigma.repetitions().get()))?;
        }
        if string.steps.is_empty() { Err(KernelStringError::Empty) } else { Ok(string) }
    }

    fn push(&mut self, unit: usize, turns: u64) -> Result<(), KernelStringError> {
        let room = MAX_STEPS - self.steps.len();
        let turns = usize::try_from(turns).ok().filter(|&turns| turns <= room).ok_or(KernelStringError::TooLong)?;
        for turn in 0..turns {
            self.steps.push(InstructionCycle { unit, held: false });
            self.continues.push(turn > 0);
        }
        Ok(())
    }

    /// The same string for hardware that finishes an instruction of several cycles without a pause.
    ///
    /// Every schedule of this string is one of the interruptible string too, so worst-case bounds of that one hold.
    pub fn uninterrupted(mut self) -> Self {
        for (step, &continues) in self.steps.iter_mut().zip(&self.continues) {
            step.held = continues;
        }
        self
    }

    /// The kinds of units, in the order in which they were described.
    #[doc(hidden)]
    pub fn units(&self) -> &[UnitKind] {
        &self.units
    }

    /// What each warp does, in order.
    #[doc(hidden)]
    pub fn steps(&self) -> &[InstructionCycle] {
        &self.steps
    }

    /// The report's I: cycles that one warp alone takes.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Never: an empty string cannot be read.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Steps on a unit: the report's `I_L` and `I_C`.
    #[doc(hidden)]
    pub fn steps_on(&self, unit: usize) -> u64 {
        self.steps.iter().filter(|step| step.unit == unit).count() as u64
    }

    /// Whether every unit in use serves one warp per cycle.
    pub fn one_warp_per_unit(&self) -> bool {
        self.steps.iter().all(|step| self.units[step.unit].capacity == 1)
    }
}

impl fmt::Display for KernelString {
    /// The transformed string, one letter per cycle.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| write!(out, "{}", self.units[step.unit].letter))
    }
}

/// The report's sigma of one kind of unit: the number of units divided by the warp size (Berezovskyi, Bletsas and
/// Andersson, "Makespan computation for GPU threads running on a single streaming multiprocessor", HURRAY-TR-120710,
/// 2012, Eq. 1 and 2). 1/n, or any fraction from 1 on.
///
/// 16 load/store units and warps of 32 threads give 1/2: a warp's instruction takes two turns. 48 units give 3/2: a
/// warp needs 32 of them in one cycle, so they serve one warp, and 16 are left over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sigma {
    /// In lowest terms; the numerator is 1 or at least the denominator.
    numerator: NonZeroU32,
    denominator: NonZeroU32,
}

/// A sigma that is zero, no number, or a fraction below 1 that is not one over a whole number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("found {found:?}; expected a number from 1, or one over a whole number, such as 2, 3/2, 1/2 or 0.5{hint}")]
pub struct SigmaError {
    found: String,
    hint: &'static str,
}

impl Sigma {
    /// One warp per cycle.
    pub const ONE: Sigma = Sigma { numerator: NonZeroU32::MIN, denominator: NonZeroU32::MIN };

    /// Warps per cycle once fractions below 1 are written as repeated instructions: whole warps, so 1 for 3/2.
    pub fn capacity(self) -> NonZeroU32 {
        NonZeroU32::new(self.numerator.get() / self.denominator.get()).unwrap_or(NonZeroU32::MIN)
    }

    /// How many times an instruction is written: n for 1/n, 1 from 1 on.
    pub fn repetitions(self) -> NonZeroU32 {
        if self.numerator < self.denominator { self.denominator } else { NonZeroU32::MIN }
    }

    /// Whether units are left over that are too few for a warp: above 1 and not whole.
    pub fn has_rest(self) -> bool {
        self.numerator > self.denominator && self.denominator > NonZeroU32::MIN
    }

    /// The report's `ceil(W / sigma)`, with sigma as it stands.
    pub fn rounds(self, warps: u32) -> u64 {
        (u64::from(warps) * u64::from(self.denominator.get())).div_ceil(u64::from(self.numerator.get()))
    }

    fn from_fraction(numerator: u64, denominator: u64) -> Option<Self> {
        let common = gcd(numerator, denominator);
        let lowest = |n: u64| u32::try_from(n.checked_div(common)?).ok().and_then(NonZeroU32::new);
        let sigma = Self { numerator: lowest(numerator)?, denominator: lowest(denominator)? };
        (sigma.numerator == NonZeroU32::MIN || sigma.numerator >= sigma.denominator).then_some(sigma)
    }
}

impl FromStr for Sigma {
    type Err = SigmaError;

    /// Reads `2`, `3/2` or `0.5`.
    fn from_str(text: &str) -> Result<Self, SigmaError> {
        let digits = |part: &str| {
            let plain = !part.is_empty() && part.len() <= 9 && part.bytes().all(|byte| byte.is_ascii_digit());
            if plain { part.parse::<u64>().ok() } else { None }
        };
        let fraction = if let Some((numerator, denominator)) = text.split_once('/') {
            digits(numerator).zip(digits(denominator))
        } else if let Some((whole, decimals)) = text.split_once('.') {
            // At most nine decimals, so neither the power nor the product leaves 64 bits.
            digits(whole).zip(digits(decimals)).and_then(|(units, parts)| {
                let denominator = 10_u64.pow(u32::try_from(decimals.len()).ok()?);
                Some((units * denominator + parts, denominator))
            })
        } else {
            digits(text).map(|whole| (whole, 1))
        };
        let sigma = fraction.and_then(|(numerator, denominator)| Self::from_fraction(numerator, denominator));
        let hint = if text.contains('.') { " (write 1/3 for a third)" } else { "" };
        sigma.ok_or_else(|| SigmaError { found: text.to_owned(), hint })
    }
}

impl fmt::Display for Sigma {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { numerator, denominator } = self;
        if denominator.get() == 1 { write!(out, "{numerator}") } else { write!(out, "{numerator}/{denominator}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(letter: char, sigma: &str, cycles: u32) -> Unit {
        Unit { letter, sigma: sigma.parse().unwrap(), cycles }
    }

    fn transformed(text: &str, units: &[Unit]) -> Result<String, KernelStringError> {
        KernelString::parse(text, units).map(|string| string.to_string())
    }

    #[test]
    fn report_figure_1_lc_with_half_a_load_store_unit_is_llc() {
        assert_eq!(transformed("LC", &[unit('L', "1/2", 1), unit('C', "1", 1)]).unwrap(), "LLC");
    }

    #[test]
    fn cycles_stand_behind_the_letter_and_multiply_with_the_turns_of_a_fraction() {
        let units = [unit('L', "1/2", 1), unit('C', "1", 3), unit('S', "2", 1)];
        assert_eq!(transformed("L2C1SC", &units).unwrap(), "LLLLCSCCC");
        let held: Vec<bool> =
            KernelString::parse("LC2", &units).unwrap().uninterrupted().steps().iter().map(|step| step.held).collect();
        assert_eq!(held, [false, true, false, true]);
    }

    #[test]
    fn strings_that_mean_nothing_are_refused_with_their_place() {
        let units = [Unit::new('L'), Unit::new('C')];
        assert_eq!(transformed("", &units), Err(KernelStringError::Empty));
        let message = |text| transformed(text, &units).unwrap_err().to_string();
        assert!(message("L12CX").contains("character 5: found 'X'"), "{}", message("L12CX"));
        assert!(message("lc").contains("character 1: found 'l'"));
        assert!(message("3L").contains("character 1: found \"3\""));
        assert!(message("LC0").contains("character 3: found \"0\""));
        assert!(message("L99999999999999999999").contains("character 2"));
        assert_eq!(transformed("L4000C97", &units), Err(KernelStringError::TooLong));
        assert_eq!(transformed("L", &[Unit::new('L'), Unit::new('L')]), Err(KernelStringError::TwiceDescribed('L')));
        assert_eq!(transformed("L", &[Unit::new('é')]), Err(KernelStringError::NoLetter('é')));
    }

    #[test]
    fn sigma_is_one_over_a_whole_number_or_any_fraction_from_1_on() {
        for (text, shown) in [
            ("1", "1"),
            ("2/1", "2"),
            ("1/2", "1/2"),
            ("0.5", "1/2"),
            ("2/4", "1/2"),
            ("0.125", "1/8"),
            ("48/32", "3/2"),
            ("1.5", "3/2"),
        ] {
            assert_eq!(text.parse::<Sigma>().map(|sigma| sigma.to_string()).as_deref(), Ok(shown), "{text}");
        }
        for text in ["", "0", "0.0", "0/0", "0/1", "1/0", "2/3", "0.3", "-1", "x", "1/2/3", "1e3", "99999999999"] {
            assert!(text.parse::<Sigma>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_warp_needs_all_its_units_in_one_cycle_if_there_are_enough() {
        let of = |text: &str| {
            let sigma: Sigma = text.parse().unwrap();
            (sigma.capacity().get(), sigma.repetitions().get(), sigma.has_rest(), sigma.rounds(4))
        };
        assert_eq!(of("3/2"), (1, 1, true, 3));
        assert_eq!(of("7/3"), (2, 1, true, 2));
        assert_eq!(of("2"), (2, 1, false, 2));
        assert_eq!(of("1/2"), (1, 2, false, 8));
    }
}
