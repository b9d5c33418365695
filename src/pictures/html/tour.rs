//! Several runs as one page that is gone through scene by scene.

use std::io::{self, Write};

use super::data::PageData;
use super::{HtmlTimeline, page};
use crate::formats::escaped_html;

/// One scene: a run, what is said of it, and a question about it.
#[derive(Debug, Clone)]
pub(crate) struct HtmlScene<'a> {
    /// Its heading.
    pub title: &'a str,
    /// What is to be seen.
    pub text: &'a str,
    /// What the reader may find out in the figure.
    pub question: &'a str,
    /// Shown when asked for.
    pub answer: &'a str,
    /// The command that makes a page of this run alone.
    pub command: String,
    /// The run.
    pub timeline: HtmlTimeline<'a>,
}

/// Writes scenes as one page: one figure at a time, with links between them.
///
/// # Errors
/// Whatever `out` refuses.
pub(crate) fn write_html_tour(title: &str, scenes: &[HtmlScene<'_>], out: impl Write) -> io::Result<()> {
    let data: Vec<PageData<'_>> = scenes.iter().map(|scene| PageData::new(&scene.timeline)).collect();
    let links: Vec<String> = (1..)
        .zip(scenes)
        .map(|(number, scene)| format!("<li><a href=\"#scene-{number}\">{}</a></li>", escaped_html(scene.title)))
        .collect();
    let links = links.concat();
    let mut text = format!("<section id=\"scenes\">\n<nav id=\"tour\" aria-label=\"Scenes\"><ol>{links}</ol></nav>\n");
    for (number, scene) in (1..).zip(scenes) {
        text += &section(number, scene, number < scenes.len());
    }
    text += "</section>\n";
    page::write(title, &text, &data, out)
}

fn section(number: usize, scene: &HtmlScene<'_>, has_next: bool) -> String {
    let next = if has_next {
        format!("<p><a href=\"#scene-{}\">Next scene</a> (Page Down)</p>\n", number + 1)
    } else {
        String::new()
    };
    format!(
        "<section class=\"scene\" id=\"scene-{number}\">\n<h2>{number}. {}</h2>\n<p>{}</p>\n<p class=\"question\">{}</p>\n\
         <details><summary>Answer</summary><p>{}</p></details>\n<p class=\"quiet\">This scene alone: \
         <code>{}</code></p>\n{next}</section>\n",
        escaped_html(scene.title),
        escaped_html(scene.text),
        escaped_html(scene.question),
        escaped_html(scene.answer),
        escaped_html(&scene.command),
    )
}
