//! Rows that hold programs: their derivatives, batches, halves and dead code, and what a rule that is wrong says.
use crate::repeat_row::Repeat;
use crate::small_row::expect_words;
use ricci::plugin::{Attributes, Dce, Kernel, KernelArray, Kind, Lowering, LoweringKind, PartialEval, Primitive, Rule};
use ricci::{Attribute, Context, Error, Result, Type, Value, F64};

fn context() -> Result<Context> {
    let mut ctx = Context::new()?;
    unsafe { ctx.add_primitives("repeat", || vec![Box::new(Repeat)])? };
    Ok(ctx)
}
const TEXT: &str = "program f(%c: f64[], %x: f64[]) {
  %y: f64[] = test.repeat(%c, %x) n=5 body=program(%c: f64[], %x: f64[]) {
    %p: f64[] = mul(%c, %x)  %s: f64[] = sin(%p)  return %s }
  return %y }";

#[test]
fn it_obeys_the_laws() -> Result<()> {
    context()?.check_primitive("test.repeat")
}
#[test]
fn derivatives_and_batches_are_repeats() -> Result<()> {
    let ctx = context()?;
    let f = ctx.parse(TEXT, "f")?;
    for text in [f.jvp(&[true, true])?.to_string(), f.batch(&[false, true], 8, &[false])?.0.to_string()] {
        assert!(text.contains("test.repeat(") && !text.contains("scan("), "{}", text);
    }
    // By hand: the value after each trip, and its slope by c.
    let (c, mut x, mut slope) = (0.7f64, 0.3f64, 0.0f64);
    for _ in 0..5 {
        slope = (c * x).cos() * (x + c * slope);
        x = (c * x).sin();
    }
    let out = f.value_and_grad(&[0])?.compile()?.run(&[&ctx.scalar(c)?, &ctx.scalar(0.3)?])?;
    assert!((out[0].item::<f64>()? - x).abs() < 1e-14 && (out[1].item::<f64>()? - slope).abs() < 1e-14);
    let gradient = f.grad(&[0])?.vmap(&[None, Some(0)], 4096)?.compile()?;
    assert_eq!(gradient.dump("plan")?.lines().filter(|l| l.starts_with("  ")).count(), 1);
    Ok(())
}
#[test]
fn what_no_used_result_needs_is_dropped() -> Result<()> {
    let ctx = context()?;
    // Of a, b, c only a is asked for, which needs b: c is dropped, and the constant l that only c needs.
    let f = ctx.parse(
        "program f(%k: f64[], %l: f64[], %a: f64[], %b: f64[], %c: f64[]) {
           %x: f64[], %y: f64[], %z: f64[] = test.repeat(%k, %l, %a, %b, %c) n=3
             body=program(%k: f64[], %l: f64[], %a: f64[], %b: f64[], %c: f64[]) {
               %p: f64[] = mul(%k, %b)  %q: f64[] = sin(%b)  %r: f64[] = mul(%l, %c)  return %p, %q, %r }
           return %x, %y, %z }",
        "f",
    )?;
    let (smaller, read) = f.dce(&[true, false, false])?;
    assert_eq!(read, [true, false, true, true, false]);
    let given = [0.5, 9.0, 1.0, 2.0, 3.0].map(|x| ctx.scalar(x)).into_iter().collect::<Result<Vec<_>>>()?;
    let out = smaller.compile()?.run(&given.iter().collect::<Vec<_>>())?;
    assert!((out[0].item::<f64>()? - 0.5 * 2.0f64.sin().sin()).abs() < 1e-15);
    Ok(())
}
/// A repeat as one kernel, which holds what is carried in private arrays.
struct InOneKernel;
impl Lowering for InOneKernel {
    fn primitive(&self) -> &str {
        "test.repeat"
    }
    fn kind(&self) -> LoweringKind {
        LoweringKind::Loops
    }
    fn loops(&self, k: &Kernel, a: &Attributes<'_>) -> std::result::Result<(), String> {
        let body = a.program("body");
        let (params, types) = (body.params().len(), body.results());
        let operands: Vec<KernelArray<'_>> = (0..params).map(|i| k.operand(i)).collect();
        let [now, next] = [0, 1].map(|_| types.iter().map(|t| k.local(t.dtype, &t.dims)).collect::<Vec<_>>());
        let (fixed, first) = operands.split_at(params - types.len());
        let copy = |to: &[KernelArray<'_>], from: &[KernelArray<'_>]| to.iter().zip(from).for_each(|(x, y)| x.copy(*y));
        copy(&now, first);
        k.for_each(0, a.int("n"), |_| {
            k.inline_to(&body, &[fixed, &now].concat(), &next);
            copy(&now, &next);
        });
        copy(&(0..types.len()).map(|i| k.result(i)).collect::<Vec<_>>(), &now);
        Ok(())
    }
}
#[test]
fn a_policy_decides_inside() -> Result<()> {
    let ctx = context()?;
    // The half that has the result again takes what is called `s` of each trip as the policy saves it, or computes it.
    let text = TEXT.replace("return %s }", "%t: f64[] = name(%s) name=\"s\"  return %t }");
    let f = ctx.parse(&text, "f")?;
    let sines = |policy: &str| -> Result<usize> {
        let halves = f.partial_eval(&[true, true], policy, &[true])?;
        Ok(halves.unknown.to_string().matches("sin(").count())
    };
    assert_eq!((sines("names:s")?, sines("nothing")?), (0, 1));
    Ok(())
}
#[test]
fn loops_inline_a_held_program() -> Result<()> {
    let mut ctx = Context::new()?;
    unsafe { ctx.add_rows("repeat", || (vec![Box::new(Repeat)], vec![Box::new(InOneKernel)]))? };
    let code = ctx.parse(TEXT, "f")?.compile()?;
    assert!(code.dump("plan")?.contains("kernel test.repeat"), "{}", code.dump("plan")?);
    let wanted = (0..5).fold(0.3f64, |x, _| (0.7 * x).sin());
    let out = code.run(&[&ctx.scalar(0.7)?, &ctx.scalar(0.3)?])?[0].item::<f64>()?;
    assert!((out - wanted).abs() < 1e-15, "{} is not {}", out, wanted);
    Ok(())
}
/// Its lowering reads a result of the body where it is.
struct OneTrip;
impl Lowering for OneTrip {
    fn primitive(&self) -> &str {
        "test.repeat"
    }
    fn kind(&self) -> LoweringKind {
        LoweringKind::Loops
    }
    fn loops(&self, k: &Kernel, a: &Attributes<'_>) -> std::result::Result<(), String> {
        let results = k.inline(&a.program("body"), &[k.operand(0), k.operand(1)]);
        k.result(0).store(&[], results[0].load(&[]) * 100.0);
        Ok(())
    }
}
#[test]
fn a_result_of_a_program_is_loaded() -> Result<()> {
    let mut ctx = Context::new()?;
    unsafe { ctx.add_rows("repeat", || (vec![Box::new(Repeat)], vec![Box::new(OneTrip)]))? };
    let out = ctx.parse(TEXT, "f")?.compile()?.run(&[&ctx.scalar(0.7)?, &ctx.scalar(0.3)?])?[0].item::<f64>()?;
    assert!((out - 100.0 * 0.21f64.sin()).abs() < 1e-12, "{}", out);
    Ok(())
}

/// x times `by`, 1 if it is left out: then it is x itself.
struct Scaled;
impl Primitive for Scaled {
    fn name(&self) -> &str {
        "test.scaled"
    }
    fn doc(&self) -> &str {
        ""
    }
    fn examples(&self) -> &str {
        "(f64[2]); (f64[2]) by=3.0"
    }
    fn attributes(&self) -> Vec<(&'static str, Kind)> {
        vec![("by", Kind::Float)]
    }
    fn optional(&self) -> Vec<(&'static str, &'static str)> {
        vec![("by", "1.0")]
    }
    fn types(&self, operands: &[Type], _: &Attributes<'_>) -> std::result::Result<Vec<Type>, String> {
        Ok(operands.to_vec())
    }
    fn rules(&self) -> &[Rule] {
        &[Rule::Decompose, Rule::Simplify]
    }
    fn decompose(&self, x: &[Value], a: &Attributes<'_>) -> Vec<Value> {
        vec![&x[0] * if a.has("by") { a.float("by") } else { 1.0 }]
    }
    fn simplify(&self, x: &[Value], a: &Attributes<'_>) -> Result<Option<Vec<Value>>> {
        Ok((!a.has("by")).then(|| x.to_vec()))
    }
}
#[test]
fn what_is_left_out_simplifies() -> Result<()> {
    let mut ctx = Context::new()?;
    unsafe { ctx.add_primitives("scaled", || vec![Box::new(Scaled)])? };
    ctx.check_primitive("test.scaled")?;
    let kernels = |attributes: &'static [f64]| -> Result<String> {
        let f = ctx.trace("f", F64.shape(&[2]), |x| {
            let by: Vec<Attribute> = attributes.iter().map(|by| Attribute::float("by", *by)).collect();
            x.emit("test.scaled", &by, &[], 1).remove(0).sin()
        })?;
        f.compile()?.dump("kernels")
    };
    assert!(kernels(&[3.0])?.contains(" mul ") && !kernels(&[])?.contains(" mul "), "{}", kernels(&[])?);
    Ok(())
}

#[test]
fn halves_say_which_residuals_are_parameters() -> Result<()> {
    let text = "program f(%x: f64[], %c: f64[], %y: f64[]) {
        %s: f64[] = sin(%x)  %t: f64[] = mul(%c, %y)  %p: f64[] = mul(%s, %t)  return %p }";
    let f = context()?.parse(text, "f")?;
    let halves = f.partial_eval(&[true, true, false], "", &[false])?;
    let mut params: Vec<Option<usize>> = (0..halves.residuals).map(|i| halves.residual_param(i)).collect();
    params.sort();
    assert_eq!(params, [None, Some(1)]);
    // In loops of their own, what is computed again needs no mark that keeps it apart.
    let again = f.checkpoint()?;
    let known = [true, true, false];
    assert!(again.partial_eval(&known, "", &[false])?.unknown.to_string().contains("differentiated=true"));
    assert!(!again.partial_eval_apart(&known, "", &[false])?.unknown.to_string().contains("differentiated=true"));
    Ok(())
}

#[test]
fn flags_are_counted() -> Result<()> {
    let f = context()?.parse(TEXT, "f")?;
    let e = f.partial_eval(&[true], "", &[false]).unwrap_err();
    expect_words(&e, &["program_cases.rs", "f: 1 flags of parameters, but it has 2"]);
    expect_words(&f.dce(&[]).unwrap_err(), &["f: 0 flags of results, but it has 1"]);
    Ok(())
}

// ---- misuse ----
type Split = fn(&PartialEval<'_>) -> Result<Vec<Value>>;
/// It holds a program, and its rules are what a case says.
struct Wrong {
    split: Split,
    needed: fn() -> Vec<bool>,
}
impl Primitive for Wrong {
    fn name(&self) -> &str {
        "test.wrong"
    }
    fn doc(&self) -> &str {
        ""
    }
    fn examples(&self) -> &str {
        ""
    }
    fn attributes(&self) -> Vec<(&'static str, Kind)> {
        vec![("body", Kind::Program)]
    }
    fn types(&self, operands: &[Type], _: &Attributes<'_>) -> std::result::Result<Vec<Type>, String> {
        Ok(operands.to_vec())
    }
    fn rules(&self) -> &[Rule] {
        &[Rule::PartialEval, Rule::Dce]
    }
    fn partial_eval(&self, given: &PartialEval<'_>, _: &Attributes<'_>) -> Result<Vec<Value>> {
        (self.split)(given)
    }
    fn needed(&self, _: &[bool], _: &Attributes<'_>) -> Result<Vec<bool>> {
        Ok((self.needed)())
    }
    fn dce(&self, given: &Dce<'_>, _: &Attributes<'_>) -> Result<Vec<Option<Value>>> {
        Ok(given.operands.iter().map(|_| None).collect())
    }
}
const KNOWN_ONE: [bool; 2] = [true, false];

/// What the core says when it calls one of the rules, of an operation with a known operand and another one.
fn failure(rows: ricci::plugin::Rows, splits: bool) -> Result<Error> {
    let mut ctx = Context::new()?;
    unsafe { ctx.add_primitives("wrong", rows)? };
    let body = ctx.trace("body", F64.shape(&[]), |x| x.sin())?;
    let f = ctx.trace("f", (F64.shape(&[]), F64.shape(&[])), |(x, y)| {
        x.emit("test.wrong", &[Attribute::program("body", &body)], &[&y], 2)
    })?;
    Ok(if splits { f.partial_eval(&KNOWN_ONE, "", &[false, false]).unwrap_err() } else { f.dce(&[true, false]).unwrap_err() })
}
macro_rules! split {
    ($split:expr) => {
        failure(|| vec![Box::new(Wrong { split: $split, needed: Vec::new })], true)
    };
}
#[test]
fn a_known_value_is_no_value_of_the_other_half() -> Result<()> {
    let e = split!(|given| Ok(vec![&given.operands[0] + &given.operands[1], given.operands[1].clone()]))?;
    let said = "a value belongs to another program than this rule's; `residual` gives a known value to the other half";
    expect_words(&e, &["test.wrong: ", "program_cases.rs", said]);
    let e = split!(|given| Ok(vec![given.residual(&given.operands[1])?, given.operands[1].clone()]))?;
    expect_words(&e, &["test.wrong: ", "program_cases.rs", "residual: only a value of the known half can be kept"]);
    Ok(())
}
#[test]
fn what_a_rule_gives_is_counted() -> Result<()> {
    let e = split!(|given| Ok(given.operands[..1].to_vec()))?;
    expect_words(&e, &["test.wrong: rule partial_eval of plugin wrong: gives 1 results, not 2"]);
    let e = failure(|| vec![Box::new(Wrong { split: |_| unreachable!(), needed: Vec::new })], false)?;
    expect_words(&e, &["test.wrong: rule dce of plugin wrong: gives 0 flags of operands, not 2"]);
    let e = failure(|| vec![Box::new(Wrong { split: |_| unreachable!(), needed: || vec![true, true] })], false)?;
    expect_words(&e, &["test.wrong: rule dce of plugin wrong: slot 0 is not filled"]);
    Ok(())
}
#[test]
fn a_panic_names_plugin_primitive_and_rule() -> Result<()> {
    let e = split!(|_| panic!("planned panic"))?;
    expect_words(&e, &["test.wrong: rule partial_eval of plugin wrong: panicked: planned panic"]);
    let e = failure(|| vec![Box::new(Wrong { split: |_| unreachable!(), needed: || panic!("planned panic") })], false)?;
    expect_words(&e, &["test.wrong: rule dce of plugin wrong: panicked: planned panic"]);
    Ok(())
}
