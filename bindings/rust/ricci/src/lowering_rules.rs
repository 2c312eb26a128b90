//! The callbacks of a lowering in Rust, as `rules` has those of a row.
use crate::attributes::{lent, Operation};
use crate::error::{Error, Result};
use crate::lowering::Kernel;
use crate::row_lowerings::{HeldLowering, Lowering};
use crate::rules::{Call, Status};
use crate::source_text::Source;
use ricci_sys as sys;
use std::os::raw::c_void;

/// SAFETY: for the core, with what it gives to a lowering; `self_` is what `HeldLowering::described` gave.
pub(crate) unsafe fn called<'a>(
    self_: *mut c_void, op: *const sys::ricci_op, rule: &'static str,
) -> (&'a dyn Lowering, Call<'a>) {
    let held = &*(self_ as *const HeldLowering);
    (&*held.lowering, Call { primitive: held.lowering.primitive(), plugin: &held.plugin, op: &*op, rule })
}

pub(crate) unsafe extern "C" fn accepts(self_: *mut c_void, op: *const sys::ricci_op, accept: *mut u32) -> Status {
    let (lowering, call) = called(self_, op, "match");
    call.guarded(|| {
        *accept = u32::from(lowering.accepts(&Operation::of(call.op)?));
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn decompose(
    self_: *mut c_void, b: *mut sys::ricci_builder, op: *const sys::ricci_op, given: *const sys::ricci_val, out: *mut sys::ricci_val,
) -> Status {
    let (lowering, call) = called(self_, op, "decompose");
    call.guarded(|| {
        call.traced(b, |e| {
            let operands = e.values(given, call.op.n_in);
            let results = e.run(|| lowering.decompose(&operands, &call.attributes()))??;
            call.counted("results", &results, call.op.n_out)?;
            e.write(&results, out)
        })
    })
}

pub(crate) unsafe extern "C" fn scalar(
    self_: *mut c_void, k: *mut sys::ricci_kernel_builder, op: *const sys::ricci_op, given: *const sys::ricci_sval,
    out: *mut sys::ricci_sval,
) -> Status {
    let (lowering, call) = called(self_, op, "scalar");
    call.guarded(|| {
        let kernel = Kernel::borrowed(k, call.context());
        let operands: Vec<_> = lent(given, call.op.n_in).iter().map(|id| kernel.scalar(*id)).collect();
        let results = lowering.scalar(&kernel, &operands, &call.attributes());
        call.counted("results", &results, call.op.n_out)?;
        kernel.ids(&results)?.iter().enumerate().for_each(|(i, id)| *out.add(i) = *id);
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn index(
    self_: *mut c_void, k: *mut sys::ricci_kernel_builder, op: *const sys::ricci_op, result: u32, place: *const sys::ricci_sval,
    out: *mut sys::ricci_sval,
) -> Status {
    let (lowering, call) = called(self_, op, "index");
    call.guarded(|| {
        let context = call.context();
        let rank = context.type_of(lent(call.op.out_types, call.op.n_out)[result as usize])?.dims.len();
        let kernel = Kernel::borrowed(k, context);
        let place: Vec<_> = lent(place, rank as u32).iter().map(|id| kernel.scalar(*id)).collect();
        let element = lowering.index(&kernel, result as usize, &place, &call.attributes());
        *out = kernel.ids(&[element])?[0];
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn loops(self_: *mut c_void, k: *mut sys::ricci_kernel_builder, op: *const sys::ricci_op) -> Status {
    let (lowering, call) = called(self_, op, "loops");
    call.guarded(|| {
        let kernel = Kernel::borrowed(k, call.context());
        let written = lowering.loops(&kernel, &call.attributes());
        // What the core has said about the kernel comes first: a rule may have stumbled over it.
        kernel.ids(&[])?;
        written.map_err(Error::refused)
    })
}

pub(crate) unsafe extern "C" fn source(
    self_: *mut c_void, op: *const sys::ricci_op, a: *const sys::ricci_source_args,
) -> Status {
    let (lowering, call) = called(self_, op, "source");
    call.guarded(|| {
        let given = &*a;
        let give = given.give.ok_or_else(|| Error::refused("the core gives no function that takes the text".to_string()))?;
        let sources = lowering.source(&Operation::of(call.op)?).map_err(Error::refused)?;
        sources.iter().try_for_each(|s: &Source| -> Result<()> {
            // SAFETY: what it borrows from `s` is copied before `give` returns.
            crate::error::check(give(given.sink, &s.raw()))
        })
    })
}
