//! Drawings as TikZ: a fragment for `\input` that needs `\usepackage{tikz}` and `\usetikzlibrary{patterns}`, both part
//! of pgf.
//!
//! Text is set in the document's own sans-serif font, so that a figure looks like the paper around it, at the size that
//! the drawing states. Places are those computed for `DejaVu Sans`, which is wider than the usual fonts of papers, so
//! what fits there fits here.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::sync::LazyLock;

use super::drawing::{Anchor, Dash, Drawing, Shape, Stroke, Text};
use super::geometry::{Length, MM, Point, Rect, millimetres};
use super::theme::{Colour, Fill, Hatch};

impl Drawing {
    /// The picture as TikZ, the same bytes each time.
    ///
    /// Explanations (tooltips) are left out. TeX holds a whole picture in memory: pictures of more than some ten
    /// thousand shapes are better included as PDF.
    pub fn to_tex(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = document(self, &mut out);
        out
    }
}

fn document(drawing: &Drawing, out: &mut String) -> std::fmt::Result {
    writeln!(out, "% \\usepackage{{tikz}} \\usetikzlibrary{{patterns}}")?;
    writeln!(
        out,
        "% {} x {} mm: {}",
        millimetres(drawing.width),
        millimetres(drawing.height),
        escaped(&drawing.title)
    )?;
    writeln!(out, "\\begin{{tikzpicture}}[x=1mm,y=-1mm,inner sep=0pt,outer sep=0pt]")?;
    let colours: BTreeSet<Colour> = drawing.flat().flat_map(colours).collect();
    for colour in colours {
        let Colour(red, green, blue) = colour;
        writeln!(out, "\\definecolor{{{}}}{{RGB}}{{{red},{green},{blue}}}", name(colour))?;
    }
    let paper = Rect { x: 0, y: 0, width: drawing.width, height: drawing.height };
    writeln!(out, "\\useasboundingbox {};", rectangle(&paper))?;
    for shape in drawing.flat() {
        write_shape(shape, out)?;
    }
    writeln!(out, "\\end{{tikzpicture}}%")
}

fn write_shape(shape: &Shape, out: &mut String) -> std::fmt::Result {
    match shape {
        Shape::Box { area, fill, stroke } => painted(&rectangle(area), *fill, *stroke, out),
        Shape::Polygon { corners, fill, stroke } => {
            painted(&format!("{}--cycle", joined(corners)), Some(*fill), *stroke, out)
        }
        Shape::Line { from, to, stroke } => writeln!(out, "\\draw[{}]{};", look(*stroke), joined(&[*from, *to])),
        Shape::Path { points, stroke, dash } => {
            writeln!(out, "\\draw[{},line join=round{}]{};", look(*stroke), dashes(*dash), joined(points))
        }
        Shape::Text(text) => node(text, out),
        // A flat list holds what is in it instead.
        Shape::Explained { .. } => Ok(()),
    }
}

/// The background, and over it the hatch, and over that the edge.
fn painted(outline: &str, fill: Option<Fill>, stroke: Option<Stroke>, out: &mut String) -> std::fmt::Result {
    if let Some(fill) = fill {
        writeln!(out, "\\fill[{}]{outline};", name(fill.background))?;
        if let Some(pattern) = pattern(fill.hatch) {
            writeln!(out, "\\fill[pattern={pattern},pattern color={}]{outline};", name(fill.ink))?;
        }
    }
    if let Some(stroke) = stroke {
        writeln!(out, "\\draw[{}]{outline};", look(stroke))?;
    }
    Ok(())
}

/// The pattern of pgf's library, whose lines of 0.4 points about 1 mm apart are the theme's.
const fn pattern(hatch: Hatch) -> Option<&'static str> {
    Some(match hatch {
        Hatch::Plain => return None,
        Hatch::Rising => "north east lines",
        Hatch::Falling => "north west lines",
        Hatch::Dots => "dots",
        Hatch::Horizontal => "horizontal lines",
        Hatch::Crossed => "crosshatch",
        Hatch::Vertical => "vertical lines",
        Hatch::Grid => "grid",
    })
}

fn node(text: &Text, out: &mut String) -> std::fmt::Result {
    let anchor = match text.anchor {
        Anchor::Start => "base west",
        Anchor::Middle => "base",
        Anchor::End => "base east",
    };
    let turn = if text.upwards { ",rotate=90" } else { "" };
    let bold = if text.bold { "\\bfseries" } else { "" };
    writeln!(
        out,
        "\\node[anchor={anchor}{turn},scale={},text={}] at {} {{{FONT}{bold}\\selectfont {}}};",
        scale(text.size),
        name(text.colour),
        place(text.at),
        escaped(&text.text)
    )
}

/// The size at which all text is set before it is scaled: one that every class has fonts of, those of signs (math)
/// included. With others LaTeX warns that it takes the nearest size that there is.
const FONT: &str = "\\fontsize{10}{12}\\sffamily";
/// 10 TeX points of 1/72.27 inch \[nm\].
const FONT_NM: Length = 3_514_598;

/// What scales text of [`FONT`]'s size to `size`, to five decimals.
fn scale(size: Length) -> String {
    const NM: Length = 1_000_000 / MM;
    const DECIMALS: Length = 100_000;
    let scaled = (size.abs() * NM * DECIMALS + FONT_NM / 2) / FONT_NM;
    format!("{}.{:05}", scaled / DECIMALS, scaled % DECIMALS)
}

/// Everything that a shape is painted with.
fn colours(shape: &Shape) -> Vec<Colour> {
    let fill = |fill: Option<Fill>| fill.map_or_else(Vec::new, |fill| vec![fill.background, fill.ink]);
    let edge = |stroke: Option<Stroke>| stroke.map(|stroke| stroke.colour);
    match shape {
        Shape::Box { fill: inside, stroke, .. } => fill(*inside).into_iter().chain(edge(*stroke)).collect(),
        Shape::Polygon { fill: inside, stroke, .. } => fill(Some(*inside)).into_iter().chain(edge(*stroke)).collect(),
        Shape::Line { stroke, .. } | Shape::Path { stroke, .. } => vec![stroke.colour],
        Shape::Text(text) => vec![text.colour],
        Shape::Explained { .. } => Vec::new(),
    }
}

fn look(stroke: Stroke) -> String {
    format!("{},line width={}mm", name(stroke.colour), millimetres(stroke.width))
}

fn dashes(dash: Dash) -> String {
    let lengths = dash.lengths().iter().enumerate();
    let parts = lengths
        .map(|(index, length)| format!("{} {}mm", if index % 2 == 0 { "on" } else { "off" }, millimetres(*length)));
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { String::new() } else { format!(",dash pattern={}", parts.join(" ")) }
}

fn rectangle(area: &Rect) -> String {
    format!("{}rectangle{}", place(Point { x: area.x, y: area.y }), place(Point { x: area.right(), y: area.bottom() }))
}

fn joined(points: &[Point]) -> String {
    let places: Vec<String> = points.iter().map(|at| place(*at)).collect();
    places.join("--")
}

fn place(at: Point) -> String {
    format!("({},{})", millimetres(at.x), millimetres(at.y))
}

fn name(Colour(red, green, blue): Colour) -> String {
    format!("gpusched{red:02x}{green:02x}{blue:02x}")
}

/// `text` in ASCII, with what TeX gives a meaning replaced. Signs that not every text font has are set in math, letters
/// with accents by their commands; what remains is told by its code, as pdfTeX refuses what its fonts do not have.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if let Some(command) = BY_CHARACTER.get(&character) {
            out.push_str(command);
        } else if character.is_control() {
            out.push(' ');
        } else if character.is_ascii() {
            out.push(character);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "[U+{:04X}]", u32::from(character));
        }
    }
    out
}

/// Characters that cannot stand for themselves, each with how it is written: those to which TeX gives a meaning,
/// dashes, ligatures and quotation marks, signs, and letters with accents.
const COMMANDS: &str = r#"
    { $\{$   } $\}$   \ $\backslash$   < $<$   > $>$   | $|$   ~ $\sim$   ^ \^{}   $ \$   & \&   # \#   _ \_   % \%
    - {-}   ` {`}   ' {'}   , {,}   ? {?}   ! {!}   " {'}{'}   − $-$   ± $\pm$   × $\times$   · $\cdot$
    → $\rightarrow$   ← $\leftarrow$   ≤ $\leq$   ≥ $\geq$   ≠ $\neq$   ∞ $\infty$   ° $^\circ$   ² $^2$   ³ $^3$
    ₀ $_0$   ₁ $_1$   ₂ $_2$   ₃ $_3$   α $\alpha$   β $\beta$   δ $\delta$   λ $\lambda$   µ $\mu$   μ $\mu$
    π $\pi$   σ $\sigma$   τ $\tau$   ‰ $^0\!/_{00}$   … \dots{}   – --   — ---   ‘ `   ’ '   “ ``   ” ''   Ä \"A
    Ö \"O   Ü \"U   ä \"a   ë \"e   ï \"\i{}   ö \"o   ü \"u   ß \ss{}   á \'a   à \`a   â \^a   ã \~a   å \aa{}
    æ \ae{}   ç \c{c}   É \'E   é \'e   è \`e   ê \^e   í \'\i{}   ñ \~n   ó \'o   ò \`o   ô \^o   ø \o{}   ú \'u
    š \v{s}   č \v{c}   ž \v{z}
"#;

/// [`COMMANDS`] by their characters, and the blank at which no line ends.
static BY_CHARACTER: LazyLock<HashMap<char, &str>> = LazyLock::new(|| {
    let mut words = COMMANDS.split_ascii_whitespace();
    let pairs = std::iter::from_fn(|| Some((words.next()?.chars().next()?, words.next()?)));
    pairs.chain([('\u{a0}', "~")]).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_be_commands() {
        assert_eq!(escaped("\\input{x_1}%$&#"), "$\\backslash$input$\\{$x\\_1$\\}$\\%\\$\\&\\#");
        assert_eq!(escaped("2 × 3 −1\n--"), "2 $\\times$ 3 $-$1 {-}{-}");
    }

    #[test]
    fn everything_is_written_in_ascii_and_nothing_left_out() {
        assert_eq!(escaped("Übung α–β é"), "\\\"Ubung $\\alpha$--$\\beta$ \\'e");
        assert_eq!(escaped("核 K"), "[U+6838] K");
        let all: String = ('\u{80}'..='\u{2fff}').collect();
        assert!(escaped(&all).is_ascii());
    }

    #[test]
    fn text_is_scaled_to_its_size() {
        // 10 points are 3.5146 mm.
        assert_eq!((scale(351), scale(229)), ("0.99869".to_owned(), "0.65157".to_owned()));
    }

    #[test]
    fn places_are_exact_millimetres() {
        assert_eq!(place(Point { x: 8_890, y: -5 }), "(88.90,-0.05)");
    }
}
