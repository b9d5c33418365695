//! The report's integer program: its form, and that schedules are its solutions. With the feature `ilp`, that solving
//! it gives what the search gives.

use crate::effort::Progress;
use crate::warps::ilp::{Constraint, Relation};
use crate::warps::{
    Ilp, Issue, KernelString, MakespanSearch, Objective, SearchLimits, Unit, WorkConserving, pessimistic,
};

fn string(text: &str) -> KernelString {
    KernelString::parse(text, &[Unit::new('L'), Unit::new('C')]).expect("sound")
}

fn program(string: &KernelString, warps: u32, form: WorkConserving) -> Ilp<'_> {
    Ilp::new(string, warps, form).expect("small")
}

fn rows(program: &Ilp<'_>) -> Vec<Constraint> {
    let mut rows = Vec::new();
    let Ok(()) = program.for_each_row(|row| {
        rows.push(row);
        Ok::<(), std::convert::Infallible>(())
    });
    rows
}

/// The number of the first row that a schedule breaks.
fn broken(program: &Ilp<'_>, string: &KernelString, cycles: &[Vec<Issue>]) -> Option<String> {
    let mut ones = vec![0_i64; program.variables()];
    let number = |name: &str| (0..program.variables()).find(|&variable| program.variable_name(variable) == name);
    for (at, issues) in (1..).zip(cycles) {
        for (unit, kind) in string.units().iter().enumerate() {
            let here = issues.iter().filter(|issue| string.steps()[issue.step].unit == unit);
            let names: Vec<String> =
                here.map(|issue| format!("run_{}_{}_{}_{at}", kind.letter, issue.warp + 1, issue.step + 1)).collect();
            if names.len() == kind.capacity as usize {
                ones[number(&format!("full_{}_{at}", kind.letter)).expect("a variable")] = 1;
            }
            for name in names {
                ones[number(&name).expect("a variable")] = 1;
            }
        }
    }
    rows(program).into_iter().find_map(|row| {
        let sum: i64 = row.terms.iter().map(|&(factor, variable)| factor * ones[variable]).sum();
        let holds = match row.relation {
            Relation::AtMost => sum <= row.right,
            Relation::Equal => sum == row.right,
            Relation::AtLeast => sum >= row.right,
        };
        (!holds).then_some(row.name)
    })
}

#[test]
fn report_figure_3_counts_the_rows() {
    let llc = string("LLC");
    let (w, i, t) = (4, 3, usize::try_from(pessimistic(&llc, 4)).expect("small"));
    // Fig. 3, each work-conserving line being two inequalities; both units.
    let common = 2 * t + (w - 1) + 2 * w * t + 2 * w * i + w * (i - 1) + 4 * t;
    let short = rows(&program(&llc, 4, WorkConserving::Short));
    assert_eq!(short.len(), common + 2 * 2 * w * i * t);
    let long = rows(&program(&llc, 4, WorkConserving::Long));
    assert_eq!(long.len(), common + 2 * 2 * w * t);
    let mut names: Vec<_> = short.iter().map(|row| &row.name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), short.len(), "names are unique");
    assert_eq!(program(&llc, 4, WorkConserving::Short).variables(), 2 * w * i * t + 2 * t);
}

#[test]
fn schedules_of_the_search_are_solutions_and_a_pause_is_not() {
    for text in ["LLC", "LCL", "LCLC"] {
        let string = string(text);
        let search = MakespanSearch::run(&string, 3, Objective::WorstCase, &SearchLimits::DEFAULT, Progress::NONE)
            .expect("small");
        let mut schedule = search.schedule(3).expect("searched");
        // The last warp in the program is the one that finishes last.
        let last = schedule.cycles.last().and_then(|issues| issues.first()).map_or(0, |issue| issue.warp);
        for issue in schedule.cycles.iter_mut().flatten() {
            issue.warp = (issue.warp + 2 + 3 - last) % 3;
        }
        for form in [WorkConserving::Short, WorkConserving::Long] {
            let program = program(&string, 3, form);
            assert_eq!(broken(&program, &string, &schedule.cycles), None, "{text}");
            let mut paused = schedule.cycles.clone();
            paused.insert(0, Vec::new());
            let row = broken(&program, &string, &paused).expect("nobody works in the first cycle");
            assert!(row.starts_with("work_low_L_"), "{text}: {row}");
        }
    }
}

#[test]
fn the_lp_file_of_two_short_warps() {
    let lc = string("LC");
    let mut text = Vec::new();
    program(&lc, 1, WorkConserving::Short).write_lp(&mut text).expect("memory");
    let text = String::from_utf8(text).expect("text");
    // One warp of LC, T = 2: written by hand from the report's Fig. 3.
    for line in [
        "Maximize",
        " makespan: run_L_1_2_1 + 2 run_L_1_2_2 + run_C_1_2_1 + 2 run_C_1_2_2",
        " capacity_L_1: run_L_1_1_1 + run_L_1_2_1 <= 1",
        " once_C_1_2: run_C_1_2_1 + run_C_1_2_2 = 1",
        " once_L_1_2: run_L_1_2_1 + run_L_1_2_2 = 0",
        " full_low_L_1: full_L_1 - run_L_1_1_1 - run_L_1_2_1 >= 0",
        " full_high_L_1: full_L_1 - run_L_1_1_1 - run_L_1_2_1 <= 0",
        " work_low_L_1_1_1: run_L_1_1_1 + run_C_1_1_1 + full_L_1 >= 1",
        " work_high_L_1_1_1: run_L_1_1_1 + run_C_1_1_1 + full_L_1 <= 2",
        " work_low_L_1_2_1: full_L_1 >= 0",
        "Binaries",
        "End",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\nis not in\n{text}");
    }
    assert!(text.lines().all(|line| line.len() <= 120), "no solver's line limit is exceeded");
}

#[test]
fn a_program_that_is_too_large_is_refused() {
    let llcll = string("LLCLL");
    assert!(Ilp::new(&llcll, 600, WorkConserving::Short).is_err());
    assert!(Ilp::within(u64::MAX, &llcll, u32::MAX, WorkConserving::Long).is_err());
}

#[cfg(feature = "ilp")]
mod solved {
    use super::*;
    use crate::warps::{Sigma, solve_ilp, verify};

    fn equals_search(string: &KernelString, warps: u32, form: WorkConserving) {
        let search = MakespanSearch::run(string, warps, Objective::WorstCase, &SearchLimits::DEFAULT, Progress::NONE)
            .expect("small");
        let solution = solve_ilp(string, warps, form, None).expect("solved").expect("in time");
        let case = format!("{string} with {warps} warps, {form:?}");
        assert!(solution.optimal, "{case}");
        assert_eq!(Some(solution.cycles), search.makespan(warps), "{case}");
        assert_eq!(verify(string, &solution.schedule), Ok(solution.cycles), "{case}");
    }

    /// Every string over L and C of this length that starts with L; the others mirror them.
    fn strings(length: u32) -> impl Iterator<Item = String> {
        let letter = |bits: u32, index: u32| if index > 0 && bits >> (index - 1) & 1 == 1 { 'C' } else { 'L' };
        (0..1_u32 << (length - 1)).map(move |bits| (0..length).map(|index| letter(bits, index)).collect())
    }

    #[test]
    fn the_program_gives_what_the_search_gives() {
        for length in 2..=3 {
            for text in strings(length) {
                for form in [WorkConserving::Short, WorkConserving::Long] {
                    equals_search(&string(&text), 2, form);
                }
            }
        }
        equals_search(&string("LCL"), 3, WorkConserving::Short);
    }

    #[test]
    fn the_program_gives_what_the_search_gives_for_other_sigmas_and_held_units() {
        let unit = |letter, sigma: &str| Unit { sigma: sigma.parse::<Sigma>().expect("sound"), ..Unit::new(letter) };
        let units = [unit('L', "2"), unit('C', "1"), unit('S', "1")];
        for text in ["LL", "LC", "LCS", "C2L"] {
            let string = KernelString::parse(text, &units).expect("sound");
            equals_search(&string, 3, WorkConserving::Short);
            equals_search(&string.uninterrupted(), 2, WorkConserving::Long);
        }
    }

    /// Long: `cargo test --release --features ilp --lib -- --ignored the_program_gives`.
    #[test]
    #[ignore = "a minute"]
    fn the_program_gives_what_the_search_gives_up_to_length_4_and_4_warps() {
        for length in 2..=4 {
            for text in strings(length) {
                for warps in 1..=4 {
                    for form in [WorkConserving::Short, WorkConserving::Long] {
                        equals_search(&string(&text), warps, form);
                    }
                }
            }
        }
    }
}
