//! The integer program as a text file in CPLEX LP format, which every MILP solver reads.

use std::io::{self, Write};

use super::ilp::{Ilp, Relation};

/// Lines of an LP file may not be longer than some 500 characters.
const MAX_LINE: usize = 100;

impl Ilp<'_> {
    /// Writes the program in CPLEX LP format, row by row.
    ///
    /// # Errors
    /// Whatever `out` refuses.
    pub fn write_lp(&self, mut out: impl Write) -> io::Result<()> {
        writeln!(
            out,
            "\\ Worst-case makespan of warps on one SM: Berezovskyi, Bletsas, Andersson, HURRAY-TR-120710, 2012."
        )?;
        writeln!(
            out,
            "\\ run_U_w_i_t: warp w does step i on unit U in cycle t. full_U_t: unit U has no room in cycle t."
        )?;
        writeln!(out, "Maximize")?;
        self.write_sum(&mut out, "makespan", &self.objective())?;
        writeln!(out, "\nSubject To")?;
        self.for_each_row(|row| {
            self.write_sum(&mut out, &row.name, &row.terms)?;
            let relation = match row.relation {
                Relation::AtMost => "<=",
                Relation::Equal => "=",
                Relation::AtLeast => ">=",
            };
            writeln!(out, " {relation} {}", row.right)
        })?;
        writeln!(out, "Binaries")?;
        for variable in 0..self.variables() {
            writeln!(out, " {}", self.variable_name(variable))?;
        }
        writeln!(out, "End")
    }

    fn write_sum(&self, out: &mut impl Write, name: &str, terms: &[(i64, usize)]) -> io::Result<()> {
        let mut line = format!(" {name}:");
        for (index, &(factor, variable)) in terms.iter().enumerate() {
            let sign = match (factor < 0, index) {
                (true, _) => " -",
                (false, 0) => "",
                (false, _) => " +",
            };
            let factor = factor.unsigned_abs();
            let times = if factor == 1 { String::new() } else { format!("{factor} ") };
            let term = format!("{sign} {times}{}", self.variable_name(variable));
            if line.len() + term.len() > MAX_LINE {
                writeln!(out, "{line}")?;
                line.clear();
                line.push(' ');
            }
            line.push_str(&term);
        }
        write!(out, "{line}")
    }
}
