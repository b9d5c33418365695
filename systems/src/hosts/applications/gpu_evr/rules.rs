//! Decisions that the paper leaves open, each with its alternatives. `docs/gpu-evr.md` gives the reasons.

use thiserror::Error;

use crate::named::named;
use crate::time::Duration;

named! {
    /// In which order the urgent queue is served.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum UrgentQueue: ALL, from_name {
        /// First promoted, first served (Algorithm 1 pushes, and names no other order).
        #[default]
        Fifo = "fifo",
        /// The earliest `T_resp` first.
        Due = "due",
        /// Medium before low, then first promoted.
        Class = "class",
        /// There is no urgent queue; for measuring what it is good for.
        Off = "off",
    }
}

named! {
    /// What happens to a waiting application while all SMs are allotted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum FullGpu: ALL, from_name {
        /// If applications of a lower class have SMs that they can give up, it is submitted without any, and the
        /// reallocation gives it theirs.
        #[default]
        Reclaim = "reclaim",
        /// It waits until an application ends (Algorithm 1, line 11, and Equation 5 as printed).
        Wait = "wait",
    }
}

named! {
    /// What a running application keeps when the SMs for reallocation do not suffice.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Keep: ALL, from_name {
        /// One SM, because "applications may not be suspended after starting their execution" (section III).
        #[default]
        One = "one",
        /// Nothing: it can be left without SMs until the next reallocation (Algorithm 2, line 11, as printed).
        None = "none",
    }
}

named! {
    /// What happens to SMs that nobody needs (Algorithm 2, lines 21 and 22, which cannot be read).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Leftover: ALL, from_name {
        /// They stay free for what arrives next, as the fourth SM of Fig. 1 does.
        #[default]
        Free = "free",
        /// They are lent, in order of class, to running applications that get faster by them, and come back at the
        /// next block boundary when somebody needs them.
        Lend = "lend",
    }
}

named! {
    /// How the remaining time of a kernel is estimated.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Remaining: ALL, from_name {
        /// By the share of blocks not yet completed (Equation 7).
        #[default]
        Share = "share",
        /// By the rounds in which the blocks not yet completed run; exact where all SMs start together.
        Rounds = "rounds",
    }
}

named! {
    /// How many SMs an application needs that cannot meet its requirement with any number.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Late: ALL, from_name {
        /// As many as make it finish earliest.
        #[default]
        Fastest = "fastest",
        /// One: it is lost anyway, and others are not.
        One = "one",
    }
}

/// The decisions of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EvrRules {
    /// Order of the urgent queue.
    pub urgent: UrgentQueue,
    /// How long before `T_margin` a waiting application becomes urgent: the paper's "if current system time is close to
    /// `T_margin`", which says no number. 0 by default: at `T_margin`, the last instant that can still do.
    pub urgent_within: Duration,
    /// Waiting while all SMs are allotted.
    pub full_gpu: FullGpu,
    /// What a running application keeps.
    pub keep: Keep,
    /// SMs that nobody needs.
    pub leftover: Leftover,
    /// Estimate of the remaining time.
    pub remaining: Remaining,
    /// Applications that are late whatever they get.
    pub late: Late,
}

/// A rule that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RuleError {
    /// No such rule.
    #[error(
        "there is no rule {found:?}; there are urgent, urgent-within, full-gpu, keep, leftover, remaining and late"
    )]
    Key {
        /// What was asked for.
        found: String,
    },
    /// No such value.
    #[error("{found:?} is none of the rule's values {allowed}")]
    Value {
        /// What was asked for.
        found: String,
        /// What there is.
        allowed: String,
    },
    /// No time where one belongs.
    #[error("{found:?} is no time: expected one with a unit, such as 10ms")]
    Time {
        /// What was asked for.
        found: String,
    },
}

impl EvrRules {
    /// Sets the rule `key` (such as `full-gpu`) to the value `name` (such as `wait`; a time with its unit for
    /// `urgent-within`).
    ///
    /// # Errors
    /// [`RuleError`] if there is none of that name.
    pub fn set(&mut self, key: &str, name: &str) -> Result<(), RuleError> {
        match key {
            "urgent" => self.urgent = known(name, UrgentQueue::from_name, &UrgentQueue::ALL.map(UrgentQueue::name))?,
            "urgent-within" => {
                self.urgent_within = Duration::parse(name).map_err(|_| RuleError::Time { found: name.to_owned() })?;
            }
            "full-gpu" => self.full_gpu = known(name, FullGpu::from_name, &FullGpu::ALL.map(FullGpu::name))?,
            "keep" => self.keep = known(name, Keep::from_name, &Keep::ALL.map(Keep::name))?,
            "leftover" => self.leftover = known(name, Leftover::from_name, &Leftover::ALL.map(Leftover::name))?,
            "remaining" => self.remaining = known(name, Remaining::from_name, &Remaining::ALL.map(Remaining::name))?,
            "late" => self.late = known(name, Late::from_name, &Late::ALL.map(Late::name))?,
            _ => return Err(RuleError::Key { found: key.to_owned() }),
        }
        Ok(())
    }

    /// These rules with one changed, for every rule and every alternative (of `urgent-within` two times), with its name
    /// as `key=value`.
    pub fn alternatives(self) -> Vec<(String, Self)> {
        let keys: [(&str, Vec<&str>); 7] = [
            ("urgent", UrgentQueue::ALL.map(UrgentQueue::name).to_vec()),
            // Any time will do; these are what docs/gpu-evr.md compares.
            ("urgent-within", vec!["10ms", "100ms"]),
            ("full-gpu", FullGpu::ALL.map(FullGpu::name).to_vec()),
            ("keep", Keep::ALL.map(Keep::name).to_vec()),
            ("leftover", Leftover::ALL.map(Leftover::name).to_vec()),
            ("remaining", Remaining::ALL.map(Remaining::name).to_vec()),
            ("late", Late::ALL.map(Late::name).to_vec()),
        ];
        let mut found = Vec::new();
        for (key, names) in keys {
            for name in names {
                let mut changed = self;
                if changed.set(key, name).is_ok() && changed != self {
                    found.push((format!("{key}={name}"), changed));
                }
            }
        }
        found
    }
}

fn known<T>(found: &str, value: fn(&str) -> Option<T>, names: &[&str]) -> Result<T, RuleError> {
    value(found).ok_or_else(|| RuleError::Value { found: found.to_owned(), allowed: names.join(", ") })
}
