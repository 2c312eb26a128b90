//! Primitives written in Rust.
//!
//! A [`Primitive`] says which types its results have and what it is in terms of other primitives; derivatives, batches
//! and code follow from that, unless it has rules of its own. A shared object of them is a crate of type `cdylib` that
//! depends on `ricci` with the feature `plugin` (and without its default ones) and has one [`plugin!`](crate::plugin).
//! A host can add them to its own context by [`Context::add_primitives`](crate::Context::add_primitives).
use crate::context::{header, Context};
use crate::error::{check, Result};
pub use crate::lowering::{Kernel, Scalar, ScalarOperand};
use crate::rules::{self, Held};
use crate::trace::Value;
use crate::types::Type;
use ricci_sys as sys;
use std::cell::Cell;
use std::os::raw::{c_char, c_void};
use std::ptr;

/// The kind of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An `i64`.
    Int,
    /// An `f64`.
    Float,
    /// True or false.
    Bool,
    /// Text.
    Text,
    /// A list of `i64`.
    Ints,
    /// A list of `f64`.
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
pub struct Attributes<'a>(pub(crate) &'a [sys::ricci_attr]);
impl std::fmt::Debug for Attributes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|a| crate::error::text(a.name))).finish()
    }
}
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
    /// A number.
    ///
    /// # Panics
    /// If the primitive declares no such attribute of this kind, as all of these.
    pub fn float(&self, name: &str) -> f64 {
        self.of_kind(name, Kind::Float).f
    }
    /// A whole number.
    pub fn int(&self, name: &str) -> i64 {
        self.of_kind(name, Kind::Int).i
    }
    /// A flag.
    pub fn bool(&self, name: &str) -> bool {
        self.of_kind(name, Kind::Bool).i != 0
    }
    /// A list of whole numbers.
    pub fn ints(&self, name: &str) -> Vec<i64> {
        self.list(name, Kind::Ints)
    }
    /// A list of numbers.
    pub fn floats(&self, name: &str) -> Vec<f64> {
        self.list(name, Kind::Floats)
    }
    /// A text.
    pub fn text(&self, name: &str) -> String {
        String::from_utf8_lossy(&self.list::<u8>(name, Kind::Text)).into_owned()
    }
}

/// What a rule [`Primitive::jvp`] gets.
#[derive(Debug)]
pub struct Jvp<'a> {
    /// The operands.
    pub primals: &'a [Value],
    /// Their tangents; `None` is zero.
    pub tangents: &'a [Option<Value>],
}
impl Jvp<'_> {
    /// The tangent of operand `i`, zeros if it is zero.
    #[track_caller]
    pub fn tangent(&self, i: usize) -> Value {
        self.tangents[i].clone().unwrap_or_else(|| self.primals[i].full_like(0.0))
    }
}
/// What a rule [`Primitive::transpose`] gets.
#[derive(Debug)]
pub struct Transpose<'a> {
    /// The cotangents of the results; `None` is zero.
    pub cts: &'a [Option<Value>],
    /// The operands; `None` where the operation is linear in one, of which only the type exists.
    pub operands: &'a [Option<Value>],
    /// The types of the operands.
    pub types: &'a [Type],
}
/// What a rule [`Primitive::batch`] gets.
#[derive(Debug)]
pub struct Batch<'a> {
    /// How many there are.
    pub size: i64,
    /// The operands, with the batch as one more dimension.
    pub operands: &'a [Value],
    /// Which dimension that is; `None` if the operand is the same for all.
    pub dims: &'a [Option<usize>],
}

/// A rule that a primitive has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// [`Primitive::decompose`], from which all rules follow that are not listed.
    Decompose,
    /// [`Primitive::jvp`].
    Jvp,
    /// [`Primitive::transpose`].
    Transpose,
    /// [`Primitive::batch`].
    Batch,
    /// All operands have one shape: the operation on whole batches is the batch of the operations.
    ElementwiseBatch,
    /// Linear in all operands that are floats, together: its derivative is the operation itself.
    Linear,
    /// [`Primitive::scalar`].
    Scalar,
    /// [`Primitive::index`].
    Index,
}

/// A primitive: its types, what it is made of, and the rules of its own.
///
/// [`rules`](Primitive::rules) lists which rules it has; without a list it is decomposed, and everything follows.
pub trait Primitive: Send + Sync + 'static {
    /// `vendor.op`.
    fn name(&self) -> &str;
    /// `z = vendor.op(x, y): what it computes`: names of results and operands, then one line for people.
    fn doc(&self) -> &str;
    /// Operations on which the laws are checked: `(f64[3] in 0.3..3, f64[]) eps=0.5`, separated by `;`.
    fn examples(&self) -> &str;
    /// The attributes of its operations, with their kinds.
    fn attributes(&self) -> Vec<(&'static str, Kind)> {
        Vec::new()
    }
    /// The types of the results, or why these operands are refused: what is wrong and what to do.
    fn types(&self, operands: &[Type], attributes: &Attributes<'_>) -> std::result::Result<Vec<Type>, String>;
    /// Which rules there are. Those that are listed must be written; the others are never called.
    fn rules(&self) -> &[Rule] {
        &[Rule::Decompose]
    }
    /// Why rules cannot exist, for messages and laws: `transpose: not linear`.
    fn missing(&self) -> &str {
        ""
    }
    /// Along which dimensions it can be split: `m k, k n -> m n; sum k` (ricci/primitive.h).
    fn factors(&self) -> &str {
        ""
    }
    /// The results, by other operations.
    fn decompose(&self, operands: &[Value], attributes: &Attributes<'_>) -> Vec<Value> {
        unwritten("decompose", (operands, attributes))
    }
    /// Forward mode: the results, and the tangents of those that have one.
    fn jvp(&self, given: &Jvp<'_>, attributes: &Attributes<'_>) -> (Vec<Value>, Vec<Option<Value>>) {
        unwritten("jvp", (given, attributes))
    }
    /// Reverse mode of an operation that is linear in some operands: the cotangents of those; `None` is zero.
    fn transpose(&self, given: &Transpose<'_>, attributes: &Attributes<'_>) -> Vec<Option<Value>> {
        unwritten("transpose", (given, attributes))
    }
    /// The results of a whole batch, each with the dimension that the batch is, or `None` if it is the same for all.
    fn batch(&self, given: &Batch<'_>, attributes: &Attributes<'_>) -> Vec<(Value, Option<usize>)> {
        unwritten("batch", (given, attributes))
    }
    /// One element of each result, from the elements of the operands at the same place.
    fn scalar<'k>(&self, kernel: &'k Kernel, operands: &[Scalar<'k>], attributes: &Attributes<'_>) -> Vec<Scalar<'k>> {
        unwritten("scalar", (kernel, operands, attributes))
    }
    /// The element of a result at a place, one number for each of its dimensions.
    fn index<'k>(&self, kernel: &'k Kernel, result: usize, place: &[Scalar<'k>], attributes: &Attributes<'_>) -> Scalar<'k> {
        unwritten("index", (kernel, result, place, attributes))
    }
}
fn unwritten<A, R>(rule: &str, _: A) -> R {
    panic!("the primitive lists the rule `{}`, but does not write it", rule)
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

/// A lowering of the kind that a rule is, if it is one.
fn lowering_of(rule: Rule) -> Option<sys::ricci_lowering> {
    let mut l: sys::ricci_lowering = unsafe { empty() };
    l.target = view("*");
    match rule {
        Rule::Decompose => {
            l.hdr.flags = sys::RICCI_LOWERING_TRANSFORMABLE;
            l.kind = sys::RICCI_LOWER_DECOMPOSE;
            l.decompose = Some(rules::decompose);
        }
        Rule::Scalar => {
            l.kind = sys::RICCI_LOWER_SCALAR;
            l.priority = 1;
            l.scalar = Some(rules::scalar);
        }
        Rule::Index => {
            l.kind = sys::RICCI_LOWER_INDEX;
            l.priority = 1;
            l.index = Some(rules::index);
        }
        _ => return None,
    }
    Some(l)
}
/// Puts a rule that is no lowering into the row.
fn set_rule(def: &mut sys::ricci_prim_def, rule: Rule) {
    match rule {
        Rule::Jvp => def.jvp = Some(rules::jvp),
        Rule::Transpose => def.transpose = Some(rules::transpose),
        Rule::Batch => def.batch = Some(rules::batch),
        Rule::ElementwiseBatch => def.batch_kind = sys::RICCI_BATCH_ELEMENTWISE,
        Rule::Linear => def.hdr.flags |= sys::RICCI_PRIM_LINEAR,
        Rule::Decompose | Rule::Scalar | Rule::Index => {}
    }
}

/// Adds a row; the core copies all but the primitive, which it owns from here on.
unsafe fn register(c: *mut sys::ricci_ctx, plugin: &str, primitive: Box<dyn Primitive>) -> Result<()> {
    let this = Box::into_raw(Box::new(Held { primitive, plugin: plugin.to_string() }));
    let p = &*(*this).primitive;
    let attributes = p.attributes();
    let specs: Vec<sys::ricci_attr_spec> = attributes
        .iter()
        .map(|(name, kind)| sys::ricci_attr_spec { name: view(name), kind: kind.number(), flags: 0, absent: view("") })
        .collect();
    let lowerings: Vec<sys::ricci_lowering> = p.rules().iter().filter_map(|r| lowering_of(*r)).collect();
    let list: Vec<*const sys::ricci_lowering> = lowerings.iter().map(|l| l as *const _).collect();
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

/// What `plugin!` makes of a list of primitives.
pub type Rows = fn() -> Vec<Box<dyn Primitive>>;

/// What `attach` gets: a plugin lives as long as the process.
struct Described {
    name: &'static str,
    rows: Rows,
}
unsafe extern "C" fn attach(self_: *mut c_void, c: *mut sys::ricci_ctx) -> *mut sys::ricci_status {
    let of = &*(self_ as *const Described);
    let who = || format!("plugin {}: attach", of.name);
    rules::guarded(who, || (of.rows)().into_iter().try_for_each(|p| register(c, of.name, p)))
}
/// A plugin with these rows, which lives as long as the process.
fn described(name: &'static str, version: &'static str, rows: Rows) -> *const sys::ricci_plugin {
    let mut plugin: sys::ricci_plugin = unsafe { empty() };
    plugin.abi_major = sys::RICCI_ABI_MAJOR;
    plugin.abi_minor = sys::RICCI_ABI_MINOR;
    plugin.name = view(name);
    plugin.version = view(version);
    plugin.self_ = Box::into_raw(Box::new(Described { name, rows })) as *mut c_void;
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
