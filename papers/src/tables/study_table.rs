//! What a study says, as a table, as comma-separated values and as JSON, and the words for the keys of its grid and for
//! what it measures.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::experiments::study::{PointSummary, ShardStatus, Study, StudySummary};
use crate::formats::{Cell, CellKind, Column, DocumentWriter, Field, Page, Report, RowsPart, RowsWriter};
use crate::statistics::{Measure, Statistic};

/// Names of all measures, in the order in which points have them.
pub(crate) fn names(summary: &StudySummary) -> Vec<&'static str> {
    let mut names = Vec::new();
    for (name, _) in summary.points.iter().flat_map(|point| &point.measures) {
        if !names.contains(name) {
            names.push(*name);
        }
    }
    names
}

pub(crate) fn measure(point: &PointSummary, name: &str) -> Option<Measure> {
    point.measures.iter().find(|(other, _)| *other == name).map(|(_, measure)| *measure)
}

/// What a study says: one line a point.
#[derive(Debug, Clone, Copy)]
pub struct SummaryDocument<'a> {
    /// The study.
    pub study: &'a Study,
    /// Its rows, summed up.
    pub summary: &'a StudySummary,
}

impl Report for SummaryDocument<'_> {
    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        let Self { study, summary } = *self;
        to.entry("study", &study.name)?;
        to.entry("command", study.command.name())?;
        to.entry("digest", &study.digest)?;
        to.entry("gpusched", env!("CARGO_PKG_VERSION"))?;
        to.entry("rows", &summary.rows)?;
        to.entry("rows_expected", &summary.expected)?;
        to.list("points", summary.points.iter().map(|point| point_entry(study, point)))
    }

    /// The grid's values, samples, and for each quantity its value and 95 % confidence interval; empty where there is
    /// none. Shares are from 0 to 1.
    fn rows(&self, part: RowsPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        let Self { study, summary } = *self;
        let names = names(summary);
        let ends = |name: &&'static str| {
            let [low, high] = ["low", "high"].map(|end| Field::new(format!("{name}_{end}"), CellKind::Real));
            [Field::new(*name, CellKind::Real), low, high]
        };
        let axes = study.axes.iter().map(|axis| Field::new(&*axis.key, CellKind::Text));
        let samples = Field::new("samples", CellKind::Unsigned);
        let mut writer = RowsWriter::begin_with(part, axes.chain([samples]).chain(names.iter().flat_map(ends)), out)?;
        for point in &summary.points {
            let mut cells: Vec<Cell<'_>> =
                study.coordinates(point.point).into_iter().map(|value| value.text.as_str().into()).collect();
            cells.push(point.samples.into());
            for name in &names {
                let found = measure(point, name);
                let (low, high) = found.and_then(|found| found.interval()).unzip();
                cells.extend([found.and_then(|found| found.value()), low, high].map(Cell::from));
            }
            writer.cells(cells)?;
        }
        writer.end()
    }

    /// 95 % confidence intervals stand in brackets, shares are in percent.
    fn text(&self, page: &mut Page) {
        let Self { study, summary } = *self;
        let names = names(summary);
        let mut titles: Vec<String> = study.axes.iter().map(|axis| axis.key.clone()).collect();
        let axes = titles.len();
        titles.push("samples".to_owned());
        titles.extend(names.iter().map(|name| title(name)));
        let rows: Vec<Vec<String>> = (summary.points.iter())
            .map(|point| {
                let mut cells: Vec<String> =
                    study.coordinates(point.point).iter().map(|value| value.words.clone()).collect();
                cells.push(point.samples.to_string());
                let of = |name: &&str| measure(point, name).map_or_else(|| "-".to_owned(), |found| shown(name, found));
                cells.extend(names.iter().map(of));
                cells
            })
            .collect();
        for columns in narrow(page, &titles, axes, &rows) {
            let of = |row: &Vec<String>| columns.iter().map(|column| row[*column].clone()).collect();
            page.cells(&columns.iter().map(|column| &*titles[*column]).collect::<Vec<_>>(), axes, rows.iter().map(of));
        }
    }
}

/// Characters that a line of a table for people has at most, if no column alone is wider.
const WIDEST: usize = 120;

/// The columns of each table that is printed: all in one, or as many as fit a terminal, each with the `axes` in front.
fn narrow(page: &Page, titles: &[String], axes: usize, rows: &[Vec<String>]) -> Vec<Vec<usize>> {
    let front: Vec<usize> = (0..axes).collect();
    if !page.is_cut() {
        return vec![(0..titles.len()).collect()];
    }
    let width = |column: &usize| {
        let cells = rows.iter().map(|row| row[*column].chars().count());
        cells.chain([titles[*column].chars().count()]).max().unwrap_or(0) + 2
    };
    let base: usize = front.iter().map(width).sum();
    let (mut tables, mut used) = (vec![front.clone()], base);
    for column in axes..titles.len() {
        if used + width(&column) > WIDEST && used > base {
            tables.push(front.clone());
            used = base;
        }
        used += width(&column);
        if let Some(table) = tables.last_mut() {
            table.push(column);
        }
    }
    tables
}

/// The name of a quantity for people, who read times in milliseconds.
fn title(name: &str) -> String {
    match parts(name) {
        (name, Some("s")) => format!("{name}_ms"),
        _ => name.to_owned(),
    }
}

/// A measure for people, with the digits that its interval leaves sense to.
pub(super) fn shown(name: &str, measure: Measure) -> String {
    let (factor, unit) = match measure {
        measure if measure.is_share() => (100.0, " %"),
        _ if parts(name).1 == Some("s") => (1_000.0, ""),
        _ => (1.0, ""),
    };
    let Some(value) = measure.value().map(|value| factor * value) else { return "-".to_owned() };
    let Some((low, high)) = measure.interval().map(|(low, high)| (factor * low, factor * high)) else {
        return format!("{value:.3}{unit}");
    };
    // Nothing spreads where nothing is drawn.
    let decimals = (1..6)
        .find(|_| high <= low)
        .or_else(|| (1..6).find(|&decimals| (high - low) * 10_f64.powi(decimals) >= 10.0))
        .unwrap_or(6);
    let decimals = usize::try_from(decimals).unwrap_or(0);
    format!("{value:.decimals$}{unit} [{low:.decimals$}, {high:.decimals$}]")
}

/// A point with its measures, each with what its interval follows from.
fn point_entry(study: &Study, point: &PointSummary) -> Value {
    let values = study.axes.iter().zip(study.coordinates(point.point));
    let parameters: Map<String, Value> =
        values.map(|(axis, value)| (axis.key.clone(), value.text.as_str().into())).collect();
    let measures = point.measures.iter().map(|(name, measure)| ((*name).to_owned(), measure_entry(*measure)));
    let measures: Map<String, Value> = measures.collect();
    json!({"point": point.point, "parameters": parameters, "samples": point.samples, "measures": measures})
}

pub(super) fn measure_entry(measure: Measure) -> Value {
    let (low, high) = measure.interval().unzip();
    let value = measure.value();
    match measure {
        Measure::Share { count, of } => json!({"value": value, "low": low, "high": high, "count": count, "of": of}),
        Measure::PartsOfRuns(parts) => {
            let (runs, count, of) = parts.sums();
            json!({"value": value, "low": low, "high": high, "count": count, "of": of, "runs": runs})
        }
        Measure::Mean { statistic: Statistic { deviation, least, most, .. }, count } => json!({
            "value": value, "low": low, "high": high, "samples": count, "deviation": deviation, "least": least,
            "most": most,
        }),
        Measure::Largest(_) => json!({"largest": value}),
    }
}

/// How far the shards of a study are.
#[derive(Debug, Clone, Copy)]
pub struct ShardsDocument<'a> {
    /// The study.
    pub study: &'a Study,
    /// Its shards.
    pub shards: &'a [ShardStatus],
    /// Whether all rows are there.
    pub complete: bool,
}

impl Report for ShardsDocument<'_> {
    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        let Self { study, shards, complete } = *self;
        to.entry("study", &study.name)?;
        to.entry("digest", &study.digest)?;
        to.entry("rows", &study.layout.rows())?;
        to.entry("samples", &(study.layout.points * study.layout.samples))?;
        to.entry("complete", &complete)?;
        to.list("shards", shards.iter().map(shard_entry))
    }

    fn rows(&self, part: RowsPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        part.write(&shard_columns(), self.shards, out)
    }

    fn text(&self, page: &mut Page) {
        let Self { study, shards, complete } = *self;
        if page.is_cut() {
            for one in shards {
                let percent = 100.0 * one.rows as f64 / one.expected.max(1) as f64;
                let percent = if one.is_complete() { 100.0 } else { percent };
                let (shard, state, rows, expected) = (one.shard.to_string(), one.state(), one.rows, one.expected);
                page.line(&format!("shard {shard:>9}  {state:<8}  {rows:>9} of {expected} rows  {percent:5.1} %"));
            }
        } else {
            page.table(&shard_columns(), shards);
        }
        let (points, samples, rows) = (study.layout.points, study.layout.samples, study.layout.rows());
        let state = if complete { "complete" } else { "not complete" };
        page.line(&format!("{}: {points} points of {samples} samples, {rows} rows: {state}", study.name));
    }
}

fn shard_columns<'s>() -> [Column<&'s ShardStatus>; 5] {
    [
        Column::new("shard", "shard", |one: &&ShardStatus| one.shard.to_string().into()),
        Column::new("state", "state", |one: &&ShardStatus| one.state().into()).left(),
        Column::new("rows", "rows", |one| one.rows.into()),
        Column::new("rows_expected", "of", |one| one.expected.into()),
        Column::new("file", "file", |one: &&ShardStatus| one.path.display().to_string().into()).left(),
    ]
}

fn shard_entry(one: &ShardStatus) -> Value {
    json!({
        "shard": one.shard.index(),
        "shards": one.shard.count(),
        "state": one.state(),
        "rows": one.rows,
        "rows_expected": one.expected,
        "file": one.path.display().to_string(),
    })
}

/// Endings of keys that state a unit.
const UNITS: [(&str, &str); 9] = [
    ("_permille", "‰"),
    ("_percent", "%"),
    ("_bytes", "bytes"),
    ("_ns", "ns"),
    ("_us", "µs"),
    ("_ms", "ms"),
    ("_s", "s"),
    ("_w", "W"),
    ("_j", "J"),
];

/// Keys that are not their words.
const WORDS: [(&str, &str); 11] = [
    ("met", "timing requirements met"),
    ("violation", "total violation"),
    ("mean_power", "mean board power"),
    ("application_power", "mean power per application"),
    ("per_period", "applications per period"),
    ("inject", "applications injected"),
    ("saturation_sms", "SMs that fill an application"),
    ("tightness", "requirement in parts of the execution time"),
    ("sms", "SMs"),
    ("tasks_per_sm", "tasks of each SM"),
    ("gang_tasks", "tasks of all SMs"),
];

/// The ending of shares that are weighted by utilization.
pub(crate) const WEIGHTED: &str = "_weighted";

/// Endings of what stands beside the share of a test, and what it is.
const BESIDE: [(&str, &str); 3] = [
    ("_no_miss", "no miss in any run"),
    (WEIGHTED, "weighted by utilization"),
    ("_found_over_bound", "longest found in parts of the bound"),
];

/// The test beside which a quantity stands, and what it is of it.
fn beside(key: &str) -> Option<(&str, &'static str)> {
    BESIDE.iter().find_map(|(ending, words)| Some((key.strip_suffix(ending)?, *words)))
}

/// Whether a quantity stands beside others that say the most.
pub(crate) fn is_beside(key: &str) -> bool {
    beside(key).is_some() || key.starts_with("jobs_") || key.starts_with("necessary-")
}

/// A key without its unit, and the unit.
pub(super) fn parts(key: &str) -> (&str, Option<&'static str>) {
    let with_unit = UNITS.iter().find_map(|(ending, unit)| Some((key.strip_suffix(ending)?, *unit)));
    with_unit.filter(|(name, _)| !name.is_empty()).map_or((key, None), |(name, unit)| (name, Some(unit)))
}

/// The words of a key, without its unit.
pub(crate) fn name_of(key: &str) -> String {
    if let Some((test, words)) = beside(key) {
        return format!("{test}, {words}");
    }
    let name = parts(key).0;
    let known = WORDS.iter().find(|(key, _)| *key == name);
    known.map_or_else(|| name.replace('_', " "), |(_, words)| (*words).to_owned())
}

/// The title of an axis: words and unit.
pub(crate) fn axis_title(key: &str) -> String {
    match parts(key).1 {
        Some(unit) => format!("{} [{unit}]", name_of(key)),
        None => name_of(key),
    }
}

pub(crate) fn with_value(key: &str, value: &str) -> String {
    match parts(key).1 {
        Some(unit) => format!("{} {value} {unit}", name_of(key)),
        None => format!("{} {value}", name_of(key)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_digits_that_their_intervals_leave_sense_to() {
        let share = |count, of| shown("met", Measure::Share { count, of });
        assert_eq!(share(0, 1_000_000), "0.00000 % [0.00000, 0.00038]");
        assert_eq!(share(1_000_000, 1_000_000), "100.00000 % [99.99962, 100.00000]");
        // Newcombe 1998, Table I: 0.2553 to 0.3662.
        assert_eq!(share(81, 263), "30.8 % [25.5, 36.6]");
        assert_eq!(share(0, 0), "-");
        assert_eq!(shown("max_error", Measure::Largest(0.5)), "0.500");
        // Three runs of 0.25 s, in milliseconds.
        let same = Measure::Mean { statistic: Statistic::of(&[0.25; 3]), count: 3 };
        assert_eq!(
            (title("makespan_s"), shown("makespan_s", same)),
            ("makespan_ms".to_owned(), "250.0 [250.0, 250.0]".to_owned())
        );
    }

    #[test]
    fn axes_have_words_and_units_instead_of_keys() {
        let titles =
            ["utilization_permille", "violation_s", "energy_per_application_j", "period", "_s"].map(axis_title);
        let expected = ["utilization [‰]", "total violation [s]", "energy per application [J]", "period", " s"];
        assert_eq!(titles, expected);
        assert_eq!(name_of("mpcp-busy_no_miss"), "mpcp-busy, no miss in any run");
        assert_eq!(with_value("tightness_percent", "150"), "requirement in parts of the execution time 150 %");
        assert_eq!(
            (name_of("met"), name_of("gang_utilization_permille")),
            ("timing requirements met".to_owned(), "gang utilization".to_owned())
        );
    }
}
