//! An attribute of an equation, and how the ABI has it.
use crate::abi_data::view;
use crate::program::Program;
use crate::types::DType;
use ricci_sys as sys;
use std::os::raw::c_void;
use std::ptr;

/// An attribute of an equation, by the name that the primitive gives it.
#[derive(Clone, Debug)]
pub struct Attribute {
    name: &'static str,
    data: Data,
}
#[derive(Clone, Debug)]
enum Data {
    Int(i64),
    Float(f64),
    Bool(bool),
    DType(DType),
    Text(String),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Program(Program),
    Programs(Vec<Program>),
}

impl Attribute {
    /// A whole number.
    pub fn int(name: &'static str, x: i64) -> Attribute {
        Attribute { name, data: Data::Int(x) }
    }
    /// A number.
    pub fn float(name: &'static str, x: f64) -> Attribute {
        Attribute { name, data: Data::Float(x) }
    }
    /// A flag.
    pub fn bool(name: &'static str, x: bool) -> Attribute {
        Attribute { name, data: Data::Bool(x) }
    }
    /// An element type.
    pub fn dtype(name: &'static str, x: DType) -> Attribute {
        Attribute { name, data: Data::DType(x) }
    }
    /// A text.
    pub fn text(name: &'static str, x: &str) -> Attribute {
        Attribute { name, data: Data::Text(x.to_string()) }
    }
    /// A list of whole numbers.
    pub fn ints(name: &'static str, x: &[i64]) -> Attribute {
        Attribute { name, data: Data::Ints(x.to_vec()) }
    }
    /// A list of numbers.
    pub fn floats(name: &'static str, x: &[f64]) -> Attribute {
        Attribute { name, data: Data::Floats(x.to_vec()) }
    }
    /// A program, such as the body of a loop.
    pub fn program(name: &'static str, x: &Program) -> Attribute {
        Attribute { name, data: Data::Program(x.clone()) }
    }
    /// A list of programs, such as branches.
    pub fn programs(name: &'static str, x: &[Program]) -> Attribute {
        Attribute { name, data: Data::Programs(x.to_vec()) }
    }

    fn programs_of(&self) -> &[Program] {
        match &self.data {
            Data::Program(f) => std::slice::from_ref(f),
            Data::Programs(all) => all,
            _ => &[],
        }
    }
    /// Its programs, for `raw`.
    pub(crate) fn slots(&self) -> Vec<*mut sys::ricci_program> {
        self.programs_of().iter().map(|f| f.raw() as *mut _).collect()
    }
    /// As the ABI has it; `slots` are its programs. It borrows from both.
    pub(crate) fn raw(&self, slots: &[*mut sys::ricci_program]) -> sys::ricci_attr {
        let mut a = sys::ricci_attr { name: view(self.name), kind: 0, count: 1, i: 0, f: 0.0, data: ptr::null() };
        let list = |kind, data: *const c_void, n: usize| (kind, data, n as u32);
        let (kind, data, count) = match &self.data {
            Data::Int(x) => {
                a.i = *x;
                list(sys::RICCI_ATTR_INT, ptr::null(), 1)
            }
            Data::Float(x) => {
                a.f = *x;
                list(sys::RICCI_ATTR_FLOAT, ptr::null(), 1)
            }
            Data::Bool(x) => {
                a.i = i64::from(*x);
                list(sys::RICCI_ATTR_BOOL, ptr::null(), 1)
            }
            Data::DType(x) => {
                a.i = i64::from(x.0);
                list(sys::RICCI_ATTR_DTYPE, ptr::null(), 1)
            }
            Data::Text(x) => list(sys::RICCI_ATTR_STRING, x.as_ptr() as *const _, x.len()),
            Data::Ints(x) => list(sys::RICCI_ATTR_INTS, x.as_ptr() as *const _, x.len()),
            Data::Floats(x) => list(sys::RICCI_ATTR_FLOATS, x.as_ptr() as *const _, x.len()),
            Data::Program(_) => list(sys::RICCI_ATTR_PROGRAM, slots.as_ptr() as *const _, 1),
            Data::Programs(_) => list(sys::RICCI_ATTR_PROGRAMS, slots.as_ptr() as *const _, slots.len()),
        };
        a.kind = kind;
        a.data = data;
        a.count = count;
        a
    }
}
