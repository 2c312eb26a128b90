//! The rows of the plugin obey the laws of ricci/check.h, and a gradient is right. The tool `ricci` must be in PATH.
use std::io::Write;
use std::process::{Command, Stdio};

/// `ricci WORDS --plugin PLUGIN` with this standard input; what it prints.
fn ricci(words: &[&str], input: &str) -> String {
    // The shared object lies beside the test.
    let plugin = std::env::current_exe().expect("the path of this test").with_file_name("libcube.so");
    let mut tool = Command::new("ricci")
        .args(words)
        .arg("--plugin")
        .arg(plugin)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`ricci` is not in PATH: it is in `bin` of the prefix");
    tool.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("the tool reads");
    let out = tool.wait_with_output().expect("the tool ends");
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success(), "ricci {:?} fails: {}", words, said);
    said
}

#[test]
fn rows_obey_the_laws() {
    print!("{}", ricci(&["check"], ""));
}

#[test]
fn the_gradient_is_right() {
    let gradient = ricci(&["grad", "-"], "program f(%x: f64[]) { %0: f64[] = demo.cube(%x)  return %0 }");
    let said = ricci(&["run", "-", "--input", "0=2.0"], &gradient);
    print!("{}", said);
    assert_eq!(said.trim(), "0: f64[] = 12");
}
