//! Programs under construction, and the values in them.
//!
//! Operations on values return values, not results, so that formulas can be read: the first mistake of a trace is kept,
//! with the location of its call (`#[track_caller]`), and `trace` returns it. Values belong to one trace and one thread
//! (`Rc`); contexts, programs, executables and arrays are `Send` and `Sync`, as the contract of the C ABI says.
use crate::attribute::Attribute;
use crate::context::Context;
use crate::error::{check, Error, Result};
use crate::program::Program;
use crate::types::{DType, Type};
use ricci_sys as sys;
use std::cell::{Cell, RefCell};
use std::ffi::CString;
use std::fmt;
use std::os::raw::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe, Location};
use std::ptr;
use std::rc::Rc;

/// A program under construction. The first mistake is kept until it is finished; nothing is added after it.
pub(crate) struct Builder {
    raw: Cell<*mut sys::ricci_builder>, // NULL once it is finished
    context: Context,
    outer: Option<Rc<Builder>>,
    error: RefCell<Option<Error>>,
    captured: RefCell<Vec<(Value, sys::ricci_val)>>, // values of outer programs, as parameters of this one
    is_lent: bool,                                   // by the core, for a rule
}

thread_local! {
    // The programs whose closures run on this thread, the innermost last.
    static TRACED: RefCell<Vec<Rc<Builder>>> = RefCell::new(Vec::new());
}

/// While it lives, operations on values of a program or of those around it go into that program.
pub(crate) struct Tracing;
impl Tracing {
    pub(crate) fn of(builder: &Rc<Builder>) -> Tracing {
        TRACED.with(|t| t.borrow_mut().push(builder.clone()));
        Tracing
    }
}
impl Drop for Tracing {
    fn drop(&mut self) {
        TRACED.with(|t| t.borrow_mut().pop());
    }
}

/// Runs a closure of the user on values of `builder`. If it panics after a mistake, that mistake is what matters.
pub(crate) fn run_traced<R>(builder: &Rc<Builder>, f: impl FnOnce() -> R) -> Result<R> {
    let _tracing = Tracing::of(builder);
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(out) => Ok(out),
        Err(panic) => match builder.error.borrow_mut().take() {
            Some(e) => Err(e),
            None => resume_unwind(panic),
        },
    }
}

impl Builder {
    /// A new program, nested in `outer` if there is one, and its parameters.
    pub(crate) fn new(
        context: &Context,
        outer: Option<&Rc<Builder>>,
        name: &str,
        params: &[Type],
    ) -> Result<(Rc<Builder>, Vec<Value>)> {
        let types = params.iter().map(|t| context.type_id(t)).collect::<Result<Vec<_>>>()?;
        let (mut raw, mut vals) = (ptr::null_mut(), vec![0; types.len()]);
        let (text, n) = (name.as_bytes(), types.len() as u32);
        check(unsafe {
            match outer {
                Some(b) => sys::ricci_builder_nest(
                    b.raw.get(), text.as_ptr() as *const _, text.len(), types.as_ptr(), n, &mut raw, vals.as_mut_ptr(),
                ),
                None => sys::ricci_builder_create(
                    context.raw(), text.as_ptr() as *const _, text.len(), types.as_ptr(), n, &mut raw, vals.as_mut_ptr(),
                ),
            }
        })?;
        let b = Rc::new(Builder {
            raw: Cell::new(raw),
            context: context.clone(),
            outer: outer.cloned(),
            error: RefCell::new(None),
            captured: RefCell::new(Vec::new()),
            is_lent: false,
        });
        let params = vals.into_iter().map(|id| Value { builder: b.clone(), id }).collect();
        Ok((b, params))
    }

    /// The builder that the core lends to a rule.
    pub(crate) fn borrowed(raw: *mut sys::ricci_builder, context: Context) -> Rc<Builder> {
        let (error, captured) = (RefCell::new(None), RefCell::new(Vec::new()));
        Rc::new(Builder { raw: Cell::new(raw), context, outer: None, error, captured, is_lent: true })
    }
    /// What the core lent is gone: values that were kept are of no program.
    pub(crate) fn give_back(&self) {
        self.raw.set(ptr::null_mut());
    }
    /// The ids of values here, or the first mistake.
    pub(crate) fn ids(self: &Rc<Self>, at: &Location<'_>, values: &[Value]) -> Result<Vec<sys::ricci_val>> {
        if let Some(e) = self.error.borrow_mut().take() {
            return Err(e);
        }
        self.owned(at, &values.iter().collect::<Vec<_>>())
    }
    fn owned(self: &Rc<Self>, at: &Location<'_>, values: &[&Value]) -> Result<Vec<sys::ricci_val>> {
        let mut out = Vec::new();
        for v in values {
            out.push(self.own(at, v)?);
        }
        Ok(out)
    }
    /// Keeps a mistake, unless there was one before.
    pub(crate) fn fail(&self, e: Error) {
        self.error.borrow_mut().get_or_insert(e);
    }
    /// What stands for results after a mistake.
    pub(crate) fn nothing(self: &Rc<Self>) -> Value {
        Value { builder: self.clone(), id: sys::RICCI_VAL_NONE.into() }
    }
    pub(crate) fn failed(&self) -> bool {
        self.error.borrow().is_some()
    }
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }
    /// The captured values of outer programs, in the order of their parameters, which follow all others.
    pub(crate) fn captures(&self) -> Vec<Value> {
        self.captured.borrow().iter().map(|(v, _)| v.clone()).collect()
    }

    fn is_inside(&self, of: &Rc<Builder>) -> bool {
        let mut at = &self.outer;
        while let Some(b) = at {
            if Rc::ptr_eq(b, of) {
                return true;
            }
            at = &b.outer;
        }
        false
    }
    /// What is said of a value of another program.
    fn stranger(&self) -> &'static str {
        if self.is_lent {
            return "a value belongs to another program than this rule's; `residual` gives a known value to the other half";
        }
        "a value is used in a trace that it does not belong to; pass it as an argument"
    }
    /// The id that `v` has here: its own, or that of a parameter that stands for a value of an outer program.
    fn own(self: &Rc<Self>, at: &Location<'_>, v: &Value) -> Result<sys::ricci_val> {
        if Rc::ptr_eq(self, &v.builder) {
            return Ok(v.id);
        }
        if let Some((_, id)) = self.captured.borrow().iter().find(|(c, _)| c.id == v.id && Rc::ptr_eq(&c.builder, &v.builder)) {
            return Ok(*id);
        }
        if !self.is_inside(&v.builder) {
            return Err(Error::at(at, self.stranger()));
        }
        let mut id = 0;
        check(unsafe { sys::ricci_builder_param(self.raw.get(), self.context.type_id(&v.ty())?, &mut id) })?;
        self.captured.borrow_mut().push((v.clone(), id));
        Ok(id)
    }
    // The equations of a rule keep the location of the operation that it is for.
    fn set_location(&self, at: &Location<'_>) {
        if self.is_lent {
            return;
        }
        let file = CString::new(at.file()).unwrap_or_default();
        unsafe { sys::ricci_builder_set_location(self.raw.get(), file.as_ptr(), at.line(), ptr::null()) }
    }

    /// Appends an equation. After a mistake its results are of no program.
    #[track_caller]
    pub(crate) fn emit(self: &Rc<Self>, primitive: &str, attributes: &[Attribute], operands: &[&Value], results: usize) -> Vec<Value> {
        let at = Location::caller();
        let out = self.try_emit(at, primitive, attributes, operands, results).unwrap_or_else(|e| {
            self.fail(e);
            vec![sys::RICCI_VAL_NONE.into(); results]
        });
        out.into_iter().map(|id| Value { builder: self.clone(), id }).collect()
    }
    fn try_emit(
        self: &Rc<Self>, at: &Location<'_>, primitive: &str, attributes: &[Attribute], operands: &[&Value], results: usize,
    ) -> Result<Vec<sys::ricci_val>> {
        if self.failed() {
            return Ok(vec![sys::RICCI_VAL_NONE.into(); results]);
        }
        if self.raw.get().is_null() {
            return Err(Error::at(at, "a value is used after its trace has ended"));
        }
        let mut prim = 0;
        let name = primitive.as_bytes();
        check(unsafe { sys::ricci_prim_find(self.context.raw(), name.as_ptr() as *const _, name.len(), &mut prim) })?;
        let ids = self.owned(at, operands)?;
        let slots: Vec<Vec<*mut sys::ricci_program>> = attributes.iter().map(Attribute::slots).collect();
        let attrs: Vec<sys::ricci_attr> = attributes.iter().zip(&slots).map(|(a, s)| a.raw(s)).collect();
        let mut out = vec![0; results];
        self.set_location(at);
        check(unsafe {
            sys::ricci_builder_emit(
                self.raw.get(), prim, attrs.as_ptr(), attrs.len() as u32, ids.as_ptr(), ids.len() as u32,
                out.as_mut_ptr(), results as u32,
            )
        })?;
        Ok(out)
    }
    /// Appends the equations of `f`.
    #[track_caller]
    pub(crate) fn inline(self: &Rc<Self>, f: &Program, operands: &[&Value]) -> Result<Vec<Value>> {
        let at = Location::caller();
        if self.raw.get().is_null() {
            return Err(Error::at(at, "a value is used after its trace has ended"));
        }
        let ids = self.owned(at, operands)?;
        self.set_location(at);
        let mut out = vec![0; f.results().len()];
        check(unsafe {
            sys::ricci_builder_inline(
                self.raw.get(), f.raw(), ids.as_ptr(), ids.len() as u32, out.as_mut_ptr(), out.len() as u32,
            )
        })?;
        Ok(out.into_iter().map(|id| Value { builder: self.clone(), id }).collect())
    }
    /// A constant of type `t`: all elements, or one for all.
    pub(crate) fn constant(self: &Rc<Self>, t: &Type, bytes: Result<Vec<u8>>) -> Value {
        let made = bytes.and_then(|bytes| {
            let (mut id, of) = (0, self.context.type_id(t)?);
            check(unsafe {
                sys::ricci_builder_const(self.raw.get(), of, bytes.as_ptr() as *const c_void, bytes.len(), &mut id)
            })?;
            Ok(id)
        });
        made.map(|id| Value { builder: self.clone(), id }).unwrap_or_else(|e| {
            self.fail(e);
            self.nothing()
        })
    }
    #[track_caller]
    pub(crate) fn array<T: crate::array::Element>(self: &Rc<Self>, data: &[T], dims: &[i64]) -> Value {
        self.constant(&T::DTYPE.shape(dims), crate::array::bytes_of(data, dims))
    }

    /// Ends the trace with these results, or with its first mistake.
    #[track_caller]
    pub(crate) fn finish(self: &Rc<Self>, results: &[Value]) -> Result<Program> {
        let ids = self.ids(Location::caller(), results)?;
        let mut program = ptr::null_mut();
        check(unsafe { sys::ricci_builder_finish(self.raw.get(), ids.as_ptr(), ids.len() as u32, &mut program) })?;
        self.raw.set(ptr::null_mut());
        Ok(unsafe { Program::from_owned(program, self.context.clone()) })
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        if !self.is_lent {
            unsafe { sys::ricci_builder_abandon(self.raw.get()) }
        }
    }
}

/// A value of a program under construction. It holds no numbers: operations on it add equations to the program.
#[derive(Clone)]
pub struct Value {
    pub(crate) builder: Rc<Builder>,
    pub(crate) id: sys::ricci_val,
}

impl Value {
    /// Its array type. Of a value that a mistake made, bool[].
    pub fn ty(&self) -> Type {
        let known = unsafe { sys::ricci_builder_type(self.builder.raw.get(), self.id) };
        let none = Type { dtype: crate::types::BOOL, dims: Vec::new() };
        if known == 0 {
            return none;
        }
        self.builder.context.type_of(known).unwrap_or(none)
    }
    /// The type of its elements.
    pub fn dtype(&self) -> DType {
        self.ty().dtype
    }
    /// Its sizes.
    pub fn dims(&self) -> Vec<i64> {
        self.ty().dims
    }
    /// A constant in the trace of this value, with these elements.
    #[track_caller]
    pub fn constant<T: crate::array::Element>(&self, data: &[T], dims: &[i64]) -> Value {
        innermost(&[self]).array(data, dims)
    }
    /// Any primitive with this value as its first operand: its results. `operands` are the others.
    #[track_caller]
    pub fn emit(&self, primitive: &str, attributes: &[Attribute], operands: &[&Value], results: usize) -> Vec<Value> {
        let mut all = vec![self];
        all.extend_from_slice(operands);
        innermost(&all).emit(primitive, attributes, &all, results)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({})", self.ty())
    }
}

/// Where an operation on these values goes: the program that is traced, if it is inside of theirs, else the innermost
/// of theirs.
pub(crate) fn innermost(values: &[&Value]) -> Rc<Builder> {
    let mut best = values[0].builder.clone();
    for v in values {
        if v.builder.is_inside(&best) {
            best = v.builder.clone();
        }
    }
    traced_now().filter(|t| t.is_inside(&best)).unwrap_or(best)
}

/// The program whose closure, or rule, runs on this thread.
pub(crate) fn traced_now() -> Option<Rc<Builder>> {
    TRACED.with(|t| t.borrow().last().cloned())
}
