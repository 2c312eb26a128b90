//! What a bound call costs from Rust, next to the same call as a C program makes it, in one run:
//! `cargo run --release --example call_cost`.
//!
//! Both sides run y = 2x + 1 on f32[4] in turn, for several rounds; the ratio is the median of those of the rounds. The
//! side of C is the functions of the ABI, line by line what a C program calls.
//! On one core of a shared AMD EPYC: 8.0 ns and 7.4 ns, 1.07 times.
use ricci::{sys, Context, Result, F32};
use std::os::raw::c_void;
use std::ptr;
use std::time::Instant;

const ROUNDS: usize = 31;
const CALLS: u32 = 100_000;
const PROGRAM: &str = "program f(%x: f32[4]) {
  %two: f32[4] = constant 2.0
  %one: f32[4] = constant 1.0
  %m: f32[4] = mul(%x, %two)
  %y: f32[4] = add(%m, %one)
  return %y
}";

extern "C" {
    fn ricci_plugin_query_lax(host: *const sys::ricci_host_info, out: *mut *const sys::ricci_plugin) -> *mut sys::ricci_status;
    fn ricci_plugin_query_cpu(host: *const sys::ricci_host_info, out: *mut *const sys::ricci_plugin) -> *mut sys::ricci_status;
}

#[repr(align(64))]
struct Aligned([f32; 4]);

/// A call as C has it; everything of it lives until the process ends.
struct CCall {
    call: *mut sys::ricci_call,
    x: *mut Aligned,
    y: *mut Aligned,
}
impl CCall {
    unsafe fn new() -> CCall {
        let ok = |status: *mut sys::ricci_status| assert!(status.is_null(), "the C side fails");
        let (mut ctx, mut program, mut code, mut call) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        ok(sys::ricci_context_create(ptr::null(), &mut ctx));
        ok(sys::ricci_context_add_plugin(ctx, Some(ricci_plugin_query_lax)));
        ok(sys::ricci_context_add_plugin(ctx, Some(ricci_plugin_query_cpu)));
        let text = PROGRAM.as_bytes();
        ok(sys::ricci_program_parse(ctx, text.as_ptr() as *const _, text.len(), ptr::null(), 0, &mut program));
        ok(sys::ricci_compile(program, ptr::null(), &mut code));
        ok(sys::ricci_call_create(code, &mut call));
        let (x, y) = (Box::into_raw(Box::new(Aligned([0.0; 4]))), Box::into_raw(Box::new(Aligned([0.0; 4]))));
        ok(sys::ricci_call_bind(call, 0, x as *mut c_void, 16));
        ok(sys::ricci_call_bind(call, 1, y as *mut c_void, 16));
        CCall { call, x, y }
    }
    unsafe fn run(&self, x: f32) -> f32 {
        (*self.x).0[0] = x;
        assert!(sys::ricci_call_run(self.call).is_null(), "the C side fails");
        (*self.y).0[0]
    }
}

/// Nanoseconds of one call.
fn time(mut call: impl FnMut(f32) -> f32) -> f64 {
    let (begin, mut sum) = (Instant::now(), 0.0);
    for i in 0..CALLS {
        sum += call(i as f32);
    }
    assert!(sum > 0.0, "nothing was computed");
    begin.elapsed().as_nanos() as f64 / f64::from(CALLS)
}
fn median(mut x: Vec<f64>) -> f64 {
    x.sort_by(f64::total_cmp);
    x[x.len() / 2]
}

fn main() -> Result<()> {
    let ctx = Context::new()?;
    let mut bound = ctx.trace("f", F32.shape(&[4]), |x| x * 2.0 + 1.0)?.compile()?.call()?;
    let c = unsafe { CCall::new() };
    let mut rust = |x: f32| {
        bound.argument::<f32>(0)[0] = x;
        bound.run().expect("the program runs");
        bound.result::<f32>(0)[0]
    };
    assert_eq!(rust(3.0), unsafe { c.run(3.0) });
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(time(&mut rust));
        theirs.push(time(|x| unsafe { c.run(x) }));
    }
    let ratio = median(ours.iter().zip(&theirs).map(|(a, b)| a / b).collect());
    println!("a bound call: {:.1} ns from Rust, {:.1} ns from C, ratio {:.2}", median(ours), median(theirs), ratio);
    Ok(())
}
