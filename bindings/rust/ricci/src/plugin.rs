//! Primitives written in Rust.
//!
//! A [`Primitive`] says which types its results have and what it is in terms of other primitives; derivatives, batches
//! and code follow from that. A shared object of them is a crate of type `cdylib` that depends on `ricci` with the
//! feature `plugin` (and without its default ones) and has one [`plugin!`](crate::plugin). A host can add them to its
//! own context by [`Context::add_primitives`](crate::Context::add_primitives).
use crate::context::{header, Context};
use crate::error::{check, Error, Result};
use crate::trace::{run_traced, Builder, Value};
use crate::types::Type;
use ricci_sys as sys;
use std::cell::Cell;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe, Location};
use std::ptr;
use std::rc::Rc;

/// The kind of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Int,
    Float,
    Bool,
    Text,
    Ints,
    Floats,
}
impl Kind {
    fn number(self) -> u32 {
        match self {
            Kind::Int => sys::RICCI_ATTR_INT,
            Kind::Float => sys::RICCI_ATTR_FLOAT,
            Kind::Bool => sys::RICCI_ATTR_BOOL,
            Kind::Text => sys::RICCI_ATTR_STRING,
            Kind::Ints => sys::RICCI_ATTR_INTS,
            Kind::Floats => sys::RICCI_ATTR_FLOATS,
        }
    }
}

/// The attributes of one operation.
pub struct Attributes<'a>(&'a [sys::ricci_attr]);
impl Attributes<'_> {
    fn find(&self, name: &str) -> &sys::ricci_attr {
        let found = self.0.iter().find(|a| crate::error::text(a.name) == name);
        found.unwrap_or_else(|| panic!("the primitive asks for an attribute `{}` that it does not declare", name))
    }
    fn of_kind(&self, name: &str, kind: Kind) -> &sys::ricci_attr {
        let a = self.find(name);
        assert!(a.kind == kind.number(), "the attribute `{}` is declared as another kind than {:?}", name, kind);
        a
    }
    fn list<T: Copy>(&self, name: &str, kind: Kind) -> Vec<T> {
        let a = self.of_kind(name, kind);
        // SAFETY: the core gives `count` elements of the kind's type at `data`.
        (0..a.count as usize).map(|i| unsafe { *(a.data as *const T).add(i) }).collect()
    }
    /// # Panics
    /// These panic if the primitive declares no such attribute of this kind.
    pub fn float(&self, name: &str) -> f64 {
        self.of_kind(name, Kind::Float).f
    }
    pub fn int(&self, name: &str) -> i64 {
        self.of_kind(name, Kind::Int).i
    }
    pub fn bool(&self, name: &str) -> bool {
        self.of_kind(name, Kind::Bool).i != 0
    }
    pub fn ints(&self, name: &str) -> Vec<i64> {
        self.list(name, Kind::Ints)
    }
    pub fn floats(&self, name: &str) -> Vec<f64> {
        self.list(name, Kind::Floats)
    }
    pub fn text(&self, name: &str) -> String {
        String::from_utf8_lossy(&self.list::<u8>(name, Kind::Text)).into_owned()
    }
}

/// A primitive: its types, and what it is made of.
pub trait Primitive: Send + Sync + 'static {
    /// `vendor.op`.
    fn name(&self) -> &str;
    /// `z = vendor.op(x, y): what it computes`: names of results and operands, then one line for people.
    fn doc(&self) -> &str;
    /// Operations on which the laws are checked: `(f64[3] in 0.3..3, f64[]) eps=0.5`, separated by `;`.
    fn examples(&self) -> &str;
    fn attributes(&self) -> Vec<(&'static str, Kind)> {
        Vec::new()
    }
    /// The types of the results, or why these operands are refused: what is wrong and what to do.
    fn types(&self, operands: &[Type], attributes: &Attributes<'_>) -> std::result::Result<Vec<Type>, String>;
    /// The results, by other operations.
    fn decompose(&self, operands: &[Value], attributes: &Attributes<'_>) -> Vec<Value>;
}

/// Runs `f`; an error or a panic becomes a status.
fn guarded(f: impl FnOnce() -> Result<()>) -> *mut sys::ricci_status {
    let (code, message) = match catch_unwind(AssertUnwindSafe(f)) {
        Ok(Ok(())) => return ptr::null_mut(),
        Ok(Err(e)) => (e.code().number(), e.message().to_string()),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
            (sys::RICCI_INTERNAL, format!("a rule in Rust panicked: {}", text.unwrap_or("no message")))
        }
    };
    unsafe { sys::ricci_status_make(code, message.as_ptr() as *const c_char, message.len()) }
}

/// What the core gives to a rule.
unsafe fn slice<'a, T>(data: *const T, n: u32) -> &'a [T] {
    if n == 0 {
        &[]
    } else {
        std::slice::from_raw_parts(data, n as usize)
    }
}
type Boxed = Box<dyn Primitive>;

unsafe extern "C" fn abstract_eval(self_: *mut c_void, b: *mut sys::ricci_builder, op: *const sys::ricci_op) -> *mut sys::ricci_status {
    guarded(|| {
        let (p, op) = (&*(self_ as *const Boxed), &*op);
        let context = Context::from_borrowed(op.ctx);
        let operands = slice(op.in_types, op.n_in).iter().map(|t| context.type_of(*t)).collect::<Result<Vec<_>>>()?;
        let types = p.types(&operands, &Attributes(slice(op.attrs, op.n_attrs))).map_err(Error::refused)?;
        let ids = types.iter().map(|t| context.type_id(t)).collect::<Result<Vec<_>>>()?;
        check(sys::ricci_builder_set_out_types(b, ids.as_ptr(), ids.len() as u32))
    })
}
/// What the core lends ends with the rule, whatever the rule has kept.
struct Lent(Rc<Builder>);
impl Drop for Lent {
    fn drop(&mut self) {
        self.0.give_back();
    }
}
unsafe extern "C" fn decompose(
    self_: *mut c_void, b: *mut sys::ricci_builder, op: *const sys::ricci_op, given: *const sys::ricci_val, out: *mut sys::ricci_val,
) -> *mut sys::ricci_status {
    guarded(|| {
        let (p, op) = (&*(self_ as *const Boxed), &*op);
        let builder = Builder::borrowed(b, Context::from_borrowed(op.ctx));
        let operands: Vec<Value> = slice(given, op.n_in).iter().map(|id| Value { builder: builder.clone(), id: *id }).collect();
        let _lent = Lent(builder.clone());
        let results = run_traced(&builder, || p.decompose(&operands, &Attributes(slice(op.attrs, op.n_attrs))))?;
        if results.len() != op.n_out as usize {
            return Err(Error::refused(format!("decompose gives {} results, types gives {}", results.len(), op.n_out)));
        }
        let ids = builder.ids(Location::caller(), &results)?;
        ids.iter().enumerate().for_each(|(i, id)| *out.add(i) = *id);
        Ok(())
    })
}
unsafe extern "C" fn drop_self(self_: *mut c_void) {
    // A panic must not reach the core, which can do nothing about it.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(Box::from_raw(self_ as *mut Boxed))));
}

fn view(text: &str) -> sys::ricci_str {
    sys::ricci_str { ptr: text.as_ptr() as *const c_char, len: text.len() }
}
/// A struct of the ABI with its size and nothing else.
unsafe fn empty<T>() -> T {
    let mut all = std::mem::MaybeUninit::<T>::zeroed();
    *(all.as_mut_ptr() as *mut sys::ricci_hdr) = header::<T>();
    all.assume_init()
}

/// Adds a row; the core copies all but the primitive, which it owns from here on.
unsafe fn register(c: *mut sys::ricci_ctx, p: Boxed) -> Result<()> {
    let this = Box::into_raw(Box::new(p));
    let p = &*this;
    let attributes = p.attributes();
    let specs: Vec<sys::ricci_attr_spec> = attributes
        .iter()
        .map(|(name, kind)| sys::ricci_attr_spec { name: view(name), kind: kind.number(), flags: 0, absent: view("") })
        .collect();
    let mut lowering: sys::ricci_lowering = empty();
    lowering.hdr.flags = sys::RICCI_LOWERING_TRANSFORMABLE;
    lowering.kind = sys::RICCI_LOWER_DECOMPOSE;
    lowering.target = view("*");
    lowering.decompose = Some(decompose);
    let lowerings: [*const sys::ricci_lowering; 1] = [&lowering];
    let mut def: sys::ricci_prim_def = empty();
    def.name = view(p.name());
    def.self_ = this as *mut c_void;
    def.drop_self = Some(drop_self);
    def.attr_specs = specs.as_ptr();
    def.n_attr_specs = specs.len() as u32;
    def.attr_spec_size = std::mem::size_of::<sys::ricci_attr_spec>() as u32;
    def.abstract_eval = Some(abstract_eval);
    def.lowerings = lowerings.as_ptr();
    def.n_lowerings = 1;
    def.examples = view(p.examples());
    def.doc = view(p.doc());
    let registered = check(sys::ricci_prim_register(c, &def, ptr::null_mut()));
    if registered.is_err() {
        drop_self(this as *mut c_void);
    }
    registered
}

/// What `plugin!` makes of a list of primitives.
pub type Rows = fn() -> Vec<Box<dyn Primitive>>;

unsafe extern "C" fn attach(self_: *mut c_void, c: *mut sys::ricci_ctx) -> *mut sys::ricci_status {
    let rows: Rows = std::mem::transmute(self_);
    guarded(|| rows().into_iter().try_for_each(|p| register(c, p)))
}
/// A plugin with these rows, which lives as long as the process.
fn described(name: &'static str, version: &'static str, rows: Rows) -> *const sys::ricci_plugin {
    let mut plugin: sys::ricci_plugin = unsafe { empty() };
    plugin.abi_major = sys::RICCI_ABI_MAJOR;
    plugin.abi_minor = sys::RICCI_ABI_MINOR;
    plugin.name = view(name);
    plugin.version = view(version);
    plugin.self_ = rows as *mut c_void;
    plugin.attach = Some(attach);
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
    /// Adds primitives of this program, as a plugin of that name.
    ///
    /// # Safety
    /// No other clone of the context may be in use meanwhile.
    pub unsafe fn add_primitives(&mut self, name: &'static str, rows: Rows) -> Result<()> {
        GIVEN.with(|g| g.set(described(name, env!("CARGO_PKG_VERSION"), rows)));
        self.add_plugin(query)
    }
}

/// The entry of a shared object, for `plugin!`.
///
/// # Safety
/// For the core, which gives its own table.
#[cfg(feature = "plugin")]
pub unsafe fn enter(
    host: *const sys::ricci_host_info, out: *mut *const sys::ricci_plugin, name: &'static str, version: &'static str, rows: Rows,
) -> *mut sys::ricci_status {
    let api = (*host).api;
    if !sys::can_be_read(api) {
        let why = format!("plugin {}: compiled for another version of the ABI; rebuild it for this core", name);
        // The functions of base.h lie before anything that moves.
        return ((*api).status_make)(sys::RICCI_FAILED_PRECONDITION, why.as_ptr() as *const c_char, why.len());
    }
    sys::set_table(api);
    *out = described(name, version, rows);
    ptr::null_mut()
}

/// The entry and the note of a plugin that is a shared object:
/// `ricci::plugin!("shapes", "1.0.0", [Capsule, Box3]);`, with types that implement `Primitive` and `Default`.
#[macro_export]
macro_rules! plugin {
    ($name:literal, $version:literal, [$($row:ty),* $(,)?]) => {
        fn ricci_rows() -> Vec<Box<dyn $crate::plugin::Primitive>> {
            vec![$(Box::new(<$row>::default())),*]
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
