//! What the rows share: series along the last dimension, any number of batches before it.
use ricci::plugin::{Batch, Operation};
use ricci::{Attribute, Type, Value, F32, F64};

/// Whether `t` is a series of f32 or f64, or what is wrong.
pub fn expect_series(name: &str, t: &Type) -> Result<(), String> {
    if t.dtype != F32 && t.dtype != F64 {
        return Err(format!("{} is {}; it must be f32 or f64", name, t));
    }
    if t.dims.is_empty() {
        return Err(format!("{} is {}; it must have a dimension, along which it is a series", name, t));
    }
    Ok(())
}

/// The one operand, a series, or what is wrong.
pub fn only_series(operands: &[Type]) -> Result<&Type, String> {
    match operands {
        [y] => expect_series("y", y).map(|_| y),
        _ => Err(format!("{} operands; it takes 1", operands.len())),
    }
}

/// The operation on all operands with the batch as dimension 0.
pub fn batched(primitive: &str, given: &Batch<'_>) -> Vec<(Value, Option<usize>)> {
    let all: Vec<Value> = (0..given.operands.len()).map(|i| given.first(i)).collect();
    vec![(applied(primitive, &all), Some(0))]
}
/// The one result of a primitive without attributes.
pub fn applied(primitive: &str, operands: &[Value]) -> Value {
    let others: Vec<&Value> = operands[1..].iter().collect();
    operands[0].emit(primitive, &[], &others, 1).remove(0)
}

/// Work may be split along all dimensions but the last: `a0 n0, a0 n1 -> a0 m; whole n0 n1 m`.
pub fn factors(operation: &Operation<'_>) -> String {
    let batch: String = (1..operation.operands[0].dims.len()).map(|i| format!("a{} ", i)).collect();
    let series: Vec<String> = (0..operation.operands.len()).map(|i| format!("n{}", i)).collect();
    let operands: Vec<String> = series.iter().map(|n| format!("{}{}", batch, n)).collect();
    format!("{} -> {}m; whole {} m", operands.join(", "), batch, series.join(" "))
}

/// Element i is element i - 1 of x (`by` = 1) or element i + 1 (`by` = -1); 0 where there is none.
pub fn moved(x: &Value, by: i64) -> Value {
    let rank = x.dims().len();
    let last = |n: i64| [vec![0; rank - 1], vec![n]].concat();
    let sizes = [
        Attribute::ints("low", &last(by)),
        Attribute::ints("high", &last(-by)),
        Attribute::ints("interior", &last(0)),
    ];
    let zero = x.constant(&[0.0f64], &[]).astype(x.dtype());
    x.emit("pad", &sizes, &[&zero], 1).remove(0)
}
