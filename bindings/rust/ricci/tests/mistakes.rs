//! What mistakes in programs and in calls say.
use ricci::{scan, Code, Context, Result, Value, F32, I32};

#[test]
fn mistakes_name_the_primitive_and_the_line() -> Result<()> {
    let ctx = Context::new()?;
    let line = line!() + 1;
    let e = ctx.trace("f", (F32.shape(&[2]), I32.shape(&[2])), |(x, y)| (x * y).sum().sin()).unwrap_err();
    assert_eq!((e.code(), e.primitive()), (Code::InvalidArgument, "mul"));
    assert_eq!(e.location().map(|(file, line)| (file.ends_with("mistakes.rs"), line)), Some((true, line)));
    assert!(e.message().contains("f32[2]") && e.message().contains("i32[2]"), "{}", e);

    let e = ctx.trace("f", (F32.shape(&[2]), F32.shape(&[3])), |(x, y)| x + y).unwrap_err();
    assert!(e.message().contains("f32[2] and f32[3] cannot be broadcast together"), "{}", e);
    let e = ctx.trace("f", F32.shape(&[2]), |x| x.emit("no_such", &[], &[], 1)).unwrap_err();
    assert!(e.message().contains("no_such"), "{}", e);
    let e = ctx.trace("f", F32.shape(&[2]), |x| scan(&x, &x.sum(), None, |c: Value, _: Value| (c, ())).0).unwrap_err();
    assert!(e.message().contains("no dimension to go along"), "{}", e);
    Ok(())
}

#[test]
fn wrong_calls_are_errors() -> Result<()> {
    let ctx = Context::new()?;
    assert!(ctx.array(&[1.0f32, 2.0], &[3]).unwrap_err().message().contains("2 elements do not make f32[3]"));
    assert!(ctx.array(&[1.0f32], &[-1]).is_err());
    let x = ctx.array(&[1.0f32, 2.0], &[2])?;
    assert!(x.to_vec::<f64>().unwrap_err().message().contains("f32[2]"));
    assert!(x.item::<f32>().unwrap_err().message().contains("2 elements"));
    let f = ctx.trace("f", F32.shape(&[2]), |x| x.sin())?;
    assert!(f.compile()?.run(&[]).unwrap_err().message().contains("0 arguments for 1 parameters"));
    assert!(f.compile()?.run(&[&ctx.scalar(1.0f32)?]).is_err());
    assert!(f.grad(&[0]).is_err());
    assert!(ctx.parse("program", "text").is_err());
    Ok(())
}

#[test]
fn values_of_other_traces_are_refused() -> Result<()> {
    let ctx = Context::new()?;
    let mut kept = None;
    ctx.trace("first", F32.shape(&[]), |x| {
        kept = Some(x.clone());
        x
    })?;
    let old = kept.unwrap();
    let e = ctx.trace("second", F32.shape(&[]), |x| x + &old).unwrap_err();
    assert!(e.message().contains("does not belong to"), "{}", e);
    Ok(())
}

#[test]
fn the_first_mistake_is_what_is_told() -> Result<()> {
    let ctx = Context::new()?;
    let line = line!() + 2;
    let e = ctx.trace("f", (F32.shape(&[2]), F32.shape(&[3])), |(x, y)| {
        let z = x + y;
        let n = z.dims()[0]; // of nothing
        z * n as f64
    });
    assert_eq!(e.unwrap_err().location().map(|p| p.1), Some(line));
    let line = line!() + 2;
    let e = ctx.trace("f", F32.shape(&[]), |x| {
        scan(&vec![x.clone(), x.clone()], &(), Some(2), |c: Vec<Value>, ()| (vec![c[0].clone()], ())).0
    });
    let e = e.unwrap_err();
    assert!(e.message().contains("scan: the carry of the body has 1 values, not 2"), "{}", e);
    assert_eq!(e.location().map(|p| p.1), Some(line));
    Ok(())
}
