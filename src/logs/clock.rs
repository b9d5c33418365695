//! The clock of logs, on which simulated instants are put beside measured ones.

use thiserror::Error;

use crate::time::Instant;

/// A simulated instant that is after the end of the clock of logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the simulation goes on until {0} at least, and times on the clock of logs are less than 2^63 ns (292 years)")]
pub struct LogTimeError(pub Instant);

/// A simulated instant on the clock of logs \[ns\], whose times are signed as measured clocks begin anywhere.
///
/// # Errors
/// [`LogTimeError`] from 2^63 ns on.
pub fn log_time(instant: Instant) -> Result<i64, LogTimeError> {
    i64::try_from(instant.as_ns()).map_err(|_| LogTimeError(instant))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_instant_of_the_clock_of_logs_is_taken_and_the_next_is_refused() {
        assert_eq!(log_time(Instant::from_ns(i64::MAX as u64)), Ok(i64::MAX));
        let after = Instant::from_ns(1 << 63);
        assert_eq!(log_time(after), Err(LogTimeError(after)));
    }
}
