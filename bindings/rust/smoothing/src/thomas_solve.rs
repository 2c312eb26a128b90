//! smoothing.tridiagonal(l, d, u, b): the x with T x = b, where row i of T is [.. l[i] d[i] u[i] ..].
//!
//! l[0] and u[n-1] are not part of T. The rows are eliminated in order, without pivots (the algorithm of Thomas; Golub
//! and Van Loan, "Matrix Computations", 4.3), so T should be dominated by its diagonal, or definite. Its derivatives are
//! solves too: of the same matrix, or of its transpose.
use crate::batch_rows::{applied, batched, expect_series, factors, moved};
use ricci::plugin::{Attributes, Batch, Jvp, Kernel, Operation, Primitive, Rule, Transpose};
use ricci::{Type, Value};

const NAME: &str = "smoothing.tridiagonal";

/// The primitive.
#[derive(Default)]
pub struct Tridiagonal;

/// T x of the matrix with these diagonals, of which some may be zero.
fn product(diagonals: &[Option<Value>], x: &Value) -> Option<Value> {
    let parts = [
        diagonals[0].as_ref().map(|l| l * moved(x, 1)),
        diagonals[1].as_ref().map(|d| d * x),
        diagonals[2].as_ref().map(|u| u * moved(x, -1)),
    ];
    parts.into_iter().flatten().reduce(|a, b| a + b)
}

impl Primitive for Tridiagonal {
    fn name(&self) -> &str {
        NAME
    }
    fn doc(&self) -> &str {
        "x = smoothing.tridiagonal(l, d, u, b): the x with T x = b, where T has l left of its diagonal d and u right of it"
    }
    fn examples(&self) -> &str {
        "(f64[4], f64[4] in 5..6, f64[4], f64[4]); (f64[2,3], f64[2,3] in 5..6, f64[2,3], f64[2,3]); \
         (f32[5], f32[5] in 5..6, f32[5], f32[5]); (f64[1], f64[1] in 1..2, f64[1], f64[1]); (f64[0], f64[0], f64[0], f64[0])"
    }
    fn types(&self, operands: &[Type], _: &Attributes<'_>) -> Result<Vec<Type>, String> {
        let b = match operands {
            [_, _, _, b] => b,
            _ => return Err(format!("{} operands; it takes 4", operands.len())),
        };
        expect_series("b", b)?;
        match operands.iter().zip(["l", "d", "u"]).find(|(t, _)| *t != b) {
            Some((t, name)) => Err(format!("{} is {}, but b is {}; they must have one type", name, t, b)),
            None => Ok(vec![b.clone()]),
        }
    }
    fn rules(&self) -> &[Rule] {
        &[Rule::Loops, Rule::ReadsOnce, Rule::Jvp, Rule::Transpose, Rule::Batch, Rule::Factors]
    }
    /// T dx = db - dT x.
    fn jvp(&self, given: &Jvp<'_>, _: &Attributes<'_>) -> (Vec<Value>, Vec<Option<Value>>) {
        let x = applied(NAME, given.primals);
        let right = match (&given.tangents[3], product(&given.tangents[..3], &x)) {
            (Some(b), Some(moved)) => Some(b - moved),
            (None, Some(moved)) => Some(-moved),
            (b, None) => b.clone(),
        };
        let solved = |b: Value| applied(NAME, &[&given.primals[..3], &[b]].concat());
        (vec![x], vec![right.map(solved)])
    }
    /// The transposed matrix has the diagonals of the other side, of the row before or after.
    fn transpose(&self, given: &Transpose<'_>, _: &Attributes<'_>) -> Vec<Option<Value>> {
        let ct = match (&given.cts[0], &given.operands[..3]) {
            (Some(ct), [Some(l), Some(d), Some(u)]) => Some(applied(NAME, &[moved(u, 1), d.clone(), moved(l, -1), ct.clone()])),
            _ => None,
        };
        vec![None, None, None, ct]
    }
    fn batch(&self, given: &Batch<'_>, _: &Attributes<'_>) -> Vec<(Value, Option<usize>)> {
        batched(NAME, given)
    }
    fn factors_of(&self, operation: &Operation<'_>) -> String {
        factors(operation)
    }
    /// Row i becomes [1 | g[i] | x[i]]; then x[i] -= g[i] x[i+1], from the end.
    fn loops(&self, k: &Kernel, _: &Attributes<'_>) -> Result<(), String> {
        let Type { dtype, dims } = k.result_type(0);
        let (n, batch) = dims.split_last().ok_or("the series has no dimension")?;
        if dims.contains(&0) {
            return Ok(());
        }
        k.parallel(batch, |at| {
            let [l, d, u, b] = [0, 1, 2, 3].map(|i| k.operand(i).within(at));
            let (x, g) = (k.result(0).within(at), k.local(dtype, &[*n]));
            let first = d.at(0);
            g.set(0, u.at(0) / first);
            x.set(0, b.at(0) / first);
            k.for_each(1, *n, |i| {
                let left = l.at(i);
                let pivot = d.at(i) - left * g.at(i - 1);
                g.set(i, u.at(i) / pivot);
                x.set(i, (b.at(i) - left * x.at(i - 1)) / pivot);
            });
            k.for_each(1, *n, |step| {
                let i = (*n - 1) - step;
                x.set(i, x.at(i) - g.at(i) * x.at(i + 1));
            });
        });
        Ok(())
    }
}
