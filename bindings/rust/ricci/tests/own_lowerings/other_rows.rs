//! Lowerings for rows of other plugins, and places: which operations they take, and what their misuse says.
use crate::small_row::expect_words;
use ricci::plugin::{Attributes, Kernel, LibraryPlan, Lowering, LoweringKind, Operation, Primitive, Rule, Scalar, ViewMap};
use ricci::{Attribute, Context, DType, Error, Result, Type, Value, F32, F64};
use std::sync::atomic::{AtomicUsize, Ordering};

/// sin(x) = x, for f32 only.
struct Straight;
impl Lowering for Straight {
    fn primitive(&self) -> &str {
        "sin"
    }
    fn kind(&self) -> LoweringKind {
        LoweringKind::Scalar
    }
    fn accepts(&self, operation: &Operation<'_>) -> bool {
        operation.operands[0].dtype == F32
    }
    fn scalar<'k>(&self, _: &'k Kernel, x: &[Scalar<'k>], _: &Attributes<'_>) -> Vec<Scalar<'k>> {
        vec![x[0]]
    }
}
/// exp(x) = 1 + x by a function of Rust, for f64 in a vector.
struct Library;
impl Lowering for Library {
    fn primitive(&self) -> &str {
        "exp"
    }
    fn kind(&self) -> LoweringKind {
        LoweringKind::Library
    }
    fn priority(&self) -> i32 {
        100
    }
    fn accepts(&self, operation: &Operation<'_>) -> bool {
        operation.operands[0].dtype == F64
    }
    fn library(&self, _: &Operation<'_>) -> std::result::Result<LibraryPlan, String> {
        Ok(LibraryPlan::new(|call| {
            call.result::<f64>(0)?.iter_mut().zip(call.operand::<f64>(0)?).for_each(|(y, x)| *y = 1.0 + x);
            Ok(())
        }))
    }
}
/// cos(x) = 1 - x^2 / 2 by other operations; `cosh` by loops.
struct Parts;
impl Lowering for Parts {
    fn primitive(&self) -> &str {
        "cos"
    }
    fn kind(&self) -> LoweringKind {
        LoweringKind::Decompose
    }
    fn decompose(&self, x: &[Value], _: &Attributes<'_>) -> Result<Vec<Value>> {
        Ok(vec![1.0 - &x[0] * &x[0] / 2.0])
    }
}

fn value<T: ricci::Element>(ctx: &Context, dtype: DType, x: T, f: fn(Value) -> Value) -> Result<T> {
    let f = ctx.trace("f", dtype.shape(&[3]), f)?;
    Ok(f.compile()?.run(&[&ctx.array(&[x, x, x], &[3])?])?[0].to_vec::<T>()?[1])
}
#[test]
fn they_take_what_they_accept() -> Result<()> {
    let mut ctx = Context::new()?;
    unsafe { ctx.add_rows("straight", || (vec![], vec![Box::new(Straight), Box::new(Library), Box::new(Parts)]))? };
    assert_eq!(value(&ctx, F32, 2.0f32, |x| x.sin())?, 2.0);
    assert_eq!(value(&ctx, F64, 2.0f64, |x| x.sin())?, 2.0f64.sin());
    assert_eq!(value(&ctx, F64, 2.0f64, |x| x.exp())?, 3.0);
    assert!((value(&ctx, F32, 2.0f32, |x| x.exp())? - 2.0f32.exp()).abs() < 1e-5);
    assert_eq!(value(&ctx, F64, 2.0f64, |x| x.cos())?, -1.0);
    // Derivatives stay those of the row: the slope of sin is cos.
    let slope = ctx.trace("f", F32.shape(&[]), |x| x.sin())?.grad(&[0])?.compile()?.run(&[&ctx.scalar(0.0f32)?])?;
    assert_eq!(slope[0].item::<f32>()?, 1.0);
    Ok(())
}
static MADE: AtomicUsize = AtomicUsize::new(0);
static DROPPED: AtomicUsize = AtomicUsize::new(0);
/// Counts itself, as a lowering and in the plan of each operation.
struct Counted;
impl Counted {
    fn new() -> Counted {
        MADE.fetch_add(1, Ordering::SeqCst);
        Counted
    }
}
impl Drop for Counted {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::SeqCst);
    }
}
impl Lowering for Counted {
    fn primitive(&self) -> &str {
        "sin"
    }
    fn kind(&self) -> LoweringKind {
        LoweringKind::Library
    }
    fn library(&self, _: &Operation<'_>) -> std::result::Result<LibraryPlan, String> {
        let held = Counted::new();
        Ok(LibraryPlan::new(move |call| {
            let _ = &held;
            call.result::<f32>(0)?.fill(7.0);
            Ok(())
        }))
    }
}
#[test]
fn what_was_given_is_dropped_with_its_context() -> Result<()> {
    let mut ctx = Context::new()?;
    unsafe { ctx.add_rows("counted", || (vec![], vec![Box::new(Counted::new())]))? };
    assert_eq!(value(&ctx, F32, 2.0f32, |x| x.sin())?, 7.0);
    // The context keeps the code of a program for when it is compiled again.
    drop(ctx);
    let (made, dropped) = (MADE.load(Ordering::SeqCst), DROPPED.load(Ordering::SeqCst));
    assert!(made >= 2 && made == dropped, "{} made, {} dropped", made, dropped);
    Ok(())
}
#[test]
fn a_context_of_its_own_is_as_before() -> Result<()> {
    let plain = Context::new()?;
    assert_ne!(value(&plain, F32, 2.0f32, |x| x.sin())?, 2.0);
    Ok(())
}

/// Two vectors, concatenated; `shifted` says by how much the second one is, if it is not as it should be.
struct Joined {
    shifted: Option<Vec<i64>>,
}
impl Primitive for Joined {
    fn name(&self) -> &str {
        "test.joined"
    }
    fn doc(&self) -> &str {
        "z = test.joined(x, y): x, then y"
    }
    fn examples(&self) -> &str {
        "(f64[3], f64[2])"
    }
    fn types(&self, x: &[Type], _: &Attributes<'_>) -> std::result::Result<Vec<Type>, String> {
        Ok(vec![x[0].dtype.shape(&[x[0].dims[0] + x[1].dims[0]])])
    }
    fn rules(&self) -> &[Rule] {
        &[Rule::Decompose, Rule::ViewMap]
    }
    fn decompose(&self, x: &[Value], _: &Attributes<'_>) -> Vec<Value> {
        x[0].emit("concatenate", &[Attribute::int("dimension", 0)], &[&x[1]], 1)
    }
    fn view_map(&self, operation: &Operation<'_>, operand: usize) -> Option<ViewMap> {
        let shift = if operand == 0 { vec![0] } else { vec![operation.operands[0].dims[0]] };
        let shift = self.shifted.clone().filter(|_| operand == 1).unwrap_or(shift);
        Some(ViewMap::moved(&operation.operands[operand], &shift))
    }
}
#[test]
fn elements_go_where_the_view_map_says() -> Result<()> {
    let mut ctx = Context::new()?;
    unsafe { ctx.add_primitives("joined", || vec![Box::new(Joined { shifted: None })])? };
    ctx.check_primitive("test.joined")
}
#[test]
fn view_maps_are_checked() -> Result<()> {
    let mut ctx = Context::new()?;
    unsafe { ctx.add_primitives("joined", || vec![Box::new(Joined { shifted: Some(vec![2]) })])? };
    let e = ctx.check_primitive("test.joined").unwrap_err();
    expect_words(&e, &["law view_maps: test.joined `view_map` of operand 1: its element 0 is not element 2 of the result"]);
    let mut ctx = Context::new()?;
    unsafe { ctx.add_primitives("joined", || vec![Box::new(Joined { shifted: Some(vec![3, 0]) })])? };
    let e = ctx.check_primitive("test.joined").unwrap_err();
    expect_words(&e, &["test.joined: ", "rule view_map of plugin joined: gives 2 shifts, not 1"]);
    Ok(())
}

// ---- misuse ----
struct Wrong {
    primitive: &'static str,
    kind: LoweringKind,
    target: &'static str,
    accepts: fn() -> bool,
}
impl Lowering for Wrong {
    fn primitive(&self) -> &str {
        self.primitive
    }
    fn kind(&self) -> LoweringKind {
        self.kind
    }
    fn target(&self) -> &str {
        self.target
    }
    fn accepts(&self, _: &Operation<'_>) -> bool {
        (self.accepts)()
    }
}
const WRONG: Wrong = Wrong { primitive: "sin", kind: LoweringKind::Scalar, target: "*", accepts: || true };

fn refused(both: ricci::plugin::RowsAndLowerings) -> Result<Error> {
    let mut ctx = Context::new()?;
    Ok(unsafe { ctx.add_rows("wrong", both) }.unwrap_err())
}
#[test]
fn a_row_that_is_not_there_is_named() -> Result<()> {
    let e = refused(|| (vec![], vec![Box::new(Wrong { primitive: "no.such_row", ..WRONG })]))?;
    assert_eq!(e.code(), ricci::Code::NotFound);
    expect_words(&e, &["plugin wrong: no.such_row: no such primitive; add the plugin that provides it"]);
    Ok(())
}
#[test]
fn a_library_in_rust_runs_on_the_host() -> Result<()> {
    let e = refused(|| (vec![], vec![Box::new(Wrong { kind: LoweringKind::Library, target: "cuda", ..WRONG })]))?;
    let said = "a library in Rust is a function of the host: its target is `*` or `cpu`, not `cuda`";
    expect_words(&e, &["sin: lowering of plugin wrong: ", said]);
    Ok(())
}
fn failure(both: ricci::plugin::RowsAndLowerings) -> Result<Error> {
    let mut ctx = Context::new()?;
    unsafe { ctx.add_rows("wrong", both)? };
    Ok(ctx.trace("f", F32.shape(&[3]), |x| x.sin())?.compile().unwrap_err())
}
#[test]
fn a_panic_names_plugin_primitive_and_rule() -> Result<()> {
    let e = failure(|| (vec![], vec![Box::new(Wrong { accepts: || panic!("planned panic"), ..WRONG })]))?;
    expect_words(&e, &["sin: rule match of plugin wrong: panicked: planned panic"]);
    let e = failure(|| (vec![], vec![Box::new(WRONG)]))?;
    expect_words(&e, &["sin: rule scalar of plugin wrong: panicked: ", "lists the rule `scalar`, but does not write it"]);
    Ok(())
}
