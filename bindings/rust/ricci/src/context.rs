//! The context: the root of everything.
use crate::abi_data::header;
use crate::error::{check, Error, Result};
use crate::types::{DType, Type};
use ricci_sys as sys;
use std::fmt;
use std::ptr;

/// The root of all objects, with its plugins and devices. Clones are the same context; it goes when the last of them
/// and the last object made from it are gone.
pub struct Context {
    raw: *mut sys::ricci_ctx,
}
// SAFETY: contexts are for many threads at once (ricci/base.h), except while plugins are added, which takes `&mut`.
unsafe impl Send for Context {}
unsafe impl Sync for Context {}

impl Context {
    /// A context with the reference backend and no plugin.
    pub fn bare() -> Result<Context> {
        let mut raw = ptr::null_mut();
        check(unsafe { sys::ricci_context_create(ptr::null(), &mut raw) })?;
        Ok(Context { raw })
    }
    /// Registers a plugin of this process.
    ///
    /// # Safety
    /// `query` must be the entry of a plugin, and no other clone of the context may be in use meanwhile.
    pub unsafe fn add_plugin(&mut self, query: sys::ricci_plugin_query_fn) -> Result<()> {
        check(sys::ricci_context_add_plugin(self.raw, Some(query)))
    }
    /// Loads a shared object and registers it; it is never unloaded.
    ///
    /// # Safety
    /// Code of that file runs; no other clone of the context may be in use meanwhile.
    pub unsafe fn load_plugin(&mut self, path: &str) -> Result<()> {
        check(sys::ricci_context_load_plugin(self.raw, path.as_ptr() as *const _, path.len()))
    }
    /// Sets an option, such as `threads`; ricci/context.h lists them. A plugin reads its own (`cpu.affinity`) when it is
    /// added: those are for `Context::with`.
    pub fn config(&self, key: &str, value: &str) -> Result<()> {
        let (k, v) = (key.as_bytes(), value.as_bytes());
        check(unsafe {
            sys::ricci_context_config(self.raw, k.as_ptr() as *const _, k.len(), v.as_ptr() as *const _, v.len())
        })
    }
    pub(crate) fn raw(&self) -> *mut sys::ricci_ctx {
        self.raw
    }
    /// A clone of a context that the core lends.
    pub(crate) unsafe fn from_borrowed(raw: *mut sys::ricci_ctx) -> Context {
        Context { raw: sys::ricci_context_retain(raw) }
    }
    pub(crate) fn type_id(&self, t: &Type) -> Result<sys::ricci_type> {
        let rank = u32::try_from(t.dims.len()).map_err(|_| Error::here("a type has too many dimensions"))?;
        let desc = sys::ricci_type_desc { hdr: header::<sys::ricci_type_desc>(), dtype: t.dtype.0, rank, dims: t.dims.as_ptr() };
        let mut id = 0;
        check(unsafe { sys::ricci_type_make(self.raw, &desc, &mut id) })?;
        Ok(id)
    }
    pub(crate) fn type_of(&self, id: sys::ricci_type) -> Result<Type> {
        let hdr = header::<sys::ricci_type_desc>();
        let mut desc = sys::ricci_type_desc { hdr, dtype: 0, rank: 0, dims: ptr::null() };
        check(unsafe { sys::ricci_type_get(self.raw, id, &mut desc) })?;
        let dims = if desc.rank == 0 {
            Vec::new()
        } else {
            // SAFETY: the core gives `rank` sizes, which live as long as the context.
            unsafe { std::slice::from_raw_parts(desc.dims, desc.rank as usize) }.to_vec()
        };
        Ok(Type { dtype: DType(desc.dtype), dims })
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context({} devices)", unsafe { sys::ricci_device_count(self.raw) })
    }
}
impl Clone for Context {
    fn clone(&self) -> Context {
        unsafe { Context::from_borrowed(self.raw) }
    }
}
impl Drop for Context {
    fn drop(&mut self) {
        unsafe { sys::ricci_context_release(self.raw) }
    }
}
