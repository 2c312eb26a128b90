//! Compiled programs.
use crate::abi_data::empty;
use crate::array::Array;
use crate::context::Context;
use crate::error::{check, Error, Result};
use crate::program::{written, Program};
use crate::run_control::RunOptions;
use crate::types::Type;
use ricci_sys as sys;
use std::fmt;
use std::ptr;

/// A compiled program. Many threads may run it at once.
pub struct Executable {
    raw: *mut sys::ricci_executable,
    context: Context,
    params: Vec<Type>,
    results: Vec<Type>,
}
// SAFETY: executables are passed `const`: many threads may use them at once.
unsafe impl Send for Executable {}
unsafe impl Sync for Executable {}

impl Executable {
    /// `flags`: RICCI_COMPILE_...
    fn made(f: &Program, flags: u32) -> Result<Executable> {
        let mut raw = ptr::null_mut();
        // SAFETY: zeros are the defaults of everything but the header.
        let mut options: sys::ricci_compile_opts = unsafe { empty() };
        options.hdr.flags = flags;
        check(unsafe { sys::ricci_compile(f.raw(), &options, &mut raw) })?;
        Ok(Executable {
            raw,
            context: f.context().clone(),
            params: f.params(),
            results: f.results(),
        })
    }
    pub(crate) fn raw(&self) -> *const sys::ricci_executable {
        self.raw
    }
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }
    pub(crate) fn signature(&self) -> (Vec<Type>, Vec<Type>) {
        (self.params.clone(), self.results.clone())
    }
    /// The text of a stage: `optimized`, `decisions`, `kernels`, `plan`, `native`, or the name of a pass
    /// (ricci/executable.h). The passes run again for that.
    pub fn dump(&self, stage: &str) -> Result<String> {
        written(|sink, write| unsafe { sys::ricci_executable_dump(self.raw, stage.as_ptr() as *const _, stage.len(), sink, write) })
    }
    /// Runs to the end.
    #[track_caller]
    pub fn run(&self, arguments: &[&Array]) -> Result<Vec<Array>> {
        self.run_with(arguments, &RunOptions::default())
    }
    /// The same with what ends it early or collects its steps.
    #[track_caller]
    pub fn run_with(&self, arguments: &[&Array], options: &RunOptions) -> Result<Vec<Array>> {
        if arguments.len() != self.params.len() {
            return Err(Error::here(format!("{} arguments for {} parameters", arguments.len(), self.params.len())));
        }
        let given: Vec<*mut sys::ricci_array> = arguments.iter().map(|a| a.raw()).collect();
        let mut out = vec![ptr::null_mut(); self.results.len()];
        check(options.lend(|o| unsafe {
            sys::ricci_executable_run(self.raw, given.as_ptr(), given.len() as u32, out.as_mut_ptr(), out.len() as u32, o)
        }))?;
        Ok(out.into_iter().map(|raw| unsafe { Array::from_owned(raw, self.context.clone()) }).collect())
    }
}
impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
        write!(f, "Executable({} -> {})", text(&self.params), text(&self.results))
    }
}
impl Clone for Executable {
    fn clone(&self) -> Executable {
        let raw = unsafe { sys::ricci_executable_retain(self.raw) };
        let (params, results) = self.signature();
        Executable { raw, context: self.context.clone(), params, results }
    }
}
impl Drop for Executable {
    fn drop(&mut self) {
        unsafe { sys::ricci_executable_release(self.raw) }
    }
}

impl Program {
    /// Makes code for the first device, the processor if its backend is there.
    pub fn compile(&self) -> Result<Executable> {
        Executable::made(self, 0)
    }
    /// Makes code whose runs may take a [`Profile`](crate::Profile), which costs some 50 ns for each step.
    pub fn compile_profiled(&self) -> Result<Executable> {
        Executable::made(self, sys::RICCI_COMPILE_PROFILED)
    }
}
