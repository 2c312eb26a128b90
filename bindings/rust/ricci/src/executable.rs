//! Compiled programs, and functions that are traced and compiled when they are called.
use crate::array::Array;
use crate::context::{header, Context};
use crate::error::{check, Error, Result};
use crate::program::{written, Program};
use crate::run_control::RunOptions;
use crate::trace::{run_traced, Value};
use crate::tree::{Mapped, Tree};
use crate::types::Type;
use ricci_sys as sys;
use std::cell::RefCell;
use std::collections::HashMap;
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
    pub(crate) fn of(f: &Program) -> Result<Executable> {
        Executable::made(f, 0)
    }
    /// `flags`: RICCI_COMPILE_...
    pub(crate) fn made(f: &Program, flags: u32) -> Result<Executable> {
        let mut raw = ptr::null_mut();
        // SAFETY: zeros are the defaults of everything but the header.
        let mut options: sys::ricci_compile_opts = unsafe { std::mem::zeroed() };
        options.hdr = header::<sys::ricci_compile_opts>();
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

/// The types of the leaves, and the structure of the arguments.
type Key = (Vec<Type>, Vec<usize>);

/// A closure that is traced and compiled at its first call with arguments of some types; later ones run the code.
pub struct Jit<F, R> {
    context: Context,
    f: F,
    known: RefCell<HashMap<Key, (Executable, R)>>,
}

impl Context {
    /// See [`Jit`]. The closure takes and gives trees of [`Value`]s; it is called with the same trees of [`Array`]s.
    pub fn jit<F, R>(&self, f: F) -> Jit<F, R> {
        Jit { context: self.clone(), f, known: RefCell::new(HashMap::new()) }
    }
}

impl<F, R> fmt::Debug for Jit<F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Jit({} compiled)", self.known.borrow().len())
    }
}
impl<F, R> Jit<F, R> {
    /// Runs the code for arguments of these types, which is made if this is the first call with them.
    #[track_caller]
    pub fn call<A>(&self, arguments: A) -> Result<<R as Mapped<Value, Array>>::To>
    where
        A: Mapped<Array, Value>,
        F: Fn(A::To) -> R,
        R: Mapped<Value, Array>,
    {
        let given = arguments.leaves();
        let types: Vec<Type> = given.iter().map(Array::ty).collect();
        let mut lengths = Vec::new();
        arguments.shape_of_tree(&mut lengths);
        let key = (types, lengths);
        if !self.known.borrow().contains_key(&key) {
            let made = self.traced(&arguments, &key.0)?;
            self.known.borrow_mut().insert(key.clone(), made);
        }
        let known = self.known.borrow();
        let (code, like) = &known[&key];
        let mut results = code.run(&given.iter().collect::<Vec<_>>())?.into_iter();
        Ok(like.map(&mut |_| results.next().expect("a result for each leaf")))
    }
    #[track_caller]
    fn traced<A>(&self, arguments: &A, types: &[Type]) -> Result<(Executable, R)>
    where
        A: Mapped<Array, Value>,
        F: Fn(A::To) -> R,
        R: Tree<Value>,
    {
        let (builder, params) = crate::trace::Builder::new(&self.context, None, "jit", types)?;
        let mut params = params.into_iter();
        let given = arguments.map(&mut |_| params.next().expect("a parameter for each leaf"));
        let out = run_traced(&builder, || (self.f)(given))?;
        Ok((builder.finish(&out.leaves())?.compile()?, out))
    }
}
