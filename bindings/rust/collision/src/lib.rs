//! Signed distances between shapes, as primitives: a plugin that any host of Ricci loads, in any language.
//!
//! Each is made of other primitives, so derivatives, batches and kernels follow: under `vmap` and `grad` inside of a
//! larger function they become part of its kernels.
use ricci::plugin::{Attributes, Primitive};
use ricci::{Type, Value};

/// The type of a point in space, or what is wrong.
fn point(name: &str, t: &Type) -> Result<(), String> {
    if t.dims == [3] {
        return Ok(());
    }
    Err(format!("{} is {}; it must be a point, {}[3]", name, t, t.dtype))
}
/// All points of one element type, then numbers of that type: the type of a distance.
fn distance(points: &[(&str, &Type)], numbers: &[(&str, &Type)]) -> Result<Vec<Type>, String> {
    let of = points[0].1.dtype;
    for (name, t) in points {
        point(name, t)?;
    }
    for (name, t) in points.iter().chain(numbers) {
        if t.dtype != of {
            return Err(format!("{} is {}, but {} is {}; convert one of them", name, t, points[0].0, points[0].1));
        }
    }
    for (name, t) in numbers {
        if !t.dims.is_empty() {
            return Err(format!("{} is {}; it must be a number, {}[]", name, t, of));
        }
    }
    Ok(vec![of.shape(&[])])
}

fn dot(a: &Value, b: &Value) -> Value {
    (a * b).sum()
}
/// The length of a vector, whose derivative at 0 is 0.
fn length(x: &Value) -> Value {
    let square = dot(x, x);
    let is_long = square.gt(0.0);
    is_long.select(&square, &square.full_like(1.0)).sqrt() * is_long.astype(x.dtype())
}
fn clamped(x: &Value) -> Value {
    x.maximum(0.0).minimum(1.0)
}

/// Two capsules: segments with a radius. After Ericson, "Real-Time Collision Detection" (2005), 5.1.9.
#[derive(Default)]
pub struct Capsules;

impl Primitive for Capsules {
    fn name(&self) -> &str {
        "collision.capsules"
    }
    fn doc(&self) -> &str {
        "d = collision.capsules(a0, a1, ra, b0, b1, rb): the distance between two capsules, less than 0 where they overlap"
    }
    fn examples(&self) -> &str {
        "(f64[3] in -2..-1, f64[3] in 0..1, f64[] in 0.1..0.3, f64[3] in 2..3, f64[3] in 4..5, f64[] in 0.1..0.3); \
         (f32[3] in -2..-1, f32[3] in 0..1, f32[] in 0.1..0.3, f32[3] in 2..3, f32[3] in 4..5, f32[] in 0.1..0.3)"
    }
    fn types(&self, operands: &[Type], _: &Attributes<'_>) -> Result<Vec<Type>, String> {
        match operands {
            [a0, a1, ra, b0, b1, rb] => {
                distance(&[("a0", a0), ("a1", a1), ("b0", b0), ("b1", b1)], &[("ra", ra), ("rb", rb)])
            }
            _ => Err(format!("{} operands; it takes 6", operands.len())),
        }
    }
    fn decompose(&self, x: &[Value], _: &Attributes<'_>) -> Vec<Value> {
        let (a, b, r) = (&x[1] - &x[0], &x[4] - &x[3], &x[0] - &x[3]);
        let (aa, bb, ab, ar, br) = (dot(&a, &a), dot(&b, &b), dot(&a, &b), dot(&a, &r), dot(&b, &r));
        // The nearest places of the lines; lines that are parallel begin anywhere.
        let across = &aa * &bb - &ab * &ab;
        let tiny = &aa * &bb * 1e-6 + 1e-12;
        let is_across = across.gt(&tiny);
        let safe = is_across.select(&across, &across.full_like(1.0));
        let s = clamped(&((&ab * &br - &ar * &bb) / safe)) * is_across.astype(aa.dtype());
        // Then those of the segments: one end decides the other.
        let t = clamped(&((&ab * &s + &br) / bb.maximum(1e-12)));
        let s = clamped(&((&ab * &t - &ar) / aa.maximum(1e-12)));
        let gap = r + a * s - b * t;
        vec![length(&gap) - &x[2] - &x[5]]
    }
}

/// A point and a box around the origin, by half its sides. After Quilez, "Distance functions" (2008).
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
            [p, half] => distance(&[("p", p), ("half", half)], &[]),
            _ => Err(format!("{} operands; it takes 2", operands.len())),
        }
    }
    fn decompose(&self, x: &[Value], _: &Attributes<'_>) -> Vec<Value> {
        let beyond = x[0].abs() - &x[1];
        vec![length(&beyond.maximum(0.0)) + beyond.max().minimum(0.0)]
    }
}

ricci::plugin!("collision", "0.1.0", [Capsules, PointBox]);
