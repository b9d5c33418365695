//! Solving the integer program with HiGHS (cargo feature `ilp`).

use std::time::Duration;

use good_lp::solvers::highs::highs;
use good_lp::solvers::{ResolutionError, SolutionStatus};
use good_lp::{Expression, ProblemVariables, Solution, SolverModel, constraint, variable};

use super::answer::{Answer, ExactBy, Question, answer_with};
use super::ilp::{Constraint, Ilp, IlpTooLarge, MAX_SOLVED_COEFFICIENTS, Relation, WorkConserving};
use super::kernel_string::KernelString;
use super::schedule::{Schedule, Violation, verify};

/// What the solver found, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IlpSolution {
    /// The makespan \[cycles\].
    pub(crate) cycles: u64,
    /// The schedule; it passed [`verify`].
    pub(crate) schedule: Schedule,
    /// Whether no schedule is longer. If not, time ran out first.
    pub(crate) optimal: bool,
}

/// Why there is no solution that can be trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IlpError {
    /// The program is more than the solver can hold.
    #[error(transparent)]
    TooLarge(#[from] IlpTooLarge),
    /// The solver failed.
    #[error("HiGHS: {0}")]
    Solver(String),
    /// A variable is neither 0 nor 1.
    #[error("HiGHS gave {name} = {value}, which is neither 0 nor 1")]
    NotIntegral {
        /// The variable.
        name: String,
        /// What the solver gives it.
        value: f64,
    },
    /// The schedule breaks the model.
    #[error("the schedule found by HiGHS is wrong: {0}")]
    WrongSchedule(#[from] Violation),
    /// The objective is not the makespan of the schedule.
    #[error("HiGHS gave the objective {objective}, but its schedule takes {cycles} cycles")]
    WrongObjective {
        /// What the solver says.
        objective: f64,
        /// The makespan \[cycles\].
        cycles: u64,
    },
}

/// How far from a whole number a solver's value may be: HiGHS' own tolerance.
const TOLERANCE: f64 = 1e-6;

/// Answers as [`answer`](super::answer()), with the worst case from the report's integer program of that form.
///
/// # Errors
/// [`IlpError`] if the solver fails or its answer does not pass the checks.
pub fn answer_by_program(string: &KernelString, question: &Question, form: WorkConserving) -> Result<Answer, IlpError> {
    let solution = solve_ilp(string, question.warps, form, question.limits.time)?;
    let exact = solution.as_ref().filter(|solution| solution.optimal).map(|solution| solution.cycles);
    Ok(answer_with(string, question, ExactBy::Ilp, exact, solution.map(|solution| solution.schedule)))
}

/// Solves the program, then checks that every variable is 0 or 1 and that the schedule keeps the model. `None` if time
/// ran out before any schedule was found.
///
/// # Errors
/// [`IlpError`] if the solver fails or its answer does not pass the checks.
pub(crate) fn solve_ilp(
    string: &KernelString,
    warps: u32,
    form: WorkConserving,
    time: Option<Duration>,
) -> Result<Option<IlpSolution>, IlpError> {
    let program = Ilp::within(MAX_SOLVED_COEFFICIENTS, string, warps, form)?;
    let mut columns = ProblemVariables::new();
    let variables: Vec<_> = (0..program.variables()).map(|_| columns.add(variable().binary())).collect();
    let sum = |terms: &[(i64, usize)]| -> Expression {
        // Coefficients are at most the horizon, far below 2^53.
        terms.iter().map(|&(factor, column)| variables[column] * factor as f64).sum()
    };
    let objective = sum(&program.objective());
    let mut model = columns
        .maximise(objective)
        .using(highs)
        .set_threads(1)
        .set_option("mip_rel_gap", 0.0)
        .set_option("mip_feasibility_tolerance", TOLERANCE);
    if let Some(time) = time {
        model = model.set_time_limit(time.as_secs_f64());
    }
    // Adding a row cannot fail.
    let Ok(()) = program.for_each_row(|Constraint { terms, relation, right, .. }| {
        let (left, right) = (sum(&terms), right as f64);
        model.add_constraint(match relation {
            Relation::AtMost => constraint!(left <= right),
            Relation::Equal => constraint!(left == right),
            Relation::AtLeast => constraint!(left >= right),
        });
        Ok::<(), std::convert::Infallible>(())
    });
    let solution = match model.solve() {
        Ok(solution) => solution,
        Err(ResolutionError::Other("NoSolutionFound")) if time.is_some() => return Ok(None),
        Err(error) => return Err(IlpError::Solver(error.to_string())),
    };
    // The objective is a whole number, so the absolute gap of 10^-6 that HiGHS allows by default proves optimality.
    let optimal = matches!(solution.status(), SolutionStatus::Optimal | SolutionStatus::GapLimit);
    let mut ones = Vec::with_capacity(variables.len());
    for (column, &variable) in variables.iter().enumerate() {
        let value = solution.value(variable);
        if value.abs().min((value - 1.0).abs()) > TOLERANCE {
            return Err(IlpError::NotIntegral { name: program.variable_name(column), value });
        }
        ones.push(value > 0.5);
    }
    let schedule = program.schedule(&ones);
    let cycles = verify(string, &schedule)?;
    let objective: f64 =
        program.objective().iter().map(|&(factor, column)| factor as f64 * solution.value(variables[column])).sum();
    if (objective - cycles as f64).abs() > 0.5 {
        return Err(IlpError::WrongObjective { objective, cycles });
    }
    Ok(Some(IlpSolution { cycles, schedule, optimal }))
}
