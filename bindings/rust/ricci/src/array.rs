//! Arrays: typed data on a device.
use crate::context::Context;
use crate::error::{check, Error, Result};
use crate::types::{self, DType, Type};
use ricci_sys as sys;
use std::fmt;
use std::ptr;

/// A Rust type that elements can be read and written as.
pub trait Element: Copy + Default + private::Sealed {
    /// The element type of arrays of it.
    const DTYPE: DType;
}
mod private {
    pub trait Sealed {}
}
macro_rules! element {
    ($($rust:ty: $dtype:ident),*) => {$(
        impl private::Sealed for $rust {}
        impl Element for $rust {
            const DTYPE: DType = types::$dtype;
        }
    )*};
}
element!(i8: I8, i16: I16, i32: I32, i64: I64, u8: U8, u16: U16, u32: U32, u64: U64, f32: F32, f64: F64);

impl private::Sealed for bool {}
impl Element for bool {
    const DTYPE: DType = types::BOOL;
}

/// Floats of 16 bits and less: a constant is made in f32.
pub(crate) fn narrow_in_two_steps(t: DType) -> bool {
    t == types::F16 || t == types::BF16
}
/// One element of type `t` that is `x`, as bytes. Integers must be what `x` is.
#[track_caller]
pub(crate) fn element_bytes(t: DType, x: f64) -> Result<Vec<u8>> {
    macro_rules! whole {
        ($($dtype:ident: $rust:ty),*) => {
            match t {
                types::F32 => return Ok((x as f32).to_ne_bytes().to_vec()),
                types::F64 => return Ok(x.to_ne_bytes().to_vec()),
                types::BOOL if x == 0.0 || x == 1.0 => return Ok(vec![x as u8]),
                $(types::$dtype if (x as $rust) as f64 == x => return Ok((x as $rust).to_ne_bytes().to_vec()),)*
                _ => {}
            }
        };
    }
    whole!(I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64);
    Err(Error::here(format!("{} is not a value of {}; convert the value first (astype)", x, t)))
}
/// The elements of a constant.
#[track_caller]
pub(crate) fn bytes_of<T: Element>(data: &[T], dims: &[i64]) -> Result<Vec<u8>> {
    checked(data, dims)?;
    let mut out = vec![0; std::mem::size_of_val(data)];
    // SAFETY: elements are plain numbers, of as many bytes.
    unsafe { ptr::copy_nonoverlapping(data.as_ptr() as *const u8, out.as_mut_ptr(), out.len()) };
    Ok(out)
}
#[track_caller]
fn checked<T: Element>(data: &[T], dims: &[i64]) -> Result<Type> {
    let t = T::DTYPE.shape(dims);
    let wanted = dims.iter().try_fold(1usize, |n, d| n.checked_mul(usize::try_from(*d).ok()?));
    if wanted != Some(data.len()) {
        return Err(Error::here(format!("{} elements do not make {}", data.len(), t)));
    }
    Ok(t)
}

/// Typed data on a device, dense and row-major. Clones share it.
pub struct Array {
    raw: *mut sys::ricci_array,
    context: Context,
}
// SAFETY: the data never changes, and what takes an array by `&` passes it `const`; references are counted atomically.
unsafe impl Send for Array {}
unsafe impl Sync for Array {}

impl Context {
    /// A copy of `data` on the first device, with these sizes.
    #[track_caller]
    pub fn array<T: Element>(&self, data: &[T], dims: &[i64]) -> Result<Array> {
        let t = checked(data, dims)?;
        let (id, mut raw) = (self.type_id(&t)?, ptr::null_mut());
        check(unsafe {
            sys::ricci_array_from_host(
                sys::ricci_device_get(self.raw(), 0), id, data.as_ptr() as *const _, ptr::null(), &mut raw,
            )
        })?;
        Ok(unsafe { Array::from_owned(raw, self.clone()) })
    }
    /// An array that shares the data of a DLPack tensor, which it takes over.
    ///
    /// # Safety
    /// `tensor` must be a `DLManagedTensorVersioned` without another owner, whose memory does not change meanwhile.
    pub unsafe fn from_dlpack(&self, tensor: *mut sys::ricci_dlpack) -> Result<Array> {
        let mut raw = ptr::null_mut();
        check(sys::ricci_array_from_dlpack(sys::ricci_device_get(self.raw(), 0), tensor, &mut raw))?;
        Ok(Array::from_owned(raw, self.clone()))
    }
    /// One number.
    #[track_caller]
    pub fn scalar<T: Element>(&self, x: T) -> Result<Array> {
        self.array(&[x], &[])
    }
}

impl Array {
    pub(crate) unsafe fn from_owned(raw: *mut sys::ricci_array, context: Context) -> Array {
        Array { raw, context }
    }
    pub(crate) fn raw(&self) -> *mut sys::ricci_array {
        self.raw
    }
    /// Where it belongs.
    pub fn context(&self) -> &Context {
        &self.context
    }
    /// Its element type and sizes.
    pub fn ty(&self) -> Type {
        let id = unsafe { sys::ricci_array_type(self.raw) };
        self.context.type_of(id).expect("an array has a type of its context")
    }
    /// Its sizes.
    pub fn dims(&self) -> Vec<i64> {
        self.ty().dims
    }
    /// A DLPack tensor that shares the data (`DLManagedTensorVersioned`). The consumer calls its deleter.
    pub fn to_dlpack(&self) -> Result<*mut sys::ricci_dlpack> {
        let mut out = ptr::null_mut();
        check(unsafe { sys::ricci_array_to_dlpack(self.raw, &mut out) })?;
        Ok(out)
    }
    /// The elements, row by row. Waits for the run that writes them, and returns its failure.
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let t = self.ty();
        if t.dtype != T::DTYPE {
            return Err(Error::here(format!("an array {} is read as {}; use to_vec::<..> of its element type", t, T::DTYPE)));
        }
        let bytes = unsafe { sys::ricci_array_bytes(self.raw) } as usize;
        let mut out = vec![T::default(); bytes / std::mem::size_of::<T>()];
        check(unsafe { sys::ricci_array_copy_to_host(self.raw, out.as_mut_ptr() as *mut _, bytes) })?;
        Ok(out)
    }
    /// The element of an array that has one.
    #[track_caller]
    pub fn item<T: Element>(&self) -> Result<T> {
        match self.to_vec::<T>()?.as_slice() {
            [x] => Ok(*x),
            all => Err(Error::here(format!("an array of {} elements has no single item; use to_vec", all.len()))),
        }
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array({})", self.ty())
    }
}
impl Clone for Array {
    fn clone(&self) -> Array {
        Array { raw: unsafe { sys::ricci_array_retain(self.raw) }, context: self.context.clone() }
    }
}
impl Drop for Array {
    fn drop(&mut self) {
        unsafe { sys::ricci_array_release(self.raw) }
    }
}
