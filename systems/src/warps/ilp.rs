//! The report's binary integer linear program, row by row, and as a text file in CPLEX LP format, which every MILP
//! solver reads.

use std::io::{self, Write};

use super::bound::{bound, pessimistic};
use super::kernel_string::KernelString;
use crate::named::named;
use crate::proven::OrMost;

#[cfg(feature = "ilp")]
use super::schedule::{Issue, Schedule};

/// Coefficients up to which the program is given to a solver: some gigabytes of memory.
#[cfg(feature = "ilp")]
pub(super) const MAX_SOLVED_COEFFICIENTS: u64 = 20_000_000;
/// Coefficients up to which the program is written to a file: some gigabytes of text.
const MAX_WRITTEN_COEFFICIENTS: u64 = 100_000_000;

/// How the program says that no unit has room while a warp waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkConserving {
    /// One constraint per warp, step and cycle: the report's Eq. 34 and 37.
    Short,
    /// One constraint per warp and cycle: the report's Eq. 33 and 36.
    Long,
}

/// The program of Berezovskyi et al., HURRAY-TR-120710, 2012, section 5 and Fig. 3, for any number of units.
///
/// All variables are binary. `run_L_w_i_t` is the report's LS, `run_C_w_i_t` its CC: warp w does step i in cycle t
/// (all from 1). `full_L_t` is its E, `full_C_t` its G: the unit has no room in cycle t. Rows are multiplied by their
/// denominators, so that every coefficient is a whole number; nothing is left out or added, except that steps which
/// may not be [interrupted](KernelString::uninterrupted) have an equation for their order.
#[derive(Debug, Clone, Copy)]
pub struct Ilp<'a> {
    string: &'a KernelString,
    warps: usize,
    horizon: usize,
    work_conserving: WorkConserving,
}

named! {
    /// Which way a row is bounded.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Relation {
        AtMost = "<=",
        Equal = "=",
        AtLeast = ">=",
    }
}

/// One row: the sum of coefficient times variable, its relation to the right-hand side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Constraint {
    /// Unique in the program.
    pub name: String,
    /// Coefficient and number of a variable; each variable at most once.
    pub terms: Vec<(i64, usize)>,
    /// Which way it is bounded.
    pub relation: Relation,
    /// The right-hand side.
    pub right: i64,
}

/// The program would have too many coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the integer program would have about {coefficients} coefficients; {allowed} are allowed")]
pub struct IlpTooLarge {
    /// Coefficients other than zero, about.
    pub coefficients: u128,
    /// How many may be.
    pub allowed: u64,
}

impl<'a> Ilp<'a> {
    /// The program for at least one warp. Its horizon T is the report's [`pessimistic`] value where that is a bound
    /// (every sigma 1), and our [`bound`] elsewhere.
    ///
    /// # Errors
    /// [`IlpTooLarge`] if it would take more than some gigabytes as text.
    pub fn new(string: &'a KernelString, warps: u32, form: WorkConserving) -> Result<Self, IlpTooLarge> {
        Self::within(MAX_WRITTEN_COEFFICIENTS, string, warps, form)
    }

    /// The same if it has at most `allowed` coefficients.
    pub(super) fn within(
        allowed: u64,
        string: &'a KernelString,
        warps: u32,
        work_conserving: WorkConserving,
    ) -> Result<Self, IlpTooLarge> {
        let cycles = if string.one_warp_per_unit() { pessimistic(string, warps) } else { bound(string, warps).cycles };
        let (units, steps) = (string.units().len() as u128, string.len() as u128);
        let (warps_wide, cycles_wide) = (u128::from(warps.max(1)), u128::from(cycles));
        // Work conservation has a sum over the horizon in each of W I T rows, twice; the rest is linear in T.
        let factors = [steps, cycles_wide, units, 2 * cycles_wide + 10];
        let coefficients = factors.into_iter().fold(warps_wide, u128::saturating_mul);
        let too_large = IlpTooLarge { coefficients, allowed };
        if coefficients > u128::from(allowed) {
            return Err(too_large);
        }
        let horizon = usize::try_from(cycles).map_err(|_| too_large)?;
        Ok(Self { string, warps: warps.max(1) as usize, horizon, work_conserving })
    }

    /// How many variables there are, all of them binary.
    pub(super) fn variables(&self) -> usize {
        let units = self.string.units().len();
        units * self.warps * self.string.len() * self.horizon + units * self.horizon
    }

    pub(super) fn variable_name(&self, variable: usize) -> String {
        let steps = self.string.len();
        let of_units = self.variables() - self.string.units().len() * self.horizon;
        if let Some(full) = variable.checked_sub(of_units) {
            let (unit, cycle) = (full / self.horizon, full % self.horizon);
            return format!("full_{}_{}", self.letter(unit), cycle + 1);
        }
        let (rest, cycle) = (variable / self.horizon, variable % self.horizon);
        let (rest, step) = (rest / steps, rest % steps);
        let (unit, warp) = (rest / self.warps, rest % self.warps);
        format!("run_{}_{}_{}_{}", self.letter(unit), warp + 1, step + 1, cycle + 1)
    }

    fn letter(&self, unit: usize) -> char {
        self.string.units()[unit].letter
    }

    fn run(&self, unit: usize, warp: usize, step: usize, cycle: usize) -> usize {
        ((unit * self.warps + warp) * self.string.len() + step) * self.horizon + cycle
    }

    fn full(&self, unit: usize, cycle: usize) -> usize {
        self.run(self.string.units().len(), 0, 0, 0) + unit * self.horizon + cycle
    }

    /// Whether the warp does the step in one of the cycles, on whatever unit.
    fn done_in(
        &self,
        warp: usize,
        step: usize,
        cycles: impl Iterator<Item = usize> + Clone,
    ) -> impl Iterator<Item = (i64, usize)> {
        let units = 0..self.string.units().len();
        units.flat_map(move |unit| cycles.clone().map(move |cycle| (1, self.run(unit, warp, step, cycle))))
    }

    /// The cycle in which the warp does the step (the report's Y, Eq. 19), times `factor`.
    fn when(&self, warp: usize, step: usize, factor: i64) -> impl Iterator<Item = (i64, usize)> {
        let cycles = (1_i64..).zip(0..self.horizon);
        let units = 0..self.string.units().len();
        units.flat_map(move |unit| {
            cycles.clone().map(move |(number, cycle)| (factor * number, self.run(unit, warp, step, cycle)))
        })
    }

    /// What is maximised: the cycle in which the last warp does its last step (Eq. 13).
    pub(super) fn objective(&self) -> Vec<(i64, usize)> {
        self.when(self.warps - 1, self.string.len() - 1, 1).collect()
    }

    /// Calls `each` with every row, in the order of the report's Fig. 3, until it fails.
    ///
    /// # Errors
    /// Whatever `each` gives.
    pub(super) fn for_each_row<E>(&self, mut each: impl FnMut(Constraint) -> Result<(), E>) -> Result<(), E> {
        self.capacity_rows(&mut each)?;
        self.execution_rows(&mut each)?;
        for unit in 0..self.string.units().len() {
            self.full_rows(unit, &mut each)?;
            match self.work_conserving {
                WorkConserving::Short => self.short_rows(unit, &mut each)?,
                WorkConserving::Long => self.long_rows(unit, &mut each)?,
            }
        }
        Ok(())
    }

    /// Eq. 14 and 15: no unit serves more than sigma warps in a cycle.
    fn capacity_rows<E>(&self, each: &mut impl FnMut(Constraint) -> Result<(), E>) -> Result<(), E> {
        for (unit, kind) in self.string.units().iter().enumerate() {
            for cycle in 0..self.horizon {
                let name = format!("capacity_{}_{}", kind.letter, cycle + 1);
                let terms = self.on_unit(unit, cycle, 1).collect();
                each(Constraint { name, terms, relation: Relation::AtMost, right: kind.capacity.into() })?;
            }
        }
        Ok(())
    }

    fn on_unit(&self, unit: usize, cycle: usize, factor: i64) -> impl Iterator<Item = (i64, usize)> {
        let steps = self.string.len();
        (0..self.warps * steps).map(move |both| (factor, self.run(unit, both / steps, both % steps, cycle)))
    }

    /// The last warp finishes last; Eq. 16: one step per warp, unit and cycle; Eq. 17: each step once, on its unit;
    /// Eq. 18 and 19: in order.
    fn execution_rows<E>(&self, each: &mut impl FnMut(Constraint) -> Result<(), E>) -> Result<(), E> {
        let (last_warp, steps) = (self.warps - 1, self.string.len());
        for warp in 0..last_warp {
            let terms = self.when(warp, steps - 1, 1).chain(self.when(last_warp, steps - 1, -1)).collect();
            each(Constraint { name: format!("last_{}", warp + 1), terms, relation: Relation::AtMost, right: 0 })?;
        }
        for (unit, kind) in self.string.units().iter().enumerate() {
            for warp in 0..self.warps {
                for cycle in 0..self.horizon {
                    let name = format!("one_{}_{}_{}", kind.letter, warp + 1, cycle + 1);
                    let terms = (0..steps).map(|step| (1, self.run(unit, warp, step, cycle))).collect();
                    each(Constraint { name, terms, relation: Relation::AtMost, right: 1 })?;
                }
                for (step, what) in self.string.steps().iter().enumerate() {
                    let name = format!("once_{}_{}_{}", kind.letter, warp + 1, step + 1);
                    let terms = (0..self.horizon).map(|cycle| (1, self.run(unit, warp, step, cycle))).collect();
                    each(Constraint { name, terms, relation: Relation::Equal, right: i64::from(what.unit == unit) })?;
                }
            }
        }
        for warp in 0..self.warps {
            for (step, next) in self.string.steps().iter().enumerate().skip(1) {
                let name = format!("order_{}_{}", warp + 1, step);
                let terms = self.when(warp, step - 1, 1).chain(self.when(warp, step, -1)).collect();
                let relation = if next.held { Relation::Equal } else { Relation::AtMost };
                each(Constraint { name, terms, relation, right: -1 })?;
            }
        }
        Ok(())
    }

    /// Eq. 40 and 41: `full` is 1 exactly when sigma warps are served.
    fn full_rows<E>(&self, unit: usize, each: &mut impl FnMut(Constraint) -> Result<(), E>) -> Result<(), E> {
        let (letter, capacity) = (self.letter(unit), i64::from(self.string.units()[unit].capacity));
        for cycle in 0..self.horizon {
            let full = self.full(unit, cycle);
            let with = |factor| std::iter::once((factor, full)).chain(self.on_unit(unit, cycle, -1)).collect();
            let name = format!("full_low_{letter}_{}", cycle + 1);
            each(Constraint { name, terms: with(1), relation: Relation::AtLeast, right: 1 - capacity })?;
            let name = format!("full_high_{letter}_{}", cycle + 1);
            each(Constraint { name, terms: with(capacity), relation: Relation::AtMost, right: 0 })?;
        }
        Ok(())
    }

    /// The report's TL (or TC): 1 unless the warp waits in this cycle with the step for the unit. Its terms and
    /// constant.
    fn not_waiting(&self, unit: usize, warp: usize, step: usize, cycle: usize) -> (Vec<(i64, usize)>, i64) {
        if self.string.steps()[step].unit != unit {
            return (Vec::new(), 1);
        }
        let done = self.done_in(warp, step, 0..=cycle);
        match step.checked_sub(1) {
            None => (done.collect(), 0),
            Some(before) => (done.chain(self.done_in(warp, before, cycle..self.horizon)).collect(), 0),
        }
    }

    /// Eq. 34 and 37: (TL + E) / 2 <= 1 <= TL + E for each step, the first of them times 2.
    fn short_rows<E>(&self, unit: usize, each: &mut impl FnMut(Constraint) -> Result<(), E>) -> Result<(), E> {
        for warp in 0..self.warps {
            for step in 0..self.string.len() {
                for cycle in 0..self.horizon {
                    let (mut terms, constant) = self.not_waiting(unit, warp, step, cycle);
                    terms.push((1, self.full(unit, cycle)));
                    let place = format!("{}_{}_{}_{}", self.letter(unit), warp + 1, step + 1, cycle + 1);
                    let low = (Relation::AtLeast, 1 - constant);
                    let high = (Relation::AtMost, 2 - constant);
                    work_rows(&place, &terms, low, high, each)?;
                }
            }
        }
        Ok(())
    }

    /// Eq. 33 and 36: (-(I - 1) / I + sum of TL / I + E) / 2 <= 1 <= sum of TL / I + E, times 2 I and I.
    fn long_rows<E>(&self, unit: usize, each: &mut impl FnMut(Constraint) -> Result<(), E>) -> Result<(), E> {
        let steps = i64::try_from(self.string.len()).or_most();
        for warp in 0..self.warps {
            for cycle in 0..self.horizon {
                let (mut terms, mut constants) = (vec![(steps, self.full(unit, cycle))], 0);
                for step in 0..self.string.len() {
                    let (more, constant) = self.not_waiting(unit, warp, step, cycle);
                    constants += constant;
                    terms.extend(more);
                }
                let terms = added_up(terms);
                let place = format!("{}_{}_{}", self.letter(unit), warp + 1, cycle + 1);
                let low = (Relation::AtLeast, steps - constants);
                let high = (Relation::AtMost, 3 * steps - 1 - constants);
                work_rows(&place, &terms, low, high, each)?;
            }
        }
        Ok(())
    }

    /// The schedule that a solution describes: for each variable, whether it is 1.
    #[cfg(feature = "ilp")]
    pub(super) fn schedule(&self, ones: &[bool]) -> Schedule {
        let mut cycles = vec![Vec::new(); self.horizon];
        for unit in 0..self.string.units().len() {
            for (warp_number, warp) in (0_u32..).zip(0..self.warps) {
                for step in 0..self.string.len() {
                    for (cycle, issues) in cycles.iter_mut().enumerate() {
                        if ones.get(self.run(unit, warp, step, cycle)) == Some(&true) {
                            issues.push(Issue { warp: warp_number, step });
                        }
                    }
                }
            }
        }
        let used = cycles.iter().rposition(|issues| !issues.is_empty()).map_or(0, |last| last + 1);
        cycles.truncate(used);
        for issues in &mut cycles {
            issues.sort_unstable();
        }
        Schedule { warps: u32::try_from(self.warps).or_most(), cycles }
    }
}

/// The same terms with each variable once.
fn added_up(mut terms: Vec<(i64, usize)>) -> Vec<(i64, usize)> {
    crate::sorted::sort_by_key(&mut terms, |&(_, variable)| variable);
    terms.dedup_by(|term, kept| {
        let same = term.1 == kept.1;
        if same {
            kept.0 += term.0;
        }
        same
    });
    terms
}

fn work_rows<E>(
    place: &str,
    terms: &[(i64, usize)],
    low: (Relation, i64),
    high: (Relation, i64),
    each: &mut impl FnMut(Constraint) -> Result<(), E>,
) -> Result<(), E> {
    for (side, (relation, right)) in [("low", low), ("high", high)] {
        each(Constraint { name: format!("work_{side}_{place}"), terms: terms.to_vec(), relation, right })?;
    }
    Ok(())
}

/// Lines of an LP file may not be longer than some 500 characters.
const MAX_LINE: usize = 100;

impl Ilp<'_> {
    /// Writes the program in CPLEX LP format, row by row.
    ///
    /// # Errors
    /// Whatever `out` refuses.
    pub fn write_lp(&self, mut out: impl Write) -> io::Result<()> {
        writeln!(
            out,
            "\\ Worst-case makespan of warps on one SM: Berezovskyi, Bletsas, Andersson, HURRAY-TR-120710, 2012."
        )?;
        writeln!(
            out,
            "\\ run_U_w_i_t: warp w does step i on unit U in cycle t. full_U_t: unit U has no room in cycle t."
        )?;
        writeln!(out, "Maximize")?;
        self.write_sum(&mut out, "makespan", &self.objective())?;
        writeln!(out, "\nSubject To")?;
        self.for_each_row(|row| {
            self.write_sum(&mut out, &row.name, &row.terms)?;
            writeln!(out, " {} {}", row.relation.name(), row.right)
        })?;
        writeln!(out, "Binaries")?;
        for variable in 0..self.variables() {
            writeln!(out, " {}", self.variable_name(variable))?;
        }
        writeln!(out, "End")
    }

    fn write_sum(&self, out: &mut impl Write, name: &str, terms: &[(i64, usize)]) -> io::Result<()> {
        let mut line = format!(" {name}:");
        for (index, &(factor, variable)) in terms.iter().enumerate() {
            let sign = match (factor < 0, index) {
                (true, _) => " -",
                (false, 0) => "",
                (false, _) => " +",
            };
            let factor = factor.unsigned_abs();
            let times = if factor == 1 { String::new() } else { format!("{factor} ") };
            let term = format!("{sign} {times}{}", self.variable_name(variable));
            if line.len() + term.len() > MAX_LINE {
                writeln!(out, "{line}")?;
                line.clear();
                line.push(' ');
            }
            line.push_str(&term);
        }
        write!(out, "{line}")
    }
}
