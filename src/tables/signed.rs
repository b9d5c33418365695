//! Times with a sign, as people read them.

use crate::proven::OrMost;
use crate::time::Duration;

/// A time \[ns\] that may be negative: `-1.5 ms`.
pub(super) fn time(ns: i128) -> String {
    let length = Duration::from_ns(u64::try_from(ns.unsigned_abs()).or_most());
    if ns < 0 { format!("-{length}") } else { length.to_string() }
}

/// A difference of times \[ns\], of which one that is positive bears its sign too: `+1.5 ms`.
pub(super) fn difference(ns: i128) -> String {
    if ns > 0 { format!("+{}", time(ns)) } else { time(ns) }
}
