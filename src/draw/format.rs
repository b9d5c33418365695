//! File formats of pictures.

use std::path::Path;

use super::drawing::Drawing;
use super::error::DrawError;

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
    /// [`DrawError::UnknownFormat`], or [`DrawError::NoPdf`] without the cargo feature `pdf`.
    pub fn of(path: &Path) -> Result<Self, DrawError> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "svg" => Ok(Self::Svg),
            "png" => Ok(Self::Png),
            "tex" => Ok(Self::Tex),
            "pdf" if cfg!(feature = "pdf") => Ok(Self::Pdf),
            "pdf" => Err(DrawError::NoPdf),
            _ => Err(DrawError::UnknownFormat { name: path.display().to_string() }),
        }
    }
}

impl Drawing {
    /// The picture as a file; `scale` counts for PNG only, see [`Drawing::to_png`].
    ///
    /// # Errors
    /// As [`Drawing::to_png`] and [`Drawing::to_pdf`].
    pub fn to_file(&self, format: FigureFormat, scale: f64) -> Result<Vec<u8>, DrawError> {
        match format {
            FigureFormat::Svg => Ok(self.to_svg().into_bytes()),
            FigureFormat::Png => self.to_png(scale),
            FigureFormat::Pdf => self.to_pdf(),
            FigureFormat::Tex => Ok(self.to_tex().into_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides() {
        assert_eq!(FigureFormat::of(Path::new("a/b.SVG")), Ok(FigureFormat::Svg));
        assert_eq!(FigureFormat::of(Path::new("b.png")), Ok(FigureFormat::Png));
        assert_eq!(FigureFormat::of(Path::new("b.tex")), Ok(FigureFormat::Tex));
        assert!(matches!(FigureFormat::of(Path::new("b.gif")), Err(DrawError::UnknownFormat { .. })));
        assert!(matches!(FigureFormat::of(Path::new("svg")), Err(DrawError::UnknownFormat { .. })));
    }

    #[cfg(not(feature = "pdf"))]
    #[test]
    fn pdf_names_the_feature_that_it_needs() {
        let error = FigureFormat::of(Path::new("b.pdf")).expect_err("PDF was not built");
        assert!(error.to_string().contains("\"pdf\""));
    }
}
