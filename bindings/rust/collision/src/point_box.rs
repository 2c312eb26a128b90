//! A point and a box around the origin, by half its sides. After Quilez, "Distance functions" (2008).
//!
//! Its derivative is that of a maximum and a length, which a decomposition finds as well as any formula.
use crate::geometry::{distance_type, length_and_inverse, product};
use ricci::plugin::{Attributes, Kernel, Primitive, Rule, Scalar};
use ricci::{Type, Value};

/// The distance by other operations: the point, half the sides.
pub fn distance(x: &[Value]) -> Value {
    let beyond = x[0].abs() - &x[1];
    length_and_inverse(&beyond.maximum(0.0)).0 + beyond.max().minimum(0.0)
}

/// The primitive `collision.point_box`.
#[derive(Default)]
pub struct PointBox;

impl Primitive for PointBox {
    fn name(&self) -> &str {
        "collision.point_box"
    }
    fn doc(&self) -> &str {
        "d = collision.point_box(p, half): the distance of a point to a box around the origin, less than 0 within"
    }
    fn examples(&self) -> &str {
        "(f64[3] in 1.5..3, f64[3] in 0.5..1); (f64[3] in -0.1..0.1, f64[3] in 0.5..1); (f32[3] in 1.5..3, f32[3] in 0.5..1)"
    }
    fn types(&self, operands: &[Type], _: &Attributes<'_>) -> Result<Vec<Type>, String> {
        match operands {
            [p, half] => distance_type(&[("p", p), ("half", half)], &[]),
            _ => Err(format!("{} operands; it takes 2", operands.len())),
        }
    }
    fn rules(&self) -> &[Rule] {
        &[Rule::Decompose, Rule::Index]
    }
    fn decompose(&self, x: &[Value], _: &Attributes<'_>) -> Vec<Value> {
        vec![distance(x)]
    }
    fn index<'k>(&self, k: &'k Kernel, _: usize, _: &[Scalar<'k>], _: &Attributes<'_>) -> Scalar<'k> {
        let beyond = [0, 1, 2].map(|c| k.load(0, &[k.index(c)]).abs() - k.load(1, &[k.index(c)]));
        let outside = beyond.map(|x| x.maximum(0.0));
        let inside = beyond[0].maximum(beyond[1]).maximum(beyond[2]).minimum(0.0);
        product(outside, outside).sqrt() + inside
    }
}
