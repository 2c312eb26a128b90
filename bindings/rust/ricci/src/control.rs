//! Loops and branches: closures over trees of values. They may use any value of the trace around them.
use crate::attribute::Attribute;
use crate::error::{Error, Result};
use crate::program::Program;
use crate::trace::{innermost, Builder, Tracing, Value};
use crate::tree::{Mapped, Tree};
use crate::types::Type;
use std::rc::Rc;

/// A closure as a nested program whose first parameters are its captures.
struct Traced<R> {
    program: Option<Program>, // none after a mistake, which `outer` keeps
    captures: Vec<Value>,
    out: R,
}

/// Traces `f` on values of these types.
fn traced<R: Tree<Value>>(outer: &Rc<Builder>, name: &str, types: &[Type], f: impl FnOnce(Vec<Value>) -> R) -> Traced<R> {
    match Builder::new(outer.context(), Some(outer), name, types) {
        Ok((builder, params)) => {
            let tracing = Tracing::of(&builder);
            let out = f(params);
            drop(tracing);
            let program = builder.finish(&out.leaves());
            let captures = builder.captures();
            let program = program.and_then(|p| captured_first(outer, name, types, &captures, p));
            Traced { program: kept(outer, program), captures, out }
        }
        Err(e) => {
            outer.fail(e);
            let out = f(types.iter().map(|_| outer.nothing()).collect());
            Traced { program: None, captures: Vec::new(), out }
        }
    }
}
/// `f` with other parameters, of which `operands` chooses its own.
fn with_params(
    outer: &Rc<Builder>, name: &str, f: &Program, types: &[Type], operands: impl FnOnce(&[Value]) -> Vec<Value>,
) -> Result<Program> {
    let (builder, params) = Builder::new(outer.context(), Some(outer), name, types)?;
    let own = operands(&params);
    let results = builder.inline(f, &own.iter().collect::<Vec<_>>())?;
    builder.finish(&results)
}
/// `f`, whose captures are its last parameters, with these as its first ones.
fn captured_first(outer: &Rc<Builder>, name: &str, types: &[Type], captures: &[Value], f: Program) -> Result<Program> {
    if captures.is_empty() {
        return Ok(f);
    }
    let all = [types_of(captures), types.to_vec()].concat();
    with_params(outer, name, &f, &all, |p| [&p[captures.len()..], &p[..captures.len()]].concat())
}

/// What was made, or nothing; the trace keeps the mistake.
fn kept<T>(builder: &Builder, made: Result<T>) -> Option<T> {
    made.map_err(|e| builder.fail(e)).ok()
}
/// The builder of the innermost of some values.
fn home(what: &str, trees: &[&[Value]]) -> Rc<Builder> {
    let all: Vec<&Value> = trees.iter().flat_map(|t| t.iter()).collect();
    assert!(!all.is_empty(), "{}: there is no value, so no trace", what);
    innermost(&all)
}
fn types_of(values: &[Value]) -> Vec<Type> {
    values.iter().map(Value::ty).collect()
}
/// `like` with these leaves; leaves that are missing after a mistake stand for nothing.
fn filled<T: Mapped<Value, Value>>(builder: &Rc<Builder>, like: &T, values: &mut dyn Iterator<Item = Value>) -> T::To {
    like.map(&mut |_| values.next().unwrap_or_else(|| builder.nothing()))
}
#[track_caller]
fn emitted(b: &Rc<Builder>, primitive: &str, attributes: &[Attribute], operands: &[Value], n: usize) -> Vec<Value> {
    b.emit(primitive, attributes, &operands.iter().collect::<Vec<_>>(), n)
}

/// Repeats `(carry, y) = body(carry, x)` over the first dimension of the leaves of `xs`: the last carry and all ys,
/// stacked. `length` is needed where `xs` has no leaves.
///
/// # Panics
/// If neither `init` nor `xs` has a leaf.
#[track_caller]
pub fn scan<C, X, Y>(
    init: &C,
    xs: &X,
    length: Option<i64>,
    body: impl FnOnce(C::To, X::To) -> (C::To, Y),
) -> (C::To, Y::To)
where
    C: Mapped<Value, Value>,
    X: Mapped<Value, Value>,
    Y: Mapped<Value, Value>,
{
    let (carry, inputs) = (init.leaves(), xs.leaves());
    let builder = home("scan", &[&carry, &inputs]);
    let mut types = types_of(&carry);
    for x in &inputs {
        types.push(element_of(&builder, &x.ty()));
    }
    let length = length.or_else(|| inputs.first().and_then(|x| x.dims().first().copied()));
    if length.is_none() {
        builder.fail(Error::here("scan: no inputs and no length; pass Some(length)"));
    }
    let length = length.unwrap_or(0);
    let made = traced(&builder, "body", &types, |params| {
        let mut params = params.into_iter();
        let c = filled(&builder, init, &mut params);
        body(c, filled(&builder, xs, &mut params))
    });
    let mut operands = made.captures.clone();
    operands.extend(carry.iter().cloned().chain(inputs));
    same_length(&builder, "scan: the carry of the body", &made.out.0, carry.len());
    let mut results = Vec::new();
    if let Some(program) = made.program {
        let attributes = [
            Attribute::program("body", &program),
            Attribute::int("length", length),
            Attribute::int("num_consts", made.captures.len() as i64),
            Attribute::int("num_carry", carry.len() as i64),
        ];
        results = emitted(&builder, "scan", &attributes, &operands, program.results().len());
    }
    let mut results = results.into_iter();
    let last = filled(&builder, init, &mut results);
    (last, filled(&builder, &made.out.1, &mut results))
}
/// Both must have as many leaves.
#[track_caller]
fn same_length<T: Tree<Value>>(builder: &Builder, what: &str, tree: &T, wanted: usize) {
    let n = tree.leaves().len();
    if n != wanted {
        builder.fail(Error::here(format!("{} has {} values, not {}", what, n, wanted)));
    }
}
/// The type of a part along the first dimension.
#[track_caller]
fn element_of(builder: &Builder, t: &Type) -> Type {
    if t.dims.is_empty() {
        builder.fail(Error::here(format!("scan: an input {} has no dimension to go along", t)));
        return t.clone();
    }
    t.dtype.shape(&t.dims[1..])
}

/// Repeats `carry = body(carry)` while `condition(carry)`, a bool scalar, holds.
///
/// # Panics
/// If `init` has no leaf.
#[track_caller]
pub fn while_loop<C>(
    condition: impl FnOnce(C::To) -> Value,
    body: impl FnOnce(C::To) -> C::To,
    init: &C,
) -> C::To
where
    C: Mapped<Value, Value>,
{
    repeated(condition, body, init, &[])
}
/// The same with at most `max_trips` trips, so that reverse mode can differentiate it: it keeps what that many trips need.
/// A run that would take more ends with [`Code::OutOfRange`](crate::Code::OutOfRange).
///
/// # Panics
/// If `init` has no leaf.
#[track_caller]
pub fn while_loop_at_most<C>(
    max_trips: i64,
    condition: impl FnOnce(C::To) -> Value,
    body: impl FnOnce(C::To) -> C::To,
    init: &C,
) -> C::To
where
    C: Mapped<Value, Value>,
{
    repeated(condition, body, init, &[Attribute::int("max_trips", max_trips)])
}
#[track_caller]
fn repeated<C>(
    condition: impl FnOnce(C::To) -> Value,
    body: impl FnOnce(C::To) -> C::To,
    init: &C,
    bound: &[Attribute],
) -> C::To
where
    C: Mapped<Value, Value>,
{
    let carry = init.leaves();
    let builder = home("while_loop", &[&carry]);
    let types = types_of(&carry);
    let test = traced(&builder, "cond", &types, |p| condition(filled(&builder, init, &mut p.into_iter())));
    let step = traced(&builder, "body", &types, |p| body(filled(&builder, init, &mut p.into_iter())));
    same_length(&builder, "while_loop: the carry of the body", &step.out, types.len());
    let results = match (test.program, step.program) {
        (Some(cond), Some(body)) => {
            let mut attributes = vec![
                Attribute::program("cond", &cond),
                Attribute::program("body", &body),
                Attribute::int("cond_nconsts", test.captures.len() as i64),
                Attribute::int("body_nconsts", step.captures.len() as i64),
            ];
            attributes.extend_from_slice(bound);
            let mut operands = test.captures;
            operands.extend(step.captures.into_iter().chain(carry));
            emitted(&builder, "while", &attributes, &operands, types.len())
        }
        _ => Vec::new(),
    };
    filled(&builder, init, &mut results.into_iter())
}

/// `on_true(operands)` if `pred`, a bool scalar, holds, else `on_false(operands)`; only one of them is computed.
#[track_caller]
pub fn cond<A, R>(
    pred: &Value,
    on_true: impl FnOnce(A::To) -> R,
    on_false: impl FnOnce(A::To) -> R,
    operands: &A,
) -> R::To
where
    A: Mapped<Value, Value>,
    R: Mapped<Value, Value>,
{
    let leaves = operands.leaves();
    let builder = home("cond", &[std::slice::from_ref(pred), &leaves]);
    let types = types_of(&leaves);
    let no = traced(&builder, "on_false", &types, |p| on_false(filled(&builder, operands, &mut p.into_iter())));
    let yes = traced(&builder, "on_true", &types, |p| on_true(filled(&builder, operands, &mut p.into_iter())));
    same_length(&builder, "cond: the result of on_false", &no.out, yes.out.leaves().len());
    chosen(&builder, pred, vec![no, yes], leaves)
}
/// `branches[index](operands)`; only that one is computed. `index` is a scalar of whole numbers; one that is out of range
/// means the nearest branch.
///
/// # Panics
/// If `branches` is empty.
#[track_caller]
pub fn switch<A, R>(index: &Value, branches: Vec<Branch<'_, A::To, R>>, operands: &A) -> R::To
where
    A: Mapped<Value, Value>,
    R: Mapped<Value, Value>,
{
    assert!(!branches.is_empty(), "switch: there is no branch");
    let leaves = operands.leaves();
    let builder = home("switch", &[std::slice::from_ref(index), &leaves]);
    let types = types_of(&leaves);
    let made: Vec<Traced<R>> = branches
        .into_iter()
        .map(|f| traced(&builder, "branch", &types, |p| f(filled(&builder, operands, &mut p.into_iter()))))
        .collect();
    let n = made[0].out.leaves().len();
    for (i, f) in made.iter().enumerate() {
        same_length(&builder, &format!("switch: the result of branch {}", i), &f.out, n);
    }
    chosen(&builder, index, made, leaves)
}
/// A branch of [`switch`].
pub type Branch<'f, A, R> = Box<dyn FnOnce(A) -> R + 'f>;

/// The results of the branch of that number. Every branch takes the captures of all.
#[track_caller]
fn chosen<R: Mapped<Value, Value>>(builder: &Rc<Builder>, index: &Value, made: Vec<Traced<R>>, leaves: Vec<Value>) -> R::To {
    let captures: Vec<Value> = made.iter().flat_map(|f| f.captures.iter().cloned()).collect();
    let all = [types_of(&captures), types_of(&leaves)].concat();
    let mut first = 0;
    let mut branches = Vec::new();
    for f in &made {
        let own = first..first + f.captures.len();
        first = own.end;
        let operands = |p: &[Value]| [&p[own], &p[captures.len()..]].concat();
        let program = f.program.as_ref();
        branches.extend(program.and_then(|f| kept(builder, with_params(builder, "branch", f, &all, operands))));
    }
    let mut results = Vec::new();
    if branches.len() == made.len() {
        let mut given = vec![index.astype(crate::types::I32)];
        given.extend(captures.iter().cloned().chain(leaves));
        let n = branches[0].results().len();
        results = emitted(builder, "cond", &[Attribute::programs("branches", &branches)], &given, n);
    }
    filled(builder, &made[0].out, &mut results.into_iter())
}
