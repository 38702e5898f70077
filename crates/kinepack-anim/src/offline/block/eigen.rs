//! Computes the eigenvectors of small symmetric matrices by Jacobi rotations.

/// Returns the eigenvectors of a symmetric matrix, in descending order of their eigenvalues.
pub(super) fn eigenvectors<const N: usize>(mut a: [[f64; N]; N]) -> [[f64; N]; N] {
    const SWEEPS: usize = 40;
    let mut vectors = [[0.0; N]; N];
    for (index, row) in vectors.iter_mut().enumerate() {
        row[index] = 1.0;
    }
    for _ in 0..SWEEPS {
        let diagonal: f64 = (0..N).map(|i| a[i][i] * a[i][i]).sum();
        let off: f64 =
            (0..N).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
        if off <= 1e-24 * diagonal {
            break;
        }
        for (p, q) in (0..N).flat_map(|p| (p + 1..N).map(move |q| (p, q))) {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t =
                if theta < 0.0 { -1.0 } else { 1.0 } / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            for row in &mut a {
                (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
            }
            for k in 0..N {
                (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
                (vectors[p][k], vectors[q][k]) =
                    (c * vectors[p][k] - s * vectors[q][k], s * vectors[p][k] + c * vectors[q][k]);
            }
        }
    }
    let mut order: [usize; N] = std::array::from_fn(|index| index);
    order.sort_by(|&i, &j| a[j][j].total_cmp(&a[i][i]));
    order.map(|index| vectors[index])
}

#[cfg(test)]
mod tests {
    use super::eigenvectors;

    #[test]
    fn the_matrix_only_stretches_its_eigenvectors() {
        let matrix = [[2.0, -1.0, 0.5], [-1.0, 3.0, 0.25], [0.5, 0.25, 1.0]];
        let mut last = f64::INFINITY;
        for vector in eigenvectors(matrix) {
            let image: [f64; 3] =
                std::array::from_fn(|i| (0..3).map(|j| matrix[i][j] * vector[j]).sum());
            let value: f64 = image.iter().zip(vector).map(|(a, b)| a * b).sum();
            assert!(value <= last);
            last = value;
            for axis in 0..3 {
                assert!((image[axis] - value * vector[axis]).abs() < 1e-10);
            }
        }
    }
}
