//! File formats of pictures.

use std::path::Path;

use super::drawing::Drawing;
use super::error::DrawError;
use crate::effort::Counted;
use crate::limits::count;

/// What a shape comes to where work is counted if it is rendered, which takes longer than to write it down.
const RENDERED: u64 = 8;

/// A file format of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureFormat {
    /// Scalable Vector Graphics.
    Svg,
    /// Portable Network Graphics.
    Png,
    /// Portable Document Format.
    Pdf,
    /// TikZ, to be included in a LaTeX document.
    Tex,
}

impl FigureFormat {
    /// The format that a file name's extension states, in any case.
    ///
    /// # Errors
    /// [`DrawError::UnknownFormat`], or [`DrawError::NoPng`] and [`DrawError::NoPdf`] without the cargo features `png`
    /// and `pdf`.
    pub fn of(path: &Path) -> Result<Self, DrawError> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "svg" => Ok(Self::Svg),
            "png" if cfg!(feature = "png") => Ok(Self::Png),
            "png" => Err(DrawError::NoPng),
            "tex" => Ok(Self::Tex),
            "pdf" if cfg!(feature = "pdf") => Ok(Self::Pdf),
            "pdf" => Err(DrawError::NoPdf),
            _ => Err(DrawError::UnknownFormat { name: path.display().to_string() }),
        }
    }
}

impl Drawing {
    /// The picture as a file; `scale` counts for PNG only: so many times 300 pixels per inch.
    ///
    /// # Errors
    /// [`DrawError`] of PNG and PDF: a scale that makes no picture, what cannot be drawn, and formats that this library
    /// was built without.
    #[cfg_attr(not(feature = "png"), expect(unused_variables, reason = "nothing else has a scale"))]
    pub fn to_file(&self, format: FigureFormat, scale: f64) -> Result<Vec<u8>, DrawError> {
        if matches!(format, FigureFormat::Png | FigureFormat::Pdf) {
            count(Counted::Shapes, self.flat().count() as u64 * RENDERED);
        }
        match format {
            FigureFormat::Svg => Ok(self.to_svg().into_bytes()),
            #[cfg(feature = "png")]
            FigureFormat::Png => self.to_png(scale),
            #[cfg(not(feature = "png"))]
            FigureFormat::Png => Err(DrawError::NoPng),
            #[cfg(feature = "pdf")]
            FigureFormat::Pdf => self.to_pdf(),
            #[cfg(not(feature = "pdf"))]
            FigureFormat::Pdf => Err(DrawError::NoPdf),
            FigureFormat::Tex => Ok(self.to_tex().into_bytes()),
        }
    }
}
