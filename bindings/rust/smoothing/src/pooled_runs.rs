//! smoothing.pools(y): which neighbours of a series are pooled in its monotone fit, by a library: a function of Rust.
//!
//! Two neighbouring pools whose means fall are joined, until none are (pool adjacent violators; Barlow et al.,
//! "Statistical Inference under Order Restrictions", 1972). How often depends on the numbers, so no loop of a fixed form
//! does it, but a stack does, in one pass.
use crate::batch_rows::{batched, factors, only_series};
use ricci::plugin::{Attributes, Batch, LibraryCall, LibraryPlan, Operation, Primitive, Rule};
use ricci::{Element, Type, Value, F32, I32};

pub const NAME: &str = "smoothing.pools";

/// The primitive.
#[derive(Default)]
pub struct Pools;

/// Writes the number of its pool for each element of `y`; `stack` has room for a sum and a count of each.
fn pool<T: Element + Into<f64>>(y: &[T], stack: &mut [f64], pools: &mut [i32]) {
    let mut top = 0;
    for x in y {
        let (mut sum, mut count) = ((*x).into(), 1.0);
        while top > 0 && stack[2 * top - 2] * count >= sum * stack[2 * top - 1] {
            top -= 1;
            sum += stack[2 * top];
            count += stack[2 * top + 1];
        }
        stack[2 * top] = sum;
        stack[2 * top + 1] = count;
        top += 1;
    }
    let mut at = 0;
    for i in 0..top {
        let count = stack[2 * i + 1] as usize;
        pools[at..at + count].fill(i as i32);
        at += count;
    }
}
fn pool_rows<T: Element + Into<f64>>(call: &LibraryCall<'_>, n: usize) -> Result<(), String> {
    let (y, pools, stack) = (call.operand::<T>(0)?, call.result::<i32>(0)?, call.workspace::<f64>()?);
    for (row, pools) in call.rows().zip(pools.chunks_mut(n)) {
        pool(&y[row * n..(row + 1) * n], stack, pools);
    }
    Ok(())
}

impl Primitive for Pools {
    fn name(&self) -> &str {
        NAME
    }
    fn doc(&self) -> &str {
        "p = smoothing.pools(y): for each element of y, along its last dimension, the number of its pool in the monotone fit"
    }
    fn examples(&self) -> &str {
        "(f64[7]); (f32[3,5]); (f64[2,0])"
    }
    fn missing(&self) -> &str {
        "jvp: integer result; transpose: not linear"
    }
    fn types(&self, operands: &[Type], _: &Attributes<'_>) -> Result<Vec<Type>, String> {
        Ok(vec![I32.shape(&only_series(operands)?.dims)])
    }
    fn rules(&self) -> &[Rule] {
        &[Rule::Library, Rule::Batch, Rule::Factors]
    }
    fn batch(&self, given: &Batch<'_>, _: &Attributes<'_>) -> Vec<(Value, Option<usize>)> {
        batched(NAME, given)
    }
    fn factors_of(&self, operation: &Operation<'_>) -> String {
        factors(operation)
    }
    fn library(&self, operation: &Operation<'_>) -> Result<LibraryPlan, String> {
        let y = &operation.operands[0];
        let sizes: Vec<usize> = y.dims.iter().map(|d| *d as usize).collect();
        let (n, batch) = sizes.split_last().ok_or("the series has no dimension")?;
        let (n, rows) = (*n, batch.iter().product());
        let run = if y.dtype == F32 { pool_rows::<f32> } else { pool_rows::<f64> };
        // Rows that take some microseconds together.
        Ok(LibraryPlan::new(move |call| run(call, n.max(1))).rows(rows, (4096 / n.max(1)).max(1)).workspace::<f64>(2 * n))
    }
}
