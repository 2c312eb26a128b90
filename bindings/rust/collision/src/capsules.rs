//! Two capsules: segments with a radius. After Ericson, "Real-Time Collision Detection" (2005), 5.1.9.
//!
//! Where the segments are nearest, a small move of the nearest places changes nothing, so the derivative of the distance
//! is that of the gap with both places held (the envelope theorem). The rule `jvp` says so, and a gradient needs none of
//! the divisions and clamps again that a decomposition would differentiate.
use crate::geometry::{along, distance_type, dot, length_and_inverse, less, load_point, product};
use ricci::plugin::{Attributes, Jvp, Kernel, Primitive, Rule, Scalar};
use ricci::{Type, Value};

/// The nearest places of both, from 0 to 1 along them, and the vector from the second to the first.
struct Nearest {
    s: Value,
    t: Value,
    gap: Value,
}
fn clamped(x: &Value) -> Value {
    x.maximum(0.0).minimum(1.0)
}
fn nearest(x: &[Value]) -> Nearest {
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
    let gap = r + a * &s - b * &t;
    Nearest { s, t, gap }
}
/// The distance by other operations: a0, a1, ra, b0, b1, rb.
pub fn distance(x: &[Value]) -> Value {
    length_and_inverse(&nearest(x).gap).0 - &x[2] - &x[5]
}

/// The primitive `collision.capsules`.
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
                distance_type(&[("a0", a0), ("a1", a1), ("b0", b0), ("b1", b1)], &[("ra", ra), ("rb", rb)])
            }
            _ => Err(format!("{} operands; it takes 6", operands.len())),
        }
    }
    fn rules(&self) -> &[Rule] {
        &[Rule::Decompose, Rule::Jvp, Rule::Index]
    }
    fn decompose(&self, x: &[Value], _: &Attributes<'_>) -> Vec<Value> {
        vec![distance(x)]
    }
    fn jvp(&self, given: &Jvp<'_>, _: &Attributes<'_>) -> (Vec<Value>, Vec<Option<Value>>) {
        let x = given.primals;
        let Nearest { s, t, gap } = nearest(x);
        let (length, inverse) = length_and_inverse(&gap);
        let normal = gap * inverse;
        let shares = [(0, 1.0 - &s), (1, s), (3, &t - 1.0), (4, -t)];
        let moved = shares.iter().filter_map(|(i, share)| Some(dot(&normal, given.tangents[*i].as_ref()?) * share));
        let grown = [2, 5].iter().filter_map(|i| Some(-given.tangents[*i].as_ref()?));
        let tangent = moved.chain(grown).reduce(|a, b| a + b);
        (vec![length - &x[2] - &x[5]], vec![tangent])
    }
    fn index<'k>(&self, k: &'k Kernel, _: usize, _: &[Scalar<'k>], _: &Attributes<'_>) -> Scalar<'k> {
        let clamped = |x: Scalar<'k>| x.maximum(0.0).minimum(1.0);
        let [a0, a1, b0, b1] = [0, 1, 3, 4].map(|i| load_point(k, i));
        let (a, b, r) = (less(a1, a0), less(b1, b0), less(a0, b0));
        let (aa, bb, ab, ar, br) = (product(a, a), product(b, b), product(a, b), product(a, r), product(b, r));
        let across = aa * bb - ab * ab;
        let is_across = across.gt(aa * bb * 1e-6 + 1e-12);
        let one = k.constant(aa.dtype(), 1.0);
        let s = clamped((ab * br - ar * bb) / is_across.select(across, one)) * is_across.astype(aa.dtype());
        let t = clamped((ab * s + br) / bb.maximum(1e-12));
        let s = clamped((ab * t - ar) / aa.maximum(1e-12));
        let gap = along(along(r, a, s), b, -t);
        product(gap, gap).sqrt() - k.load(2, &[]) - k.load(5, &[])
    }
}
