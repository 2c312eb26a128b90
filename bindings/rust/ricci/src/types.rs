//! Element types and array types.
use crate::abi_data::{text, NO_TEXT};
use ricci_sys as sys;
use std::fmt;

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DType(pub u32);

/// True or false.
pub const BOOL: DType = DType(sys::RICCI_BOOL);
/// A signed integer of 8 bits.
pub const I8: DType = DType(sys::RICCI_I8);
/// A signed integer of 16 bits.
pub const I16: DType = DType(sys::RICCI_I16);
/// A signed integer of 32 bits.
pub const I32: DType = DType(sys::RICCI_I32);
/// A signed integer of 64 bits.
pub const I64: DType = DType(sys::RICCI_I64);
/// An unsigned integer of 8 bits.
pub const U8: DType = DType(sys::RICCI_U8);
/// An unsigned integer of 16 bits.
pub const U16: DType = DType(sys::RICCI_U16);
/// An unsigned integer of 32 bits.
pub const U32: DType = DType(sys::RICCI_U32);
/// An unsigned integer of 64 bits.
pub const U64: DType = DType(sys::RICCI_U64);
/// A float of 16 bits (IEEE binary16).
pub const F16: DType = DType(sys::RICCI_F16);
/// A float of 16 bits with the exponent of f32.
pub const BF16: DType = DType(sys::RICCI_BF16);
/// A float of 32 bits.
pub const F32: DType = DType(sys::RICCI_F32);
/// A float of 64 bits.
pub const F64: DType = DType(sys::RICCI_F64);

impl DType {
    /// The type of arrays of these elements; of one number if `dims` is empty.
    pub fn shape(self, dims: &[i64]) -> Type {
        Type { dtype: self, dims: dims.to_vec() }
    }
}
impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name = NO_TEXT;
        // SAFETY: the name is static.
        unsafe { sys::ricci_dtype_name(self.0, &mut name) };
        f.write_str(&text(name))
    }
}

/// An array type: elements and sizes, as in `f32[2,3]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// Of the elements.
    pub dtype: DType,
    /// The sizes; none for one number.
    pub dims: Vec<i64>,
}
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims: Vec<String> = self.dims.iter().map(i64::to_string).collect();
        write!(f, "{}[{}]", self.dtype, dims.join(","))
    }
}
