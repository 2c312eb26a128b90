//! What lowerings write: numbers of a kernel. `kernel_loops` has its arrays and loops.
//!
//! [`Primitive::scalar`](crate::plugin::Primitive::scalar) says how one element of the results follows from the
//! elements of the operands at the same position, [`Primitive::index`](crate::plugin::Primitive::index) how it follows from
//! its position. Both are inlined into whatever reads the element, so a primitive becomes part of the kernels around it.
use crate::array::{element_bytes, narrow_in_two_steps};
use crate::context::Context;
use crate::error::{check, Error, Result};
use crate::types::{self, DType, Type};
use ricci_sys as sys;
use std::cell::RefCell;
use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};
use std::os::raw::c_void;

/// A kernel under construction. The first mistake is kept, and returned when the rule has ended.
///
/// ```
/// use ricci::plugin::{Attributes, Kernel, Primitive, Rule};
/// use ricci::{Context, Type, F64};
///
/// /// y[i] = y[i-1] / 2 + x[i]: each element needs the one before, so it is a loop.
/// struct Echo;
/// impl Primitive for Echo {
///     fn name(&self) -> &str { "demo.echo" }
///     fn doc(&self) -> &str { "y = demo.echo(x): y[i] = y[i-1] / 2 + x[i] along the last dimension" }
///     fn examples(&self) -> &str { "(f64[2,3])" }
///     fn types(&self, operands: &[Type], _: &Attributes<'_>) -> Result<Vec<Type>, String> { Ok(operands.to_vec()) }
///     fn rules(&self) -> &[Rule] { &[Rule::Loops] }
///     fn loops(&self, k: &Kernel, _: &Attributes<'_>) -> Result<(), String> {
///         let Type { dtype, dims } = k.result_type(0);
///         let (n, batch) = dims.split_last().ok_or("x has no dimension")?;
///         k.parallel(batch, |at| {
///             let (x, y, last) = (k.operand(0).within(at), k.result(0).within(at), k.local(dtype, &[]));
///             last.store(&[], k.constant(dtype, 0.0));
///             k.for_each(0, *n, |i| {
///                 last.store(&[], last.load(&[]) / 2.0 + x.at(i));
///                 y.set(i, last.load(&[]));
///             });
///         });
///         Ok(())
///     }
/// }
///
/// fn main() -> ricci::Result<()> {
///     let mut ctx = Context::new()?;
///     unsafe { ctx.add_primitives("demo", || vec![Box::new(Echo)])? };
///     let f = ctx.trace("f", F64.shape(&[3]), |x| x.emit("demo.echo", &[], &[], 1).remove(0) * 10.0)?;
///     let y = f.compile()?.run(&[&ctx.array(&[1.0, 0.0, 2.0], &[3])?])?;
///     assert_eq!(y[0].to_vec::<f64>()?, [10.0, 5.0, 22.5]);
///     Ok(())
/// }
/// ```
///
/// Its numbers and arrays end with the rule:
///
/// ```compile_fail,E0521
/// use ricci::plugin::{Kernel, Scalar};
/// fn loops(k: &Kernel, kept: &mut Vec<Scalar<'static>>) {
///     kept.push(k.index(0));
/// }
/// ```
pub struct Kernel {
    pub(crate) raw: *mut sys::ricci_kernel_builder,
    pub(crate) context: Context,
    error: RefCell<Option<Error>>,
}

/// A number of a kernel, or a flag. Operations on it add instructions; it holds nothing itself.
#[derive(Clone, Copy)]
pub struct Scalar<'k> {
    kernel: &'k Kernel,
    pub(crate) id: sys::ricci_sval,
}

impl Kernel {
    pub(crate) fn borrowed(raw: *mut sys::ricci_kernel_builder, context: Context) -> Kernel {
        Kernel { raw, context, error: RefCell::new(None) }
    }
    pub(crate) fn scalar(&self, id: sys::ricci_sval) -> Scalar<'_> {
        Scalar { kernel: self, id }
    }
    /// The ids of what a rule gives, or its first mistake.
    pub(crate) fn ids(&self, results: &[Scalar<'_>]) -> Result<Vec<sys::ricci_sval>> {
        match self.error.borrow_mut().take() {
            Some(e) => Err(e),
            None => Ok(results.iter().map(|s| s.id).collect()),
        }
    }
    /// Runs `make`, unless there was a mistake before; after one a number is none.
    pub(crate) fn made(&self, make: impl FnOnce(&mut sys::ricci_sval) -> Result<()>) -> Scalar<'_> {
        let mut id = 0;
        self.done(|| make(&mut id));
        self.scalar(id)
    }
    /// The same for what makes no number.
    pub(crate) fn done(&self, make: impl FnOnce() -> Result<()>) {
        if self.error.borrow().is_some() {
            return;
        }
        if let Err(e) = make() {
            self.error.borrow_mut().get_or_insert(e);
        }
    }
    /// A position along a dimension.
    pub fn index(&self, i: i64) -> Scalar<'_> {
        self.made(|id| check(unsafe { sys::ricci_kernel_const_index(self.raw, i, id) }))
    }
    /// The number `x` with elements of type `dtype`; an integer must be what `x` is.
    #[track_caller]
    pub fn constant(&self, dtype: DType, x: f64) -> Scalar<'_> {
        if narrow_in_two_steps(dtype) {
            return self.constant(types::F32, x).astype(dtype);
        }
        let bytes = element_bytes(dtype, x);
        self.made(|id| {
            let bytes = bytes?;
            check(unsafe { sys::ricci_kernel_const(self.raw, dtype.0, bytes.as_ptr() as *const c_void, id) })
        })
    }
    /// The type of operand `i`.
    ///
    /// # Panics
    /// If operand `i` does not exist.
    pub fn operand_type(&self, i: usize) -> Type {
        let id = unsafe { sys::ricci_kernel_array_type(self.raw, sys::ricci_kernel_operand(self.raw, i as u32)) };
        assert!(id != 0, "the operation has no operand {}", i);
        self.context.type_of(id).expect("an operand has a type of its context")
    }
    /// A complex number of two numbers of f32 or of f64. In a lowering it is a number as others are; kernels hold only
    /// the parts.
    pub fn complex<'k>(&'k self, re: Scalar<'k>, im: Scalar<'k>) -> Scalar<'k> {
        self.made(|id| check(unsafe { sys::ricci_kernel_complex(self.raw, re.id, im.id, id) }))
    }
    fn operation(&self, op: u32, dtype: u32, operands: &[Scalar<'_>]) -> Scalar<'_> {
        let ids: Vec<sys::ricci_sval> = operands.iter().map(|s| s.id).collect();
        self.made(|id| {
            check(unsafe { sys::ricci_kernel_scalar(self.raw, op, dtype, ids.as_ptr(), ids.len() as u32, id) })
        })
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Kernel")
    }
}
impl fmt::Debug for Scalar<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scalar({}: {})", self.id, self.dtype())
    }
}

impl<'k> Scalar<'k> {
    /// The type of the number; bool for a flag.
    pub fn dtype(self) -> DType {
        DType(unsafe { sys::ricci_kernel_dtype(self.kernel.raw, self.id) })
    }
    /// Converted as C does, floats to integers saturating.
    pub fn astype(self, dtype: DType) -> Scalar<'k> {
        self.kernel.operation(sys::RICCI_S_CONVERT, dtype.0, &[self])
    }
    /// The real and the imaginary part of a complex number.
    pub fn parts(self) -> (Scalar<'k>, Scalar<'k>) {
        let (k, mut im) = (self.kernel, 0);
        let re = k.made(|re| check(unsafe { sys::ricci_kernel_parts(k.raw, self.id, re, &mut im) }));
        (re, k.scalar(im))
    }
    /// The same bits as another type of as many bytes.
    pub fn bitcast(self, dtype: DType) -> Scalar<'k> {
        self.kernel.operation(sys::RICCI_S_BITCAST, dtype.0, &[self])
    }
    /// `self * factor + term`, rounded once.
    pub fn mul_add(self, factor: Scalar<'k>, term: Scalar<'k>) -> Scalar<'k> {
        self.kernel.operation(sys::RICCI_S_FMA, 0, &[self, factor, term])
    }
    /// `on_true` where this flag holds, else `on_false`; both are computed.
    pub fn select(self, on_true: Scalar<'k>, on_false: Scalar<'k>) -> Scalar<'k> {
        self.kernel.operation(sys::RICCI_S_SELECT, 0, &[self, on_true, on_false])
    }
}

/// What can stand beside a number of a kernel: another one, or a number of Rust, which takes its type.
pub trait ScalarOperand<'k> {
    /// This as a number of the kernel and type of `scalar`.
    fn beside(self, scalar: Scalar<'k>) -> Scalar<'k>;
}
impl<'k> ScalarOperand<'k> for Scalar<'k> {
    fn beside(self, _: Scalar<'k>) -> Scalar<'k> {
        self
    }
}
impl<'k> ScalarOperand<'k> for f64 {
    #[track_caller]
    fn beside(self, scalar: Scalar<'k>) -> Scalar<'k> {
        scalar.kernel.constant(scalar.dtype(), self)
    }
}

impl<'k> ScalarOperand<'k> for i64 {
    #[track_caller]
    fn beside(self, scalar: Scalar<'k>) -> Scalar<'k> {
        if scalar.dtype() == types::I64 {
            return scalar.kernel.index(self);
        }
        scalar.kernel.constant(scalar.dtype(), self as f64)
    }
}

macro_rules! unary {
    ($($name:ident = $op:ident),*) => {
        impl<'k> Scalar<'k> {$(
            #[doc = concat!("The operation `", stringify!($name), "` of kernels.")]
            pub fn $name(self) -> Scalar<'k> {
                self.kernel.operation(sys::$op, 0, &[self])
            }
        )*}
    };
}
unary!(sin = RICCI_S_SIN, cos = RICCI_S_COS, tan = RICCI_S_TAN, asin = RICCI_S_ASIN, acos = RICCI_S_ACOS,
       atan = RICCI_S_ATAN, sinh = RICCI_S_SINH, cosh = RICCI_S_COSH, tanh = RICCI_S_TANH, asinh = RICCI_S_ASINH,
       acosh = RICCI_S_ACOSH, atanh = RICCI_S_ATANH, exp = RICCI_S_EXP, exp2 = RICCI_S_EXP2, expm1 = RICCI_S_EXPM1,
       log = RICCI_S_LOG, log1p = RICCI_S_LOG1P, log2 = RICCI_S_LOG2, sqrt = RICCI_S_SQRT, rsqrt = RICCI_S_RSQRT,
       cbrt = RICCI_S_CBRT, abs = RICCI_S_ABS, sign = RICCI_S_SIGN, floor = RICCI_S_FLOOR, ceil = RICCI_S_CEIL,
       round = RICCI_S_ROUND, round_even = RICCI_S_ROUND_EVEN, trunc = RICCI_S_TRUNC, is_finite = RICCI_S_IS_FINITE,
       erf = RICCI_S_ERF, erfc = RICCI_S_ERFC, erf_inv = RICCI_S_ERF_INV, logistic = RICCI_S_LOGISTIC,
       lgamma = RICCI_S_LGAMMA, digamma = RICCI_S_DIGAMMA, popcount = RICCI_S_POPCOUNT, clz = RICCI_S_CLZ,
       not = RICCI_S_NOT);

macro_rules! binary {
    ($($name:ident = $op:ident),*) => {
        impl<'k> Scalar<'k> {$(
            #[doc = concat!("The operation `", stringify!($name), "` of kernels; comparisons give a flag.")]
            #[track_caller]
            pub fn $name(self, other: impl ScalarOperand<'k>) -> Scalar<'k> {
                let other = other.beside(self);
                self.kernel.operation(sys::$op, 0, &[self, other])
            }
        )*}
    };
}
binary!(maximum = RICCI_S_MAX, minimum = RICCI_S_MIN, pow = RICCI_S_POW, atan2 = RICCI_S_ATAN2, lt = RICCI_S_LT,
        le = RICCI_S_LE, gt = RICCI_S_GT, ge = RICCI_S_GE, equal = RICCI_S_EQ, unequal = RICCI_S_NE, and = RICCI_S_AND,
        or = RICCI_S_OR, xor = RICCI_S_XOR, shl = RICCI_S_SHL, shr = RICCI_S_SHR, sar = RICCI_S_SAR,
        mulhi = RICCI_S_MULHI, nextafter = RICCI_S_NEXTAFTER);

macro_rules! operator {
    ($($trait:ident $method:ident $op:ident),*) => {$(
        impl<'k, T: ScalarOperand<'k>> $trait<T> for Scalar<'k> {
            type Output = Scalar<'k>;
            #[track_caller]
            fn $method(self, other: T) -> Scalar<'k> {
                let other = other.beside(self);
                self.kernel.operation(sys::$op, 0, &[self, other])
            }
        }
        operator!(@ $trait $method, f64);
        operator!(@ $trait $method, i64);
    )*};
    (@ $trait:ident $method:ident, $left:ty) => {
        impl<'k> $trait<Scalar<'k>> for $left {
            type Output = Scalar<'k>;
            #[track_caller]
            fn $method(self, other: Scalar<'k>) -> Scalar<'k> {
                self.beside(other).$method(other)
            }
        }
    };
}
operator!(Add add RICCI_S_ADD, Sub sub RICCI_S_SUB, Mul mul RICCI_S_MUL, Div div RICCI_S_DIV,
          Rem rem RICCI_S_REM);

impl<'k> Neg for Scalar<'k> {
    type Output = Scalar<'k>;
    fn neg(self) -> Scalar<'k> {
        self.kernel.operation(sys::RICCI_S_NEG, 0, &[self])
    }
}
