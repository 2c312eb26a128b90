//! What contexts are made with.
use ricci::{sys, AddedPlugin, Code, Context, ContextOptions, Result, F32};

fn with(options: &[(&str, &str)]) -> Result<Context> {
    Context::with(&ContextOptions { options, ..Default::default() })
}

#[test]
fn options_are_set_before_plugins_which_read_their_own() -> Result<()> {
    let ctx = with(&[("threads", "1"), ("cpu.debug", "gdb")])?;
    let code = ctx.trace("f", F32.shape(&[2]), |x| x * 2.0)?.compile()?;
    assert_eq!(code.run(&[&ctx.array(&[1.0f32, 2.0], &[2])?])?[0].to_vec::<f32>()?, [2.0, 4.0]);
    Ok(())
}

#[test]
fn values_that_a_plugin_refuses_are_named() {
    let e = with(&[("cpu.debug", "lldb")]).unwrap_err();
    assert_eq!(e.code(), Code::InvalidArgument);
    assert!(e.message().contains("the option cpu.debug is lldb; it must be gdb, perf or gdb,perf"), "{}", e);
    let e = with(&[("cpu.affinity", "no processor")]).unwrap_err();
    assert!(e.message().contains("the option cpu.affinity"), "{}", e);
    assert!(with(&[("no_such_option", "1")]).unwrap_err().message().contains("no_such_option"));
}

#[test]
fn options_of_a_plugin_that_is_there_are_refused() -> Result<()> {
    let e = Context::new()?.config("cpu.affinity", "0").unwrap_err();
    assert!(e.message().contains("cpu.affinity"), "{}", e);
    Ok(())
}

extern "C" fn gives_none(_: *const sys::ricci_host_info, _: *mut *const sys::ricci_plugin) -> *mut sys::ricci_status {
    std::ptr::null_mut()
}

#[test]
fn plugins_are_added_after_the_built_in_ones() {
    let plugins = [unsafe { AddedPlugin::entry(gives_none) }];
    let e = Context::with(&ContextOptions { plugins: &plugins, ..Default::default() }).unwrap_err();
    assert!(e.message().contains("its query function gave no plugin"), "{}", e);
    let plugins = [unsafe { AddedPlugin::file("/nowhere/libmine.so") }];
    let e = Context::with(&ContextOptions { plugins: &plugins, ..Default::default() }).unwrap_err();
    assert!(e.message().contains("/nowhere/libmine.so"), "{}", e);
}
