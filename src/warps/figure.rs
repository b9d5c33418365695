//! A schedule as the report's Fig. 2: warps down, clock cycles across, as text and as SVG.

use std::fmt::Write;

use super::kernel_string::KernelString;
use super::schedule::Schedule;

/// One cell \[SVG units\].
const CELL: u64 = 22;
/// The column of warp names \[SVG units\].
const NAMES: u64 = 80;
/// Fills of the units in the order in which they were described, light enough for black letters.
const FILLS: [&str; 6] = ["#9ecae1", "#fdd0a2", "#c7e9c0", "#dadaeb", "#fcbba1", "#d9d9d9"];

/// For each warp, the unit it is on in each cycle.
fn rows(string: &KernelString, schedule: &Schedule) -> Vec<Vec<Option<usize>>> {
    let mut rows = vec![vec![None; schedule.cycles.len()]; schedule.warps as usize];
    for (cycle, issues) in schedule.cycles.iter().enumerate() {
        for issue in issues {
            let unit = string.steps().get(issue.step).map(|step| step.unit);
            if let Some(cell) = rows.get_mut(issue.warp as usize).and_then(|row| row.get_mut(cycle)) {
                *cell = unit;
            }
        }
    }
    rows
}

/// The schedule as a table of letters, warps and cycles counted from 1.
#[must_use]
pub fn schedule_text(string: &KernelString, schedule: &Schedule) -> String {
    let cell = schedule.cycles.len().to_string().len() + 1;
    let name = "Clock cycle".len().max("Warp ".len() + schedule.warps.to_string().len());
    let mut text = format!("{:<name$}", "Clock cycle");
    // Writing to a string cannot fail.
    for cycle in 1..=schedule.cycles.len() {
        let _ = write!(text, "{cycle:>cell$}");
    }
    for (warp, row) in (1..).zip(rows(string, schedule)) {
        let mut line = format!("{:<name$}", format!("Warp {warp}"));
        for unit in row {
            let letter = unit.map_or(' ', |unit| string.units()[unit].letter);
            let _ = write!(line, "{letter:>cell$}");
        }
        let _ = write!(text, "\n{}", line.trim_end());
    }
    text.push('\n');
    text
}

/// The schedule as an SVG figure, warps and cycles counted from 1. The same bytes for the same schedule.
#[must_use]
pub fn schedule_svg(string: &KernelString, schedule: &Schedule) -> String {
    let cycles = schedule.cycles.len() as u64;
    let (width, height) = (NAMES + cycles * CELL, (u64::from(schedule.warps) + 1) * CELL);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"-1 -1 {0} {1}\" \
         font-family=\"sans-serif\" font-size=\"12\" text-anchor=\"middle\">\n\
         <title>{2} warps of {string}: {3} cycles</title>\n",
        width + 2,
        height + 2,
        schedule.warps,
        schedule.makespan()
    );
    // Writing to a string cannot fail.
    let _ = writeln!(svg, "<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>");
    let middle = |line: u64| line * CELL + CELL / 2 + 4;
    let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\">Clock cycle</text>", NAMES / 2, middle(0));
    for cycle in 0..cycles {
        let x = NAMES + cycle * CELL + CELL / 2;
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{}\">{}</text>", middle(0), cycle + 1);
    }
    for (line, row) in (1..).zip(rows(string, schedule)) {
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\">Warp {line}</text>", NAMES / 2, middle(line));
        for (cycle, unit) in (0..).zip(row) {
            let Some(unit) = unit else { continue };
            let (x, letter) = (NAMES + cycle * CELL, string.units()[unit].letter);
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{}\">\
                 <title>warp {line}, cycle {}: {letter}</title></rect>\
                 <text x=\"{}\" y=\"{}\">{letter}</text>",
                line * CELL,
                FILLS[unit % FILLS.len()],
                cycle + 1,
                x + CELL / 2,
                middle(line)
            );
        }
    }
    let mut grid = String::new();
    for line in 0..=u64::from(schedule.warps) + 1 {
        let _ = write!(grid, "M0 {}h{width}", line * CELL);
    }
    for column in 0..=cycles {
        let _ = write!(grid, "M{} 0v{height}", NAMES + column * CELL);
    }
    let _ = writeln!(svg, "<path d=\"M0 0v{height}{grid}\" stroke=\"#606060\" fill=\"none\"/>\n</svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::super::{Issue, Unit};
    use super::*;

    fn report_figure_2() -> (KernelString, Schedule) {
        // The report's Fig. 2: cycles of the three instructions of each warp, from 1.
        let of_warps = [[1, 5, 6], [2, 6, 7], [3, 7, 8], [4, 8, 9]];
        let mut cycles = vec![Vec::new(); 9];
        for (warp, times) in (0..).zip(of_warps) {
            for (step, time) in times.into_iter().enumerate() {
                cycles[time - 1].push(Issue { warp, step });
            }
        }
        (KernelString::parse("LLC", &[Unit::new('L'), Unit::new('C')]).unwrap(), Schedule { warps: 4, cycles })
    }

    #[test]
    fn report_figure_2_as_a_table() {
        let (string, schedule) = report_figure_2();
        assert_eq!(super::super::verify(&string, &schedule), Ok(9));
        let expected = "\
Clock cycle 1 2 3 4 5 6 7 8 9
Warp 1      L       L C
Warp 2        L       L C
Warp 3          L       L C
Warp 4            L       L C
";
        assert_eq!(schedule_text(&string, &schedule), expected);
    }

    #[test]
    fn report_figure_2_as_svg_has_a_cell_for_each_instruction() {
        let (string, schedule) = report_figure_2();
        let svg = schedule_svg(&string, &schedule);
        assert_eq!(svg.matches(": L</title>").count(), 8);
        assert_eq!(svg.matches(": C</title>").count(), 4);
        assert!(svg.contains("<title>warp 3, cycle 8: C</title>"));
        assert!(svg.contains("<title>4 warps of LLC: 9 cycles</title>"));
    }
}
