//! The file around the data.

use std::io::{self, Write};

use serde::Serialize;

use super::data::PageData;
use super::escape::InsideScript;
use crate::formats::escaped_html;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");

/// One module, in the order in which its parts need one another.
const SCRIPTS: [&str; 20] = [
    include_str!("script/time.js"),
    include_str!("script/scenes.js"),
    include_str!("script/data.js"),
    include_str!("script/turns.js"),
    include_str!("script/state.js"),
    include_str!("script/text.js"),
    include_str!("script/view.js"),
    include_str!("script/layout.js"),
    include_str!("script/fills.js"),
    include_str!("script/draw.js"),
    include_str!("script/cores.js"),
    include_str!("script/counts.js"),
    include_str!("script/lanes.js"),
    include_str!("script/find.js"),
    include_str!("script/rules.js"),
    include_str!("script/panel.js"),
    include_str!("script/report.js"),
    include_str!("script/app.js"),
    include_str!("script/input.js"),
    include_str!("script/main.js"),
];

/// `scenes` is HTML that stands above the figure; each of `data` is one figure, of which the scripts show one.
pub(super) fn write(title: &str, scenes: &str, data: &[PageData<'_>], mut out: impl Write) -> io::Result<()> {
    let mut rest = PAGE;
    // The template names them in this order.
    for place in ["{{title}}", "{{style}}", "{{title}}", "{{scenes}}", "{{data}}", "{{script}}"] {
        let Some((before, after)) = rest.split_once(place) else { continue };
        out.write_all(before.as_bytes())?;
        match place {
            "{{title}}" => out.write_all(escaped_html(title).as_bytes())?,
            "{{style}}" => out.write_all(STYLE.as_bytes())?,
            "{{scenes}}" => out.write_all(scenes.as_bytes())?,
            "{{data}}" => data.serialize(&mut serde_json::Serializer::with_formatter(&mut out, InsideScript))?,
            _ => SCRIPTS.iter().try_for_each(|script| out.write_all(script.as_bytes()))?,
        }
        rest = after;
    }
    out.write_all(rest.as_bytes())
}
