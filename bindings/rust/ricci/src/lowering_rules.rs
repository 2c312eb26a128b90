//! The callbacks of a lowering in Rust, as `rules` has those of a row, and the lowering as the core takes it.
use crate::abi_data::{empty, lent, view};
use crate::attributes::Operation;
use crate::error::{check, Error, Result};
use crate::host_library::Planned;
use crate::lowering::Kernel;
use crate::row_lowerings::{HeldLowering, Lowering, LoweringKind};
use crate::source_text::Source;
use crate::thunk::{dropped, guarded, Call, Status};
use ricci_sys as sys;
use std::mem::size_of;
use std::os::raw::c_void;
use std::ptr;

/// SAFETY: for the core, with what it gives to a lowering; `self_` is what `HeldLowering::described` gave.
unsafe fn called<'a>(
    self_: *mut c_void, op: *const sys::ricci_op, rule: &'static str,
) -> (&'a dyn Lowering, Call<'a>) {
    let held = &*(self_ as *const HeldLowering);
    (&*held.lowering, Call { primitive: held.lowering.primitive(), plugin: &held.plugin, op: &*op, rule })
}

unsafe extern "C" fn accepts(self_: *mut c_void, op: *const sys::ricci_op, accept: *mut u32) -> Status {
    let (lowering, call) = called(self_, op, "match");
    call.guarded(|| {
        *accept = u32::from(lowering.accepts(&Operation::of(call.op)?));
        Ok(())
    })
}

unsafe extern "C" fn decompose(
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

unsafe extern "C" fn scalar(
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

unsafe extern "C" fn index(
    self_: *mut c_void, k: *mut sys::ricci_kernel_builder, op: *const sys::ricci_op, result: u32, position: *const sys::ricci_sval,
    out: *mut sys::ricci_sval,
) -> Status {
    let (lowering, call) = called(self_, op, "index");
    call.guarded(|| {
        let context = call.context();
        let rank = context.type_of(lent(call.op.out_types, call.op.n_out)[result as usize])?.dims.len();
        let kernel = Kernel::borrowed(k, context);
        let position: Vec<_> = lent(position, rank as u32).iter().map(|id| kernel.scalar(*id)).collect();
        let element = lowering.index(&kernel, result as usize, &position, &call.attributes());
        *out = kernel.ids(&[element])?[0];
        Ok(())
    })
}

unsafe extern "C" fn loops(self_: *mut c_void, k: *mut sys::ricci_kernel_builder, op: *const sys::ricci_op) -> Status {
    let (lowering, call) = called(self_, op, "loops");
    call.guarded(|| {
        let kernel = Kernel::borrowed(k, call.context());
        let written = lowering.loops(&kernel, &call.attributes());
        // What the core has said about the kernel comes first: a rule may have stumbled over it.
        kernel.ids(&[])?;
        written.map_err(Error::refused)
    })
}

unsafe extern "C" fn source(
    self_: *mut c_void, op: *const sys::ricci_op, a: *const sys::ricci_source_args,
) -> Status {
    let (lowering, call) = called(self_, op, "source");
    call.guarded(|| {
        let given = &*a;
        let give = given.give.ok_or_else(|| Error::refused("the core gives no function that takes the text".to_string()))?;
        let sources = lowering.source(&Operation::of(call.op)?).map_err(Error::refused)?;
        sources.iter().try_for_each(|s: &Source| -> Result<()> {
            // SAFETY: what it borrows from `s` is copied before `give` returns.
            check(give(given.sink, &s.raw()))
        })
    })
}

/// A table of functions, which any thread may read.
struct Table(sys::ricci_library);
// SAFETY: it never changes.
unsafe impl Sync for Table {}
static LIBRARY: Table = Table(sys::ricci_library {
    hdr: sys::ricci_hdr { size: size_of::<sys::ricci_library>() as u32, flags: 0, next: ptr::null() },
    plan: Some(plan),
    launch: Some(launch),
    drop_state: Some(drop_state),
});

unsafe extern "C" fn plan(self_: *mut c_void, op: *const sys::ricci_op, out: *mut sys::ricci_library_plan) -> Status {
    let (lowering, call) = called(self_, op, "plan");
    call.guarded(|| -> Result<()> {
        let operation = Operation::of(call.op)?;
        let plan = lowering.library(&operation).map_err(Error::refused)?;
        if let Some(why) = plan.refused(&operation.results) {
            return Err(Error::refused(format!("{}: {}", call.named("plan"), why)));
        }
        let out = &mut *out;
        plan.write(out);
        let who = format!("{}: {}", call.primitive, call.named("launch"));
        out.state = Box::into_raw(Box::new(Planned::new(plan, operation, who))) as *mut c_void;
        Ok(())
    })
}

unsafe extern "C" fn launch(state: *mut c_void, l: *const sys::ricci_launch) -> Status {
    let planned = &*(state as *const Planned);
    guarded(
        || planned.who.clone(),
        || planned.run(&*l).map_err(|why| Error::refused(format!("{}: {}", planned.who, why))),
    )
}

unsafe extern "C" fn drop_state(state: *mut c_void) {
    dropped(state as *mut Planned);
}

impl HeldLowering {
    /// As the core takes it, which borrows from `self` and keeps only its address.
    pub(crate) fn described(&self) -> Result<sys::ricci_lowering> {
        let of = &*self.lowering;
        let mut l: sys::ricci_lowering = unsafe { empty() };
        l.self_ = self as *const HeldLowering as *mut c_void;
        l.target = view(of.target());
        l.priority = of.priority();
        l.r#match = Some(accepts);
        self.set_callback(&mut l)?;
        Ok(l)
    }
    fn set_callback(&self, l: &mut sys::ricci_lowering) -> Result<()> {
        match self.lowering.kind() {
            LoweringKind::Decompose => {
                l.hdr.flags = sys::RICCI_LOWERING_TRANSFORMABLE;
                l.kind = sys::RICCI_LOWER_DECOMPOSE;
                l.decompose = Some(decompose);
            }
            LoweringKind::Scalar => {
                l.kind = sys::RICCI_LOWER_SCALAR;
                l.scalar = Some(scalar);
            }
            LoweringKind::Index => {
                l.kind = sys::RICCI_LOWER_INDEX;
                l.index = Some(index);
            }
            LoweringKind::Loops => {
                l.kind = sys::RICCI_LOWER_LOOPS;
                l.loops = Some(loops);
            }
            LoweringKind::Updates => {
                l.hdr.flags = sys::RICCI_LOWERING_UPDATES;
                l.kind = sys::RICCI_LOWER_LOOPS;
                l.loops = Some(loops);
            }
            LoweringKind::Library => {
                self.expect_target(|t| t != "cuda", "a library in Rust is a function of the host: its target is `*` or `cpu`")?;
                l.kind = sys::RICCI_LOWER_LIBRARY;
                l.library = &LIBRARY.0;
            }
            LoweringKind::Source => {
                self.expect_target(|t| t != "*", "text is for one compiler: its target is `cpu` or `cuda`")?;
                l.kind = sys::RICCI_LOWER_SOURCE;
                l.source = Some(source);
            }
        }
        Ok(())
    }
    fn expect_target(&self, is_right: impl FnOnce(&str) -> bool, why: &str) -> Result<()> {
        let of = &*self.lowering;
        if is_right(of.target()) {
            return Ok(());
        }
        let text = format!("{}: lowering of plugin {}: {}, not `{}`", of.primitive(), self.plugin, why, of.target());
        Err(Error::refused(text))
    }
}
