//! Calls with memory of their own: the quickest way to run small programs many times.
use crate::array::Element;
use crate::context::Context;
use crate::error::{check, Error, Result};
use crate::executable::Executable;
use crate::types::{DType, Type};
use ricci_sys as sys;
use std::alloc::{alloc_zeroed, dealloc, handle_alloc_error, Layout};
use std::fmt;
use std::ptr;

/// Zeroed memory, aligned to 64 bytes as devices want it.
struct Slot {
    data: *mut u8,
    bytes: usize,
    layout: Layout,
    of: Type,
}

impl Slot {
    fn new(of: Type) -> Slot {
        let elements: i64 = of.dims.iter().product();
        let bytes = elements as usize * unsafe { sys::ricci_dtype_size(of.dtype.0) } as usize;
        let layout = Layout::from_size_align(bytes.max(1), 64).expect("a type fits into memory");
        // SAFETY: the layout is not empty.
        let data = unsafe { alloc_zeroed(layout) };
        if data.is_null() {
            handle_alloc_error(layout);
        }
        Slot { data, bytes, layout, of }
    }
    #[inline]
    #[track_caller]
    fn checked<T: Element>(&self) -> usize {
        if self.of.dtype != T::DTYPE {
            self.refuse(T::DTYPE);
        }
        self.bytes / std::mem::size_of::<T>()
    }
    #[cold]
    #[track_caller]
    fn refuse(&self, used_as: DType) -> ! {
        panic!("{}", Error::here(format!("memory of {} is used as {}", self.of, used_as)))
    }
}
impl Drop for Slot {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.data, self.layout) }
    }
}

/// An executable with memory for its arguments and results. A run allocates nothing and takes no lock.
///
/// It belongs to one thread at a time; every thread makes its own.
pub struct Call {
    raw: *mut sys::ricci_call,
    arguments: Vec<Slot>,
    results: Vec<Slot>,
    _context: Context,
}
// SAFETY: the call and its memory are used by one thread at a time, since everything takes `&mut` or only reads memory.
unsafe impl Send for Call {}

impl Executable {
    /// A call with memory of its own, all zeros. The program's device must be one whose memory is the host's.
    pub fn call(&self) -> Result<Call> {
        let mut raw = ptr::null_mut();
        check(unsafe { sys::ricci_call_create(self.raw(), &mut raw) })?;
        let (params, results) = self.signature();
        let mut call = Call {
            raw,
            arguments: params.into_iter().map(Slot::new).collect(),
            results: results.into_iter().map(Slot::new).collect(),
            _context: self.context().clone(),
        };
        call.bind()?;
        Ok(call)
    }
}

impl Call {
    fn bind(&mut self) -> Result<()> {
        for (i, slot) in self.arguments.iter().chain(&self.results).enumerate() {
            check(unsafe { sys::ricci_call_bind(self.raw, i as u32, slot.data as *mut _, slot.bytes as u64) })?;
        }
        Ok(())
    }
    /// The elements of argument `i`, row by row.
    ///
    /// # Panics
    /// If argument `i` does not exist, or its elements have another type.
    #[inline]
    #[track_caller]
    pub fn argument<T: Element>(&mut self, i: usize) -> &mut [T] {
        let n = self.arguments[i].checked::<T>();
        // SAFETY: the slot holds `n` elements of that type, aligned to 64 bytes, and is borrowed with the call.
        unsafe { std::slice::from_raw_parts_mut(self.arguments[i].data as *mut T, n) }
    }
    /// The elements of result `i`, as the last run wrote them.
    ///
    /// # Panics
    /// If result `i` does not exist, or its elements have another type.
    #[inline]
    #[track_caller]
    pub fn result<T: Element>(&self, i: usize) -> &[T] {
        let n = self.results[i].checked::<T>();
        // SAFETY: as above; nothing writes while the call is borrowed.
        unsafe { std::slice::from_raw_parts(self.results[i].data as *const T, n) }
    }
    /// Runs to the end.
    #[inline]
    pub fn run(&mut self) -> Result<()> {
        // SAFETY: every slot is bound to memory that lives as long as the call.
        check(unsafe { sys::ricci_call_run(self.raw) })
    }
}
impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types = |slots: &[Slot]| slots.iter().map(|s| s.of.to_string()).collect::<Vec<_>>().join(", ");
        write!(f, "Call({} -> {})", types(&self.arguments), types(&self.results))
    }
}
impl Drop for Call {
    fn drop(&mut self) {
        unsafe { sys::ricci_call_release(self.raw) }
    }
}
