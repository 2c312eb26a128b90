//! Libraries: functions of Rust on slices, and what their misuse says.
use crate::small_row::{expect_words, failure, run, SmallRow, ROW};
use ricci::plugin::{LibraryCall, LibraryPlan, Rule};
use ricci::{Code, Context, Result, BOOL, F64};

macro_rules! rows {
    ($library:expr) => {
        || vec![Box::new(SmallRow { rules: &[Rule::Library], library: $library, ..ROW })]
    };
}
type Outcome = std::result::Result<(), String>;

fn doubled(call: &LibraryCall<'_>) -> Outcome {
    let (x, y) = (call.operand::<f64>(0)?, call.result::<f64>(0)?);
    let own = call.workspace::<f64>()?;
    for (row, y) in call.rows().zip(y.chunks_mut(2)) {
        own.copy_from_slice(&x[2 * row..2 * row + 2]);
        y.copy_from_slice(&[2.0 * own[1], 2.0 * own[0]]);
    }
    Ok(())
}
#[test]
fn rows_are_computed_in_groups() -> Result<()> {
    // 37 rows in groups of 5: the last one has 2.
    let x: Vec<f64> = (0..74).map(f64::from).collect();
    let y = run(
        rows!(|op| Ok(LibraryPlan::new(doubled).rows(op.operands[0].dims[0] as usize, 5).workspace::<f64>(2).flops(74))),
        &[(F64.shape(&[37, 2]), x.clone())],
    )?;
    let wanted: Vec<f64> = x.chunks(2).flat_map(|r| [2.0 * r[1], 2.0 * r[0]]).collect();
    assert_eq!(y, wanted);
    Ok(())
}
#[test]
fn nothing_is_computed_of_nothing() -> Result<()> {
    let y = run(
        rows!(|_| Ok(LibraryPlan::new(|call| {
            assert!(call.operand::<f64>(0)?.is_empty() && call.result::<f64>(0)?.is_empty() && call.rows().is_empty());
            Ok(())
        })
        .rows(0, 3))),
        &[(F64.shape(&[0]), vec![])],
    )?;
    assert!(y.is_empty());
    Ok(())
}

#[test]
fn flags_are_read_and_written() -> Result<()> {
    let mut ctx = Context::new()?;
    unsafe {
        ctx.add_primitives(
            "small",
            rows!(|_| Ok(LibraryPlan::new(|call| {
                let (x, y) = (call.operand::<bool>(0)?, call.result::<bool>(0)?);
                y.iter_mut().zip(x).for_each(|(y, x)| *y = !x);
                Ok(())
            }))),
        )?
    };
    let code = ctx.trace("f", BOOL.shape(&[2]), |x| x.emit("test.row", &[], &[], 1).remove(0))?.compile()?;
    assert_eq!(code.run(&[&ctx.array(&[true, false], &[2])?])?[0].to_vec::<bool>()?, [false, true]);
    // A host in another language may give any byte.
    let mut call = code.call()?;
    unsafe { *(call.argument::<bool>(0).as_mut_ptr() as *mut u8) = 2 };
    expect_words(&call.run().unwrap_err(), &["operand 0 holds 2; a bool is 0 or 1"]);
    Ok(())
}

// ---- misuse ----
#[test]
fn an_array_is_of_its_own_type() {
    let e = failure(rows!(|_| Ok(LibraryPlan::new(|call| call.operand::<f32>(0).map(|_| ())))));
    assert_eq!(e.code(), Code::InvalidArgument);
    expect_words(&e, &["test.row: rule launch of plugin small: operand 0 is f64[4]; it cannot be taken as f32"]);
    let e = failure(rows!(|_| Ok(LibraryPlan::new(|call| call.result::<i64>(0).map(|_| ())))));
    expect_words(&e, &["result 0 is f64[4]; it cannot be taken as i64"]);
    let e = failure(rows!(|_| Ok(LibraryPlan::new(|call| call.result::<f64>(2).map(|_| ())))));
    expect_words(&e, &["result 2: there are 1"]);
}
#[test]
fn a_result_is_taken_once() {
    let e = failure(rows!(|_| Ok(LibraryPlan::new(|call| {
        let (_first, _second) = (call.result::<f64>(0)?, call.result::<f64>(0)?);
        Ok(())
    }))));
    expect_words(&e, &["result 0 is taken a second time; take it once and pass the slice on"]);
}
#[test]
fn a_workspace_is_asked_for() {
    let e = failure(rows!(|_| Ok(LibraryPlan::new(|call| call.workspace::<f64>().map(|_| ())))));
    expect_words(&e, &["the workspace: the plan asks for none"]);
    let e = failure(rows!(|_| Ok(LibraryPlan::new(|call| call.workspace::<f64>().map(|_| ())).workspace::<i32>(4))));
    expect_words(&e, &["the workspace is of i32; it cannot be taken as f64"]);
}
#[test]
fn rows_are_equal_parts() {
    let e = failure(rows!(|_| Ok(LibraryPlan::new(|_| Ok(())).rows(3, 1))));
    expect_words(&e, &["test.row: rule plan of plugin small: result 0 is f64[4], which is not 3 equal rows"]);
    let e = failure(rows!(|_| Ok(LibraryPlan::new(|_| Ok(())).rows(4, 0))));
    expect_words(&e, &["a call computes 0 rows; it must compute at least 1"]);
}
#[test]
fn what_a_library_refuses_is_said() {
    let e = failure(rows!(|op| Err(format!("{} is not for this library", op.operands[0]))));
    expect_words(&e, &["test.row: f64[4] is not for this library"]);
    let e = failure(rows!(|_| Ok(LibraryPlan::new(|_| Err("no solution".to_string())))));
    expect_words(&e, &["test.row: rule launch of plugin small: no solution"]);
}
#[test]
fn a_panic_names_plugin_primitive_and_rule() {
    let e = failure(rows!(|_| panic!("planned panic")));
    assert_eq!(e.code(), Code::Internal);
    expect_words(&e, &["test.row: rule plan of plugin small: panicked: planned panic"]);
    let e = failure(rows!(|_| Ok(LibraryPlan::new(|_| panic!("planned panic")))));
    assert_eq!(e.code(), Code::Internal);
    expect_words(&e, &["test.row: rule launch of plugin small: panicked: planned panic"]);
}
