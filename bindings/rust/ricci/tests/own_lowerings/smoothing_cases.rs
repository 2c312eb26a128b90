//! The plugin `smoothing`: its rows obey the laws, give the right numbers, and are part of the kernels around them.
use crate::{monotone_fit, pool_means, pooled_runs, thomas_solve};
use ricci::{Context, Program, Result, F32, F64};

fn context() -> Result<Context> {
    let mut ctx = Context::new()?;
    unsafe {
        ctx.add_primitives("smoothing", || {
            vec![
                Box::new(thomas_solve::Tridiagonal),
                Box::new(pooled_runs::Pools),
                Box::new(pool_means::PoolMeans),
                Box::new(monotone_fit::Monotone),
            ]
        })?;
    }
    Ok(ctx)
}

#[test]
fn they_obey_the_laws() -> Result<()> {
    let ctx = context()?;
    for name in ["tridiagonal", "pools", "pool_means", "monotone"] {
        ctx.check_primitive(&format!("smoothing.{}", name))?;
    }
    Ok(())
}

/// How far the smoothed series (Whittaker, 1923) is from what is wanted: y, the logarithm of the weight of its slopes,
/// and what is wanted.
fn loss(ctx: &Context) -> Result<Program> {
    let series = F32.shape(&[16]);
    ctx.trace("loss", (series.clone(), F32.shape(&[]), series), |(y, log_weight, wanted)| {
        let weight = log_weight.exp();
        let (side, one) = (-&weight * y.full_like(1.0), y.full_like(1.0));
        let diagonal = one + &weight * 2.0;
        let x = side.emit("smoothing.tridiagonal", &[], &[&diagonal, &side, &y.tanh()], 1).remove(0);
        (x - wanted).square().sum()
    })
}
#[test]
fn a_gradient_under_vmap_is_one_kernel() -> Result<()> {
    let ctx = context()?;
    let gradient = loss(&ctx)?.grad(&[0, 1])?.vmap(&[Some(0), Some(0), Some(0)], 512)?;
    let plan = gradient.compile()?.dump("plan")?;
    assert_eq!(plan.lines().filter(|l| l.starts_with("  ")).count(), 1, "{}", plan);
    Ok(())
}
#[test]
fn a_gradient_is_a_difference() -> Result<()> {
    let ctx = context()?;
    let (f, y) = (loss(&ctx)?, (0..16).map(|i| (i as f32 * 1.7).sin()).collect::<Vec<_>>());
    let (y, wanted) = (ctx.array(&y, &[16])?, ctx.array(&[0.1f32; 16], &[16])?);
    let at = |w: f32| f.compile()?.run(&[&y, &ctx.scalar(w)?, &wanted])?[0].item::<f32>();
    let slope = f.grad(&[1])?.compile()?.run(&[&y, &ctx.scalar(0.5f32)?, &wanted])?[0].item::<f32>()?;
    let wanted = (at(0.52)? - at(0.48)?) / 0.04;
    assert!((slope - wanted).abs() < 2e-3 * wanted.abs().max(1.0), "{} is not {}", slope, wanted);
    Ok(())
}

#[test]
fn a_monotone_fit_and_its_gradient() -> Result<()> {
    let ctx = context()?;
    // The share of each element of y in the last element of the fit, for two series at once.
    let f = ctx.trace("last", F64.shape(&[6]), |y| {
        let fit = y.emit("smoothing.monotone", &[], &[], 1).remove(0);
        (fit.at(5), fit)
    })?;
    let y = ctx.array(&[1.0, 3.0, 2.0, 4.0, 9.0, 5.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0], &[2, 6])?;
    let out = f.value_and_grad(&[0])?.vmap(&[Some(0)], 2)?.compile()?.run(&[&y])?;
    assert_eq!(out[0].to_vec::<f64>()?, [7.0, 3.5]);
    assert_eq!(out[1].to_vec::<f64>()?, [1.0, 2.5, 2.5, 4.0, 7.0, 7.0, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5]);
    let share = [&[0.0, 0.0, 0.0, 0.0, 0.5, 0.5][..], &[1.0 / 6.0; 6]].concat();
    assert_eq!(out[2].to_vec::<f64>()?, share);
    Ok(())
}
#[test]
fn many_threads_run_a_library_at_once() -> Result<()> {
    let ctx = context()?;
    let f = ctx.trace("fit", F64.shape(&[300, 5]), |y| y.emit("smoothing.monotone", &[], &[], 1).remove(0))?;
    let (code, y) = (f.compile()?, (0..1500).map(|i| f64::from(i * 7919 % 1000)).collect::<Vec<f64>>());
    let fits: Vec<Vec<f64>> = std::thread::scope(|s| {
        let runs: Vec<_> = (0..4).map(|_| s.spawn(|| code.run(&[&ctx.array(&y, &[300, 5])?])?[0].to_vec::<f64>())).collect();
        runs.into_iter().map(|r| r.join().expect("a run does not panic")).collect::<Result<_>>()
    })?;
    for fit in &fits {
        assert_eq!(fit, &fits[0]);
        assert!(fit.chunks(5).all(|row| row.windows(2).all(|pair| pair[0] <= pair[1])));
    }
    let total = |x: &[f64]| x.iter().sum::<f64>();
    assert!((total(&fits[0]) - total(&y)).abs() < 1e-6);
    Ok(())
}
#[test]
fn what_is_wrong_is_said() -> Result<()> {
    let ctx = context()?;
    let e = ctx
        .trace("f", (F64.shape(&[4]), F64.shape(&[3])), |(x, y)| x.emit("smoothing.tridiagonal", &[], &[&x, &y, &x], 1).remove(0))
        .unwrap_err();
    assert!(e.message().contains("smoothing.tridiagonal: u is f64[3], but b is f64[4]; they must have one type"), "{}", e);
    Ok(())
}
