//! Rows that hold programs: their derivatives, batches, halves and dead code, and what a rule that is wrong says.
use crate::repeat_row::Repeat;
use crate::small_row::expect_words;
use ricci::plugin::{Attributes, Dce, Kind, PartialEval, Primitive, Rule};
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
#[test]
fn flags_are_counted() -> Result<()> {
    let f = context()?.parse(TEXT, "f")?;
    let e = f.partial_eval(&[true], "").unwrap_err();
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
    Ok(if splits { f.partial_eval(&KNOWN_ONE, "").unwrap_err() } else { f.dce(&[true, false]).unwrap_err() })
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
