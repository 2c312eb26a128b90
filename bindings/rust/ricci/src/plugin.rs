//! Primitives written in Rust.
//!
//! A [`Primitive`] says which types its results have and what it is in terms of other primitives; derivatives, batches
//! and code follow from that, unless it has rules of its own. A shared object of them is a crate of type `cdylib` that
//! depends on `ricci` with the feature `plugin` (and without its default ones) and has one [`plugin!`](crate::plugin).
//! A host can add them to its own context by [`Context::add_primitives`](crate::Context::add_primitives).
use crate::abi_data::{empty, view};
pub use crate::attributes::{Attributes, Kind, Operation};
use crate::context::Context;
use crate::error::{check, Result};
pub use crate::held_programs::{Dce, PartialEval};
pub use crate::host_library::{LibraryCall, LibraryPlan};
pub use crate::kernel_loops::{Combiner, KernelArray, Position};
pub use crate::lowering::{Kernel, Scalar, ScalarOperand};
pub use crate::primitive::{Batch, Jvp, Primitive, Rule, Transpose, ViewMap};
pub use crate::row_lowerings::{Lowering, LoweringKind};
use crate::row_lowerings::{self, HeldLowering};
use crate::rules::{self, Held};
pub use crate::source_text::Source;
use crate::thunk::{dropped, guarded};
use ricci_sys as sys;
use std::cell::Cell;
use std::collections::HashMap;
use std::os::raw::{c_char, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

/// Puts a rule other than a lowering into the row.
fn set_rule(def: &mut sys::ricci_prim_def, rule: Rule) {
    match rule {
        Rule::Jvp => def.jvp = Some(rules::jvp),
        Rule::Transpose => def.transpose = Some(rules::transpose),
        Rule::Batch => def.batch = Some(rules::batch),
        Rule::ElementwiseBatch => def.batch_kind = sys::RICCI_BATCH_ELEMENTWISE,
        Rule::Linear => def.hdr.flags |= sys::RICCI_PRIM_LINEAR,
        Rule::PartialEval => def.partial_eval = Some(rules::partial_eval),
        Rule::Dce => def.dce = Some(rules::dce),
        Rule::SavesInside => def.hdr.flags |= sys::RICCI_PRIM_SAVES_INSIDE,
        Rule::ViewMap => def.view_map = Some(rules::view_map),
        Rule::Simplify => def.simplify = Some(rules::simplify),
        Rule::Factors => def.factors_of = Some(rules::factors),
        Rule::ReadsOnce => def.hdr.flags |= sys::RICCI_PRIM_READS_ONCE,
        Rule::MayFail => def.hdr.flags |= sys::RICCI_PRIM_MAY_FAIL,
        Rule::Decompose | Rule::Scalar | Rule::Index | Rule::Loops | Rule::Updates | Rule::Library | Rule::Source(_) => {}
    }
}

/// How the core takes the attributes of a row.
fn specs_of(p: &dyn Primitive) -> Vec<sys::ricci_attr_spec> {
    let optional = p.optional();
    let spec = |(name, kind): &(&'static str, Kind)| {
        let absent = optional.iter().find(|(o, _)| o == name);
        let flags = if absent.is_some() { sys::RICCI_ATTR_OPTIONAL } else { 0 };
        sys::ricci_attr_spec { name: view(name), kind: kind.number(), flags, absent: view(absent.map_or("", |a| a.1)) }
    };
    p.attributes().iter().map(spec).collect()
}

/// Adds a row; the core copies all but the primitive, which it owns from here on.
unsafe fn register(c: *mut sys::ricci_ctx, plugin: &str, primitive: Box<dyn Primitive>) -> Result<()> {
    let row: Arc<dyn Primitive> = Arc::from(primitive);
    let held = row_lowerings::of_row(&row, plugin);
    let lowerings = held.iter().map(|l| l.described()).collect::<Result<Vec<_>>>()?;
    let list: Vec<*const sys::ricci_lowering> = lowerings.iter().map(|l| l as *const _).collect();
    let p = &*row;
    let this = Box::into_raw(Box::new(Held { primitive: row.clone(), plugin: plugin.to_string(), _lowerings: held }));
    let specs = specs_of(p);
    let mut def: sys::ricci_prim_def = empty();
    def.name = view(p.name());
    def.self_ = this as *mut c_void;
    def.drop_self = Some(rules::drop_self);
    def.attr_specs = specs.as_ptr();
    def.n_attr_specs = specs.len() as u32;
    def.attr_spec_size = std::mem::size_of::<sys::ricci_attr_spec>() as u32;
    def.abstract_eval = Some(rules::abstract_eval);
    p.rules().iter().for_each(|r| set_rule(&mut def, *r));
    def.lowerings = list.as_ptr();
    def.n_lowerings = list.len() as u32;
    def.examples = view(p.examples());
    def.doc = view(p.doc());
    def.missing = view(p.missing());
    def.factors = view(p.factors());
    let registered = check(sys::ricci_prim_register(c, &def, ptr::null_mut()));
    if registered.is_err() {
        rules::drop_self(this as *mut c_void);
    }
    registered
}

/// Adds a lowering to the row that it names; the core keeps its address.
unsafe fn add_lowering(c: *mut sys::ricci_ctx, held: &HeldLowering) -> Result<()> {
    let name = held.lowering.primitive();
    let mut prim = 0;
    check(sys::ricci_prim_find(c, name.as_ptr() as *const c_char, name.len(), &mut prim))?;
    check(sys::ricci_prim_add_lowering(c, prim, &held.described()?))
}

/// The primitives of a plugin.
pub type Rows = fn() -> Vec<Box<dyn Primitive>>;
/// The primitives of a plugin, and its lowerings for rows that exist already.
pub type RowsAndLowerings = fn() -> (Vec<Box<dyn Primitive>>, Vec<Box<dyn Lowering>>);

#[derive(Clone, Copy)]
enum Given {
    Rows(Rows),
    Both(RowsAndLowerings),
}
impl Given {
    fn made(self) -> (Vec<Box<dyn Primitive>>, Vec<Box<dyn Lowering>>) {
        match self {
            Given::Rows(rows) => (rows(), Vec::new()),
            Given::Both(both) => both(),
        }
    }
}

/// What `attach` gets: a plugin lives as long as the process.
struct Described {
    name: &'static str,
    given: Given,
    // The lowerings for other rows of each context, by its address, until the context is gone.
    lowerings: Mutex<HashMap<usize, Vec<Box<HeldLowering>>>>,
}
impl Described {
    unsafe fn add_to(&self, c: *mut sys::ricci_ctx) -> Result<()> {
        let (rows, lowerings) = self.given.made();
        rows.into_iter().try_for_each(|p| register(c, self.name, p))?;
        let plugin = self.name.to_string();
        let held: Vec<_> =
            lowerings.into_iter().map(|lowering| Box::new(HeldLowering { lowering, plugin: plugin.clone() })).collect();
        held.iter().try_for_each(|l| add_lowering(c, l))?;
        self.lowerings.lock().unwrap_or_else(PoisonError::into_inner).insert(c as usize, held);
        Ok(())
    }
}
unsafe extern "C" fn attach(self_: *mut c_void, c: *mut sys::ricci_ctx) -> *mut sys::ricci_status {
    let of = &*(self_ as *const Described);
    guarded(|| format!("plugin {}: attach", of.name), || of.add_to(c))
}
unsafe extern "C" fn detach(self_: *mut c_void, c: *mut sys::ricci_ctx) {
    let of = &*(self_ as *const Described);
    let gone = of.lowerings.lock().unwrap_or_else(PoisonError::into_inner).remove(&(c as usize));
    dropped(Box::into_raw(Box::new(gone)));
}
/// A plugin with these rows, which lives as long as the process.
fn described(name: &'static str, version: &'static str, given: Given) -> *const sys::ricci_plugin {
    let mut plugin: sys::ricci_plugin = unsafe { empty() };
    plugin.abi_major = sys::RICCI_ABI_MAJOR;
    plugin.abi_minor = sys::RICCI_ABI_MINOR;
    plugin.name = view(name);
    plugin.version = view(version);
    plugin.self_ = Box::into_raw(Box::new(Described { name, given, lowerings: Mutex::default() })) as *mut c_void;
    plugin.attach = Some(attach);
    plugin.detach = Some(detach);
    Box::leak(Box::new(plugin))
}

thread_local! {
    static GIVEN: Cell<*const sys::ricci_plugin> = Cell::new(ptr::null());
}
unsafe extern "C" fn query(_: *const sys::ricci_host_info, out: *mut *const sys::ricci_plugin) -> *mut sys::ricci_status {
    *out = GIVEN.with(Cell::get);
    ptr::null_mut()
}

impl Context {
    /// Checks that the rules of a primitive obey all laws (ricci/check.h), on its examples.
    pub fn check_primitive(&self, name: &str) -> Result<()> {
        let text = view(name);
        check(unsafe { sys::ricci_check_primitive(self.raw(), text.ptr, text.len, ptr::null(), 0, ptr::null()) })
    }
    /// Adds primitives of this program, as a plugin of that name.
    ///
    /// # Safety
    /// No other clone of the context may be in use meanwhile.
    pub unsafe fn add_primitives(&mut self, name: &'static str, rows: Rows) -> Result<()> {
        self.add(name, Given::Rows(rows))
    }
    /// The same with lowerings for rows that exist already.
    ///
    /// # Safety
    /// No other clone of the context may be in use meanwhile.
    pub unsafe fn add_rows(&mut self, name: &'static str, both: RowsAndLowerings) -> Result<()> {
        self.add(name, Given::Both(both))
    }
    unsafe fn add(&mut self, name: &'static str, given: Given) -> Result<()> {
        GIVEN.with(|g| g.set(described(name, env!("CARGO_PKG_VERSION"), given)));
        self.add_plugin(query)
    }
}

/// The entry of a shared object, for `plugin!`.
///
/// # Safety
/// For the core, which gives its own table.
#[cfg(feature = "plugin")]
pub unsafe fn enter(
    host: *const sys::ricci_host_info, out: *mut *const sys::ricci_plugin, name: &'static str, version: &'static str,
    both: RowsAndLowerings,
) -> *mut sys::ricci_status {
    let api = (*host).api;
    if !sys::can_be_read(api) {
        let why = format!("plugin {}: compiled for another version of the ABI; rebuild it for this core", name);
        // The functions of base.h come before anything that moves.
        return ((*api).status_make)(sys::RICCI_FAILED_PRECONDITION, why.as_ptr() as *const c_char, why.len());
    }
    sys::set_table(api);
    *out = described(name, version, Given::Both(both));
    ptr::null_mut()
}

/// The entry and the note of a plugin that is a shared object:
/// `ricci::plugin!("shapes", "1.0.0", [Capsule, Box3]);`, with types that implement `Primitive` and `Default`. Lowerings
/// for rows that exist already follow in a list of their own: `ricci::plugin!("fast", "1.0.0", [], [ShortTanh]);`.
#[macro_export]
macro_rules! plugin {
    ($name:literal, $version:literal, [$($row:ty),* $(,)?]) => {
        $crate::plugin!($name, $version, [$($row),*], []);
    };
    ($name:literal, $version:literal, [$($row:ty),* $(,)?], [$($lowering:ty),* $(,)?]) => {
        #[allow(clippy::type_complexity)]
        fn ricci_rows() -> (Vec<Box<dyn $crate::plugin::Primitive>>, Vec<Box<dyn $crate::plugin::Lowering>>) {
            (vec![$(Box::new(<$row>::default())),*], vec![$(Box::new(<$lowering>::default())),*])
        }
        /// The entry that the core looks up.
        ///
        /// # Safety
        /// For the core.
        #[no_mangle]
        pub unsafe extern "C" fn ricci_plugin_query(
            host: *const $crate::sys::ricci_host_info,
            out: *mut *const $crate::sys::ricci_plugin,
        ) -> *mut $crate::sys::ricci_status {
            $crate::plugin::enter(host, out, $name, $version, ricci_rows)
        }
        #[used]
        #[link_section = ".note.ricci"]
        static RICCI_NOTE: $crate::sys::ricci_plugin_note = $crate::plugin::NOTE;
    };
}

/// What the core reads from the file before any code of it runs.
pub const NOTE: sys::ricci_plugin_note = sys::ricci_plugin_note {
    name_size: 6,
    desc_size: 16,
    r#type: 1,
    name: [b'R' as c_char, b'i' as c_char, b'c' as c_char, b'c' as c_char, b'i' as c_char, 0, 0, 0],
    abi_major: sys::RICCI_ABI_MAJOR,
    abi_minor: sys::RICCI_ABI_MINOR,
    pointer_bytes: 8,
    sanitizers: 0,
};
