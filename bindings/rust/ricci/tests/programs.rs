//! Programs written in Rust: what they compute, their transformations, loops and branches.
use ricci::{cond, scan, while_loop, Code, Context, Result, Value, F32, I32};

fn close(a: &[f32], b: &[f32]) {
    assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= 1e-5 * y.abs().max(1.0), "{:?} is not {:?}", a, b);
    }
}

#[test]
fn gradient_of_a_traced_closure() -> Result<()> {
    let ctx = Context::new()?;
    let f = ctx.trace("f", F32.shape(&[3]), |x| (&x * x.sin()).sum())?;
    let x = [0.5f32, 1.0, 2.0];
    let out = f.value_and_grad(&[0])?.compile()?.run(&[&ctx.array(&x, &[3])?])?;
    close(&out[0].to_vec()?, &[x.iter().map(|x| x * x.sin()).sum()]);
    close(&out[1].to_vec()?, &x.map(|x| x.sin() + x * x.cos()));
    assert_eq!(f.name(), "f");
    assert!(f.to_string().contains("sin"));
    assert_eq!(ctx.parse(&f.to_string(), "again")?.to_string(), f.to_string());
    Ok(())
}

#[test]
fn numbers_and_shapes_are_broadcast() -> Result<()> {
    let ctx = Context::new()?;
    let f = ctx.trace("f", (F32.shape(&[2, 1]), F32.shape(&[3])), |(x, y)| 2.0 * &x + (y - 1.0) / 4.0 - &x)?;
    assert_eq!(f.results(), [F32.shape(&[2, 3])]);
    let out = f.compile()?.run(&[&ctx.array(&[1.0f32, 2.0], &[2, 1])?, &ctx.array(&[1.0f32, 5.0, 9.0], &[3])?])?;
    close(&out[0].to_vec()?, &[1.0, 2.0, 3.0, 2.0, 3.0, 4.0]);
    Ok(())
}

#[test]
fn forward_mode_and_batches() -> Result<()> {
    let ctx = Context::new()?;
    let f = ctx.trace("f", (F32.shape(&[]), F32.shape(&[])), |(x, y)| x.sin() * y)?;
    let one = |x: f32| ctx.scalar(x);
    let out = f.jvp(&[true, false])?.compile()?.run(&[&one(0.5)?, &one(2.0)?, &one(1.0)?])?;
    close(&[out[0].item()?, out[1].item()?], &[0.5f32.sin() * 2.0, 0.5f32.cos() * 2.0]);
    let batch = f.grad(&[0])?.vmap(&[Some(0), None], 3)?.compile()?;
    let out = batch.run(&[&ctx.array(&[0.0f32, 0.5, 1.0], &[3])?, &one(2.0)?])?;
    close(&out[0].to_vec()?, &[2.0, 2.0 * 0.5f32.cos(), 2.0 * 1.0f32.cos()]);
    Ok(())
}

struct State<T> {
    angle: T,
    speed: T,
}
ricci::tree_struct!(State { angle, speed });

fn step(s: &State<Value>, dt: f64) -> State<Value> {
    let speed = &s.speed - s.angle.sin() * dt;
    State { angle: &s.angle + &speed * dt, speed }
}

#[test]
fn a_scan_over_a_struct_with_its_gradient() -> Result<()> {
    let ctx = Context::new()?;
    let start = State { angle: F32.shape(&[]), speed: F32.shape(&[]) };
    let f = ctx.trace("swing", start, |s| {
        let (last, path) = scan(&s, &(), Some(20), |s: State<Value>, ()| {
            let next = step(&s, 0.1);
            let angle = next.angle.clone();
            (next, angle)
        });
        (last.angle, path)
    })?;
    let run = |angle: f32| -> Result<f32> {
        Ok(f.compile()?.run(&[&ctx.scalar(angle)?, &ctx.scalar(0.0f32)?])?[0].item()?)
    };
    let (mut angle, mut speed) = (1.0f32, 0.0f32);
    for _ in 0..20 {
        speed -= angle.sin() * 0.1;
        angle += speed * 0.1;
    }
    close(&[run(1.0)?], &[angle]);
    let last = ctx.trace("last", (F32.shape(&[]), F32.shape(&[])), |(a, s)| f.call(&[&a, &s]).remove(0))?;
    let g = last.grad(&[0])?.compile()?.run(&[&ctx.scalar(1.0f32)?, &ctx.scalar(0.0f32)?])?;
    let difference = (run(1.001)? - run(0.999)?) / 0.002;
    assert!((g[0].item::<f32>()? - difference).abs() < 1e-3);
    Ok(())
}

#[test]
fn loops_and_branches_capture_values_around_them() -> Result<()> {
    let ctx = Context::new()?;
    // Newton's method for the root of `a`, a branch in its body.
    let f = ctx.trace("root", F32.shape(&[]), |a| {
        let one = a.full_like(1.0);
        let (x, _) = while_loop(
            |(x, _): (Value, Value)| (&x * &x - &a).abs().gt(1e-4),
            |(x, n)| {
                let next = cond(&x.gt(0.0), |x: Value| (&x + &a / &x) / 2.0, |x: Value| -x, &x);
                (next, n + 1.0)
            },
            &(one, a.full_like(0.0)),
        );
        x
    })?;
    let out = f.vmap(&[Some(0)], 3)?.compile()?.run(&[&ctx.array(&[1.0f32, 2.0, 9.0], &[3])?])?;
    close(&out[0].to_vec()?, &[1.0, 2.0f32.sqrt(), 3.0]);
    Ok(())
}

#[test]
fn nested_captures_and_stacked_outputs() -> Result<()> {
    let ctx = Context::new()?;
    let f = ctx.trace("f", (F32.shape(&[3]), F32.shape(&[])), |(xs, k)| {
        let (sum, ys) = scan(&k.full_like(0.0), &xs, None, |sum: Value, x: Value| {
            let (inner, ()) = scan(&x, &(), Some(2), |v: Value, ()| (v * &k, ()));
            (sum + &inner, inner + &x)
        });
        (sum, ys)
    })?;
    let out = f.compile()?.run(&[&ctx.array(&[1.0f32, 2.0, 3.0], &[3])?, &ctx.scalar(2.0f32)?])?;
    close(&out[0].to_vec()?, &[24.0]);
    close(&out[1].to_vec()?, &[5.0, 10.0, 15.0]);
    Ok(())
}

#[test]
fn jit_takes_and_gives_trees() -> Result<()> {
    let ctx = Context::new()?;
    let f = ctx.jit(|(s, dt): (State<Value>, Value)| {
        let speed = &s.speed - s.angle.sin() * &dt;
        State { angle: &s.angle + &speed * dt, speed }
    });
    for size in [1, 4] {
        let of = |x: f32| ctx.array(&vec![x; size], &[size as i64]);
        let out = f.call((State { angle: of(0.5)?, speed: of(1.0)? }, ctx.scalar(0.1f32)?))?;
        let speed = 1.0 - 0.5f32.sin() * 0.1;
        close(&out.angle.to_vec()?, &vec![0.5 + speed * 0.1; size]);
    }
    Ok(())
}

#[test]
fn threads_share_programs_and_code() -> Result<()> {
    let ctx = Context::new()?;
    let code = ctx.trace("f", F32.shape(&[]), |x| x.exp())?.compile()?;
    std::thread::scope(|s| {
        for i in 0..4 {
            let (ctx, code) = (ctx.clone(), code.clone());
            s.spawn(move || {
                for j in 0..50 {
                    let x = (i * j) as f32 / 50.0;
                    let out = code.run(&[&ctx.scalar(x).unwrap()]).unwrap();
                    close(&[out[0].item().unwrap()], &[x.exp()]);
                }
            });
        }
    });
    Ok(())
}

#[test]
fn bound_calls_own_their_memory() -> Result<()> {
    let ctx = Context::new()?;
    let code = ctx.trace("f", (F32.shape(&[3]), F32.shape(&[])), |(x, k)| (&x * &k, x.sum()))?.compile()?;
    let mut call = code.call()?;
    for k in 1..4 {
        call.argument::<f32>(0).copy_from_slice(&[1.0, 2.0, 3.0]);
        call.argument::<f32>(1)[0] = k as f32;
        call.run()?;
        close(call.result(0), &[1.0, 2.0, 3.0].map(|x| x * k as f32));
        close(call.result(1), &[6.0]);
    }
    assert!(std::panic::catch_unwind(|| call.result::<f64>(0).len()).is_err());
    Ok(())
}

#[test]
fn derivatives_of_ones_own() -> Result<()> {
    let ctx = Context::new()?;
    let one = F32.shape(&[]);
    let f = ctx.trace("f", one.clone(), |x| x.sin())?;
    // Twice the true derivative, so that it is seen.
    let forward = ctx.trace("forward", one.clone(), |x| (x.sin(), x))?;
    let backward = ctx.trace("backward", (one.clone(), one.clone()), |(x, ct)| x.cos() * ct * 2.0)?;
    let of = |f: &ricci::Program| -> Result<f32> {
        f.grad(&[0])?.compile()?.run(&[&ctx.scalar(0.5f32)?])?[0].item()
    };
    close(&[of(&f.custom_vjp(&forward, &backward)?)?], &[2.0 * 0.5f32.cos()]);
    let rule = ctx.trace("rule", (one.clone(), one.clone()), |(x, t)| (x.sin(), x.cos() * t * 3.0))?;
    close(&[of(&f.custom_jvp(&rule)?)?], &[3.0 * 0.5f32.cos()]);
    close(&[of(&f.checkpoint()?)?], &[0.5f32.cos()]);
    assert!(f.custom_vjp(&backward, &forward).is_err());
    Ok(())
}

#[test]
fn tensors_are_shared_without_copies() -> Result<()> {
    let ctx = Context::new()?;
    let x = ctx.array(&[1.0f32, 2.0], &[2])?;
    let y = unsafe { ctx.from_dlpack(x.to_dlpack()?)? };
    drop(x);
    assert_eq!(y.to_vec::<f32>()?, [1.0, 2.0]);
    Ok(())
}

/// sqrt(x^2 + eps^2).
#[derive(Default)]
struct SmoothAbs;
impl ricci::plugin::Primitive for SmoothAbs {
    fn name(&self) -> &str {
        "test.smooth_abs"
    }
    fn doc(&self) -> &str {
        "y = test.smooth_abs(x): sqrt(x^2 + `eps`^2)"
    }
    fn examples(&self) -> &str {
        "(f64[3]) eps=0.5; (f32[2,2]) eps=0.1"
    }
    fn attributes(&self) -> Vec<(&'static str, ricci::plugin::Kind)> {
        vec![("eps", ricci::plugin::Kind::Float)]
    }
    fn types(&self, operands: &[ricci::Type], attributes: &ricci::plugin::Attributes<'_>) -> std::result::Result<Vec<ricci::Type>, String> {
        assert!(attributes.float("eps") < 1000.0, "planned panic");
        if attributes.float("eps") <= 0.0 {
            return Err(format!("eps is {}; it must be greater than 0", attributes.float("eps")));
        }
        Ok(operands.to_vec())
    }
    fn decompose(&self, operands: &[Value], attributes: &ricci::plugin::Attributes<'_>) -> Vec<Value> {
        let eps = attributes.float("eps");
        vec![(operands[0].square() + eps * eps).sqrt()]
    }
}

#[test]
fn a_primitive_in_rust_has_all_rules() -> Result<()> {
    let mut ctx = Context::new()?;
    unsafe { ctx.add_primitives("test", || vec![Box::new(SmoothAbs)])? };
    let smooth = |eps: f64| move |x: Value| x.emit("test.smooth_abs", &[ricci::Attribute::float("eps", eps)], &[], 1).remove(0);
    let f = ctx.trace("f", F32.shape(&[]), smooth(0.5))?;
    let out = f.value_and_grad(&[0])?.vmap(&[Some(0)], 2)?.compile()?.run(&[&ctx.array(&[1.0f32, -2.0], &[2])?])?;
    let r = [1.25f32.sqrt(), 4.25f32.sqrt()];
    close(&out[0].to_vec()?, &r);
    close(&out[1].to_vec()?, &[1.0 / r[0], -2.0 / r[1]]);

    let e = ctx.trace("f", F32.shape(&[]), smooth(-1.0)).unwrap_err();
    assert_eq!(e.primitive(), "test.smooth_abs");
    assert!(e.message().contains("programs.rs") && e.message().contains("eps is -1; it must be greater than 0"), "{}", e);
    let e = ctx.trace("f", F32.shape(&[]), smooth(1e4)).unwrap_err();
    assert!(e.code() == Code::Internal && e.message().contains("planned panic"), "{}", e);
    assert!(unsafe { ctx.add_primitives("test", || vec![Box::new(SmoothAbs)]) }.is_err());
    Ok(())
}

#[test]
fn branches_compute_only_what_is_taken() -> Result<()> {
    let ctx = Context::new()?;
    // The logarithm of an outer value belongs to its branch: its derivative at 0 is not computed.
    let f = ctx.trace("f", F32.shape(&[]), |x| cond(&x.gt(0.0), |()| x.log(), |()| x.clone(), &()))?;
    let out = f.grad(&[0])?.compile()?.run(&[&ctx.scalar(0.0f32)?])?;
    close(&[out[0].item()?], &[1.0]);
    // A branch on a flag of the outer program uses a value of the body.
    let f = ctx.trace("f", (F32.shape(&[3]), F32.shape(&[])), |(xs, k)| {
        let flag = k.gt(0.0);
        let zero = k.full_like(0.0);
        scan(&zero, &xs, None, |c: Value, x: Value| (c + cond(&flag, |()| &x * 2.0, |()| x.clone(), &()), ())).0
    })?;
    let xs = ctx.array(&[1.0f32, 2.0, 3.0], &[3])?;
    for (k, wanted) in [(1.0f32, 12.0), (-1.0, 6.0)] {
        close(&[f.compile()?.run(&[&xs, &ctx.scalar(k)?])?[0].item()?], &[wanted]);
    }
    Ok(())
}

#[test]
fn jit_tells_structures_apart() -> Result<()> {
    let ctx = Context::new()?;
    let f = ctx.jit(|(a, b): (Vec<Value>, Vec<Value>)| (&a[0] * 10.0 + &b[0], a.len() as f64 + &b[0] * 0.0));
    let one = |x: f32| ctx.scalar(x);
    let first = f.call((vec![one(1.0)?], vec![one(2.0)?, one(3.0)?]))?;
    let second = f.call((vec![one(1.0)?, one(2.0)?], vec![one(3.0)?]))?;
    close(&[first.0.item()?, first.1.item()?], &[12.0, 1.0]);
    close(&[second.0.item()?, second.1.item()?], &[13.0, 2.0]);
    Ok(())
}

#[test]
fn numbers_must_be_of_the_type_beside_them() -> Result<()> {
    let ctx = Context::new()?;
    let e = ctx.trace("f", I32.shape(&[2]), |x| x * 0.5).unwrap_err();
    assert!(e.message().contains("0.5 is not a value of i32") && e.message().contains("programs.rs"), "{}", e);
    let f = ctx.trace("f", ricci::BF16.shape(&[2]), |x| (x * 2.0).astype(F32))?;
    assert_eq!(f.results(), [F32.shape(&[2])]);
    let f = ctx.trace("f", F32.shape(&[2]), |x| x.gt(0.0))?;
    let out = f.compile()?.run(&[&ctx.array(&[1.0f32, -1.0], &[2])?])?;
    assert_eq!(out[0].to_vec::<bool>()?, [true, false]);
    let f = ctx.trace("f", F32.shape(&[2]), |x| &x + x.constant(&[10.0f32, 20.0], &[2]))?;
    close(&f.compile()?.run(&[&ctx.array(&[1.0f32, 2.0], &[2])?])?[0].to_vec()?, &[11.0, 22.0]);
    assert!(f.vmap(&[Some(-1)], 3).unwrap_err().message().contains("less than 0"));
    Ok(())
}

#[test]
fn numbers_of_every_kind_stand_beside_values() -> Result<()> {
    let ctx = Context::new()?;
    let f = ctx.trace("f", F32.shape(&[2]), |x| {
        let right = (&x * 2.0f32 + 1.0).maximum(1i32) - 3;
        2.0 * right.clone() + 1.0 / (right + 0.5f32)
    })?;
    let out = f.compile()?.run(&[&ctx.array(&[1.0f32, 4.0], &[2])?])?;
    close(&out[0].to_vec()?, &[2.0 / 1.0 - 2.0 + 1.0 / 0.5, 2.0 * 6.0 + 1.0 / 6.5]);
    let whole = ctx.trace("g", I32.shape(&[2]), |x| x * 3 - 1)?;
    assert_eq!(whole.compile()?.run(&[&ctx.array(&[1i32, 2], &[2])?])?[0].to_vec::<i32>()?, [2, 5]);
    Ok(())
}

#[test]
fn everything_can_be_shown() -> Result<()> {
    let ctx = Context::new()?;
    let mut seen = String::new();
    let f = ctx.trace("f", F32.shape(&[2]), |x| {
        seen = format!("{:?} {:?}", x, ricci::Attribute::ints("axes", &[0]));
        x.sin()
    })?;
    assert_eq!(seen, "Value(f32[2]) Attribute { name: \"axes\", data: Ints([0]) }");
    let code = f.compile()?;
    assert_eq!(format!("{:?}", f), "Program(f)");
    assert_eq!(format!("{:?} {:?}", code, code.call()?), "Executable(f32[2] -> f32[2]) Call(f32[2] -> f32[2])");
    assert_eq!(format!("{:?}", ctx), "Context(2 devices)");
    let jit = ctx.jit(|x: Value| x.sin());
    jit.call(ctx.scalar(1.0f32)?)?;
    assert_eq!(format!("{:?}", jit), "Jit(1 compiled)");
    assert!(code.dump("optimized")?.contains("sin"));
    assert!(code.dump("no stage").is_err());
    Ok(())
}
