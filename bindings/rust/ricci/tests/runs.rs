//! Reverse mode in two programs, batches with axes and schedules, files of programs, and runs that end early or report.
use ricci::{while_loop, Code, Context, Profile, Result, RunOptions, Schedule, Stop, Value, VmapOptions, F32};
use std::time::Duration;

fn close(a: &[f32], b: &[f32]) {
    assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= 1e-5 * y.abs().max(1.0), "{:?} is not {:?}", a, b);
    }
}

#[test]
fn vjp_gives_the_results_and_a_backward_program() -> Result<()> {
    let ctx = Context::new()?;
    let f = ctx.trace("f", (F32.shape(&[2]), F32.shape(&[2])), |(x, y)| x.sin() * y)?;
    let (forward, backward) = f.vjp(&[true, false])?;
    let (x, y, ct) = (ctx.array(&[0.5f32, 1.0], &[2])?, ctx.array(&[2.0f32, 3.0], &[2])?, ctx.array(&[1.0f32, 10.0], &[2])?);
    let mut out = forward.compile()?.run(&[&x, &y])?;
    close(&out[0].to_vec()?, &[0.5f32.sin() * 2.0, 1.0f32.sin() * 3.0]);
    out.remove(0);
    let given: Vec<&ricci::Array> = out.iter().chain([&ct]).collect();
    let back = backward.compile()?.run(&given)?;
    assert_eq!(back.len(), 1);
    close(&back[0].to_vec()?, &[0.5f32.cos() * 2.0, 1.0f32.cos() * 30.0]);
    assert!(f.vjp(&[true]).unwrap_err().message().contains("vjp: 1 flags for 2 parameters"));
    Ok(())
}

#[test]
fn batches_have_axes_of_results_and_schedules() -> Result<()> {
    let ctx = Context::new()?;
    let f = ctx.trace("f", (F32.shape(&[2]), F32.shape(&[])), |(x, y)| (&x * &y, y.sin()))?;
    let x = ctx.array(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[3, 2])?;
    for schedule in [Schedule::Auto, Schedule::Batched, Schedule::Lanes] {
        let how = VmapOptions { out_axes: vec![Some(1), None], schedule, ..Default::default() };
        let batch = f.vmap_with(&[Some(0), None], 3, &how)?;
        assert_eq!(batch.results(), [F32.shape(&[2, 3]), F32.shape(&[])]);
        let out = batch.compile()?.run(&[&x, &ctx.scalar(2.0f32)?])?;
        close(&out[0].to_vec()?, &[2.0, 6.0, 10.0, 4.0, 8.0, 12.0]);
        close(&[out[1].item()?], &[2.0f32.sin()]);
    }
    let named = |schedule| -> Result<String> {
        let how = VmapOptions { axis_name: "rows".into(), schedule, ..Default::default() };
        Ok(f.vmap_with(&[Some(0), None], 3, &how)?.to_string())
    };
    assert!(named(Schedule::Lanes)?.contains("rows"));
    assert_ne!(named(Schedule::Lanes)?, named(Schedule::Batched)?);
    let wrong = VmapOptions { out_axes: vec![Some(-1), None], ..Default::default() };
    assert!(f.vmap_with(&[Some(0), None], 3, &wrong).unwrap_err().message().contains("the axis -1 is less than 0"));
    Ok(())
}

#[test]
fn programs_are_kept_in_files() -> Result<()> {
    let ctx = Context::new()?;
    let f = ctx.trace("energy", F32.shape(&[3]), |x| (&x * x.constant(&[1.0f32, 2.0, 3.0], &[3])).sum())?;
    let path = std::env::temp_dir().join(format!("ricci_rust_{}.ricci", std::process::id()));
    f.save(&path)?;
    let bytes = f.to_bytes()?;
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    let other = Context::new()?;
    for again in [other.load(&path)?, other.program_of_bytes(&bytes, "memory")?] {
        assert_eq!(again.to_string(), f.to_string());
        let out = again.compile()?.run(&[&other.array(&[1.0f32, 1.0, 2.0], &[3])?])?;
        close(&[out[0].item()?], &[9.0]);
    }
    std::fs::remove_file(&path).unwrap();
    assert_eq!(other.load(&path).unwrap_err().code(), Code::NotFound);
    assert!(other.program_of_bytes(&bytes[..bytes.len() / 2], "memory").unwrap_err().message().contains("memory"));
    Ok(())
}

fn endless(x: Value) -> Value {
    while_loop(|v: Value| v.gt(0.0), |v| v.sin() * 0.0 + 1.0, &x)
}

#[test]
fn runs_are_cancelled_and_have_deadlines() -> Result<()> {
    let ctx = Context::new()?;
    let code = ctx.trace("endless", F32.shape(&[]), endless)?.compile()?;
    let (one, minus) = (ctx.scalar(1.0f32)?, ctx.scalar(-1.0f32)?);
    let stop = Stop::new();
    let how = RunOptions { stop: Some(stop.clone()), ..Default::default() };
    let other = std::thread::spawn({
        let stop = stop.clone();
        move || stop.request()
    });
    assert_eq!(code.run_with(&[&one], &how).unwrap_err().code(), Code::Cancelled);
    other.join().unwrap();
    assert!(stop.requested());
    stop.clear();
    assert_eq!(code.run_with(&[&minus], &how)?[0].item::<f32>()?, -1.0);
    for after in [Duration::from_millis(20), Duration::ZERO] {
        stop.set_deadline(after);
        assert_eq!(code.run_with(&[&one], &how).unwrap_err().code(), Code::DeadlineExceeded);
    }
    stop.set_deadline(Duration::MAX);
    assert_eq!(code.run_with(&[&minus], &how)?[0].item::<f32>()?, -1.0);
    Ok(())
}

#[test]
fn a_profile_has_the_steps_of_runs() -> Result<()> {
    let ctx = Context::new()?;
    let f = ctx.trace("f", F32.shape(&[1000]), |x| x.sin().sum())?;
    let x = ctx.array(&vec![1.0f32; 1000], &[1000])?;
    let profile = Profile::new();
    let how = RunOptions { profile: Some(profile.clone()), ..Default::default() };
    f.compile_profiled()?.run_with(&[&x], &how)?;
    let steps = profile.steps();
    assert!(!steps.is_empty());
    assert!(steps.iter().all(|s| !s.name.is_empty() && s.begin_ns <= s.end_ns));
    assert!(steps[0].file.ends_with("runs.rs"), "{}", steps[0].file);
    profile.clear();
    assert!(profile.steps().is_empty());
    assert_eq!(f.compile()?.run_with(&[&x], &how).unwrap_err().code(), Code::FailedPrecondition);
    Ok(())
}

#[test]
fn the_operation_that_makes_a_nan_is_named() -> Result<()> {
    let ctx = Context::new()?;
    let f = ctx.trace("f", F32.shape(&[2]), |x| (x - 1.0).log() * 2.0)?;
    f.check_finite(&[&ctx.array(&[2.0f32, 3.0], &[2])?])?;
    let e = f.check_finite(&[&ctx.array(&[2.0f32, 0.5], &[2])?]).unwrap_err();
    assert_eq!(e.code(), Code::OutOfRange);
    assert_eq!(e.primitive(), "log");
    assert!(e.location().unwrap().0.ends_with("runs.rs"));
    Ok(())
}
