//! Values next to each other, and products of matrices, with the names and shapes of jax.numpy.
use crate::attribute::Attribute;
use crate::error::Error;
use crate::operators::common;
use crate::trace::{innermost, Value};

/// The values concatenated along dimension `axis`, in which alone their sizes may differ.
///
/// # Panics
/// If `values` is empty.
#[track_caller]
pub fn concatenate(values: &[&Value], axis: i64) -> Value {
    joined("concatenate", "dimension", values, axis)
}
/// Values of one shape next to each other along a new dimension `axis`.
///
/// # Panics
/// If `values` is empty.
#[track_caller]
pub fn stack(values: &[&Value], axis: i64) -> Value {
    joined("stack", "axis", values, axis)
}
#[track_caller]
fn joined(primitive: &str, attribute: &'static str, values: &[&Value], axis: i64) -> Value {
    assert!(!values.is_empty(), "{}: there is no value, so no trace", primitive);
    innermost(values).emit(primitive, &[Attribute::int(attribute, axis)], values, 1).remove(0)
}

impl Value {
    /// The product of matrices: a vector counts as a row to the left and as a column to the right, and what is before the
    /// last two dimensions is broadcast.
    #[track_caller]
    pub fn matmul(&self, other: &Value) -> Value {
        let (a, b) = (self.dims(), other.dims());
        if a.is_empty() || b.is_empty() {
            return self.refused_product(other, "a scalar has no rows; multiply it");
        }
        let left = if a.len() == 1 { self.reshape(&[1, a[0]]) } else { self.clone() };
        let right = if b.len() == 1 { other.reshape(&[b[0], 1]) } else { other.clone() };
        let (l, r) = (left.dims(), right.dims());
        let (rows, columns) = (l.len() - 2, r.len() - 2);
        let batch = match common(&l[..rows], &r[..columns]) {
            Some(batch) => batch,
            None => return self.refused_product(other, "their batches cannot be broadcast together"),
        };
        let left = left.broadcast_to(&[&batch[..], &l[rows..]].concat());
        let right = right.broadcast_to(&[&batch[..], &r[columns..]].concat());
        let product = left.contracted(&right, batch.len() as i64);
        let mut shape = batch;
        shape.extend(if a.len() == 1 { None } else { Some(l[rows]) });
        shape.extend(if b.len() == 1 { None } else { Some(r[columns + 1]) });
        product.reshape(&shape)
    }
    /// Sums over the last dimension of `self` and the next but last of `other`, for each place of the first `batch`.
    #[track_caller]
    fn contracted(&self, other: &Value, batch: i64) -> Value {
        let shared: Vec<i64> = (0..batch).collect();
        let attributes = [
            Attribute::ints("lhs_contract", &[batch + 1]),
            Attribute::ints("rhs_contract", &[batch]),
            Attribute::ints("lhs_batch", &shared),
            Attribute::ints("rhs_batch", &shared),
        ];
        self.emit("dot_general", &attributes, &[other], 1).remove(0)
    }
    #[track_caller]
    fn refused_product(&self, other: &Value, why: &str) -> Value {
        let builder = innermost(&[self, other]);
        builder.fail(Error::here(format!("matmul: {} and {}: {}", self.ty(), other.ty(), why)));
        self.clone()
    }
}
