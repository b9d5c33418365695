//! What holds for every picture: no text overlaps another or leaves the sheet, all of it can be read on what is behind
//! it, and nothing is too small to see. Read from the SVG itself, with the metrics of the font.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use roxmltree::{Document, Node};
use ttf_parser::Face;

/// Hundredths of a millimetre that texts may share: what rounding makes of touching.
const HAIR: f64 = 4.0;
/// 5.5 points.
const LEAST_TEXT: f64 = 190.0;
/// A quarter of a point.
const LEAST_BOX: f64 = 8.0;

static FONTS: LazyLock<[Face<'static>; 2]> =
    LazyLock::new(|| [dejavu::sans::regular(), dejavu::sans::bold()].map(|file| Face::parse(file, 0).expect("a font")));

/// An area on paper.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Area {
    fn overlaps(&self, other: &Self) -> bool {
        let wide = self.right.min(other.right) - self.left.max(other.left);
        let high = self.bottom.min(other.bottom) - self.top.max(other.top);
        wide > HAIR && high > HAIR
    }

    fn contains(&self, x: f64, y: f64) -> bool {
        self.left <= x && x <= self.right && self.top <= y && y <= self.bottom
    }
}

/// An area that was filled.
struct Painted {
    area: Area,
    background: u32,
    /// The colour of its hatch.
    ink: Option<u32>,
}

/// A text with its place.
#[derive(Debug, Clone)]
pub(crate) struct SvgText {
    pub(crate) text: String,
    pub(crate) area: Area,
}

/// All texts of a picture, after every rule was checked. `what` is told if one is broken.
pub(crate) fn checked(svg: &str, what: &str) -> Vec<SvgText> {
    let document = Document::parse(svg).expect("valid XML");
    let root = document.root_element();
    let view: Vec<f64> = root.attribute("viewBox").expect("a box").split(' ').map(parsed).collect();
    let (mut texts, mut painted): (Vec<SvgText>, Vec<Painted>) = (Vec::new(), Vec::new());
    let hatches = inks(root);
    let drawn = root.descendants().filter(|node| !node.ancestors().any(|outer| outer.has_tag_name("defs")));
    for node in drawn.filter(Node::is_element) {
        match node.tag_name().name() {
            "rect" | "polygon" => {
                let (Some(fill), Some(area)) = (node.attribute("fill").filter(|fill| *fill != "none"), area(node))
                else {
                    continue;
                };
                let small = (area.right - area.left).min(area.bottom - area.top);
                assert!(node.tag_name().name() == "polygon" || small >= LEAST_BOX, "{what}: {node:?} is too small");
                match fill.strip_prefix("url(#") {
                    // A hatch lies over the background that was painted before.
                    Some(id) => painted.last_mut().expect("a background").ink = Some(hatches[id.trim_end_matches(')')]),
                    None => painted.push(Painted { area, background: colour(fill), ink: None }),
                }
            }
            "text" => {
                let text = place(node);
                let (x, y) = (text.area.left.midpoint(text.area.right), text.area.top.midpoint(text.area.bottom));
                let behind = painted.iter().rev().find(|painted| painted.area.contains(x, y)).expect("the sheet");
                let own = colour(node.attribute("fill").expect("a colour"));
                for behind in [Some(behind.background), behind.ink].into_iter().flatten() {
                    let contrast = contrast(own, behind);
                    assert!(contrast >= 4.5, "{what}: {text:?} has a contrast of {contrast:.1} to #{behind:06x}");
                }
                let size: f64 = node.attribute("font-size").expect("a size").parse().expect("a number");
                assert!(size >= LEAST_TEXT, "{what}: {text:?} is too small");
                texts.push(text);
            }
            _ => {}
        }
    }
    for (number, text) in texts.iter().enumerate() {
        let Area { left, top, right, bottom } = text.area;
        let inside = left >= -HAIR && top >= -HAIR && right <= view[2] + HAIR && bottom <= view[3] + HAIR;
        assert!(inside, "{what}: {text:?} leaves the sheet of {view:?}");
        let other = texts[number + 1..].iter().find(|other| other.area.overlaps(&text.area));
        assert!(other.is_none(), "{what}: {text:?} meets {other:?}");
    }
    texts
}

/// Height of a picture \[mm\].
pub(crate) fn height_mm(svg: &str) -> f64 {
    let document = Document::parse(svg).expect("valid XML");
    let height = document.root_element().attribute("height").expect("a height");
    height.trim_end_matches("mm").parse().expect("a number")
}

/// Explanations of a picture and the fills of what they explain, the first one of each.
pub(crate) fn explained(svg: &str) -> Vec<(String, String)> {
    let document = Document::parse(svg).expect("valid XML");
    let groups = document.descendants().filter(|node| node.has_tag_name("g"));
    let told = groups.filter_map(|group| {
        let title = group.children().find(|child| child.has_tag_name("title"))?.text()?.to_owned();
        let fills: Vec<&str> = group
            .children()
            .filter(|child| child.has_tag_name("rect") || child.has_tag_name("polygon"))
            .filter_map(|child| child.attribute("fill"))
            .take(2)
            .filter(|fill| !fill.starts_with("#ff"))
            .collect();
        Some((title, fills.join(" ")))
    });
    told.collect()
}

fn parsed(text: &str) -> f64 {
    text.parse().expect("a number")
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).map_or(0.0, parsed)
}

fn area(node: Node<'_, '_>) -> Option<Area> {
    if node.has_tag_name("rect") {
        let (left, top) = (number(node, "x"), number(node, "y"));
        let (right, bottom) = (left + number(node, "width"), top + number(node, "height"));
        return Some(Area { left, top, right, bottom });
    }
    let points: Vec<(f64, f64)> = node
        .attribute("points")?
        .split(' ')
        .filter_map(|point| point.split_once(',').map(|(x, y)| (parsed(x), parsed(y))))
        .collect();
    let bound = |of: fn(&(f64, f64)) -> f64, best: fn(f64, f64) -> f64| points.iter().map(of).reduce(best);
    Some(Area {
        left: bound(|point| point.0, f64::min)?,
        top: bound(|point| point.1, f64::min)?,
        right: bound(|point| point.0, f64::max)?,
        bottom: bound(|point| point.1, f64::max)?,
    })
}

/// Colours of the hatches, by their ids, which are made of what they show.
fn inks<'d>(root: Node<'d, 'd>) -> BTreeMap<&'d str, u32> {
    let patterns = root.descendants().filter(|node| node.has_tag_name("pattern"));
    let ink = |pattern: Node<'_, '_>| {
        let drawn = pattern.children().find(Node::is_element).expect("something");
        colour(drawn.attribute("stroke").or(drawn.attribute("fill")).expect("a colour"))
    };
    patterns.map(|pattern| (pattern.attribute("id").expect("a name"), ink(pattern))).collect()
}

/// Where a text is: from the height of its capitals down to below its baseline.
fn place(node: Node<'_, '_>) -> SvgText {
    let text = node.text().unwrap_or_default().to_owned();
    let size = number(node, "font-size");
    let font = &FONTS[usize::from(node.attribute("font-weight") == Some("bold"))];
    let advance =
        |character| font.glyph_index(character).and_then(|glyph| font.glyph_hor_advance(glyph)).unwrap_or(2048);
    let width = text.chars().map(|character| f64::from(advance(character))).sum::<f64>() * size / 2048.0;
    let before = match node.attribute("text-anchor") {
        Some("middle") => width / 2.0,
        Some("end") => width,
        _ => 0.0,
    };
    let (x, y) = (number(node, "x"), number(node, "y"));
    let area = if node.attribute("transform").is_some() {
        Area { left: x - 0.73 * size, right: x + 0.1 * size, top: y - (width - before), bottom: y + before }
    } else {
        Area { left: x - before, right: x - before + width, top: y - 0.73 * size, bottom: y + 0.1 * size }
    };
    SvgText { text, area }
}

fn colour(text: &str) -> u32 {
    u32::from_str_radix(text.trim_start_matches('#'), 16).expect("a colour")
}

/// Relative luminance, as WCAG 2 defines it.
fn luminance(colour: u32) -> f64 {
    let part = |shift: u32| {
        let value = f64::from((colour >> shift) & 0xff) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0)
}

/// Contrast of two colours, as WCAG 2 defines it.
pub(crate) fn contrast(one: u32, other: u32) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}
