//! Lowerings that a plugin gives to rows: those of its own primitives, and those of other plugins.
use crate::attributes::{Attributes, Operation};
use crate::error::Result;
use crate::host_library::LibraryPlan;
use crate::lowering::{Kernel, Scalar};
use crate::primitive::{unwritten, Primitive, Rule};
use crate::source_text::Source;
use crate::trace::Value;
use std::sync::Arc;

/// What a [`Lowering`] is, and so which of its methods is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoweringKind {
    /// [`Lowering::decompose`]: other operations.
    Decompose,
    /// [`Lowering::scalar`]: one element from the elements at the same position.
    Scalar,
    /// [`Lowering::index`]: one element from its position.
    Index,
    /// [`Lowering::loops`].
    Loops,
    /// [`Lowering::loops`], as [`Rule::Updates`](crate::plugin::Rule::Updates) says.
    Updates,
    /// [`Lowering::library`]: a function of Rust.
    Library,
    /// [`Lowering::source`]: text for the compiler of the target.
    Source,
}

/// A lowering for a row that exists already, of another plugin or of this one.
///
/// Types, derivatives and batches stay those of the row. Of the lowerings of a row that take an operation on a target,
/// the one with the highest priority is used; those of built-in rows have priority 0 (libraries on the processor 10),
/// those of [`Primitive::rules`](crate::plugin::Primitive::rules) 1, source text 2, decompositions 0.
///
/// ```
/// use ricci::plugin::{Attributes, Kernel, Lowering, LoweringKind, Operation, Scalar};
/// use ricci::{Context, F32};
///
/// /// tanh of f32 by its continued fraction, for small arguments.
/// struct ShortTanh;
/// impl Lowering for ShortTanh {
///     fn primitive(&self) -> &str { "tanh" }
///     fn kind(&self) -> LoweringKind { LoweringKind::Scalar }
///     fn accepts(&self, operation: &Operation<'_>) -> bool { operation.operands[0].dtype == F32 }
///     fn scalar<'k>(&self, _: &'k Kernel, x: &[Scalar<'k>], _: &Attributes<'_>) -> Vec<Scalar<'k>> {
///         let square = x[0] * x[0];
///         vec![x[0] * (square + 15.0) / (square * 6.0 + 15.0)]
///     }
/// }
///
/// fn main() -> ricci::Result<()> {
///     let mut ctx = Context::new()?;
///     unsafe { ctx.add_rows("short_tanh", || (vec![], vec![Box::new(ShortTanh)]))? };
///     let f = ctx.trace("f", F32.shape(&[]), |x| x.tanh())?;
///     let y = f.compile()?.run(&[&ctx.scalar(0.5f32)?])?[0].item::<f32>()?;
///     assert_eq!(y, 0.5 * 15.25 / 16.5);
///     Ok(())
/// }
/// ```
pub trait Lowering: Send + Sync + 'static {
    /// The name of the row.
    fn primitive(&self) -> &str;
    /// Which of the methods below is there; the others are never called.
    fn kind(&self) -> LoweringKind;
    /// `cpu`, `cuda`, or `*` for every one.
    fn target(&self) -> &str {
        "*"
    }
    /// The highest one wins among those that take an operation.
    fn priority(&self) -> i32 {
        1
    }
    /// Whether it takes this operation.
    fn accepts(&self, _operation: &Operation<'_>) -> bool {
        true
    }
    /// As [`Primitive::try_decompose`](crate::plugin::Primitive::try_decompose).
    fn decompose(&self, operands: &[Value], attributes: &Attributes<'_>) -> Result<Vec<Value>> {
        unwritten("decompose", (operands, attributes))
    }
    /// As [`Primitive::scalar`](crate::plugin::Primitive::scalar).
    fn scalar<'k>(&self, kernel: &'k Kernel, operands: &[Scalar<'k>], attributes: &Attributes<'_>) -> Vec<Scalar<'k>> {
        unwritten("scalar", (kernel, operands, attributes))
    }
    /// As [`Primitive::index`](crate::plugin::Primitive::index).
    fn index<'k>(&self, kernel: &'k Kernel, result: usize, position: &[Scalar<'k>], attributes: &Attributes<'_>) -> Scalar<'k> {
        unwritten("index", (kernel, result, position, attributes))
    }
    /// As [`Primitive::loops`](crate::plugin::Primitive::loops).
    fn loops(&self, kernel: &Kernel, attributes: &Attributes<'_>) -> std::result::Result<(), String> {
        unwritten("loops", (kernel, attributes))
    }
    /// As [`Primitive::library`](crate::plugin::Primitive::library).
    fn library(&self, operation: &Operation<'_>) -> std::result::Result<LibraryPlan, String> {
        unwritten("library", operation)
    }
    /// As [`Primitive::source`](crate::plugin::Primitive::source), for the target of this lowering.
    fn source(&self, operation: &Operation<'_>) -> std::result::Result<Vec<Source>, String> {
        unwritten("source", operation)
    }
}

/// A lowering that a row lists among its rules.
struct OfRow {
    row: Arc<dyn Primitive>,
    kind: LoweringKind,
    target: &'static str,
}
impl Lowering for OfRow {
    fn primitive(&self) -> &str {
        self.row.name()
    }
    fn kind(&self) -> LoweringKind {
        self.kind
    }
    fn target(&self) -> &str {
        self.target
    }
    fn priority(&self) -> i32 {
        match self.kind {
            LoweringKind::Decompose => 0,
            LoweringKind::Source => 2, // it is for one target, and the others are for all
            _ => 1,
        }
    }
    fn decompose(&self, operands: &[Value], attributes: &Attributes<'_>) -> Result<Vec<Value>> {
        self.row.try_decompose(operands, attributes)
    }
    fn scalar<'k>(&self, kernel: &'k Kernel, operands: &[Scalar<'k>], attributes: &Attributes<'_>) -> Vec<Scalar<'k>> {
        self.row.scalar(kernel, operands, attributes)
    }
    fn index<'k>(&self, kernel: &'k Kernel, result: usize, position: &[Scalar<'k>], attributes: &Attributes<'_>) -> Scalar<'k> {
        self.row.index(kernel, result, position, attributes)
    }
    fn loops(&self, kernel: &Kernel, attributes: &Attributes<'_>) -> std::result::Result<(), String> {
        self.row.loops(kernel, attributes)
    }
    fn library(&self, operation: &Operation<'_>) -> std::result::Result<LibraryPlan, String> {
        self.row.library(operation)
    }
    fn source(&self, operation: &Operation<'_>) -> std::result::Result<Vec<Source>, String> {
        self.row.source(operation, self.target)
    }
}

/// What the core holds of a lowering, for as long as the row or the plugin that gave it.
pub(crate) struct HeldLowering {
    pub(crate) lowering: Box<dyn Lowering>,
    pub(crate) plugin: String,
}

/// The lowerings that a row lists.
pub(crate) fn of_row(row: &Arc<dyn Primitive>, plugin: &str) -> Vec<Box<HeldLowering>> {
    let kind_of = |rule: &Rule| match rule {
        Rule::Decompose => Some((LoweringKind::Decompose, "*")),
        Rule::Scalar => Some((LoweringKind::Scalar, "*")),
        Rule::Index => Some((LoweringKind::Index, "*")),
        Rule::Loops => Some((LoweringKind::Loops, "*")),
        Rule::Updates => Some((LoweringKind::Updates, "*")),
        Rule::Library => Some((LoweringKind::Library, "*")),
        Rule::Source(target) => Some((LoweringKind::Source, *target)),
        _ => None,
    };
    let held = |(kind, target)| {
        let lowering = Box::new(OfRow { row: row.clone(), kind, target });
        Box::new(HeldLowering { lowering, plugin: plugin.to_string() })
    };
    row.rules().iter().filter_map(kind_of).map(held).collect()
}
