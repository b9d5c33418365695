//! Linear inequalities between unknowns that are not negative, solved exactly in whole numbers.
//!
//! This is the simplex method without an objective: each inequality has a slack, which may not be negative either. Of
//! all unknowns and slacks some are zero, the *columns*, and the others are expressed by them, the *rows*. While a row
//! is negative it changes places with a column; the smallest numbers go first (Bland's rule), so that this ends.

use num_integer::gcd;

use crate::limits::{count_turn, count_turns};
use crate::proven::OrMost;

/// The question is too large: it would take too many steps, or a number left 127 bits.
#[derive(Debug)]
pub(super) struct GivenUp;

/// What changing one term of a row takes, as a multiple of one addition, about.
const STEPS_OF_A_TERM: u64 = 20;

/// Takes so many additions from `steps`, and counts them.
pub(super) fn take_steps(steps: &mut u64, additions: u64) -> Result<(), GivenUp> {
    *steps = steps.checked_sub(additions).ok_or(GivenUp)?;
    count_turns(usize::try_from(additions).or_most());
    Ok(())
}

/// Inequalities with whole coefficients.
pub(super) struct Inequalities {
    /// How many unknowns there are; the slack of inequality k has the number `unknowns + k`.
    unknowns: usize,
    /// What is zero now.
    columns: Vec<usize>,
    rows: Vec<Row>,
    added: usize,
}

/// `scale` times an unknown or slack is `constant` plus the sum of `terms` times the columns; `scale` is above zero.
struct Row {
    subject: usize,
    scale: i128,
    constant: i128,
    terms: Vec<i128>,
}

impl Inequalities {
    /// None yet.
    pub(super) fn new(unknowns: usize) -> Self {
        Self { unknowns, columns: (0..unknowns).collect(), rows: Vec::new(), added: 0 }
    }

    /// Demands that `constant` plus the sum of coefficients times unknowns is not negative.
    pub(super) fn add(&mut self, constant: i128, sum: impl IntoIterator<Item = (i128, usize)>) -> Result<(), GivenUp> {
        let subject = self.unknowns + self.added;
        let mut row = Row { subject, scale: 1, constant, terms: vec![0; self.columns.len()] };
        for (coefficient, unknown) in sum {
            if let Some(column) = self.columns.iter().position(|&column| column == unknown) {
                let more = coefficient.checked_mul(row.scale).ok_or(GivenUp)?;
                row.terms[column] = row.terms[column].checked_add(more).ok_or(GivenUp)?;
            } else if let Some(known) = self.rows.iter().find(|row| row.subject == unknown) {
                let times = coefficient.checked_mul(row.scale).ok_or(GivenUp)?;
                row.add(times, known)?;
            }
        }
        self.rows.push(row);
        self.added += 1;
        Ok(())
    }

    /// Finds values that satisfy all; if there are none, inequalities that exclude each other. What it takes is taken
    /// from `steps`.
    pub(super) fn solve(&mut self, steps: &mut u64) -> Result<Result<(), Vec<usize>>, GivenUp> {
        loop {
            count_turn();
            let negative = self.rows.iter().enumerate().filter(|(_, row)| row.constant < 0);
            let Some((at, row)) = negative.min_by_key(|(_, row)| row.subject) else { return Ok(Ok(())) };
            let growing = (0..self.columns.len()).filter(|&column| row.terms[column] > 0);
            let Some(column) = growing.min_by_key(|&column| self.columns[column]) else {
                let zero = self.columns.iter().zip(&row.terms).filter(|(_, term)| **term < 0);
                let both = zero.map(|(&column, _)| column).chain([row.subject]);
                return Ok(Err(both.filter_map(|subject| subject.checked_sub(self.unknowns)).collect()));
            };
            let terms = (self.rows.len() * (self.columns.len() + 1)) as u64;
            take_steps(steps, STEPS_OF_A_TERM * terms)?;
            self.exchange(at, column)?;
        }
    }

    /// The values found of all unknowns, over one denominator.
    pub(super) fn values(&self) -> Result<(Vec<i128>, i128), GivenUp> {
        let known = || self.rows.iter().filter(|row| row.subject < self.unknowns);
        let mut denominator: i128 = 1;
        for row in known() {
            // The fraction is in lowest terms only together with the terms of its row.
            let scale = row.scale / gcd(row.scale, row.constant);
            denominator = (denominator / gcd(denominator, scale)).checked_mul(scale).ok_or(GivenUp)?;
        }
        let mut values = vec![0; self.unknowns];
        for row in known() {
            let common = gcd(row.scale, row.constant);
            let times = denominator / (row.scale / common);
            values[row.subject] = (row.constant / common).checked_mul(times).ok_or(GivenUp)?;
        }
        Ok((values, denominator))
    }

    /// A row and a column, whose term is above zero, change places.
    fn exchange(&mut self, at: usize, column: usize) -> Result<(), GivenUp> {
        let row = &mut self.rows[at];
        let scale = std::mem::replace(&mut row.scale, row.terms[column]);
        row.constant = -row.constant;
        for term in &mut row.terms {
            *term = -*term;
        }
        row.terms[column] = scale;
        std::mem::swap(&mut row.subject, &mut self.columns[column]);
        let exchanged = self.rows.swap_remove(at);
        for row in &mut self.rows {
            let times = std::mem::take(&mut row.terms[column]);
            if times != 0 {
                row.add(times, &exchanged)?;
            }
        }
        self.rows.push(exchanged);
        Ok(())
    }
}

impl Row {
    /// Adds `times` / `scale` times what `known` is the row of.
    fn add(&mut self, times: i128, known: &Self) -> Result<(), GivenUp> {
        let of = |own: i128, other: i128| {
            own.checked_mul(known.scale)?.checked_add(times.checked_mul(other)?).filter(|&sum| sum > i128::MIN)
        };
        self.constant = of(self.constant, known.constant).ok_or(GivenUp)?;
        for (own, &other) in self.terms.iter_mut().zip(&known.terms) {
            *own = of(*own, other).ok_or(GivenUp)?;
        }
        self.scale = self.scale.checked_mul(known.scale).ok_or(GivenUp)?;
        let numbers = self.terms.iter().chain([&self.constant]);
        let common = numbers.fold(self.scale, |common, &number| if common == 1 { 1 } else { gcd(common, number) });
        if common > 1 {
            self.scale /= common;
            self.constant /= common;
            for term in &mut self.terms {
                *term /= common;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solution_is_exact_and_a_contradiction_names_its_inequalities() {
        let mut system = Inequalities::new(2);
        // x + y >= 1, 3 x <= 1, 3 y <= 2: only x = 1/3, y = 2/3.
        system.add(-1, [(1, 0), (1, 1)]).unwrap();
        system.add(1, [(-3, 0)]).unwrap();
        system.add(2, [(-3, 1)]).unwrap();
        assert_eq!(system.solve(&mut 1_000).unwrap(), Ok(()));
        assert_eq!(system.values().unwrap(), (vec![1, 2], 3));
        // Nothing contradicts 5 >= 0; 10 y <= 6 contradicts the first two.
        system.add(5, []).unwrap();
        system.add(6, [(-10, 1)]).unwrap();
        let mut excluded = system.solve(&mut 1_000).unwrap().unwrap_err();
        excluded.sort_unstable();
        assert_eq!(excluded, [0, 1, 4]);
    }

    #[test]
    fn numbers_that_leave_127_bits_are_an_error() {
        let mut system = Inequalities::new(2);
        let large = i128::MAX / 3;
        system.add(-1, [(large, 0), (-5, 1)]).unwrap();
        system.add(-1, [(-7, 0), (large - 1, 1)]).unwrap();
        assert!(system.solve(&mut 1_000).is_err());
    }

    #[test]
    fn steps_that_are_used_up_are_an_error() {
        let mut system = Inequalities::new(1);
        system.add(-1, [(1, 0)]).unwrap();
        assert!(system.solve(&mut 39).is_err());
        assert_eq!(system.solve(&mut 40).unwrap(), Ok(()));
    }
}
