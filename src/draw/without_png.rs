//! What stands in for pixels without the cargo feature `png`.

use super::drawing::Drawing;
use super::error::DrawError;

impl Drawing {
    /// Always the error that names the cargo feature `png`, without which this library was built.
    ///
    /// # Errors
    /// [`DrawError::NoPng`].
    pub fn to_png(&self, _scale: f64) -> Result<Vec<u8>, DrawError> {
        Err(DrawError::NoPng)
    }
}
