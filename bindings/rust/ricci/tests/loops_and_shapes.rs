//! Loops with a bound, branches by number, nested structs, joined arrays and products of matrices.
use ricci::{concatenate, scan, stack, switch, while_loop_at_most, Branch, Code, Context, Result, Type, Value, F32, I32};

fn close(a: &[f32], b: &[f32]) {
    assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= 1e-5 * y.abs().max(1.0), "{:?} is not {:?}", a, b);
    }
}

#[test]
fn reverse_mode_goes_through_a_while_with_a_bound() -> Result<()> {
    let ctx = Context::new()?;
    // x is squared while it is below 100; the derivative of x^(2^n) is 2^n x^(2^n - 1).
    let f = ctx.trace("f", F32.shape(&[]), |x| while_loop_at_most(5, |v: Value| v.lt(100.0), |v| &v * &v, &x))?;
    let grad = f.value_and_grad(&[0])?.compile()?;
    for (x, n) in [(3.0f32, 3), (20.0, 1), (200.0, 0)] {
        let out = grad.run(&[&ctx.scalar(x)?])?;
        let power = 2i32.pow(n);
        close(&[out[0].item()?, out[1].item()?], &[x.powi(power), power as f32 * x.powi(power - 1)]);
    }
    let e = grad.run(&[&ctx.scalar(1.0f32)?]).unwrap_err();
    assert_eq!(e.code(), Code::OutOfRange);
    assert!(e.message().contains("5"), "{}", e);
    Ok(())
}

#[test]
fn a_switch_runs_the_branch_of_its_number() -> Result<()> {
    let ctx = Context::new()?;
    let f = ctx.trace("f", (I32.shape(&[]), F32.shape(&[]), F32.shape(&[])), |(i, x, y)| {
        let branches: Vec<Branch<'_, Value, Value>> =
            vec![Box::new(|v| &v * &y), Box::new(|v| v.sin()), Box::new(|v| &v + &x + &y)];
        switch(&i, branches, &x)
    })?;
    let code = f.compile()?;
    let (x, y) = (0.5f32, 3.0f32);
    for (i, want) in [(0, x * y), (1, x.sin()), (2, x + x + y), (7, x + x + y), (-1, x * y)] {
        let out = code.run(&[&ctx.scalar(i)?, &ctx.scalar(x)?, &ctx.scalar(y)?])?;
        close(&[out[0].item()?], &[want]);
    }
    let slopes = f.grad(&[1, 2])?.compile()?;
    let out = slopes.run(&[&ctx.scalar(2i32)?, &ctx.scalar(x)?, &ctx.scalar(y)?])?;
    close(&[out[0].item()?, out[1].item()?], &[2.0, 1.0]);
    let e = ctx
        .trace("f", (I32.shape(&[]), F32.shape(&[])), |(i, x)| {
            let branches: Vec<Branch<'_, Value, Vec<Value>>> =
                vec![Box::new(|v| vec![v]), Box::new(|v: Value| vec![v.clone(), v])];
            switch(&i, branches, &x)
        })
        .unwrap_err();
    assert!(e.message().contains("switch: the result of branch 1 has 2 values, not 1"), "{}", e);
    Ok(())
}

struct Joint<T> {
    angle: T,
    speed: T,
}
ricci::tree_struct!(Joint { angle, speed });
struct Robot<T> {
    body: Joint<T>,
    arms: Vec<Joint<T>>,
    load: (T, T),
}
ricci::tree_struct!(Robot { body, arms, load });

#[test]
fn structs_are_nested() -> Result<()> {
    let ctx = Context::new()?;
    let joint = |x: f32| -> Result<Joint<ricci::Array>> { Ok(Joint { angle: ctx.scalar(x)?, speed: ctx.scalar(x + 1.0)? }) };
    let robot = |n: usize| -> Result<Robot<ricci::Array>> {
        let arms = (0..n).map(|i| joint(10.0 * i as f32)).collect::<Result<Vec<_>>>()?;
        Ok(Robot { body: joint(1.0)?, arms, load: (ctx.scalar(5.0f32)?, ctx.scalar(6.0f32)?) })
    };
    let moved = ctx.jit(|r: Robot<Value>| Robot {
        body: Joint { angle: &r.body.angle + &r.body.speed, speed: r.body.speed },
        arms: r.arms.into_iter().map(|a| Joint { angle: a.speed * 2, speed: a.angle }).collect(),
        load: (r.load.1, r.load.0),
    });
    for n in [2, 3, 2] {
        let out = moved.call(robot(n)?)?;
        assert_eq!(out.arms.len(), n);
        close(&[out.body.angle.item()?, out.arms[1].angle.item()?, out.arms[1].speed.item()?], &[3.0, 22.0, 10.0]);
        close(&[out.load.0.item()?, out.load.1.item()?], &[6.0, 5.0]);
    }
    assert_eq!(format!("{:?}", moved), "Jit(2 compiled)");
    let types = Robot { body: types_of_joint(), arms: vec![types_of_joint()], load: (F32.shape(&[]), F32.shape(&[])) };
    let f = ctx.trace("f", types, |r| {
        scan(&r, &(), Some(3), |s: Robot<Value>, ()| {
            let load = (&s.load.0 + &s.body.angle, s.load.1.clone());
            (Robot { body: s.body, arms: s.arms, load }, ())
        })
        .0
        .load
        .0
    })?;
    assert_eq!(f.params().len(), 6);
    Ok(())
}
fn types_of_joint() -> Joint<Type> {
    Joint { angle: F32.shape(&[]), speed: F32.shape(&[]) }
}

#[test]
fn values_are_joined() -> Result<()> {
    let ctx = Context::new()?;
    let f = ctx.trace("f", (F32.shape(&[2, 2]), F32.shape(&[1, 2])), |(x, y)| {
        (concatenate(&[&x, &y, &x], 0), stack(&[&x, &(&x * 2)], 1))
    })?;
    assert_eq!(f.results(), [F32.shape(&[5, 2]), F32.shape(&[2, 2, 2])]);
    let out = f.compile()?.run(&[&ctx.array(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2])?, &ctx.array(&[5.0f32, 6.0], &[1, 2])?])?;
    close(&out[0].to_vec()?, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1.0, 2.0, 3.0, 4.0]);
    close(&out[1].to_vec()?, &[1.0, 2.0, 2.0, 4.0, 3.0, 4.0, 6.0, 8.0]);
    let e = ctx.trace("f", (F32.shape(&[2]), F32.shape(&[2, 2])), |(x, y)| concatenate(&[&x, &y], 0)).unwrap_err();
    assert_eq!(e.primitive(), "concatenate");
    Ok(())
}

// The shapes of numpy.matmul: vectors to the left and right, batches that are broadcast.
#[test]
fn products_of_matrices_have_the_shapes_of_numpy() -> Result<()> {
    let ctx = Context::new()?;
    let cases: [(&[i64], &[i64], &[i64]); 7] = [
        (&[2, 3], &[3, 4], &[2, 4]),
        (&[3], &[3], &[]),
        (&[3], &[3, 4], &[4]),
        (&[2, 3], &[3], &[2]),
        (&[5, 2, 3], &[3, 4], &[5, 2, 4]),
        (&[5, 1, 2, 3], &[6, 3, 4], &[5, 6, 2, 4]),
        (&[5, 2, 3], &[3], &[5, 2]),
    ];
    for (a, b, want) in cases {
        let f = ctx.trace("f", (F32.shape(a), F32.shape(b)), |(x, y)| x.matmul(&y))?;
        assert_eq!(f.results(), [F32.shape(want)]);
        let ones = |dims: &[i64]| ctx.array(&vec![1.0f32; dims.iter().product::<i64>() as usize], dims);
        let out = f.compile()?.run(&[&ones(a)?, &ones(b)?])?;
        assert!(out[0].to_vec::<f32>()?.iter().all(|x| *x == 3.0));
    }
    let f = ctx.trace("f", (F32.shape(&[2, 2]), F32.shape(&[2, 2])), |(x, y)| x.matmul(&y))?;
    let out = f.compile()?.run(&[&ctx.array(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2])?, &ctx.array(&[5.0f32, 6.0, 7.0, 8.0], &[2, 2])?])?;
    close(&out[0].to_vec()?, &[19.0, 22.0, 43.0, 50.0]);
    for (a, b, why) in [
        (&[][..], &[3][..], "matmul: f32[] and f32[3]: a scalar has no rows; multiply it"),
        (&[2, 3, 3][..], &[5, 3, 3][..], "matmul: f32[2,3,3] and f32[5,3,3]: their batches cannot be broadcast together"),
        (&[2, 3][..], &[4, 2][..], "dot_general"),
    ] {
        let e = ctx.trace("f", (F32.shape(a), F32.shape(b)), |(x, y)| x.matmul(&y)).unwrap_err();
        assert!(e.message().contains(why), "{}", e);
    }
    Ok(())
}
