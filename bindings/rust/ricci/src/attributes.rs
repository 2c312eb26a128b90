//! The attributes of an operation, and the operation as lowerings see it.
use crate::abi_data::{lent, text};
use crate::context::Context;
use crate::error::Result;
use crate::program::Program;
use crate::types::{DType, Type};
use ricci_sys as sys;

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
    /// An element type.
    DType,
    /// A program, such as the body of a loop.
    Program,
    /// A list of programs, such as branches.
    Programs,
}
impl Kind {
    pub(crate) fn number(self) -> u32 {
        match self {
            Kind::Int => sys::RICCI_ATTR_INT,
            Kind::Float => sys::RICCI_ATTR_FLOAT,
            Kind::Bool => sys::RICCI_ATTR_BOOL,
            Kind::Text => sys::RICCI_ATTR_STRING,
            Kind::Ints => sys::RICCI_ATTR_INTS,
            Kind::Floats => sys::RICCI_ATTR_FLOATS,
            Kind::DType => sys::RICCI_ATTR_DTYPE,
            Kind::Program => sys::RICCI_ATTR_PROGRAM,
            Kind::Programs => sys::RICCI_ATTR_PROGRAMS,
        }
    }
}

/// The attributes of one operation.
pub struct Attributes<'a> {
    list: &'a [sys::ricci_attr],
    context: *mut sys::ricci_ctx,
}
impl std::fmt::Debug for Attributes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.list.iter().map(|a| text(a.name))).finish()
    }
}
impl<'a> Attributes<'a> {
    /// SAFETY: `op` is what the core gives to a rule, which runs for `'a`.
    pub(crate) unsafe fn of(op: &'a sys::ricci_op) -> Attributes<'a> {
        Attributes { list: lent(op.attrs, op.n_attrs), context: op.ctx }
    }
    fn find(&self, name: &str) -> &sys::ricci_attr {
        let found = self.list.iter().find(|a| text(a.name) == name);
        let why = "that it does not declare, or that is left out: ask `has` for one that may be";
        found.unwrap_or_else(|| panic!("the primitive asks for an attribute `{}` {}", name, why))
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
    /// Whether an attribute that may be left out is there.
    pub fn has(&self, name: &str) -> bool {
        self.list.iter().any(|a| text(a.name) == name)
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
    /// An element type.
    pub fn dtype(&self, name: &str) -> DType {
        DType(self.of_kind(name, Kind::DType).i as u32)
    }
    /// A program.
    pub fn program(&self, name: &str) -> Program {
        self.programs_of(self.of_kind(name, Kind::Program)).remove(0)
    }
    /// A list of programs.
    pub fn programs(&self, name: &str) -> Vec<Program> {
        self.programs_of(self.of_kind(name, Kind::Programs))
    }
    fn programs_of(&self, a: &sys::ricci_attr) -> Vec<Program> {
        // SAFETY: the core gives `count` handles, which live as long as the rule runs; each program here has its own
        // reference.
        unsafe {
            let handles = lent(a.data as *const *mut sys::ricci_program, a.count);
            let context = Context::from_borrowed(self.context);
            handles.iter().map(|f| Program::from_owned(sys::ricci_program_retain(*f), context.clone())).collect()
        }
    }
}

/// One operation of a program, as a lowering sees it.
#[derive(Debug)]
pub struct Operation<'a> {
    /// The types of the operands.
    pub operands: Vec<Type>,
    /// The types of the results.
    pub results: Vec<Type>,
    /// Its attributes.
    pub attributes: Attributes<'a>,
}
impl<'a> Operation<'a> {
    /// SAFETY: `op` is what the core gives to a rule, which runs for `'a`.
    pub(crate) unsafe fn of(op: &'a sys::ricci_op) -> Result<Operation<'a>> {
        let context = Context::from_borrowed(op.ctx);
        let types = |ids, n| lent(ids, n).iter().map(|t| context.type_of(*t)).collect::<Result<Vec<Type>>>();
        let (operands, results) = (types(op.in_types, op.n_in)?, types(op.out_types, op.n_out)?);
        Ok(Operation { operands, results, attributes: Attributes::of(op) })
    }
}
