//! One figure or table of a paper, and why it could not be made.

use std::sync::LazyLock;
use std::time::Duration;

use thiserror::Error;

use super::Part;
use super::made::{self, Failure, Made, Published};
use super::paper::Paper;
use crate::printed::Printed;

/// A figure or table of a paper that is computed here.
#[derive(Debug, Clone, Copy)]
pub struct Figure {
    /// By which it is asked for; its files begin with it.
    pub name: &'static str,
    /// Where it was published.
    pub paper: Paper,
    /// Where in the paper, for example `Fig. 3`.
    pub part: &'static str,
    /// What it shows.
    pub subject: &'static str,
    /// What the paper says about it.
    pub published: &'static str,
    /// Whether its bytes can be told in advance.
    pub kind: FigureKind,
    pub(super) make: Make,
    /// What print says of it in values; `None`: of a scenario, what its file expects.
    pub(super) printed: Option<PrintedValues>,
}

/// Computes what print gives, and puts both side by side.
pub(super) type PrintedValues = fn() -> Result<Vec<Printed>, Failure>;

/// Whether a figure's bytes can be told in advance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureKind {
    /// The same bytes on every run and machine.
    Computed,
    /// Shows how long computations took on this machine, so it is not made anew unless asked for.
    Timed {
        /// Names of its files, as in [`Made::files`].
        files: &'static [&'static str],
        /// What is found on any machine, to be read beside [`Figure::published`].
        finding: &'static str,
    },
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Make {
    /// By simulating a shipped scenario and drawing its block timeline.
    Timeline(Published),
    /// By simulating and analysing a shipped scenario or AMALTHEA model, and drawing one timeline above the other.
    Analysed(Published),
    /// By a function of its own, given the figure's name; samples run on the current rayon thread pool.
    Own(fn(&'static str) -> Result<Made, Failure>),
    /// The same, of computations that are given up after a time.
    Limited(fn(&'static str, Duration) -> Result<Made, Failure>),
    /// A table or an example of print that is nothing but [`Figure::printed`].
    Compared,
}

/// After this a computation of a [timed figure](FigureKind::Timed) is given up, unless told otherwise.
pub const TIME_LIMIT: Duration = Duration::from_secs(20);

/// What is said of figures, by their names, or by what several names begin with.
pub(super) static TEXTS: LazyLock<Vec<Part>> = LazyLock::new(|| Part::all(include_str!("texts.txt")));

impl Paper {
    /// A figure of this paper whose bytes are the same on every run, before [its texts](Figure::with_texts).
    pub(super) const fn computed(self, name: &'static str, make: Make) -> Figure {
        let (part, subject, published) = ("", "", "");
        Figure { name, paper: self, part, subject, published, kind: FigureKind::Computed, make, printed: None }
    }
}

impl Figure {
    /// Makes the figure. It may take minutes; samples run on the current rayon thread pool, and their number of threads
    /// changes nothing in the result.
    ///
    /// # Errors
    /// [`FigureError`] if the shipped data cannot be read or run.
    pub fn make(&self) -> Result<Made, FigureError> {
        self.make_within(TIME_LIMIT)
    }

    /// As [`Self::make`]; computations whose times are shown, and which may never end, are given up after `limit` each.
    ///
    /// # Errors
    /// As [`Self::make`].
    pub fn make_within(&self, limit: Duration) -> Result<Made, FigureError> {
        let made = match self.make {
            Make::Timeline(published) => made::make_timeline(self.name, published),
            Make::Analysed(published) => made::make_analysed(self.name, published),
            Make::Own(make) => make(self.name),
            Make::Limited(make) => make(self.name, limit),
            Make::Compared => self.values().map(|values| made::make_compared(self.name, self.paper, &values)),
        };
        made.map_err(|source| FigureError { figure: self.name, source })
    }

    /// In what its pictures are drawn otherwise than those of print: axes, legend, curves and lanes.
    pub fn axes(&self) -> Option<&'static str> {
        match self.make {
            // A table of values has no picture.
            Make::Compared => None,
            Make::Timeline(_) | Make::Analysed(_) | Make::Own(_) | Make::Limited(_) => {
                let fitting = TEXTS.iter().filter(|part| self.name.starts_with(&part.title));
                let notes = fitting.filter_map(|part| Some((part.title.len(), part.entry("axes")?)));
                notes.max_by_key(|(length, _)| *length).map(|(_, note)| note)
            }
        }
    }

    /// The values that print gives of it, each beside what comes out here; none if it gives none that is compared.
    ///
    /// # Errors
    /// As [`Self::make`].
    pub fn printed(&self) -> Result<Vec<Printed>, FigureError> {
        self.values().map_err(|source| FigureError { figure: self.name, source })
    }

    fn values(&self) -> Result<Vec<Printed>, Failure> {
        match (self.printed, self.make) {
            (Some(printed), _) => printed(),
            (None, Make::Timeline(published) | Make::Analysed(published)) => made::with_expected(published),
            (None, Make::Own(_) | Make::Limited(_) | Make::Compared) => Ok(Vec::new()),
        }
    }

    /// The same, but of times on this machine, in files of these names.
    pub(super) const fn timed(self, files: &'static [&'static str]) -> Self {
        Self { kind: FigureKind::Timed { files, finding: "" }, ..self }
    }

    /// With what is said of it.
    pub(super) fn with_texts(mut self) -> Self {
        let own = TEXTS.iter().find(|part| part.title == self.name);
        let text = |key| own.and_then(|part| part.entry(key)).unwrap_or_default();
        if let FigureKind::Timed { finding, .. } = &mut self.kind {
            *finding = text("finding");
        }
        Self { part: text("part"), subject: text("subject"), published: text("published"), ..self }
    }

    /// The same figure with what print says of it in values.
    pub(super) const fn with_values(self, printed: PrintedValues) -> Self {
        Self { printed: Some(printed), ..self }
    }

    /// The commands that make this figure alone.
    pub fn commands(&self) -> Vec<String> {
        let mut commands = vec![format!("gpusched figures --only {}", self.name)];
        match self.make {
            Make::Timeline(published) => {
                commands.push(format!("gpusched simulate {} --figure F.svg --queues --occupancy", published.path));
            }
            Make::Analysed(published) => commands.push(format!("gpusched compare {} --figure F.svg", published.path)),
            Make::Own(_) | Make::Limited(_) | Make::Compared => {}
        }
        commands
    }
}

/// Why a figure could not be made: what it is made of is compiled in, so this means a defect of ours.
#[derive(Debug, Error)]
#[error("{figure}: {source}")]
pub struct FigureError {
    /// The figure's name.
    pub figure: &'static str,
    /// What went wrong.
    pub source: Failure,
}
