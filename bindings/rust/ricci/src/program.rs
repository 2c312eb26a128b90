//! Programs, and their transformations.
use crate::abi_data::{bytes_of_flags, header, text, view, NO_TEXT};
use crate::context::Context;
use crate::error::{check, Error, Result};
use crate::types::Type;
use ricci_sys as sys;
use std::fmt;
use std::os::raw::{c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

/// A typed function, which never changes. Many threads may use it at once.
pub struct Program {
    raw: *const sys::ricci_program,
    context: Context,
}
// SAFETY: programs are passed `const`: many threads may use them at once.
unsafe impl Send for Program {}
unsafe impl Sync for Program {}

impl Context {
    /// Reads the text form.
    pub fn parse(&self, source: &str, origin: &str) -> Result<Program> {
        let (mut raw, s, o) = (ptr::null_mut(), source.as_bytes(), origin.as_bytes());
        check(unsafe {
            sys::ricci_program_parse(
                self.raw(), s.as_ptr() as *const _, s.len(), o.as_ptr() as *const _, o.len(), &mut raw,
            )
        })?;
        Ok(unsafe { Program::from_owned(raw, self.clone()) })
    }
    /// Reads a file that [`Program::save`], or another language, wrote.
    pub fn load(&self, path: impl AsRef<Path>) -> Result<Program> {
        let (mut raw, path) = (ptr::null_mut(), path.as_ref().as_os_str().as_bytes());
        check(unsafe { sys::ricci_program_load(self.raw(), path.as_ptr() as *const _, path.len(), &mut raw) })?;
        Ok(unsafe { Program::from_owned(raw, self.clone()) })
    }
    /// The program of the bytes of such a file; `origin` is what messages call them.
    pub fn program_of_bytes(&self, bytes: &[u8], origin: &str) -> Result<Program> {
        let (mut raw, o) = (ptr::null_mut(), origin.as_bytes());
        check(unsafe {
            sys::ricci_program_deserialize(
                self.raw(), bytes.as_ptr() as *const _, bytes.len(), o.as_ptr() as *const _, o.len(), &mut raw,
            )
        })?;
        Ok(unsafe { Program::from_owned(raw, self.clone()) })
    }
}

/// How a mapped program runs: as operations on whole batches, or each element by itself in a lane of one kernel. `Auto`,
/// the device's own estimate, is right unless a measurement says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Schedule {
    /// As the device estimates.
    #[default]
    Auto = sys::RICCI_SCHEDULE_AUTO,
    /// Operations on whole batches.
    Batched = sys::RICCI_SCHEDULE_BATCHED,
    /// An element in a lane.
    Lanes = sys::RICCI_SCHEDULE_LANES,
}
/// Options of [`Program::vmap_with`].
#[derive(Clone, Debug, Default)]
pub struct VmapOptions {
    /// Along which dimension each result has the batch, or `None` for one that does not depend on it; empty: the first.
    pub out_axes: Vec<Option<i32>>,
    /// What operations on the batch call its axis.
    pub axis_name: String,
    /// For this map and its derivatives.
    pub schedule: Schedule,
}

impl Program {
    pub(crate) unsafe fn from_owned(raw: *mut sys::ricci_program, context: Context) -> Program {
        Program { raw, context }
    }
    pub(crate) fn raw(&self) -> *const sys::ricci_program {
        self.raw
    }
    /// Where it belongs.
    pub fn context(&self) -> &Context {
        &self.context
    }
    /// The name that it was traced with.
    pub fn name(&self) -> String {
        let mut name = NO_TEXT;
        unsafe { sys::ricci_program_name(self.raw, &mut name) };
        text(name)
    }
    /// The types of its parameters.
    pub fn params(&self) -> Vec<Type> {
        self.signature().0
    }
    /// The types of its results.
    pub fn results(&self) -> Vec<Type> {
        self.signature().1
    }
    fn signature(&self) -> (Vec<Type>, Vec<Type>) {
        let (mut n_params, mut n_results, mut params, mut results) = (0, 0, ptr::null(), ptr::null());
        unsafe { sys::ricci_program_signature(self.raw, &mut n_params, &mut params, &mut n_results, &mut results) };
        let list = |p: *const sys::ricci_type, n: u32| -> Vec<Type> {
            // SAFETY: the core gives `n` types at `p`, which live as long as the program.
            (0..n as usize).filter_map(|i| self.context.type_of(unsafe { *p.add(i) }).ok()).collect()
        };
        (list(params, n_params), list(results, n_results))
    }

    /// Gradients of the one result, a float, with respect to these parameters.
    pub fn grad(&self, argnums: &[u32]) -> Result<Program> {
        self.differentiate(argnums, false)
    }
    /// The result, then its gradients.
    pub fn value_and_grad(&self, argnums: &[u32]) -> Result<Program> {
        self.differentiate(argnums, true)
    }
    fn differentiate(&self, argnums: &[u32], with_value: bool) -> Result<Program> {
        self.made(|out| unsafe {
            sys::ricci_grad(self.raw, argnums.as_ptr(), argnums.len() as u32, u32::from(with_value), out)
        })
    }
    /// Forward mode: takes the parameters, then a tangent for each that is active; gives the results, then theirs.
    pub fn jvp(&self, active: &[bool]) -> Result<Program> {
        let active = bytes_of_flags(active);
        self.made(|out| unsafe { sys::ricci_jvp(self.raw, active.as_ptr(), active.len() as u32, out) })
    }
    /// Reverse mode in two programs: the first takes the parameters and gives the results, then residuals; the second
    /// takes the residuals, then a cotangent of each result, and gives those of the parameters that are `wanted`.
    #[track_caller]
    pub fn vjp(&self, wanted: &[bool]) -> Result<(Program, Program)> {
        let n = self.params().len();
        if wanted.len() != n {
            return Err(Error::here(format!("vjp: {} flags for {} parameters", wanted.len(), n)));
        }
        let wanted = bytes_of_flags(wanted);
        let mut backward = ptr::null_mut();
        let forward =
            self.made(|out| unsafe { sys::ricci_vjp(self.raw, wanted.as_ptr(), wanted.len() as u32, out, &mut backward) })?;
        Ok((forward, unsafe { Program::from_owned(backward, self.context.clone()) }))
    }
    /// The program for a batch of `size`: `in_axes` says for each parameter along which dimension it has one, or `None`.
    /// All results have it along their first dimension. Branches and loops of an element stay its own.
    #[track_caller]
    pub fn vmap(&self, in_axes: &[Option<i32>], size: i64) -> Result<Program> {
        self.vmap_with(in_axes, size, &VmapOptions::default())
    }
    /// The same with axes of the results, a name of the axis or a schedule.
    #[track_caller]
    pub fn vmap_with(&self, in_axes: &[Option<i32>], size: i64, options: &VmapOptions) -> Result<Program> {
        let given = &options.out_axes;
        let out_axes = if given.is_empty() { vec![Some(0); self.results().len()] } else { given.clone() };
        if let Some(Some(axis)) = in_axes.iter().chain(&out_axes).find(|a| matches!(a, Some(x) if *x < 0)) {
            return Err(Error::here(format!("vmap: the axis {} is less than 0; None is for what has no batch", axis)));
        }
        let numbers = |axes: &[Option<i32>]| axes.iter().map(|a| a.unwrap_or(-1)).collect::<Vec<i32>>();
        let (axes, out) = (numbers(in_axes), numbers(&out_axes));
        let how = sys::ricci_vmap_opts {
            hdr: header::<sys::ricci_vmap_opts>(),
            axis_name: view(&options.axis_name),
            schedule: options.schedule as u32,
            reserved0: 0,
        };
        self.made(|made| unsafe {
            sys::ricci_vmap(self.raw, axes.as_ptr(), axes.len() as u32, out.as_ptr(), out.len() as u32, size, &how, made)
        })
    }
    /// This program with a derivative of its own: `rule` takes its parameters and their tangents, and gives its results
    /// and theirs.
    pub fn custom_jvp(&self, rule: &Program) -> Result<Program> {
        self.made(|out| unsafe { sys::ricci_custom_jvp(self.raw, rule.raw, out) })
    }
    /// This program with a reverse mode of its own: `forward` gives its results and what `backward` needs; `backward`
    /// takes that and the cotangents of the results, and gives those of the parameters.
    pub fn custom_vjp(&self, forward: &Program, backward: &Program) -> Result<Program> {
        self.made(|out| unsafe { sys::ricci_custom_vjp(self.raw, forward.raw, backward.raw, out) })
    }
    /// The same program, whose inner values are computed again in reverse mode instead of kept.
    pub fn checkpoint(&self) -> Result<Program> {
        self.made(|out| unsafe { sys::ricci_checkpoint(self.raw, ptr::null(), out) })
    }
    fn made(&self, make: impl FnOnce(*mut *mut sys::ricci_program) -> *mut sys::ricci_status) -> Result<Program> {
        let mut out = ptr::null_mut();
        check(make(&mut out))?;
        Ok(unsafe { Program::from_owned(out, self.context.clone()) })
    }
    /// Writes the binary form, constants included, to a file, which `Context::load` of any language reads.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref().as_os_str().as_bytes();
        check(unsafe { sys::ricci_program_save(self.raw, path.as_ptr() as *const _, path.len()) })
    }
    /// The bytes of such a file; a program always gives the same.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        written_bytes(|sink, write| unsafe { sys::ricci_program_serialize(self.raw, sink, write) })
    }
    fn printed(&self) -> Result<String> {
        written(|sink, write| unsafe { sys::ricci_program_print(self.raw, sink, write) })
    }
}

type Write = Option<unsafe extern "C" fn(sink: *mut c_void, p: *const c_char, n: usize)>;
/// The text that `print` writes to the sink and function that it gets.
pub(crate) fn written(print: impl FnOnce(*mut c_void, Write) -> *mut sys::ricci_status) -> Result<String> {
    String::from_utf8(written_bytes(print)?).map_err(|_| Error::here("a text of the core is not UTF-8"))
}
fn written_bytes(print: impl FnOnce(*mut c_void, Write) -> *mut sys::ricci_status) -> Result<Vec<u8>> {
    unsafe extern "C" fn write(sink: *mut c_void, p: *const c_char, n: usize) {
        let out = &mut *(sink as *mut Vec<u8>);
        if n != 0 {
            out.extend_from_slice(std::slice::from_raw_parts(p as *const u8, n));
        }
    }
    let mut out: Vec<u8> = Vec::new();
    check(print(&mut out as *mut _ as *mut c_void, Some(write)))?;
    Ok(out)
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.printed().map_err(|_| fmt::Error)?)
    }
}
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program({})", self.name())
    }
}
impl Clone for Program {
    fn clone(&self) -> Program {
        Program { raw: unsafe { sys::ricci_program_retain(self.raw as *mut _) }, context: self.context.clone() }
    }
}
impl Drop for Program {
    fn drop(&mut self) {
        unsafe { sys::ricci_program_release(self.raw as *mut _) }
    }
}
