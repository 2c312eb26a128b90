//! What every callback of a rule in Rust needs: a place to run it in, and what it emits.
//!
//! A rule that refuses is a status with its words, a `String` that the core completes; rules that transform programs
//! return `ricci::Result`. One that panics is a status that names plugin, primitive and rule: nothing unwinds into the
//! core.
use crate::abi_data::lent;
use crate::attributes::Attributes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::trace::{run_traced, Builder, Value};
use ricci_sys as sys;
use std::os::raw::c_char;
use std::panic::{catch_unwind, AssertUnwindSafe, Location};
use std::ptr;
use std::rc::Rc;

pub(crate) type Status = *mut sys::ricci_status;

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
/// Drops what `Box::into_raw` gave. A panic must not reach the core, which can do nothing about it.
pub(crate) unsafe fn dropped<T>(held: *mut T) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(Box::from_raw(held))));
}

/// A call of one rule.
pub(crate) struct Call<'a> {
    pub(crate) primitive: &'a str,
    pub(crate) plugin: &'a str,
    pub(crate) op: &'a sys::ricci_op,
    pub(crate) rule: &'static str,
}
impl<'a> Call<'a> {
    pub(crate) fn attributes(&self) -> Attributes<'a> {
        unsafe { Attributes::of(self.op) }
    }
    pub(crate) fn context(&self) -> Context {
        unsafe { Context::from_borrowed(self.op.ctx) }
    }
    pub(crate) fn named(&self, rule: &str) -> String {
        format!("rule {} of plugin {}", rule, self.plugin)
    }
    pub(crate) fn guarded(&self, f: impl FnOnce() -> Result<()>) -> Status {
        guarded(|| format!("{}: {}", self.primitive, self.named(self.rule)), f)
    }
    /// Runs a rule that emits equations into `b`, which ends with the rule, whatever the rule has kept.
    pub(crate) unsafe fn traced<R>(&self, b: *mut sys::ricci_builder, f: impl FnOnce(&Emitting) -> Result<R>) -> Result<R> {
        let lent = Lent(Builder::borrowed(b, self.context()));
        f(&Emitting { builder: &lent.0 })
    }
    pub(crate) fn counted<T>(&self, what: &str, results: &[T], wanted: u32) -> Result<()> {
        if results.len() == wanted as usize {
            return Ok(());
        }
        Err(Error::refused(format!("{}: gives {} {}, not {}", self.named(self.rule), results.len(), what, wanted)))
    }
}

/// The builder of a rule that emits.
pub(crate) struct Emitting<'a> {
    pub(crate) builder: &'a Rc<Builder>,
}
impl Emitting<'_> {
    pub(crate) fn value(&self, id: sys::ricci_val) -> Value {
        Value { builder: self.builder.clone(), id }
    }
    pub(crate) unsafe fn values(&self, ids: *const sys::ricci_val, n: u32) -> Vec<Value> {
        lent(ids, n).iter().map(|id| self.value(*id)).collect()
    }
    /// Values of which some are not there: symbolic zeros, or operands of which only the type exists.
    pub(crate) unsafe fn some_values(&self, ids: *const sys::ricci_val, n: u32) -> Vec<Option<Value>> {
        let is_there = |id: sys::ricci_val| id != sys::RICCI_VAL_ZERO && id != u64::from(sys::RICCI_VAL_NONE);
        lent(ids, n).iter().map(|id| is_there(*id).then(|| self.value(*id))).collect()
    }
    pub(crate) fn run<R>(&self, f: impl FnOnce() -> R) -> Result<R> {
        run_traced(self.builder, f)
    }
    /// SAFETY: `out` has room for them.
    pub(crate) unsafe fn write(&self, values: &[Value], out: *mut sys::ricci_val) -> Result<()> {
        let ids = self.builder.ids(Location::caller(), values)?;
        ids.iter().enumerate().for_each(|(i, id)| *out.add(i) = *id);
        Ok(())
    }
    /// The same for those that are there; the others keep what the core has filled in.
    pub(crate) unsafe fn write_some(&self, values: &[Option<Value>], out: *mut sys::ricci_val) -> Result<()> {
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
