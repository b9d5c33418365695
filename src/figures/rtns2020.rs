//! Figures of Zahaf and Lipari, RTNS 2020: real-time tasks on the GPU.
//!
//! `docs/tasks.md` says what was wrong in print and what agrees with the paper's claims.

mod worked;

use std::fmt::Write;

use super::figure::{Figure, Make};
use super::made::{Failure, File, Made, tx2};
use super::paper::Paper;
use crate::experiments::acceptance::{Curve, CurvePoint, Inputs, Theorem6, more_and_more_periods};
use crate::experiments::response_times::{
    Figure9, Figure9Set, Figure10Point, figure_9 as response_times, figure_10 as preempted,
};
use crate::formats::{Column, csv_text};
use crate::pictures::{acceptance_plot, boundary_map, figure_9_plot, figure_10_plot};
use crate::statistics::nearest_rank;
use crate::tasks::{ReservationPeriod, ReservationTest, TaskTime};

pub(super) const FIGURES: &[Figure] = &[
    Paper::Rtns2020
        .computed("rtns2020-figure-2", Make::Own(worked::figure_2))
        .with_values(worked::table_1_and_example_2),
    Paper::Rtns2020
        .computed("rtns2020-figures-3-4", Make::Own(worked::figures_3_and_4))
        .with_values(worked::examples_3_and_4),
    Paper::Rtns2020.computed("rtns2020-figure-5", Make::Own(worked::figure_5)).with_values(worked::theorem_5),
    Paper::Rtns2020.computed(
        "rtns2020-figure-6",
        Make::Own(|name| figure_6_or_7(name, |inputs| Curve::figure_6(inputs, SETS, SEED))),
    ),
    Paper::Rtns2020.computed(
        "rtns2020-figure-7",
        Make::Own(|name| figure_6_or_7(name, |inputs| Curve::figure_7(inputs, SETS, SEED))),
    ),
    Paper::Rtns2020.computed("rtns2020-figure-8", Make::Own(figure_8)),
    Paper::Rtns2020.computed("rtns2020-figure-9", Make::Own(figure_9)),
    Paper::Rtns2020.computed("rtns2020-figure-10", Make::Own(figure_10)),
];

/// Task sets a point of Figs. 6 to 8; the paper has 100.
const SETS: u64 = 1_000;
const SEED: u64 = 0;

/// Of the 10,000 that all tasks of [`Inputs::OnePeriod`] have.
const HALF_A_PERIOD: TaskTime = TaskTime::from_units(5_000);

/// Some inputs: what is added to the names of their files, what is said of them, and their curves.
struct Case {
    suffix: &'static str,
    words: &'static str,
    curves: Vec<Curve>,
}

/// Pictures, tables, and what was found.
struct Drawn {
    pictures: Vec<File>,
    tables: Vec<File>,
    finding: String,
}

/// The inputs under which the claim holds, those under which it does not, and what lies between.
fn figure_6_or_7(name: &str, curve: impl Fn(Inputs) -> Curve) -> Result<Made, Failure> {
    let case = |suffix, words, curve| Case { suffix, words, curves: vec![curve] };
    let mut shortest = curve(Inputs::TwelvePeriods);
    shortest.generator.reservation = ReservationPeriod::Shortest;
    let gang_permille = shortest.generator.gang_permille;
    let mut half = curve(Inputs::OnePeriod);
    half.generator.reservation = ReservationPeriod::Fixed(HALF_A_PERIOD);
    let cases = [
        case("", "one period", curve(Inputs::OnePeriod)),
        case("-half-period-reservation", "one period, the reservation's half of it", half),
        case("-two-periods", "two periods, one task each", curve(Inputs::TwoPeriods)),
        case("-twelve-periods", "twelve periods", curve(Inputs::TwelvePeriods)),
        case("-shortest-reservation", "twelve periods, shortest reservation", shortest),
    ];
    let Drawn { mut pictures, mut tables, mut finding } = drawn(name, &cases, ReservationTest::Chunks)?;
    let mut rows = Vec::new();
    let mut csv = String::new();
    for curve in more_and_more_periods(gang_permille, SETS, SEED) {
        let points = points(&curve)?;
        if csv.is_empty() {
            csv = format!("periods,{}", curve.header());
        }
        for point in &points {
            write!(csv, "{},{}", rows.len() + 1, point.line())?;
        }
        rows.push((curve, points));
    }
    let title = format!("Who accepts more, gang utilization {}", f64::from(gang_permille) / 1000.0);
    let map = boundary_map(&title, &rows, ReservationTest::Chunks, ReservationTest::Sbf).draw();
    pictures.push(File::svg(format!("{name}-boundary"), &map));
    tables.push(File::csv(format!("{name}-boundary"), csv));
    finding += "With one period for tasks and reservation `chunks` is never behind `sbf`, and ahead of it as the load grows, \
                     but `sbf-linear` accepts few sets at low load. With a reservation of half that period all three accept \
                     nearly all sets at the two lowest loads of Fig. 6, but `chunks` none at higher ones, and none in Fig. 7. \
                     No inputs tried have both of what the paper says. `chunks` falls behind as periods are added to the \
                     list: see the map, whose rows have the first 1, 2, … of our twelve periods. The paper states neither \
                     its periods nor its numbers of tasks; [docs/tasks.md](../docs/tasks.md) has a search over them. \
                     `chunks-as-printed`, Algorithm 1 read literally, also accepts sets that miss deadlines.\n";
    pictures.append(&mut tables);
    Ok(Made { files: pictures, finding })
}

fn figure_8(name: &'static str) -> Result<Made, Failure> {
    let case = |suffix, words, theorem| Case { suffix, words, curves: Curve::figure_8(theorem, SETS, SEED).to_vec() };
    let cases = [
        case("", "D = T", Theorem6::ImplicitDeadlines),
        case("-as-printed", "as printed", Theorem6::AsPrinted),
        case("-corrected", "corrected", Theorem6::Corrected),
    ];
    let Drawn { mut pictures, mut tables, mut finding } = drawn(name, &cases, ReservationTest::HarmonicAsPrinted)?;
    finding += "With D = T, which section 6.3 assumes, Theorem 6 as printed is sound, accepts what `exact` accepts here, and \
                     is far ahead of the bound of the paper's reference for SBF (`periodic-resource`) and of SBF* \
                     (`sbf-linear`); `sbf` by Eq. 9 accepts the same sets. With D from 0.75 T, which section 7.1.1 draws, it \
                     is ahead of `sbf` too, but accepts sets that miss deadlines: shares above 100 % count such sets. \
                     `harmonic` is the theorem made right for D < T, see [docs/tasks.md](../docs/tasks.md).\n";
    pictures.append(&mut tables);
    Ok(Made { files: pictures, finding })
}

fn points(curve: &Curve) -> Result<Vec<CurvePoint>, Failure> {
    Ok(curve.points.iter().map(|&point| curve.point(point, |_| ())).collect::<Result<_, _>>()?)
}

/// Pictures and tables of all cases; as a finding what each test accepts, and at how many points `own` is ahead
/// of sbf.
fn drawn(name: &str, cases: &[Case], own: ReservationTest) -> Result<Drawn, Failure> {
    let (mut pictures, mut tables) = (Vec::new(), Vec::new());
    let mut all = Vec::new();
    for Case { suffix, words, curves } in cases {
        let mut csv = String::new();
        for curve in curves {
            let points = points(curve)?;
            let gang = f64::from(curve.generator.gang_permille) / 1000.0;
            let of_gang = if curves.len() > 1 { format!("-gang-{gang}") } else { String::new() };
            let title = format!("Gang utilization {gang}, {words}");
            pictures.push(File::svg(format!("{name}{of_gang}{suffix}"), &acceptance_plot(&title, &points)?));
            if csv.is_empty() {
                csv = curve.header();
            }
            for point in &points {
                csv += &point.line();
            }
            all.push((format!("{gang}, {words}"), curve.tests.clone(), points));
        }
        tables.push(File::csv(format!("{name}{suffix}"), csv));
    }
    Ok(Drawn { pictures, tables, finding: table_of_shares(&all, own)? })
}

fn all_accepted(points: &[CurvePoint], test: ReservationTest) -> u64 {
    points.iter().filter_map(|point| point.count(test)).sum()
}

/// A table of what each test accepts, as a share of the schedulable sets.
fn table_of_shares(
    all: &[(String, Vec<ReservationTest>, Vec<CurvePoint>)],
    own: ReservationTest,
) -> Result<String, std::fmt::Error> {
    let is_applied = |test: &ReservationTest| all.iter().any(|(_, tests, _)| tests.contains(test));
    let columns: Vec<_> =
        ReservationTest::ALL.into_iter().filter(|test| *test != ReservationTest::Exact && is_applied(test)).collect();
    let mut text = String::from("| gang utilization | schedulable |");
    for test in &columns {
        write!(text, " {} |", test.name())?;
    }
    writeln!(text, " `{}` ahead of `sbf`, behind |", own.name())?;
    writeln!(text, "| --- | ---: |{} ---: |", " ---: |".repeat(columns.len()))?;
    for (which, tests, points) in all {
        let schedulable = all_accepted(points, ReservationTest::Exact);
        let drawn: u64 = points.iter().map(|point| point.samples).sum();
        write!(text, "| {which} | {schedulable} of {drawn} |")?;
        for &test in &columns {
            let share = 100.0 * all_accepted(points, test) as f64 / schedulable.max(1) as f64;
            let shown = if tests.contains(&test) { format!("{share:.1} %") } else { String::new() };
            write!(text, " {shown} |")?;
        }
        let compared = |order: std::cmp::Ordering| {
            let pair = |point: &CurvePoint| point.count(own).zip(point.count(ReservationTest::Sbf));
            points.iter().filter_map(pair).filter(|(own, sbf)| own.cmp(sbf) == order).count()
        };
        let (ahead, behind) = (compared(std::cmp::Ordering::Greater), compared(std::cmp::Ordering::Less));
        let shown =
            if tests.contains(&own) { format!("{ahead}, {behind} of {} points", points.len()) } else { String::new() };
        writeln!(text, " {shown} |")?;
    }
    text += "\nShares are of the schedulable sets (`exact`), all points together. ";
    Ok(text)
}

/// Jobs of each run of Fig. 9.
const JOBS: u32 = 1_000;
/// Jobs in the picture, so that each can be seen.
const DRAWN: usize = 150;
/// Blocks of the low-priority task in Fig. 10.
const BLOCKS: [u32; 8] = [64, 128, 192, 256, 320, 384, 448, 512];

/// Mean, 99th percentile and largest \[ms\].
fn summary(responses: &[u64]) -> String {
    let mut sorted = responses.to_vec();
    sorted.sort_unstable();
    let ms = |ns: u64| ns as f64 / 1e6;
    let mean = sorted.iter().sum::<u64>() as f64 / 1e6 / sorted.len().max(1) as f64;
    let at_most = |percent| ms(nearest_rank(&sorted, percent).unwrap_or_default());
    format!("mean {mean:.2}, 99th percentile {:.2}, largest {:.2} ms", at_most(99), at_most(100))
}

/// How late the scheduler learns of a completion in the second picture, at most: a wave.
const SYNCHRONIZATION: TaskTime = TaskTime::from_units(1_000_000);

/// A job's number, and its response time with and without the platform \[ns\].
type JobRow = (usize, (u64, u64));

fn figure_9(name: &'static str) -> Result<Made, Failure> {
    let device = tx2()?;
    let (mut files, mut tables) = (Vec::new(), Vec::new());
    let mut finding = "| tasks | with the platform | stream per task, no scheduler |\n| --- | --- | --- |\n".to_owned();
    for (suffix, words, set, synchronization) in [
        ("", "same kernel", Figure9Set::SameKernel, TaskTime::ZERO),
        ("-synchronization", "same kernel, synchronization up to 1 ms", Figure9Set::SameKernel, SYNCHRONIZATION),
        ("-three-sizes", "three sizes", Figure9Set::ThreeSizes, TaskTime::ZERO),
    ] {
        let found = response_times(&device, set, JOBS, synchronization, SEED)?;
        let columns = [
            Column::data("job", |(job, _): &JobRow| (*job).into()),
            Column::data("with_platform_ns", |(_, (with, _))| (*with).into()),
            Column::data("without_platform_ns", |(_, (_, without))| (*without).into()),
        ];
        let both = found.with_platform.iter().copied().zip(found.without_platform.iter().copied());
        let csv = csv_text(&columns, both.enumerate());
        let first = |responses: &[u64]| responses.iter().copied().take(DRAWN).collect();
        let drawn =
            Figure9 { with_platform: first(&found.with_platform), without_platform: first(&found.without_platform) };
        let title = format!("Most urgent task, {words}");
        files.push(File::svg(format!("{name}{suffix}"), &figure_9_plot(&title, &drawn)?));
        tables.push(File::csv(format!("{name}{suffix}"), csv));
        let (with, without) = (summary(&found.with_platform), summary(&found.without_platform));
        writeln!(finding, "| {words} | {with} | {without} |")?;
    }
    files.extend(tables);
    writeln!(
        finding,
        "\nOver {JOBS} jobs each; the pictures show the first {DRAWN}. The platform is two streams with fixed priorities. \
         Kernels are whole waves of 64 blocks, so that each uses all of the GPU, and in the first two pictures all three \
         tasks have the same kernel, as in the paper; their times and periods are ours, the paper gives none. The paper \
         puts the outliers of its platform down to cudaStreamSynchronize: in the second picture the scheduler learns of \
         each completion up to 1 ms late, uniformly drawn, and response times include that."
    )?;
    Ok(Made { files, finding })
}

fn figure_10(name: &'static str) -> Result<Made, Failure> {
    let points = preempted(&tx2()?, &BLOCKS)?;
    let columns = [
        Column::data("low_priority_blocks", |point: &&Figure10Point| point.low_blocks.into()),
        Column::data("alone_ns", |point| point.alone_ns.into()),
        Column::data("with_high_priority_ns", |point| point.with_high_priority_ns.into()),
    ];
    let csv = csv_text(&columns, &points);
    let longer: Vec<String> = points
        .iter()
        .map(|point| {
            let by = point.with_high_priority_ns.saturating_sub(point.alone_ns) as f64 / 1e6;
            format!("{by} ms at {}", point.low_blocks)
        })
        .collect();
    let finding = format!(
        "Longer by {} blocks, where the high-priority task takes 1 ms alone (our block time, the paper gives none).",
        longer.join(", ")
    );
    Ok(Made::of(name, &figure_10_plot(&points)?, csv, finding))
}
