//! The C ABI of Ricci, as its headers declare it; `include/REFERENCE.md` describes every function.
#![allow(non_camel_case_types)]
mod abi;
pub use abi::*;

#[cfg(not(feature = "plugin"))]
mod functions;
#[cfg(not(feature = "plugin"))]
pub use functions::*;

#[cfg(feature = "plugin")]
mod table;
#[cfg(feature = "plugin")]
pub use table::*;
