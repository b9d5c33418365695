//! The figures and tables of the papers, computed here.
//!
//! [`catalogue()`] lists every published figure and table that can be computed so far; each [`Figure`] makes its
//! pictures, the data behind them and a sentence on what was found, to stand beside what was published; [`gallery()`]
//! is the page that shows them all. Pictures are SVG and data CSV, the same bytes on every run, except for those that
//! [state times of this machine](FigureKind::Timed).

mod cister2012;
mod date2014;
mod ecrts2018;
mod ecrts2024;
mod figure;
mod made;
mod paper;
mod rtns2020;
mod rtss2017;
mod thesis2019;
mod thesis2019_cost;
mod tour;

use std::fmt::Write;

pub use figure::{Figure, FigureError, FigureKind, TIME_LIMIT};
pub use made::{File, Made};
pub use paper::Paper;
pub use tour::{TOUR, TourScene, write_tour};

/// Every figure and table that is computed, in the order of the gallery.
pub fn catalogue() -> Vec<Figure> {
    [
        rtss2017::FIGURES,
        ecrts2018::FIGURES,
        thesis2019::CHAPTER_3,
        thesis2019_cost::FIGURES,
        thesis2019::CHAPTER_4,
        rtns2020::FIGURES,
        ecrts2024::FIGURES,
        date2014::FIGURES,
        cister2012::FIGURES,
    ]
    .concat()
    .into_iter()
    .map(Figure::with_texts)
    .collect()
}

/// The first line of the gallery, by which it is known as ours.
pub const GALLERY_MARK: &str = "<!-- Written by `gpusched figures`; do not edit. -->";

/// The gallery, as Markdown that stands beside the figures' files: what each figure shows, what was published, what
/// came out here. It says the same of a timed figure whether that was made or not, so it is the same on every machine.
pub fn gallery(figures: &[(Figure, Option<Made>)]) -> String {
    let mut page = format!(
        "{GALLERY_MARK}\n\n# Figures and tables of the papers, computed\n\nEvery picture and every CSV file here is \
         written by `gpusched figures`, from the scenarios and generators that the project ships. *Published* is what \
         the paper says; *here* is what came out. Under which inputs a claim holds, and what is not covered, is in \
         [what was reproduced](../docs/reproduction.md); where print fails or can be read in two ways, in the \
         [errata](../docs/errata.md).\n"
    );
    for paper in Paper::ALL {
        let mut of_paper = figures.iter().filter(|(figure, _)| figure.paper == paper).peekable();
        if of_paper.peek().is_none() {
            continue;
        }
        // Writing into a string cannot fail.
        let _ = write!(page, "\n## {}\n\n{}.\n", paper.name(), paper.citation());
        for (figure, made) in of_paper {
            section(&mut page, figure, made.as_ref());
        }
    }
    page
}

fn section(page: &mut String, figure: &Figure, made: Option<&Made>) {
    let heading = format!("{}, {}: {}", figure.paper.name(), figure.part, figure.subject);
    let (files, finding) = match (figure.kind, made) {
        (FigureKind::Timed { files, finding }, _) => (files.to_vec(), finding),
        (FigureKind::Computed, Some(made)) => (made.files.iter().map(|file| &*file.name).collect(), &*made.finding),
        (FigureKind::Computed, None) => (Vec::new(), ""),
    };
    let (pictures, data): (Vec<&str>, Vec<&str>) = files.into_iter().partition(|name| is_picture(name));
    let _ = write!(page, "\n### {heading}\n\n");
    for name in pictures {
        let _ = write!(page, "![{heading}]({name})\n\n");
    }
    let _ = write!(page, "*Published:* {}\n\n", figure.published);
    if let Some(note) = figure.axes() {
        let _ = write!(page, "*Axes and legend:* {note}\n\n");
    }
    let table = finding.starts_with('|');
    let _ = write!(page, "*Here:*{}{}\n\n", if table { "\n\n" } else { " " }, finding.trim_end());
    if matches!(figure.kind, FigureKind::Timed { .. }) {
        page.push_str("Times differ from run to run; the files here are of one run.\n\n");
    }
    let commands: Vec<String> = figure.commands().iter().map(|command| format!("`{command}`")).collect();
    let _ = write!(page, "*Alone:* {}", commands.join(", or "));
    if !data.is_empty() {
        let links: Vec<String> = data.iter().map(|name| format!("[{name}]({name})")).collect();
        let _ = write!(page, ". *Data:* {}", links.join(", "));
    }
    page.push_str(".\n");
}

fn is_picture(name: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|extension| extension == "svg")
}

/// A part of the files of text beside the code, in which stands what is said of figures and of scenes of the tour: a
/// heading and a list of entries.
struct Part {
    /// Its heading.
    title: String,
    /// Keys, each with its text on one line.
    entries: Vec<(String, String)>,
}

impl Part {
    /// Those of a text, in their order.
    fn all(text: &str) -> Vec<Self> {
        let on_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let entry = |entry: &str| entry.split_once(": ").map(|(key, text)| (key.to_owned(), on_one_line(text)));
        let part = |part: &str| {
            let (title, list) = part.split_once('\n')?;
            Some(Self { title: title.to_owned(), entries: list.split("\n- ").filter_map(entry).collect() })
        };
        text.split("\n## ").skip(1).filter_map(part).collect()
    }

    /// The text of a key, if it has one.
    fn entry(&self, key: &str) -> Option<&str> {
        self.entries.iter().find(|(known, _)| known == key).map(|(_, text)| &**text)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::figure::{Make, TEXTS};
    use super::{Paper, *};

    #[test]
    fn every_figure_has_its_texts_and_every_text_a_figure() {
        let figures = catalogue();
        for figure in &figures {
            let has_picture = !matches!(figure.make, Make::Compared);
            assert_eq!(figure.axes().is_some(), has_picture, "{}", figure.name);
            let finding = if let FigureKind::Timed { finding, .. } = figure.kind { finding } else { "none" };
            let texts = [figure.part, figure.subject, figure.published, finding];
            assert!(texts.iter().all(|text| !text.is_empty()), "{} lacks a text", figure.name);
        }
        for part in TEXTS.iter() {
            let is_of_figure = figures.iter().any(|figure| figure.name == part.title);
            let note = part.entry("axes");
            let is_used = note.is_some() && figures.iter().any(|figure| figure.axes() == note);
            assert!(is_used || note.is_none() && is_of_figure, "{} is for no figure", part.title);
        }
    }

    #[test]
    fn names_are_unique_and_papers_stay_together_in_the_order_of_the_gallery() {
        let figures = catalogue();
        let names: BTreeSet<&str> = figures.iter().map(|figure| figure.name).collect();
        assert_eq!(names.len(), figures.len());
        let places: Vec<usize> = figures
            .iter()
            .map(|figure| Paper::ALL.iter().position(|&paper| paper == figure.paper).expect("it is one of all"))
            .collect();
        assert!(places.is_sorted());
    }
}
