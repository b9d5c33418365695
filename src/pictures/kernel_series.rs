//! Which kernels look alike in pictures: all launches of one title do.

use std::cmp::Ordering;
use std::iter::Peekable;
use std::str::Chars;

use crate::limits::count_turn;
use crate::workload::{CheckedKernel, KernelId};

/// For each kernel, the number of its title among all titles in natural order (`K2` before `K10`). It depends on
/// nothing but the titles, so the same kernels look the same in a simulation, in its measurement and in any picture of
/// either.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KernelSeries(Vec<usize>);

impl KernelSeries {
    pub(crate) fn new(kernels: &[CheckedKernel]) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_by_their_value() {
        let mut names = ["K10", "K2", "stage 2 b", "K1", "stage 2", "K02", "stage 11"];
        names.sort_unstable_by(|one, other| natural_order(one, other));
        assert_eq!(names, ["K1", "K02", "K2", "K10", "stage 2", "stage 2 b", "stage 11"]);
    }
}
