//! What the shapes share: the types of points and numbers, and vectors of values and of numbers of a kernel.
use ricci::plugin::{Kernel, Scalar};
use ricci::{Type, Value};

/// The type of a point in space, or what is wrong.
fn point(name: &str, t: &Type) -> Result<(), String> {
    if t.dims == [3] {
        return Ok(());
    }
    Err(format!("{} is {}; it must be a point, {}[3]", name, t, t.dtype))
}
/// All points of one element type, then numbers of that type: the type of a distance.
pub fn distance_type(points: &[(&str, &Type)], numbers: &[(&str, &Type)]) -> Result<Vec<Type>, String> {
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

pub fn dot(a: &Value, b: &Value) -> Value {
    (a * b).sum()
}
/// The length of a vector, and its inverse; where the length is 0, so are both and their derivatives. NaN stays NaN, as in
/// the kernels.
pub fn length_and_inverse(x: &Value) -> (Value, Value) {
    let square = dot(x, x);
    let is_zero = square.equal(0.0);
    let safe = is_zero.select(&square.full_like(1.0), &square).sqrt();
    let one = 1.0 - is_zero.astype(x.dtype());
    (&safe * &one, one / safe)
}

/// A point in a kernel.
pub type Point<'k> = [Scalar<'k>; 3];

/// Operand `i`, a point.
pub fn load_point(kernel: &Kernel, i: usize) -> Point<'_> {
    [0, 1, 2].map(|c| kernel.load(i, &[kernel.index(c)]))
}
pub fn less<'k>(a: Point<'k>, b: Point<'k>) -> Point<'k> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
pub fn along<'k>(a: Point<'k>, direction: Point<'k>, s: Scalar<'k>) -> Point<'k> {
    [a[0] + direction[0] * s, a[1] + direction[1] * s, a[2] + direction[2] * s]
}
pub fn product<'k>(a: Point<'k>, b: Point<'k>) -> Scalar<'k> {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
