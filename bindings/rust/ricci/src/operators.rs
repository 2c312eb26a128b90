//! What values can do: operators with numbers and with each other, and functions with JAX's names.
//!
//! Shapes are broadcast as NumPy does; numbers take the element type of the value. Numbers of every kind may be to the
//! right of a value (`x * 2`, `x * 2.0f32`), only `f64` to the left (`2.0 * x`): with `f32` there too, Rust would no
//! longer know what `2.0` is.
use crate::array::{element_bytes, narrow_in_two_steps};
use crate::attribute::Attribute;
use crate::error::Error;
use crate::trace::{innermost, Builder, Value};
use crate::types::{DType, Type, F32};
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::rc::Rc;

/// The shape that both broadcast to.
pub(crate) fn common(a: &[i64], b: &[i64]) -> Option<Vec<i64>> {
    let rank = a.len().max(b.len());
    let at = |dims: &[i64], i: usize| if i + dims.len() < rank { 1 } else { dims[i + dims.len() - rank] };
    (0..rank)
        .map(|i| match (at(a, i), at(b, i)) {
            (x, y) if x == y || y == 1 => Some(x),
            (1, y) => Some(y),
            _ => None,
        })
        .collect()
}

impl Builder {
    /// A constant whose elements are all `x`.
    #[track_caller]
    fn splat(self: &Rc<Self>, t: &Type, x: f64) -> Value {
        if narrow_in_two_steps(t.dtype) {
            return self.splat(&F32.shape(&t.dims), x).astype(t.dtype);
        }
        self.constant(t, element_bytes(t.dtype, x))
    }
}

impl Value {
    #[track_caller]
    fn one(&self, primitive: &str, attributes: &[Attribute], operands: &[&Value]) -> Value {
        self.emit(primitive, attributes, operands, 1).remove(0)
    }
    /// A value of `self`'s element type and trace with the shape of `self` and all elements `x`.
    #[track_caller]
    pub fn full_like(&self, x: f64) -> Value {
        innermost(&[self]).splat(&self.ty(), x)
    }
    #[track_caller]
    fn with(&self, primitive: &str, other: &Value) -> Value {
        let (a, b) = (self.dims(), other.dims());
        if a == b {
            return self.one(primitive, &[], &[other]);
        }
        match common(&a, &b) {
            Some(shape) => self.broadcast_to(&shape).one(primitive, &[], &[&other.broadcast_to(&shape)]),
            None => {
                let builder = innermost(&[self, other]);
                builder.fail(Error::here(format!("{}: {} and {} cannot be broadcast together", primitive, self.ty(), other.ty())));
                self.clone()
            }
        }
    }
    /// Repeated to `shape`, as NumPy's broadcast_to.
    #[track_caller]
    pub fn broadcast_to(&self, shape: &[i64]) -> Value {
        let dims = self.dims();
        if dims == shape {
            return self.clone();
        }
        let (first, kept): (usize, Vec<usize>) =
            (shape.len().saturating_sub(dims.len()), (0..dims.len()).filter(|i| dims[*i] != 1).collect());
        let own: Vec<i64> = kept.iter().map(|i| dims[*i]).collect();
        let to: Vec<i64> = kept.iter().map(|i| (first + i) as i64).collect();
        self.reshape(&own).one(
            "broadcast_in_dim",
            &[Attribute::ints("shape", shape), Attribute::ints("broadcast_dimensions", &to)],
            &[],
        )
    }
    /// The same elements, row by row, with other sizes.
    #[track_caller]
    pub fn reshape(&self, shape: &[i64]) -> Value {
        if self.dims() == shape {
            return self.clone();
        }
        self.one("reshape", &[Attribute::ints("new_sizes", shape)], &[])
    }
    /// With dimension `permutation[i]` as dimension i.
    #[track_caller]
    pub fn transpose(&self, permutation: &[i64]) -> Value {
        self.one("transpose", &[Attribute::ints("permutation", permutation)], &[])
    }
    /// With elements of another type.
    #[track_caller]
    pub fn astype(&self, dtype: DType) -> Value {
        self.one("convert_element_type", &[Attribute::dtype("new_dtype", dtype)], &[])
    }
    #[track_caller]
    fn reduced(&self, primitive: &str, axes: &[i64]) -> Value {
        self.one(primitive, &[Attribute::ints("axes", axes)], &[])
    }
    fn all_axes(&self) -> Vec<i64> {
        (0..self.dims().len() as i64).collect()
    }
    /// The sum of all elements.
    #[track_caller]
    pub fn sum(&self) -> Value {
        self.reduced("reduce_sum", &self.all_axes())
    }
    /// The sums along some dimensions, which go.
    #[track_caller]
    pub fn sum_over(&self, axes: &[i64]) -> Value {
        self.reduced("reduce_sum", axes)
    }
    /// The largest element of all.
    #[track_caller]
    pub fn max(&self) -> Value {
        self.reduced("reduce_max", &self.all_axes())
    }
    /// The largest elements along some dimensions, which go.
    #[track_caller]
    pub fn max_over(&self, axes: &[i64]) -> Value {
        self.reduced("reduce_max", axes)
    }
    /// The mean of all elements.
    #[track_caller]
    pub fn mean(&self) -> Value {
        let n: i64 = self.dims().iter().product();
        self.sum() / n as f64
    }
    /// The product of a matrix or vector with another: sums over the last dimension of `self` and the first of `other`.
    #[track_caller]
    pub fn dot(&self, other: &Value) -> Value {
        let last = self.dims().len() as i64 - 1;
        self.one(
            "dot_general",
            &[
                Attribute::ints("lhs_contract", &[last]),
                Attribute::ints("rhs_contract", &[0]),
                Attribute::ints("lhs_batch", &[]),
                Attribute::ints("rhs_batch", &[]),
            ],
            &[other],
        )
    }
    /// `on_true` where `self`, a bool value, holds, else `on_false`.
    #[track_caller]
    pub fn select(&self, on_true: &Value, on_false: &Value) -> Value {
        self.one("select_n", &[], &[on_false, on_true])
    }
    /// To a power that is a whole number.
    #[track_caller]
    pub fn powi(&self, y: i64) -> Value {
        self.one("integer_pow", &[Attribute::int("y", y)], &[])
    }
    /// Row or element `i` of the first dimension.
    #[track_caller]
    pub fn at(&self, i: i64) -> Value {
        let dims = self.dims();
        if dims.is_empty() {
            self.builder.fail(Error::here(format!("at({}): {} has no dimension", i, self.ty())));
            return self.clone();
        }
        let start: Vec<i64> = (0..dims.len()).map(|d| if d == 0 { i } else { 0 }).collect();
        let end: Vec<i64> = dims.iter().enumerate().map(|(d, n)| if d == 0 { i + 1 } else { *n }).collect();
        let part = self.one(
            "slice",
            &[Attribute::ints("start_indices", &start), Attribute::ints("limit_indices", &end)],
            &[],
        );
        part.reshape(&dims[1..])
    }
}

macro_rules! unary {
    ($($name:ident = $primitive:literal),*) => {
        impl Value {$(
            #[doc = concat!("The primitive `", $primitive, "`, element by element.")]
            #[track_caller]
            pub fn $name(&self) -> Value {
                self.one($primitive, &[], &[])
            }
        )*}
    };
}
unary!(sin = "sin", cos = "cos", tan = "tan", tanh = "tanh", exp = "exp", log = "log", log1p = "log1p", sqrt = "sqrt",
       abs = "abs", sign = "sign", floor = "floor", ceil = "ceil", square = "square", logistic = "logistic",
       stop_gradient = "stop_gradient", not = "not");

macro_rules! binary {
    ($($name:ident = $primitive:literal),*) => {
        impl Value {$(
            #[doc = concat!("The primitive `", $primitive, "` of both, broadcast as NumPy does.")]
            #[track_caller]
            pub fn $name(&self, other: impl Operand) -> Value {
                self.with($primitive, &other.beside(self))
            }
        )*}
    };
}
binary!(maximum = "max", minimum = "min", pow = "pow", atan2 = "atan2", lt = "lt", le = "le", gt = "gt", ge = "ge",
        equal = "eq", and = "and", or = "or");

/// What can stand beside a value: another one, or a number, which takes the element type of the value.
pub trait Operand {
    /// This as a value in the trace of `value`.
    fn beside(&self, value: &Value) -> Value;
}
impl Operand for Value {
    fn beside(&self, _: &Value) -> Value {
        self.clone()
    }
}
impl Operand for &Value {
    fn beside(&self, _: &Value) -> Value {
        (*self).clone()
    }
}
macro_rules! number {
    ($($rust:ty),*) => {$(
        impl Operand for $rust {
            #[track_caller]
            fn beside(&self, value: &Value) -> Value {
                innermost(&[value]).splat(&Type { dtype: value.dtype(), dims: Vec::new() }, f64::from(*self))
            }
        }
    )*};
}
number!(f32, f64, i32);

// To the right of a value may be whatever is an operand. To the left only f64 may be: with f32 there too, the type of
// `2.0` in `2.0 * x` would be open, and nothing could be called on the product.
macro_rules! operator {
    ($($trait:ident $method:ident $primitive:literal),*) => {$(
        operator!(@ $trait $method $primitive, Value);
        operator!(@ $trait $method $primitive, &Value);
        impl $trait<Value> for f64 {
            type Output = Value;
            #[track_caller]
            fn $method(self, other: Value) -> Value {
                self.beside(&other).with($primitive, &other)
            }
        }
        impl $trait<&Value> for f64 {
            type Output = Value;
            #[track_caller]
            fn $method(self, other: &Value) -> Value {
                self.beside(other).with($primitive, other)
            }
        }
    )*};
    (@ $trait:ident $method:ident $primitive:literal, $left:ty) => {
        impl<T: Operand> $trait<T> for $left {
            type Output = Value;
            #[track_caller]
            fn $method(self, other: T) -> Value {
                self.with($primitive, &other.beside(&self))
            }
        }
    };
}
operator!(Add add "add", Sub sub "sub", Mul mul "mul", Div div "div");

impl Neg for Value {
    type Output = Value;
    #[track_caller]
    fn neg(self) -> Value {
        self.one("neg", &[], &[])
    }
}
impl Neg for &Value {
    type Output = Value;
    #[track_caller]
    fn neg(self) -> Value {
        self.one("neg", &[], &[])
    }
}
