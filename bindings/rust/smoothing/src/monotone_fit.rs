//! smoothing.monotone(y): the series that never falls and is nearest to y, by least squares.
//!
//! It is the mean of each pool. A small change of y changes the means, not the pools, so the derivative is that of the
//! means with the pools held, which the decomposition says by `stop_gradient`.
use crate::batch_rows::{applied, only_series};
use crate::{pool_means, pooled_runs};
use ricci::plugin::{Attributes, Primitive};
use ricci::{Type, Value};

/// The primitive.
#[derive(Default)]
pub struct Monotone;

impl Primitive for Monotone {
    fn name(&self) -> &str {
        "smoothing.monotone"
    }
    fn doc(&self) -> &str {
        "x = smoothing.monotone(y): the series along the last dimension that never falls and is nearest to y"
    }
    fn examples(&self) -> &str {
        "(f64[6]); (f64[2,4])"
    }
    fn types(&self, operands: &[Type], _: &Attributes<'_>) -> Result<Vec<Type>, String> {
        Ok(vec![only_series(operands)?.clone()])
    }
    fn decompose(&self, x: &[Value], _: &Attributes<'_>) -> Vec<Value> {
        let pools = applied(pooled_runs::NAME, &[x[0].stop_gradient()]);
        vec![applied(pool_means::NAME, &[x[0].clone(), pools])]
    }
}
