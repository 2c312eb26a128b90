//! Composable transformations of numerical programs: `grad`, `jvp`, `vmap`, `jit`.
//!
//! ```
//! use ricci::{Context, F32};
//!
//! fn main() -> ricci::Result<()> {
//!     let ctx = Context::new()?;
//!     let f = ctx.trace("energy", F32.shape(&[4]), |x| (&x * x.sin()).sum())?;
//!     let x = ctx.array(&[0.0f32, 0.5, 1.0, 1.5], &[4])?;
//!     let out = f.value_and_grad(&[0])?.compile()?.run(&[&x])?;
//!     assert!((out[0].item::<f32>()? - 2.577_418_6).abs() < 1e-5);
//!     println!("{:?}", out[1].to_vec::<f32>()?);
//!     Ok(())
//! }
//! ```
//!
//! A [`Context`] is the root of everything. [`Context::trace`] runs a closure once over [`Value`]s and records what it
//! does as a [`Program`], which can be transformed, printed and compiled. Handles are reference counted and released by
//! `Drop`; those that many threads may use at once are `Send` and `Sync`.
//!
//! Operations on values do not return a `Result`: the first mistake of a trace is kept, with the location of its call, and
//! `trace` returns it.
#![deny(missing_docs, missing_debug_implementations)]

mod abi_data;
mod array;
mod attribute;
mod attributes;
mod call;
mod context;
#[cfg(not(feature = "plugin"))]
mod context_options;
mod control;
mod error;
mod executable;
mod held_programs;
mod host_library;
mod joining;
mod kernel_loops;
mod lowering;
mod lowering_rules;
mod operators;
pub mod plugin;
mod primitive;
mod program;
mod program_parts;
mod row_lowerings;
mod rules;
mod run_control;
mod source_text;
mod thunk;
mod trace;
mod traced_closures;
mod tree;
mod types;

pub use array::{Array, Element};
pub use attribute::Attribute;
pub use call::Call;
pub use context::Context;
#[cfg(not(feature = "plugin"))]
pub use context_options::{AddedPlugin, ContextOptions};
pub use control::{cond, scan, switch, while_loop, while_loop_at_most, Branch};
pub use error::{Code, Error, Result};
pub use executable::Executable;
pub use joining::{concatenate, stack};
pub use operators::*;
pub use program::{Program, Schedule, VmapOptions};
pub use program_parts::Halves;
pub use run_control::{Profile, ProfiledStep, RunOptions, Stop};
pub use trace::Value;
pub use traced_closures::Jit;
pub use tree::{Mapped, Tree};
pub use types::*;

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}

/// The C ABI, for what this crate does not wrap.
pub use ricci_sys as sys;
