//! Source text: LLVM assembly for the processor, made from the types of the operation.
use crate::small_row::{expect_words, failure, run, SmallRow, ROW};
use ricci::plugin::{LibraryPlan, Rule, Source};
use ricci::{Code, Context, Result, F64};

macro_rules! rows {
    ($source:expr, $target:literal) => {
        || vec![Box::new(SmallRow { rules: &[Rule::Source($target)], source: $source, ..ROW })]
    };
}
// Each task adds `shift` to one element.
const TEXT: &str = "
define void @shift(ptr %args, ptr %workspace, i64 %task, double %shift) {
  %x = load ptr, ptr %args
  %result = getelementptr ptr, ptr %args, i64 1
  %y = load ptr, ptr %result
  %from = getelementptr double, ptr %x, i64 %task
  %v = load double, ptr %from
  %sum = fadd double %v, %shift
  %to = getelementptr double, ptr %y, i64 %task
  store double %sum, ptr %to
  ret void
}";

#[test]
fn text_is_compiled_into_the_program() -> Result<()> {
    let y = run(
        rows!(
            |op, target| {
                assert_eq!(target, "cpu");
                Ok(vec![Source::new("shift", TEXT).grid([op.operands[0].dims[0], 1, 1]).scalar(0.5f64).flops(3)])
            },
            "cpu"
        ),
        &[(F64.shape(&[3]), vec![1.0, 2.0, 3.0])],
    )?;
    assert_eq!(y, [1.5, 2.5, 3.5]);
    Ok(())
}

#[test]
fn text_for_a_target_goes_before_a_library_for_all() -> Result<()> {
    let rows: ricci::plugin::Rows = || {
        let shift = |op: &ricci::plugin::Operation<'_>, _: &str| {
            Ok(vec![Source::new("shift", TEXT).grid([op.operands[0].dims[0], 1, 1]).scalar(0.5f64)])
        };
        let library = |_: &ricci::plugin::Operation<'_>| Ok(LibraryPlan::new(|_| Err("not here".to_string())));
        vec![Box::new(SmallRow { rules: &[Rule::Library, Rule::Source("cpu")], source: shift, library, ..ROW })]
    };
    assert_eq!(run(rows, &[(F64.shape(&[1]), vec![1.0])])?, [1.5]);
    Ok(())
}

// ---- misuse ----
#[test]
fn text_for_another_target_is_not_seen() {
    let e = failure(rows!(|_, _| unreachable!(), "cuda"));
    assert_eq!(e.code(), Code::Unimplemented);
    expect_words(&e, &["test.row: no lowering for target cpu"]);
}
#[test]
fn text_that_is_wrong_is_said_with_its_line() {
    let e = failure(rows!(|_, _| Ok(vec![Source::new("shift", TEXT.replace("fadd", "fad")).at("shift.ll", 10)]), "cpu"));
    assert_eq!(e.code(), Code::InvalidArgument);
    expect_words(&e, &["test.row: cpu: shift.ll:17, column 10: expected instruction opcode"]);
}
#[test]
fn text_is_for_one_target() -> Result<()> {
    let mut ctx = Context::new()?;
    let e = unsafe { ctx.add_primitives("small", rows!(|_, _| Ok(vec![]), "*")) }.unwrap_err();
    expect_words(&e, &["test.row: lowering of plugin small: text is for one compiler: its target is `cpu` or `cuda`, not `*`"]);
    Ok(())
}
#[test]
fn a_source_that_gives_nothing_refuses_or_panics_is_said() {
    let e = failure(rows!(|_, _| Ok(vec![]), "cpu"));
    expect_words(&e, &["test.row: rule source of plugin small: gave no source"]);
    let e = failure(rows!(|op, _| Err(format!("no text for {}", op.results[0])), "cpu"));
    expect_words(&e, &["test.row: no text for f64[4]"]);
    let e = failure(rows!(|_, _| panic!("planned panic"), "cpu"));
    expect_words(&e, &["test.row: rule source of plugin small: panicked: planned panic"]);
}
