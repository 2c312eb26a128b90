//! The context: the root of everything.
#[cfg(not(feature = "plugin"))]
#[cfg(not(feature = "plugin"))]
use crate::context_options::ContextOptions;
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

#[cfg(not(feature = "plugin"))]
extern "C" {
    fn ricci_plugin_query_lax(
        host: *const sys::ricci_host_info,
        out: *mut *const sys::ricci_plugin,
    ) -> *mut sys::ricci_status;
    #[cfg(feature = "cpu")]
    fn ricci_plugin_query_cpu(
        host: *const sys::ricci_host_info,
        out: *mut *const sys::ricci_plugin,
    ) -> *mut sys::ricci_status;
}

impl Context {
    #[cfg(not(feature = "plugin"))]
    /// A context with the built-in primitives and, with the feature `cpu`, the LLVM backend.
    pub fn new() -> Result<Context> {
        Context::with(&ContextOptions::default())
    }
    #[cfg(not(feature = "plugin"))]
    /// The same with options, which are set before any plugin is added, and with more plugins. Errors: an option that is
    /// not known or has another form, and what a plugin refuses, a value of its own option among that.
    pub fn with(given: &ContextOptions<'_>) -> Result<Context> {
        let mut c = Context::bare()?;
        for (key, value) in given.options {
            c.config(key, value)?;
        }
        // SAFETY: both are entries of plugins that are linked into this process; for the others `AddedPlugin` was told.
        unsafe {
            c.add_plugin(ricci_plugin_query_lax)?;
            #[cfg(feature = "cpu")]
            c.add_plugin(ricci_plugin_query_cpu)?;
            for plugin in given.plugins {
                plugin.add_to(&mut c)?;
            }
        }
        Ok(c)
    }
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

/// The header of a struct of the ABI as this crate knows it.
pub(crate) fn header<T>() -> sys::ricci_hdr {
    sys::ricci_hdr { size: std::mem::size_of::<T>() as u32, flags: 0, next: ptr::null() }
}
