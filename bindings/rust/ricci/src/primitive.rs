//! A primitive, and what its rules get.
use crate::attributes::{Attributes, Kind, Operation};
use crate::error::Result;
use crate::held_programs::{Dce, PartialEval};
use crate::host_library::LibraryPlan;
use crate::lowering::{Kernel, Scalar};
use crate::source_text::Source;
use crate::trace::Value;
use crate::types::Type;

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
impl Batch<'_> {
    /// Operand `i` with the batch as dimension 0, repeated if it is the same for all.
    #[track_caller]
    pub fn first(&self, i: usize) -> Value {
        let x = &self.operands[i];
        let batch = match self.dims[i] {
            Some(0) => return x.clone(),
            Some(batch) => batch,
            None => return x.broadcast_to(&[&[self.size], &x.dims()[..]].concat()),
        };
        let others = (0..x.dims().len()).filter(|d| *d != batch);
        let order: Vec<i64> = std::iter::once(batch).chain(others).map(|d| d as i64).collect();
        x.transpose(&order)
    }
}

/// Where elements of an operand go: what a rule [`Primitive::view_map`] gives.
///
/// Element x of the operand is in the result if `first[d] <= x[d] < limit[d]` for each of its dimensions d, and there it
/// is element y with `y[j] = x[from[j]] + shift[j]`, or `shift[j]` where `from[j]` is `None`. Each element of the result
/// is exactly one element of one operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewMap {
    /// For each dimension of the operand.
    pub first: Vec<i64>,
    /// For each dimension of the operand.
    pub limit: Vec<i64>,
    /// For each dimension of the result, one of the operand.
    pub from: Vec<Option<usize>>,
    /// For each dimension of the result.
    pub shift: Vec<i64>,
}
impl ViewMap {
    /// All elements of an operand of type `t`, moved by as much along each dimension.
    pub fn moved(t: &Type, shift: &[i64]) -> ViewMap {
        let rank = t.dims.len();
        ViewMap { first: vec![0; rank], limit: t.dims.clone(), from: (0..rank).map(Some).collect(), shift: shift.to_vec() }
    }
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
    /// [`Primitive::loops`].
    Loops,
    /// [`Primitive::loops`] of an operation whose result 0 is operand 0 with some elements changed: it is operand 0 when
    /// the loops begin, often in the same memory. They write what changes, and read result 0 in place of operand 0.
    Updates,
    /// A promise of [`Primitive::loops`]: they load each element of an operand at most once, so what computes it may be
    /// computed where it is loaded, without being stored.
    ReadsOnce,
    /// [`Primitive::library`].
    Library,
    /// [`Primitive::source`] for the target of that name: `cpu` takes LLVM assembly, `cuda` CUDA C++.
    Source(&'static str),
    /// [`Primitive::partial_eval`].
    PartialEval,
    /// The policies of `checkpoint` decide on the operations in the programs that it holds: [`PartialEval::again`].
    SavesInside,
    /// [`Primitive::needed`] and [`Primitive::dce`].
    Dce,
    /// [`Primitive::factors_of`].
    Factors,
    /// [`Primitive::simplify`].
    Simplify,
    /// [`Primitive::view_map`].
    ViewMap,
    /// A run of it may fail, by [`Kernel::require`]: it is never moved to where it would run more often.
    MayFail,
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
    /// The same for an operation, where they depend on it.
    fn factors_of(&self, operation: &Operation<'_>) -> String {
        unwritten("factors", operation)
    }
    /// Which attributes may be left out, each with what that means, for people to read (`false`).
    fn optional(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
    /// Where the elements of an operand go, of an operation with one result that only moves elements; `None` if this
    /// cannot say. The kernel that computes the operand then stores them there.
    fn view_map(&self, operation: &Operation<'_>, operand: usize) -> Option<ViewMap> {
        unwritten("view_map", (operation, operand))
    }
    /// Something simpler that is equal bit for bit, but for the sign of zero; `None` if there is nothing.
    fn simplify(&self, operands: &[Value], attributes: &Attributes<'_>) -> Result<Option<Vec<Value>>> {
        unwritten("simplify", (operands, attributes))
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
    /// The same as [`decompose`](Primitive::decompose), where something in it can fail; write one of the two.
    fn try_decompose(&self, operands: &[Value], attributes: &Attributes<'_>) -> Result<Vec<Value>> {
        Ok(self.decompose(operands, attributes))
    }
    /// The same as [`jvp`](Primitive::jvp), where something in it can fail, such as the derivative of a program that the
    /// primitive holds; write one of the two.
    #[allow(clippy::type_complexity)]
    fn try_jvp(&self, given: &Jvp<'_>, attributes: &Attributes<'_>) -> Result<(Vec<Value>, Vec<Option<Value>>)> {
        Ok(self.jvp(given, attributes))
    }
    /// The same as [`transpose`](Primitive::transpose), where something in it can fail; write one of the two.
    fn try_transpose(&self, given: &Transpose<'_>, attributes: &Attributes<'_>) -> Result<Vec<Option<Value>>> {
        Ok(self.transpose(given, attributes))
    }
    /// The same as [`batch`](Primitive::batch), where something in it can fail; write one of the two.
    fn try_batch(&self, given: &Batch<'_>, attributes: &Attributes<'_>) -> Result<Vec<(Value, Option<usize>)>> {
        Ok(self.batch(given, attributes))
    }
    /// Of a primitive that holds programs: its results, each a value of the half that is known or of the one that is
    /// not. Any other operation is known if all its operands are. [`PartialEval::again`] asks for more.
    fn partial_eval(&self, given: &PartialEval<'_>, attributes: &Attributes<'_>) -> Result<Vec<Value>> {
        unwritten("partial_eval", (given, attributes))
    }
    /// Of a primitive that holds programs: which operands the used results need.
    fn needed(&self, used: &[bool], attributes: &Attributes<'_>) -> Result<Vec<bool>> {
        unwritten("dce", (used, attributes))
    }
    /// Of a primitive that holds programs: the used results, from the operands that [`needed`](Primitive::needed) says;
    /// `None` for the others.
    fn dce(&self, given: &Dce<'_>, attributes: &Attributes<'_>) -> Result<Vec<Option<Value>>> {
        unwritten("dce", (given, attributes))
    }
    /// One element of each result, from the elements of the operands at the same position.
    fn scalar<'k>(&self, kernel: &'k Kernel, operands: &[Scalar<'k>], attributes: &Attributes<'_>) -> Vec<Scalar<'k>> {
        unwritten("scalar", (kernel, operands, attributes))
    }
    /// The element of a result at a position, one number for each of its dimensions.
    fn index<'k>(&self, kernel: &'k Kernel, result: usize, position: &[Scalar<'k>], attributes: &Attributes<'_>) -> Scalar<'k> {
        unwritten("index", (kernel, result, position, attributes))
    }
    /// Loops that fill the results. `Err` says what is wrong with the operation.
    fn loops(&self, kernel: &Kernel, attributes: &Attributes<'_>) -> std::result::Result<(), String> {
        unwritten("loops", (kernel, attributes))
    }
    /// A function of Rust that computes the results, planned for one place in a program.
    fn library(&self, operation: &Operation<'_>) -> std::result::Result<LibraryPlan, String> {
        unwritten("library", operation)
    }
    /// Functions as text for the compiler of `target`, each launched when the one before has ended.
    fn source(&self, operation: &Operation<'_>, target: &str) -> std::result::Result<Vec<Source>, String> {
        unwritten("source", (operation, target))
    }
}
pub(crate) fn unwritten<A, R>(rule: &str, _: A) -> R {
    panic!("the primitive lists the rule `{}`, but does not write it", rule)
}

