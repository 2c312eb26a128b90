//! smoothing.pool_means(y, p): each element of y becomes the mean of those in its pool.
//!
//! Linear in y, and its matrix is symmetric, so its transpose is the operation itself.
use crate::batch_rows::{applied, batched, expect_series, factors};
use ricci::plugin::{Attributes, Batch, Kernel, Operation, Primitive, Rule, Transpose};
use ricci::{Type, Value, I32, I64};

pub const NAME: &str = "smoothing.pool_means";

/// The primitive.
#[derive(Default)]
pub struct PoolMeans;

impl Primitive for PoolMeans {
    fn name(&self) -> &str {
        NAME
    }
    fn doc(&self) -> &str {
        "x = smoothing.pool_means(y, p): the means of all elements of y, along its last dimension, with the same number in p"
    }
    fn examples(&self) -> &str {
        "(f64[5], i32[5]); (f32[2,4], i32[2,4]); (f64[0], i32[0])"
    }
    fn types(&self, operands: &[Type], _: &Attributes<'_>) -> Result<Vec<Type>, String> {
        let (y, p) = match operands {
            [y, p] => (y, p),
            _ => return Err(format!("{} operands; it takes 2", operands.len())),
        };
        expect_series("y", y)?;
        if *p != I32.shape(&y.dims) {
            return Err(format!("p is {}; for y, {}, it must be {}", p, y, I32.shape(&y.dims)));
        }
        Ok(vec![y.clone()])
    }
    fn rules(&self) -> &[Rule] {
        &[Rule::Loops, Rule::Linear, Rule::Transpose, Rule::Batch, Rule::Factors]
    }
    fn transpose(&self, given: &Transpose<'_>, _: &Attributes<'_>) -> Vec<Option<Value>> {
        let ct = match (&given.cts[0], &given.operands[1]) {
            (Some(ct), Some(p)) => Some(applied(NAME, &[ct.clone(), p.clone()])),
            _ => None,
        };
        vec![ct, None]
    }
    fn batch(&self, given: &Batch<'_>, _: &Attributes<'_>) -> Vec<(Value, Option<usize>)> {
        batched(NAME, given)
    }
    fn factors_of(&self, operation: &Operation<'_>) -> String {
        factors(operation)
    }
    /// Sums and counts of the pools; a number that no pool has goes to the nearest one.
    fn loops(&self, k: &Kernel, _: &Attributes<'_>) -> Result<(), String> {
        let Type { dtype, dims } = k.result_type(0);
        let (n, batch) = dims.split_last().ok_or("the series has no dimension")?;
        if dims.contains(&0) {
            return Ok(());
        }
        k.parallel(batch, |at| {
            let (y, p, x) = (k.operand(0).within(at), k.operand(1).within(at), k.result(0).within(at));
            let (sum, count) = (k.local(dtype, &[*n]), k.local(dtype, &[*n]));
            let pool_of = |i| p.at(i).astype(I64).maximum(0).minimum(*n - 1);
            k.for_each(0, *n, |i| {
                sum.set(i, k.constant(dtype, 0.0));
                count.set(i, k.constant(dtype, 0.0));
            });
            k.for_each(0, *n, |i| {
                let pool = pool_of(i);
                sum.set(pool, sum.at(pool) + y.at(i));
                count.set(pool, count.at(pool) + 1.0);
            });
            k.for_each(0, *n, |i| {
                let pool = pool_of(i);
                x.set(i, sum.at(pool) / count.at(pool));
            });
        });
        Ok(())
    }
}
