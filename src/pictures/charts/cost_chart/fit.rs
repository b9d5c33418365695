//! The polynomial of least squares, the "best fit" of Fig. 3.11.

/// A polynomial of least squares through points, of so high a degree, at each of `places`; of a lower degree where
/// there are too few points.
///
/// By orthogonal polynomials over the points (G. E. Forsythe, "Generation and use of orthogonal polynomials for
/// data-fitting with a digital computer", 1957), which stays accurate where powers of x do not.
pub(super) fn best_fit(points: &[(f64, f64)], degree: usize, places: &[f64]) -> Vec<f64> {
    let mut fitted = vec![0.0; places.len()];
    // Two polynomials in a row, at the points and at the places.
    let (mut last, mut last_there) = (vec![0.0; points.len()], vec![0.0; places.len()]);
    let (mut this, mut this_there) = (vec![1.0; points.len()], vec![1.0; places.len()]);
    let mut last_norm = 1.0;
    for _ in 0..=degree.min(points.len().saturating_sub(1)) {
        let norm: f64 = this.iter().map(|value| value * value).sum();
        if norm <= f64::EPSILON {
            break;
        }
        let factor: f64 = this.iter().zip(points).map(|(value, (_, y))| value * y).sum::<f64>() / norm;
        for (sum, value) in fitted.iter_mut().zip(&this_there) {
            *sum += factor * value;
        }
        let middle: f64 = this.iter().zip(points).map(|(value, (x, _))| x * value * value).sum::<f64>() / norm;
        let carried = norm / last_norm;
        let next = |x: f64, this: f64, last: f64| (x - middle) * this - carried * last;
        let at_points =
            points.iter().zip(&this).zip(&last).map(|(((x, _), this), last)| next(*x, *this, *last)).collect();
        let there =
            places.iter().zip(&this_there).zip(&last_there).map(|((x, this), last)| next(*x, *this, *last)).collect();
        (last, this) = (this, at_points);
        (last_there, this_there) = (this_there, there);
        last_norm = norm;
    }
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polynomial_is_found_again_and_noise_is_averaged() {
        let cubic = |x: f64| 2.0 - x + 0.5 * x * x * x;
        let points: Vec<(f64, f64)> = (0..20).map(f64::from).map(|x| (x, cubic(x))).collect();
        for (found, x) in best_fit(&points, 5, &[0.0, 3.5, 19.0]).into_iter().zip([0.0, 3.5, 19.0]) {
            assert!((found - cubic(x)).abs() < 1e-6 * cubic(x).abs().max(1.0), "{found} at {x}");
        }
        // By hand: the line of least squares through (0, 0), (1, 3), (2, 0) is y = 1.
        let line = best_fit(&[(0.0, 0.0), (1.0, 3.0), (2.0, 0.0)], 1, &[0.0, 2.0]);
        assert!(line.iter().all(|y| (y - 1.0).abs() < 1e-12), "{line:?}");
        assert_eq!(best_fit(&[], 2, &[1.0]), [0.0]);
    }
}
