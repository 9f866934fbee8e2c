//! Means and intervals.

/// The mean of observations, half the width of its 95 % confidence interval, and the number of
/// observations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Summary {
    pub(crate) mean: f64,
    pub(crate) around: f64,
    pub(crate) count: usize,
}

/// The values of Student's t for 95 % confidence intervals, with 1 to 30 degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

#[expect(clippy::cast_precision_loss, reason = "there are few observations")]
pub(crate) fn summary(values: &[f64]) -> Summary {
    let count = values.len();
    let mean = values.iter().sum::<f64>() / count.max(1) as f64;
    let freedom = count.saturating_sub(1);
    if freedom == 0 {
        return Summary { mean, around: 0.0, count };
    }
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / freedom as f64;
    let student = STUDENT.get(freedom - 1).copied().unwrap_or(1.96);
    Summary { mean, around: student * (variance / count as f64).sqrt(), count }
}

/// Fits a power law to the points, by least squares on their logarithms. Returns the exponent.
#[expect(clippy::cast_precision_loss, reason = "there are few points")]
pub(crate) fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.max(1e-9).ln())).collect();
    let count = logs.len().max(1) as f64;
    let (x, y) = logs.iter().fold((0.0, 0.0), |(x, y), (a, b)| (x + a / count, y + b / count));
    let (above, below) =
        logs.iter().fold((0.0, 0.0), |(above, below), (a, b)| (above + (a - x) * (b - y), below + (a - x).powi(2)));
    above / below
}

/// Returns the median. If the number of values is even, this is the larger of the two middle
/// values.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_student() {
        let Summary { mean, around, count } = summary(&[1.0, 2.0, 3.0]);
        assert!((mean - 2.0).abs() < 1e-9 && (around - 4.303 / 3.0_f64.sqrt()).abs() < 1e-9 && count == 3);
        assert_eq!(summary(&[5.0]), Summary { mean: 5.0, around: 0.0, count: 1 });
    }

    #[test]
    fn exponents_of_powers() {
        let squares: Vec<(f64, f64)> = [1.0, 2.0, 5.0].map(|x: f64| (x, 3.0 * x * x)).into();
        assert!((exponent(&squares) - 2.0).abs() < 1e-9);
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
    }
}
