//! Rules of one's own: what they compute, the laws that they obey, the kernels that they become part of, and what a
//! rule that panics, refuses or forgets something says.
use ricci::plugin::{Attributes, Batch, Jvp, Kernel, Kind, Primitive, Rule, Scalar, Transpose};
use ricci::{Attribute, Code, Context, Program, Result, Type, Value, F32, F64};

#[path = "../../collision/src/capsules.rs"]
mod capsules;
#[path = "../../collision/src/geometry.rs"]
mod geometry;
#[path = "../../collision/src/point_box.rs"]
mod point_box;

/// x sin(x), with a derivative of its own.
struct Wave;
impl Primitive for Wave {
    fn name(&self) -> &str {
        "test.wave"
    }
    fn doc(&self) -> &str {
        "y = test.wave(x): x sin(x)"
    }
    fn examples(&self) -> &str {
        "(f64[3]); (f32[2,2])"
    }
    fn types(&self, operands: &[Type], _: &Attributes<'_>) -> std::result::Result<Vec<Type>, String> {
        Ok(operands.to_vec())
    }
    fn rules(&self) -> &[Rule] {
        &[Rule::Scalar, Rule::Jvp, Rule::ElementwiseBatch]
    }
    fn missing(&self) -> &str {
        "transpose: not linear"
    }
    fn jvp(&self, given: &Jvp<'_>, _: &Attributes<'_>) -> (Vec<Value>, Vec<Option<Value>>) {
        let x = &given.primals[0];
        (vec![x * x.sin()], vec![Some(given.tangent(0) * (x.sin() + x * x.cos()))])
    }
    fn scalar<'k>(&self, _: &'k Kernel, x: &[Scalar<'k>], _: &Attributes<'_>) -> Vec<Scalar<'k>> {
        vec![x[0] * x[0].sin()]
    }
}

/// The elements of a vector from its end, times a factor: linear, with every rule that such an operation can have.
struct Turned;
impl Turned {
    fn of(x: &Value, factor: f64) -> Value {
        x.emit("test.turned", &[Attribute::float("factor", factor)], &[], 1).remove(0)
    }
}
impl Primitive for Turned {
    fn name(&self) -> &str {
        "test.turned"
    }
    fn doc(&self) -> &str {
        "y = test.turned(x): the elements of x from its end, times `factor`"
    }
    fn examples(&self) -> &str {
        "(f64[4]) factor=2.0; (f32[3]) factor=-1.0"
    }
    fn attributes(&self) -> Vec<(&'static str, ricci::plugin::Kind)> {
        vec![("factor", ricci::plugin::Kind::Float)]
    }
    fn types(&self, operands: &[Type], _: &Attributes<'_>) -> std::result::Result<Vec<Type>, String> {
        match operands {
            [x] if x.dims.len() == 1 => Ok(operands.to_vec()),
            _ => Err("it takes one vector".to_string()),
        }
    }
    fn rules(&self) -> &[Rule] {
        &[Rule::Index, Rule::Linear, Rule::Transpose, Rule::Batch]
    }
    fn factors(&self) -> &str {
        "n -> m; whole n; whole m"
    }
    fn transpose(&self, given: &Transpose<'_>, attributes: &Attributes<'_>) -> Vec<Option<Value>> {
        assert_eq!(given.types[0].dims.len(), 1);
        vec![given.cts[0].as_ref().map(|ct| Turned::of(ct, attributes.float("factor")))]
    }
    fn batch(&self, given: &Batch<'_>, attributes: &Attributes<'_>) -> Vec<(Value, Option<usize>)> {
        let batch = given.dims[0].expect("the one operand has the batch");
        assert_eq!(given.operands[0].dims()[batch], given.size);
        let turned = given.operands[0].emit("rev", &[Attribute::ints("dimensions", &[1 - batch as i64])], &[], 1);
        vec![(&turned[0] * attributes.float("factor"), Some(batch))]
    }
    fn index<'k>(&self, k: &'k Kernel, _: usize, position: &[Scalar<'k>], attributes: &Attributes<'_>) -> Scalar<'k> {
        let last = k.operand_type(0).dims[0] - 1;
        k.load(0, &[k.index(last) - position[0]]) * attributes.float("factor")
    }
}

fn context() -> Result<Context> {
    let mut ctx = Context::new()?;
    unsafe {
        ctx.add_primitives("test", || vec![Box::new(Wave), Box::new(Turned)])?;
        ctx.add_primitives("collision", || vec![Box::new(capsules::Capsules), Box::new(point_box::PointBox)])?;
    }
    Ok(ctx)
}

#[test]
fn they_obey_the_laws() -> Result<()> {
    let ctx = context()?;
    for name in ["test.wave", "test.turned", "collision.capsules", "collision.point_box"] {
        ctx.check_primitive(name)?;
    }
    Ok(())
}

#[test]
fn what_they_compute() -> Result<()> {
    let ctx = context()?;
    let f = ctx.trace("f", F32.shape(&[3]), |x| {
        let wave = Turned::of(&x, 2.0).emit("test.wave", &[], &[], 1).remove(0);
        wave.sum()
    })?;
    let x = [0.5f32, 1.0, 2.0];
    let out = f.value_and_grad(&[0])?.compile()?.run(&[&ctx.array(&x, &[3])?])?;
    let value: f32 = x.iter().map(|x| 2.0 * x * (2.0 * x).sin()).sum();
    assert!((out[0].item::<f32>()? - value).abs() < 1e-5);
    for (g, x) in out[1].to_vec::<f32>()?.iter().zip(x) {
        let wanted = 2.0 * ((2.0 * x).sin() + 2.0 * x * (2.0 * x).cos());
        assert!((g - wanted).abs() < 1e-4, "{} is not {}", g, wanted);
    }
    Ok(())
}

/// How many kernels the gradient of a batch of `f` is, and of how many instructions.
fn size_of_gradient(f: &Program) -> Result<(usize, usize)> {
    let argnums: Vec<u32> = (0..f.params().len() as u32).collect();
    let axes = vec![Some(0); argnums.len()];
    let code = f.grad(&argnums)?.vmap(&axes, 64)?.compile()?;
    let kernels = code.dump("plan")?.lines().filter(|l| l.starts_with("  ")).count();
    let instructions = code.dump("kernels")?.lines().filter(|l| l.contains(" = ")).count();
    Ok((kernels, instructions))
}
fn expect_as_small(ctx: &Context, types: Vec<Type>, name: &'static str, built_in: fn(&[Value]) -> Value) -> Result<()> {
    let own = ctx.trace("own", types.clone(), |x| {
        let others: Vec<&Value> = x[1..].iter().collect();
        x[0].emit(name, &[], &others, 1).remove(0).sum()
    })?;
    let other = ctx.trace("other", types, |x| built_in(&x).sum())?;
    let ((kernels, own), (_, other)) = (size_of_gradient(&own)?, size_of_gradient(&other)?);
    assert_eq!(kernels, 1, "{}", name);
    assert!(own > 0 && own * 100 <= other * 105, "{}: {} instructions, {} of built-in operations", name, own, other);
    Ok(())
}

#[test]
fn their_gradients_are_as_small_as_those_of_built_in_operations() -> Result<()> {
    let ctx = context()?;
    let (point, number) = (F32.shape(&[3]), F32.shape(&[]));
    let capsules =
        vec![point.clone(), point.clone(), number.clone(), point.clone(), point.clone(), number];
    expect_as_small(&ctx, capsules, "collision.capsules", capsules::distance)?;
    expect_as_small(&ctx, vec![point.clone(), point], "collision.point_box", point_box::distance)?;
    expect_as_small(&ctx, vec![F32.shape(&[])], "test.wave", |x| &x[0] * x[0].sin())
}

/// A primitive of which one rule panics, or is not there although it is listed.
struct Broken {
    rules: Vec<Rule>,
    name: String,
    panics: bool,
}
impl Broken {
    fn with(rule: Rule, panics: bool) -> Broken {
        let name = format!("test.broken_{:?}", rule).to_lowercase();
        Broken { rules: vec![rule], name, panics }
    }
    fn refuse<R>(&self, otherwise: impl FnOnce() -> R) -> R {
        assert!(!self.panics, "planned panic");
        otherwise()
    }
}
impl Primitive for Broken {
    fn name(&self) -> &str {
        &self.name
    }
    fn doc(&self) -> &str {
        ""
    }
    fn examples(&self) -> &str {
        ""
    }
    fn types(&self, operands: &[Type], _: &Attributes<'_>) -> std::result::Result<Vec<Type>, String> {
        Ok(operands.to_vec())
    }
    fn rules(&self) -> &[Rule] {
        &self.rules
    }
    fn decompose(&self, _: &[Value], _: &Attributes<'_>) -> Vec<Value> {
        self.refuse(Vec::new)
    }
    fn jvp(&self, _: &Jvp<'_>, _: &Attributes<'_>) -> (Vec<Value>, Vec<Option<Value>>) {
        self.refuse(|| (Vec::new(), Vec::new()))
    }
    fn transpose(&self, _: &Transpose<'_>, _: &Attributes<'_>) -> Vec<Option<Value>> {
        self.refuse(Vec::new)
    }
    fn batch(&self, _: &Batch<'_>, _: &Attributes<'_>) -> Vec<(Value, Option<usize>)> {
        self.refuse(Vec::new)
    }
    fn scalar<'k>(&self, _: &'k Kernel, _: &[Scalar<'k>], _: &Attributes<'_>) -> Vec<Scalar<'k>> {
        self.refuse(Vec::new)
    }
    fn index<'k>(&self, k: &'k Kernel, _: usize, _: &[Scalar<'k>], _: &Attributes<'_>) -> Scalar<'k> {
        self.refuse(|| k.constant(ricci::F64, 1.0))
    }
}

/// What the core says when it calls that rule.
fn failure(rule: Rule, panics: fn() -> Vec<Box<dyn Primitive>>) -> Result<ricci::Error> {
    let mut ctx = Context::new()?;
    unsafe { ctx.add_primitives("broken", panics)? };
    let name = Broken::with(rule, false).name;
    let f = ctx.trace("f", F32.shape(&[4]), |x| x.emit(&name, &[], &[], 1).remove(0))?;
    Ok(match rule {
        Rule::Jvp => f.jvp(&[true]).unwrap_err(),
        Rule::Transpose => {
            let linear = f.custom_jvp(&ctx.trace("rule", (F32.shape(&[4]), F32.shape(&[4])), |(x, t)| {
                (x.sin(), t.emit(&name, &[], &[], 1).remove(0))
            })?)?;
            let sum = ctx.trace("sum", F32.shape(&[4]), |x| linear.call(&[&x]).remove(0).sum())?;
            sum.grad(&[0]).unwrap_err()
        }
        _ => f.compile().unwrap_err(),
    })
}
macro_rules! broken {
    ($rule:ident, $panics:literal) => {
        failure(Rule::$rule, || vec![Box::new(Broken::with(Rule::$rule, $panics))])
    };
}

#[test]
fn a_panic_names_plugin_primitive_and_rule() -> Result<()> {
    for (rule, e) in [
        ("jvp", broken!(Jvp, true)?),
        ("transpose", broken!(Transpose, true)?),
        ("decompose", broken!(Decompose, true)?),
        ("scalar", broken!(Scalar, true)?),
        ("index", broken!(Index, true)?),
    ] {
        assert_eq!(e.code(), Code::Internal);
        let said = format!("test.broken_{}: rule {} of plugin broken: panicked: planned panic", rule, rule);
        assert!(e.message().contains(&said), "{}", e);
        assert_eq!(e.primitive(), format!("test.broken_{}", rule));
    }
    Ok(())
}

#[test]
fn a_rule_that_gives_too_little_is_named() -> Result<()> {
    for (rule, what, e) in [
        ("jvp", "0 results, not 1", broken!(Jvp, false)?),
        ("transpose", "0 cotangents, not 1", broken!(Transpose, false)?),
        ("decompose", "0 results, not 1", broken!(Decompose, false)?),
        ("scalar", "0 results, not 1", broken!(Scalar, false)?),
        ("index", "f64 for an element of result 0, f32[4]", broken!(Index, false)?),
    ] {
        assert!(e.message().contains(&format!("rule {} of plugin broken", rule)), "{}", e);
        assert!(e.message().contains(what), "{}", e);
    }
    Ok(())
}

/// Attributes of every kind, most of which may be left out.
struct Optional;
impl Primitive for Optional {
    fn name(&self) -> &str {
        "test.optional"
    }
    fn doc(&self) -> &str {
        "y = test.optional(x): x times `by`, through `via`, plus the sum of `plus` and `more`, without sign if `unsigned`"
    }
    fn examples(&self) -> &str {
        "(f64[3]) by=2; (f64[3]) by=-1 via=f64 plus=[1.5,2.0] more=[] unsigned=true note=\"a\"; (f64[0]) by=0 more=[3]; order=0 (f64[3]) by=2 via=f32"
    }
    fn attributes(&self) -> Vec<(&'static str, Kind)> {
        vec![
            ("by", Kind::Int),
            ("via", Kind::DType),
            ("plus", Kind::Floats),
            ("more", Kind::Ints),
            ("unsigned", Kind::Bool),
            ("note", Kind::Text),
        ]
    }
    fn optional(&self) -> Vec<(&'static str, &'static str)> {
        vec![("via", "that of x"), ("plus", "[]"), ("more", "[]"), ("unsigned", "false"), ("note", "")]
    }
    fn types(&self, operands: &[Type], a: &Attributes<'_>) -> std::result::Result<Vec<Type>, String> {
        match a.has("note") && a.text("note") == "no" {
            true => Err(format!("note is no, for {}", operands[0])),
            false => Ok(operands.to_vec()),
        }
    }
    fn decompose(&self, x: &[Value], a: &Attributes<'_>) -> Vec<Value> {
        let (own, via) = (x[0].dtype(), if a.has("via") { a.dtype("via") } else { x[0].dtype() });
        let more: f64 = if a.has("more") { a.ints("more").iter().sum::<i64>() as f64 } else { 0.0 };
        let plus: f64 = if a.has("plus") { a.floats("plus").iter().sum() } else { 0.0 };
        let y = (&x[0] * a.int("by") as f64).astype(via).astype(own) + (plus + more);
        vec![if a.has("unsigned") && a.bool("unsigned") { y.abs() } else { y }]
    }
}

#[test]
fn attributes_may_be_left_out() -> Result<()> {
    let mut ctx = Context::new()?;
    unsafe { ctx.add_primitives("test", || vec![Box::new(Optional)])? };
    ctx.check_primitive("test.optional")?;
    let of = |attributes: &[Attribute]| {
        ctx.trace("f", F64.shape(&[2]), |x| x.emit("test.optional", attributes, &[], 1).remove(0))
    };
    let by = || Attribute::int("by", -2);
    let run = |f: Program| -> Result<Vec<f64>> { f.compile()?.run(&[&ctx.array(&[1.0f64, 0.1], &[2])?])?[0].to_vec::<f64>() };
    assert_eq!(run(of(&[by()])?)?, [-2.0, -0.2]);
    let narrow = of(&[by(), Attribute::dtype("via", F32), Attribute::floats("plus", &[0.5]), Attribute::ints("more", &[1, 2])])?;
    assert_eq!(run(narrow)?, [1.5, f64::from(-0.2f32) + 3.5]);
    assert_eq!(run(of(&[by(), Attribute::bool("unsigned", true)])?)?, [2.0, 0.2]);
    let missing = of(&[]).unwrap_err();
    assert!(missing.message().contains("by"), "{}", missing);
    let refused = of(&[by(), Attribute::text("note", "no")]).unwrap_err();
    assert!(refused.message().contains("note is no, for f64[2]"), "{}", refused);
    Ok(())
}

/// Asks for an attribute that is left out.
struct Careless;
impl Primitive for Careless {
    fn name(&self) -> &str {
        "test.careless"
    }
    fn doc(&self) -> &str {
        ""
    }
    fn examples(&self) -> &str {
        ""
    }
    fn attributes(&self) -> Vec<(&'static str, Kind)> {
        vec![("axis", Kind::Int)]
    }
    fn optional(&self) -> Vec<(&'static str, &'static str)> {
        vec![("axis", "0")]
    }
    fn types(&self, operands: &[Type], a: &Attributes<'_>) -> std::result::Result<Vec<Type>, String> {
        a.int("axis");
        Ok(operands.to_vec())
    }
}

#[test]
fn a_rule_that_forgets_what_may_be_left_out_is_told() -> Result<()> {
    let mut ctx = Context::new()?;
    unsafe { ctx.add_primitives("test", || vec![Box::new(Careless)])? };
    let e = ctx.trace("f", F32.shape(&[4]), |x| x.emit("test.careless", &[], &[], 1).remove(0)).unwrap_err();
    assert!(e.message().contains("`axis` that it does not declare, or that is left out: ask `has`"), "{}", e);
    Ok(())
}

/// It lists the rule `jvp`, but has none.
struct Forgetful;
impl Primitive for Forgetful {
    fn name(&self) -> &str {
        "test.forgetful"
    }
    fn doc(&self) -> &str {
        ""
    }
    fn examples(&self) -> &str {
        ""
    }
    fn types(&self, operands: &[Type], _: &Attributes<'_>) -> std::result::Result<Vec<Type>, String> {
        Ok(operands.to_vec())
    }
    fn rules(&self) -> &[Rule] {
        &[Rule::Jvp]
    }
}

#[test]
fn a_rule_that_is_listed_must_be_written() -> Result<()> {
    let mut ctx = Context::new()?;
    unsafe { ctx.add_primitives("test", || vec![Box::new(Forgetful)])? };
    let f = ctx.trace("f", F32.shape(&[4]), |x| x.emit("test.forgetful", &[], &[], 1).remove(0))?;
    let e = f.jvp(&[true]).unwrap_err();
    assert!(e.message().contains("lists the rule `jvp`, but does not write it"), "{}", e);
    Ok(())
}
