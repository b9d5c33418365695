//! What tests and runs say of one set of tasks with segments, and of the sets of a point.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use super::tally::Tally;
use crate::statistics::{Measure, Moments, PartsOfRuns};
use crate::tasks::segments::SegmentTest;

/// What runs of a set show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OfRuns {
    /// Whether no job was late in any.
    pub(super) no_miss: bool,
    /// The longest response found in parts of the bound \[thousandths\], the mean over tasks that have one.
    pub(super) found_permille_of_bound: Option<u64>,
}

/// One set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SegmentOutcome {
    /// What all its tasks need, in parts of the cores \[thousandths\].
    load_permille: u64,
    /// Whether nothing is known that no schedule could give it, where tasks are suspended and where they are busy.
    pub(super) necessary: [bool; 2],
    /// By the test's name: whether it accepts the set. Those that were not applied are missing.
    pub(super) accepted: BTreeMap<&'static str, bool>,
    /// By the name of the sound test that shares the GPU likewise.
    pub(super) runs: BTreeMap<&'static str, OfRuns>,
}

/// The names of columns and measures.
struct Names {
    /// Of each test: accepted, and that weighted by utilization.
    tests: Vec<(&'static str, String)>,
    /// Of each sound test: its own, no miss in any run, and found / bound.
    runs: Vec<(&'static str, String, String)>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| Names {
    tests: SegmentTest::ALL.iter().map(|test| (test.name(), format!("{}_weighted", test.name()))).collect(),
    runs: SegmentTest::sound()
        .map(|test| (test.name(), format!("{}_no_miss", test.name()), format!("{}_found_over_bound", test.name())))
        .collect(),
});

const NECESSARY: [&str; 2] = ["necessary-suspend", "necessary-busy"];

/// The columns of a row.
pub(super) static COLUMNS: LazyLock<String> = LazyLock::new(|| {
    let first = ["load_permille"].into_iter().chain(NECESSARY).map(str::to_owned);
    let tests = NAMES.tests.iter().map(|(name, _)| (*name).to_owned());
    let runs = NAMES.runs.iter().flat_map(|(_, no_miss, ratio)| [no_miss.clone(), format!("{ratio}_permille")]);
    first.chain(tests).chain(runs).collect::<Vec<_>>().join(",")
});

impl SegmentOutcome {
    pub(super) fn new(load_permille: u64) -> Self {
        Self { load_permille, necessary: [true; 2], accepted: BTreeMap::new(), runs: BTreeMap::new() }
    }

    fn parse(values: &str) -> Option<Self> {
        let mut fields = values.split(',');
        let mut read = Self::new(fields.next()?.parse().ok()?);
        for necessary in &mut read.necessary {
            *necessary = flag(fields.next()?)?;
        }
        for (name, _) in &NAMES.tests {
            let field = fields.next()?;
            if !field.is_empty() {
                read.accepted.insert(name, flag(field)?);
            }
        }
        for (name, ..) in &NAMES.runs {
            let (no_miss, ratio) = (fields.next()?, fields.next()?);
            if no_miss.is_empty() {
                continue;
            }
            let ratio = if ratio.is_empty() { None } else { Some(ratio.parse().ok()?) };
            read.runs.insert(name, OfRuns { no_miss: flag(no_miss)?, found_permille_of_bound: ratio });
        }
        fields.next().is_none().then_some(read)
    }
}

fn flag(field: &str) -> Option<bool> {
    match field {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

impl fmt::Display for SegmentOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [suspend, busy] = self.necessary.map(u8::from);
        write!(f, "{},{suspend},{busy}", self.load_permille)?;
        let or_empty = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
        for (name, _) in &NAMES.tests {
            write!(f, ",{}", or_empty(self.accepted.get(name).copied().map(u64::from)))?;
        }
        for (name, ..) in &NAMES.runs {
            let of = self.runs.get(name);
            let ratio = of.and_then(|of| of.found_permille_of_bound);
            write!(f, ",{},{}", or_empty(of.map(|of| u64::from(of.no_miss))), or_empty(ratio))?;
        }
        Ok(())
    }
}

/// The sets of a point, which are drawn independently of each other.
#[derive(Debug, Default)]
pub(super) struct SegmentTally {
    necessary: [PartsOfRuns; 2],
    /// By test: of how many sets it accepts which, plain and weighted by utilization (A. Bastoni, B. B. Brandenburg and
    /// J. H. Anderson, "Cache-related preemption and migration delays", OSPERT 2010).
    accepted: BTreeMap<&'static str, [PartsOfRuns; 2]>,
    runs: BTreeMap<&'static str, (PartsOfRuns, Moments)>,
}

impl Tally for SegmentTally {
    fn add(&mut self, _samples: u64, values: &str) -> Option<()> {
        let SegmentOutcome { load_permille, necessary, accepted, runs } = SegmentOutcome::parse(values)?;
        for (sum, holds) in self.necessary.iter_mut().zip(necessary) {
            sum.add(u64::from(holds), 1);
        }
        for (name, is_accepted) in accepted {
            let [plain, weighted] = self.accepted.entry(name).or_default();
            plain.add(u64::from(is_accepted), 1);
            weighted.add(if is_accepted { load_permille } else { 0 }, load_permille);
        }
        for (name, OfRuns { no_miss, found_permille_of_bound }) in runs {
            let (sum, ratios) = self.runs.entry(name).or_default();
            sum.add(u64::from(no_miss), 1);
            if let Some(ratio) = found_permille_of_bound {
                ratios.add(ratio as f64 / 1_000.0);
            }
        }
        Some(())
    }

    fn measures(&self) -> Vec<(&'static str, Measure)> {
        let applied =
            || NAMES.tests.iter().filter_map(|(name, weighted)| Some((*name, &**weighted, self.accepted.get(name)?)));
        let run =
            || NAMES.runs.iter().filter_map(|(name, no_miss, ratio)| Some((no_miss, ratio, self.runs.get(name)?)));
        let necessary = NECESSARY.into_iter().zip(self.necessary.map(Measure::PartsOfRuns));
        let plain = applied().map(|(name, _, sums)| (name, Measure::PartsOfRuns(sums[0])));
        let no_miss = run().map(|(name, _, (sum, _))| (&**name, Measure::PartsOfRuns(*sum)));
        let weighted = applied().map(|(_, name, sums)| (name, Measure::PartsOfRuns(sums[1])));
        let mean = |moments: &Moments| Measure::Mean { statistic: moments.statistic(), count: moments.count() };
        let ratios = run().map(|(_, name, (_, ratios))| (&**name, mean(ratios)));
        necessary.chain(plain).chain(no_miss).chain(weighted).chain(ratios).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(load: u64, accepted: bool, no_miss: bool, ratio: Option<u64>) -> SegmentOutcome {
        let mut outcome = SegmentOutcome::new(load);
        outcome.accepted.insert("gcaps-suspend", accepted);
        outcome.runs.insert("gcaps-suspend", OfRuns { no_miss, found_permille_of_bound: ratio });
        outcome
    }

    #[test]
    fn a_row_is_read_back() {
        let row = outcome(512, true, false, Some(250));
        assert_eq!(SegmentOutcome::parse(&row.to_string()), Some(row.clone()));
        assert_eq!(row.to_string().split(',').count(), COLUMNS.split(',').count());
        for wrong in ["", "512,1", "512,1,2"] {
            assert_eq!(SegmentOutcome::parse(wrong), None, "{wrong}");
        }
    }

    /// Accepted are sets of 200 and 400 thousandths, and not one of 600: half of all utilization.
    #[test]
    fn weighted_shares_are_of_utilization() {
        let mut tally = SegmentTally::default();
        for (load, accepted, ratio) in [(200, true, Some(500)), (400, true, Some(1_000)), (600, false, None)] {
            tally.add(1, &outcome(load, accepted, true, ratio).to_string()).expect("it is a row");
        }
        let value =
            |name: &str| tally.measures().iter().find(|(other, _)| *other == name).and_then(|(_, it)| it.value());
        assert_eq!((value("gcaps-suspend"), value("gcaps-suspend_weighted")), (Some(2.0 / 3.0), Some(0.5)));
        assert_eq!((value("gcaps-suspend_no_miss"), value("gcaps-suspend_found_over_bound")), (Some(1.0), Some(0.75)));
        assert_eq!((value("necessary-busy"), value("mpcp-busy")), (Some(1.0), None));
    }
}
