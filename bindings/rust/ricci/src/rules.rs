//! The callbacks of a row in Rust: each makes values of what the core gives, runs the rule, and writes down its results.
use crate::abi_data::lent;
use crate::attributes::Operation;
use crate::error::{check, Error, Result};
use crate::held_programs::{Dce, PartialEval};
use crate::primitive::{Batch, Jvp, Primitive, Transpose};
use crate::row_lowerings::HeldLowering;
use crate::thunk::{dropped, Call, Status};
use crate::trace::Value;
use crate::types::Type;
use ricci_sys as sys;
use std::os::raw::{c_char, c_void};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

/// What the core holds of a primitive.
pub(crate) struct Held {
    pub(crate) primitive: Arc<dyn Primitive>,
    pub(crate) plugin: String,
    pub(crate) _lowerings: Vec<Box<HeldLowering>>, // the core has their addresses
}
/// SAFETY: for the core, with what it gives to a rule; `self_` is what `register` gave.
unsafe fn called<'a>(self_: *mut c_void, op: *const sys::ricci_op, rule: &'static str) -> (&'a dyn Primitive, Call<'a>) {
    let held = &*(self_ as *const Held);
    (&*held.primitive, Call { primitive: held.primitive.name(), plugin: &held.plugin, op: &*op, rule })
}

pub(crate) unsafe extern "C" fn abstract_eval(self_: *mut c_void, b: *mut sys::ricci_builder, op: *const sys::ricci_op) -> Status {
    let (row, call) = called(self_, op, "abstract_eval");
    call.guarded(|| {
        let (context, op) = (call.context(), call.op);
        let operands = lent(op.in_types, op.n_in).iter().map(|t| context.type_of(*t)).collect::<Result<Vec<_>>>()?;
        let types = row.types(&operands, &call.attributes()).map_err(Error::refused)?;
        let ids = types.iter().map(|t| context.type_id(t)).collect::<Result<Vec<_>>>()?;
        check(sys::ricci_builder_set_out_types(b, ids.as_ptr(), ids.len() as u32))
    })
}

pub(crate) unsafe extern "C" fn jvp(
    self_: *mut c_void, b: *mut sys::ricci_builder, op: *const sys::ricci_op, a: *const sys::ricci_jvp_args,
) -> Status {
    let ((row, call), a) = (called(self_, op, "jvp"), &*a);
    call.guarded(|| {
        call.traced(b, |e| {
            let (primals, tangents) = (e.values(a.primals, call.op.n_in), e.some_values(a.tangents, call.op.n_in));
            let given = Jvp { primals: &primals, tangents: &tangents };
            let (results, derivatives) = e.run(|| row.try_jvp(&given, &call.attributes()))??;
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
    let ((row, call), a) = (called(self_, op, "transpose"), &*a);
    call.guarded(|| {
        call.traced(b, |e| {
            let (context, n_in) = (call.context(), call.op.n_in);
            let types = lent(call.op.in_types, n_in).iter().map(|t| context.type_of(*t)).collect::<Result<Vec<_>>>()?;
            let (cts, operands) = (e.some_values(a.cts, call.op.n_out), e.some_values(a.operands, n_in));
            let given = Transpose { cts: &cts, operands: &operands, types: &types };
            let cotangents = e.run(|| row.try_transpose(&given, &call.attributes()))??;
            call.counted("cotangents", &cotangents, n_in)?;
            e.write_some(&cotangents, a.in_cts)
        })
    })
}

pub(crate) unsafe extern "C" fn batch(
    self_: *mut c_void, b: *mut sys::ricci_builder, op: *const sys::ricci_op, a: *const sys::ricci_batch_args,
) -> Status {
    let ((row, call), a) = (called(self_, op, "batch"), &*a);
    call.guarded(|| {
        call.traced(b, |e| {
            let operands = e.values(a.r#in, call.op.n_in);
            let dims: Vec<Option<usize>> = lent(a.in_dims, call.op.n_in).iter().map(|d| usize::try_from(*d).ok()).collect();
            let given = Batch { size: a.axis_size, operands: &operands, dims: &dims };
            let results = e.run(|| row.try_batch(&given, &call.attributes()))??;
            call.counted("results", &results, call.op.n_out)?;
            for (i, (value, dim)) in results.iter().enumerate() {
                e.write(std::slice::from_ref(value), a.out.add(i))?;
                *a.out_dims.add(i) = dim.map_or(-1, |d| i32::try_from(d).unwrap_or(i32::MAX));
            }
            Ok(())
        })
    })
}

pub(crate) unsafe extern "C" fn simplify(
    self_: *mut c_void, b: *mut sys::ricci_builder, op: *const sys::ricci_op, given: *const sys::ricci_val, out: *mut sys::ricci_val,
) -> Status {
    let (row, call) = called(self_, op, "simplify");
    call.guarded(|| {
        call.traced(b, |e| {
            let operands = e.values(given, call.op.n_in);
            match e.run(|| row.simplify(&operands, &call.attributes()))?? {
                Some(results) => {
                    call.counted("results", &results, call.op.n_out)?;
                    e.write(&results, out)
                }
                None => Ok(()),
            }
        })
    })
}

pub(crate) unsafe extern "C" fn view_map(
    self_: *mut c_void, op: *const sys::ricci_op, operand: u32, out: *mut sys::ricci_view_map,
) -> Status {
    let (row, call) = called(self_, op, "view_map");
    call.guarded(|| {
        let (operation, operand, out) = (Operation::of(call.op)?, operand as usize, &mut *out);
        let map = match row.view_map(&operation, operand) {
            Some(map) => map,
            None => return Ok(()),
        };
        let rank = |types: &[Type], i: usize| types[i].dims.len() as u32;
        let (from_rank, to_rank) = (rank(&operation.operands, operand), rank(&operation.results, 0));
        call.counted("first elements", &map.first, from_rank)?;
        call.counted("limits", &map.limit, from_rank)?;
        call.counted("dimensions of the operand", &map.from, to_rank)?;
        call.counted("shifts", &map.shift, to_rank)?;
        let write = |from: &[i64], to: *mut i64| ptr::copy_nonoverlapping(from.as_ptr(), to, from.len());
        let from: Vec<i64> = map.from.iter().map(|d| d.map_or(-1, |d| i64::try_from(d).unwrap_or(i64::MAX))).collect();
        write(&map.first, out.first);
        write(&map.limit, out.limit);
        write(&from, out.from);
        write(&map.shift, out.shift);
        out.known = 1;
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn factors(
    self_: *mut c_void, op: *const sys::ricci_op, sink: *mut c_void,
    write: Option<unsafe extern "C" fn(sink: *mut c_void, p: *const c_char, n: usize)>,
) -> Status {
    let (row, call) = called(self_, op, "factors");
    call.guarded(|| {
        let text = row.factors_of(&Operation::of(call.op)?);
        let write = write.ok_or_else(|| Error::refused("the core gives no function that takes the factors".to_string()))?;
        write(sink, text.as_ptr() as *const c_char, text.len());
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn partial_eval(
    self_: *mut c_void, op: *const sys::ricci_op, a: *const sys::ricci_partial_eval_args,
) -> Status {
    let ((row, call), a) = (called(self_, op, "partial_eval"), &*a);
    call.guarded(|| {
        call.traced(a.known, |known| {
            call.traced(a.unknown, |unknown| {
                let is_known: Vec<bool> = lent(a.is_known, call.op.n_in).iter().map(|k| *k != 0).collect();
                let of_half = |(k, id): (&bool, &sys::ricci_val)| if *k { known.value(*id) } else { unknown.value(*id) };
                let operands: Vec<Value> = is_known.iter().zip(lent(a.r#in, call.op.n_in)).map(of_half).collect();
                let given = PartialEval::new(&is_known, &operands, (known.builder, unknown.builder), a);
                let results = known.run(|| row.partial_eval(&given, &call.attributes()))??;
                let wanted = call.op.n_out * (1 + u32::from(given.again()));
                call.counted("results", &results, wanted)?;
                let (first, again) = results.split_at(call.op.n_out as usize);
                for (i, result) in again.iter().enumerate() {
                    unknown.write(std::slice::from_ref(result), a.again.add(i))?;
                }
                for (i, result) in first.iter().enumerate() {
                    let is_known = Rc::ptr_eq(&result.builder, known.builder);
                    let half = if is_known { known } else { unknown };
                    half.write(std::slice::from_ref(result), a.out.add(i))?;
                    *a.out_is_known.add(i) = u8::from(is_known);
                }
                // A mistake in a half that no result belongs to.
                known.write(&[], a.out).and(unknown.write(&[], a.out))
            })
        })
    })
}

pub(crate) unsafe extern "C" fn dce(
    self_: *mut c_void, b: *mut sys::ricci_builder, op: *const sys::ricci_op, a: *const sys::ricci_dce_args,
) -> Status {
    let ((row, call), a) = (called(self_, op, "dce"), &*a);
    call.guarded(|| {
        let used: Vec<bool> = lent(a.used_out, call.op.n_out).iter().map(|u| *u != 0).collect();
        let needed = row.needed(&used, &call.attributes())?;
        call.counted("flags of operands", &needed, call.op.n_in)?;
        needed.iter().enumerate().for_each(|(i, n)| *a.used_in.add(i) = u8::from(*n));
        if a.r#in.is_null() {
            return Ok(());
        }
        call.traced(b, |e| {
            let operands = e.some_values(a.r#in, call.op.n_in);
            let given = Dce { used: &used, operands: &operands };
            let results = e.run(|| row.dce(&given, &call.attributes()))??;
            call.counted("results", &results, call.op.n_out)?;
            e.write_some(&results, a.out)
        })
    })
}

pub(crate) unsafe extern "C" fn drop_self(self_: *mut c_void) {
    dropped(self_ as *mut Held);
}
