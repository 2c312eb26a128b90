//! Contexts with the built-in primitives, and what they are made with: options, and plugins beside the built-in ones.
use crate::context::Context;
use crate::error::Result;
use ricci_sys as sys;

/// What [`Context::with`](crate::Context) makes a context with.
///
/// ```
/// # use ricci::{Context, ContextOptions};
/// # fn main() -> ricci::Result<()> {
/// let ctx = Context::with(&ContextOptions { options: &[("threads", "2"), ("cpu.debug", "gdb")], ..Default::default() })?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct ContextOptions<'a> {
    /// Keys and values as ricci/context.h lists them, set before any plugin is added: a plugin reads its own then.
    pub options: &'a [(&'a str, &'a str)],
    /// Added in this order after the built-in ones.
    pub plugins: &'a [AddedPlugin],
}

/// A plugin to add: its entry in this process, or a shared object to load.
#[derive(Clone, Debug)]
pub struct AddedPlugin(Source);

#[derive(Clone, Debug)]
enum Source {
    Entry(sys::ricci_plugin_query_fn),
    File(String),
}

impl AddedPlugin {
    /// A plugin of this process.
    ///
    /// # Safety
    /// `query` must be the entry of a plugin.
    pub unsafe fn entry(query: sys::ricci_plugin_query_fn) -> AddedPlugin {
        AddedPlugin(Source::Entry(query))
    }
    /// A shared object, which is loaded when it is added and never unloaded.
    ///
    /// # Safety
    /// Code of that file runs.
    pub unsafe fn file(path: impl Into<String>) -> AddedPlugin {
        AddedPlugin(Source::File(path.into()))
    }
    /// # Safety
    /// No other clone of the context may be in use meanwhile.
    unsafe fn add_to(&self, context: &mut Context) -> Result<()> {
        match &self.0 {
            Source::Entry(query) => context.add_plugin(*query),
            Source::File(path) => context.load_plugin(path),
        }
    }
}

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
    /// A context with the built-in primitives and, with the feature `cpu`, the LLVM backend.
    pub fn new() -> Result<Context> {
        Context::with(&ContextOptions::default())
    }
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
}
