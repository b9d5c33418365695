//! How a study is cut into rows, and rows into shards.

use std::fmt;
use std::str::FromStr;

/// How many points, samples and rows there are. Rows are numbered from 0, point by point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Points of the grid.
    pub points: u64,
    /// Samples of each point.
    pub samples: u64,
    /// Samples of a row; the last row of a point may have fewer.
    pub per_row: u64,
}

/// The samples of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSamples {
    /// Number of the point.
    pub point: u64,
    /// Number of the first sample.
    pub first: u64,
    /// How many.
    pub samples: u64,
}

impl Layout {
    /// Rows of one point.
    pub fn rows_per_point(&self) -> u64 {
        self.samples.div_ceil(self.per_row.max(1))
    }

    /// All rows. No study has more than 2^63, which its reader checks.
    pub fn rows(&self) -> u64 {
        self.points.saturating_mul(self.rows_per_point())
    }

    /// Where row number `row` stands.
    pub fn place(&self, row: u64) -> RowSamples {
        let each = self.rows_per_point().max(1);
        let first = (row % each).saturating_mul(self.per_row);
        RowSamples { point: row / each, first, samples: self.per_row.min(self.samples.saturating_sub(first)) }
    }

    /// Samples of the first `done` rows of a shard.
    pub fn samples_of(&self, shard: Shard, done: u64) -> u64 {
        let each = self.rows_per_point();
        // Every row is full but the last of each point.
        let missing = self.per_row.saturating_sub(self.place(each.saturating_sub(1)).samples);
        let is_done = |row: u64| row % shard.count == shard.index && row / shard.count < done;
        let short = if missing == 0 { 0 } else { (1..=self.points).filter(|point| is_done(point * each - 1)).count() };
        done.saturating_mul(self.per_row).saturating_sub(short as u64 * missing)
    }
}

/// One of `count` parts of a study: rows `index`, `index + count`, `index + 2 count`, …, so that expensive points
/// are spread over all shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard {
    count: u64,
    index: u64,
}

/// Most shards of a study: merging holds a little of each in memory.
const MAX_SHARDS: u64 = 1 << 16;

impl Shard {
    /// The name of the file of a shard's rows; that of the whole study is also that of merged rows.
    pub fn file_name(self) -> String {
        match self {
            Self::WHOLE => "rows.csv".to_owned(),
            _ => format!("rows-{}-of-{}.csv", self.index, self.count),
        }
    }

    /// The whole study.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// Shard `index`, from 0, of `count`; `None` if there is no such shard.
    pub fn new(index: u64, count: u64) -> Option<Self> {
        (index < count && count <= MAX_SHARDS).then_some(Self { count, index })
    }

    /// Its number, from 0.
    pub fn index(self) -> u64 {
        self.index
    }

    /// Into how many the study is cut.
    pub fn count(self) -> u64 {
        self.count
    }

    /// How many of `rows` rows are its own.
    pub fn rows(self, rows: u64) -> u64 {
        rows.saturating_sub(self.index).div_ceil(self.count)
    }

    /// The number of its `own`-th row in the whole study.
    pub fn row(self, own: u64) -> u64 {
        own * self.count + self.index
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().ok();
        text.split_once('/')
            .and_then(|(index, count)| Self::new(number(index)?, number(count)?))
            .ok_or_else(|| format!("expected I/N with I from 0 to N - 1 and N up to {MAX_SHARDS}, for example 0/4"))
    }
}
