//! Data as the ABI has it: headers of structs, texts, lists that the core lends, flags.
use ricci_sys as sys;
use std::mem::{size_of, MaybeUninit};
use std::os::raw::c_char;
use std::{ptr, slice};

/// The header of a struct of the ABI as this crate knows it.
pub(crate) fn header<T>() -> sys::ricci_hdr {
    sys::ricci_hdr { size: size_of::<T>() as u32, flags: 0, next: ptr::null() }
}
/// A struct of the ABI with its size and nothing else.
///
/// SAFETY: `T` begins with a header, and zeros are a `T`.
pub(crate) unsafe fn empty<T>() -> T {
    let mut all = MaybeUninit::<T>::zeroed();
    *(all.as_mut_ptr() as *mut sys::ricci_hdr) = header::<T>();
    all.assume_init()
}

/// No text.
pub(crate) const NO_TEXT: sys::ricci_str = sys::ricci_str { ptr: ptr::null(), len: 0 };
/// Text as the ABI has it; it borrows from `text`.
pub(crate) fn view(text: &str) -> sys::ricci_str {
    sys::ricci_str { ptr: text.as_ptr() as *const c_char, len: text.len() }
}
/// Text that the core lends.
pub(crate) fn text(s: sys::ricci_str) -> String {
    if s.ptr.is_null() || s.len == 0 {
        return String::new();
    }
    // SAFETY: the core gives `len` bytes at `ptr`, which live until its owner goes; they are copied here.
    let bytes = unsafe { slice::from_raw_parts(s.ptr as *const u8, s.len) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// What the core lends to a rule: `n` elements.
///
/// SAFETY: they are there for `'a`.
pub(crate) unsafe fn lent<'a, T>(data: *const T, n: u32) -> &'a [T] {
    if n == 0 {
        &[]
    } else {
        slice::from_raw_parts(data, n as usize)
    }
}

/// Flags as the core takes them.
pub(crate) fn bytes_of_flags(flags: &[bool]) -> Vec<u8> {
    flags.iter().map(|x| u8::from(*x)).collect()
}
/// Flags as the core gives them.
pub(crate) fn flags_of(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().map(|x| *x != 0).collect()
}
