//! The callbacks of a row in Rust: each makes values of what the core gives, runs the rule, and writes down its results.
//!
//! A rule that refuses is a status with its words. One that panics is a status that names plugin, primitive and rule:
//! nothing unwinds into the core.
use crate::context::Context;
use crate::error::{check, Error, Result};
use crate::lowering::Kernel;
use crate::plugin::{Attributes, Batch, Jvp, Primitive, Transpose};
use crate::trace::{run_traced, Builder, Value};
use ricci_sys as sys;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe, Location};
use std::ptr;
use std::rc::Rc;

type Status = *mut sys::ricci_status;

/// What the core holds of a primitive.
pub(crate) struct Held {
    pub(crate) primitive: Box<dyn Primitive>,
    pub(crate) plugin: String,
}

/// Runs `f`; an error or a panic becomes a status. `who` says what panicked.
pub(crate) fn guarded(who: impl FnOnce() -> String, f: impl FnOnce() -> Result<()>) -> Status {
    let (code, message) = match catch_unwind(AssertUnwindSafe(f)) {
        Ok(Ok(())) => return ptr::null_mut(),
        Ok(Err(e)) => (e.code().number(), e.message().to_string()),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
            (sys::RICCI_INTERNAL, format!("{}: panicked: {}", who(), text.unwrap_or("no message")))
        }
    };
    unsafe { sys::ricci_status_make(code, message.as_ptr() as *const c_char, message.len()) }
}

/// A call of one rule.
struct Call<'a> {
    held: &'a Held,
    op: &'a sys::ricci_op,
    rule: &'static str,
}
impl<'a> Call<'a> {
    /// SAFETY: for the core, with what it gives to a rule; `self_` is what `register` gave.
    unsafe fn of(self_: *mut c_void, op: *const sys::ricci_op, rule: &'static str) -> Call<'a> {
        Call { held: &*(self_ as *const Held), op: &*op, rule }
    }
    fn primitive(&self) -> &'a dyn Primitive {
        &*self.held.primitive
    }
    fn attributes(&self) -> Attributes<'a> {
        Attributes(unsafe { slice(self.op.attrs, self.op.n_attrs) })
    }
    fn context(&self) -> Context {
        unsafe { Context::from_borrowed(self.op.ctx) }
    }
    fn guarded(&self, f: impl FnOnce() -> Result<()>) -> Status {
        let who = || format!("{}: rule {} of plugin {}", self.primitive().name(), self.rule, self.held.plugin);
        guarded(who, f)
    }
    /// Runs a rule that emits equations into `b`, which ends with the rule, whatever the rule has kept.
    unsafe fn traced<R>(&self, b: *mut sys::ricci_builder, f: impl FnOnce(&Emitting) -> Result<R>) -> Result<R> {
        let lent = Lent(Builder::borrowed(b, self.context()));
        f(&Emitting { builder: &lent.0 })
    }
    fn counted<T>(&self, what: &str, results: &[T], wanted: u32) -> Result<()> {
        if results.len() == wanted as usize {
            return Ok(());
        }
        let text = format!("rule {} of plugin {}: gives {} {}, not {}", self.rule, self.held.plugin, results.len(), what, wanted);
        Err(Error::refused(text))
    }
}

/// The builder of a rule that emits.
struct Emitting<'a> {
    builder: &'a Rc<Builder>,
}
impl Emitting<'_> {
    fn value(&self, id: sys::ricci_val) -> Value {
        Value { builder: self.builder.clone(), id }
    }
    unsafe fn values(&self, ids: *const sys::ricci_val, n: u32) -> Vec<Value> {
        slice(ids, n).iter().map(|id| self.value(*id)).collect()
    }
    /// Values of which some are not there: symbolic zeros, or operands of which only the type exists.
    unsafe fn some_values(&self, ids: *const sys::ricci_val, n: u32) -> Vec<Option<Value>> {
        let is_there = |id: sys::ricci_val| id != sys::RICCI_VAL_ZERO && id != u64::from(sys::RICCI_VAL_NONE);
        slice(ids, n).iter().map(|id| is_there(*id).then(|| self.value(*id))).collect()
    }
    fn run<R>(&self, f: impl FnOnce() -> R) -> Result<R> {
        run_traced(self.builder, f)
    }
    /// SAFETY: `out` has room for them.
    unsafe fn write(&self, values: &[Value], out: *mut sys::ricci_val) -> Result<()> {
        let ids = self.builder.ids(Location::caller(), values)?;
        ids.iter().enumerate().for_each(|(i, id)| *out.add(i) = *id);
        Ok(())
    }
    /// The same for those that are there; the others keep what the core has filled in.
    unsafe fn write_some(&self, values: &[Option<Value>], out: *mut sys::ricci_val) -> Result<()> {
        for (i, v) in values.iter().enumerate() {
            if let Some(v) = v {
                self.write(std::slice::from_ref(v), out.add(i))?;
            }
        }
        Ok(())
    }
}

/// What the core lends ends with the rule.
struct Lent(Rc<Builder>);
impl Drop for Lent {
    fn drop(&mut self) {
        self.0.give_back();
    }
}

/// What the core gives to a rule.
unsafe fn slice<'a, T>(data: *const T, n: u32) -> &'a [T] {
    if n == 0 {
        &[]
    } else {
        std::slice::from_raw_parts(data, n as usize)
    }
}

pub(crate) unsafe extern "C" fn abstract_eval(self_: *mut c_void, b: *mut sys::ricci_builder, op: *const sys::ricci_op) -> Status {
    let call = Call::of(self_, op, "abstract_eval");
    call.guarded(|| {
        let (context, op) = (call.context(), call.op);
        let operands = slice(op.in_types, op.n_in).iter().map(|t| context.type_of(*t)).collect::<Result<Vec<_>>>()?;
        let types = call.primitive().types(&operands, &call.attributes()).map_err(Error::refused)?;
        let ids = types.iter().map(|t| context.type_id(t)).collect::<Result<Vec<_>>>()?;
        check(sys::ricci_builder_set_out_types(b, ids.as_ptr(), ids.len() as u32))
    })
}

pub(crate) unsafe extern "C" fn decompose(
    self_: *mut c_void, b: *mut sys::ricci_builder, op: *const sys::ricci_op, given: *const sys::ricci_val, out: *mut sys::ricci_val,
) -> Status {
    let call = Call::of(self_, op, "decompose");
    call.guarded(|| {
        call.traced(b, |e| {
            let operands = e.values(given, call.op.n_in);
            let results = e.run(|| call.primitive().decompose(&operands, &call.attributes()))?;
            call.counted("results", &results, call.op.n_out)?;
            e.write(&results, out)
        })
    })
}

pub(crate) unsafe extern "C" fn jvp(
    self_: *mut c_void, b: *mut sys::ricci_builder, op: *const sys::ricci_op, a: *const sys::ricci_jvp_args,
) -> Status {
    let (call, a) = (Call::of(self_, op, "jvp"), &*a);
    call.guarded(|| {
        call.traced(b, |e| {
            let (primals, tangents) = (e.values(a.primals, call.op.n_in), e.some_values(a.tangents, call.op.n_in));
            let given = Jvp { primals: &primals, tangents: &tangents };
            let (results, derivatives) = e.run(|| call.primitive().jvp(&given, &call.attributes()))?;
            call.counted("results", &results, call.op.n_out)?;
            call.counted("tangents", &derivatives, call.op.n_out)?;
            e.write(&results, a.out_primals)?;
            e.write_some(&derivatives, a.out_tangents)
        })
    })
}

pub(crate) unsafe extern "C" fn transpose(
    self_: *mut c_void, b: *mut sys::ricci_builder, op: *const sys::ricci_op, a: *const sys::ricci_transpose_args,
) -> Status {
    let (call, a) = (Call::of(self_, op, "transpose"), &*a);
    call.guarded(|| {
        call.traced(b, |e| {
            let (context, n_in) = (call.context(), call.op.n_in);
            let types = slice(call.op.in_types, n_in).iter().map(|t| context.type_of(*t)).collect::<Result<Vec<_>>>()?;
            let (cts, operands) = (e.some_values(a.cts, call.op.n_out), e.some_values(a.operands, n_in));
            let given = Transpose { cts: &cts, operands: &operands, types: &types };
            let cotangents = e.run(|| call.primitive().transpose(&given, &call.attributes()))?;
            call.counted("cotangents", &cotangents, n_in)?;
            e.write_some(&cotangents, a.in_cts)
        })
    })
}

pub(crate) unsafe extern "C" fn batch(
    self_: *mut c_void, b: *mut sys::ricci_builder, op: *const sys::ricci_op, a: *const sys::ricci_batch_args,
) -> Status {
    let (call, a) = (Call::of(self_, op, "batch"), &*a);
    call.guarded(|| {
        call.traced(b, |e| {
            let operands = e.values(a.r#in, call.op.n_in);
            let dims: Vec<Option<usize>> = slice(a.in_dims, call.op.n_in).iter().map(|d| usize::try_from(*d).ok()).collect();
            let given = Batch { size: a.axis_size, operands: &operands, dims: &dims };
            let results = e.run(|| call.primitive().batch(&given, &call.attributes()))?;
            call.counted("results", &results, call.op.n_out)?;
            for (i, (value, dim)) in results.iter().enumerate() {
                e.write(std::slice::from_ref(value), a.out.add(i))?;
                *a.out_dims.add(i) = dim.map_or(-1, |d| i32::try_from(d).unwrap_or(i32::MAX));
            }
            Ok(())
        })
    })
}

pub(crate) unsafe extern "C" fn scalar(
    self_: *mut c_void, k: *mut sys::ricci_kernel_builder, op: *const sys::ricci_op, given: *const sys::ricci_sval,
    out: *mut sys::ricci_sval,
) -> Status {
    let call = Call::of(self_, op, "scalar");
    call.guarded(|| {
        let kernel = Kernel::borrowed(k, call.context());
        let operands: Vec<_> = slice(given, call.op.n_in).iter().map(|id| kernel.scalar(*id)).collect();
        let results = call.primitive().scalar(&kernel, &operands, &call.attributes());
        call.counted("results", &results, call.op.n_out)?;
        kernel.ids(&results)?.iter().enumerate().for_each(|(i, id)| *out.add(i) = *id);
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn index(
    self_: *mut c_void, k: *mut sys::ricci_kernel_builder, op: *const sys::ricci_op, result: u32, place: *const sys::ricci_sval,
    out: *mut sys::ricci_sval,
) -> Status {
    let call = Call::of(self_, op, "index");
    call.guarded(|| {
        let context = call.context();
        let rank = context.type_of(slice(call.op.out_types, call.op.n_out)[result as usize])?.dims.len();
        let kernel = Kernel::borrowed(k, context);
        let place: Vec<_> = slice(place, rank as u32).iter().map(|id| kernel.scalar(*id)).collect();
        let element = call.primitive().index(&kernel, result as usize, &place, &call.attributes());
        *out = kernel.ids(&[element])?[0];
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn drop_self(self_: *mut c_void) {
    // A panic must not reach the core, which can do nothing about it.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(Box::from_raw(self_ as *mut Held))));
}
