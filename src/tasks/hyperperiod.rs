//! Least common multiples that may not fit.

use num_integer::gcd;

use super::task_time::TaskTime;

/// Least common multiple of periods, each at least 1; 1 for none. `None` if it does not fit 62 bits, beyond which sums
/// of demand would not fit 64.
pub fn hyperperiod(periods: impl IntoIterator<Item = TaskTime>) -> Option<TaskTime> {
    common_multiple(periods.into_iter().map(TaskTime::units)).map(TaskTime::from_units)
}

/// The same of numbers.
pub(super) fn common_multiple(numbers: impl IntoIterator<Item = u64>) -> Option<u64> {
    let mut multiple = 1_u64;
    for number in numbers {
        multiple = multiple.checked_mul(number / gcd(multiple, number)).filter(|&multiple| multiple < 1 << 62)?;
    }
    Some(multiple)
}
