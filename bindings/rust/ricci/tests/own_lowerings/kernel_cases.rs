//! Kernels with loops: what each block and array does, and what their misuse says.
use crate::small_row::{expect_words, failure, run, SmallRow, ROW};
use ricci::plugin::{Combiner, Kernel, Rule};
use ricci::{Code, Result, F64, I64};

type Outcome = std::result::Result<(), String>;
macro_rules! rows {
    ($loops:expr) => {
        rows!($loops, [Rule::Loops])
    };
    ($loops:expr, [$($rule:expr),*]) => {
        || vec![Box::new(SmallRow { rules: &[$($rule),*], loops: $loops, ..ROW })]
    };
}
fn vector(x: &[f64]) -> (ricci::Type, Vec<f64>) {
    (F64.shape(&[x.len() as i64]), x.to_vec())
}

/// How many steps of Collatz each number takes to 1: a loop without a known end, and branches.
fn steps(k: &Kernel) -> Outcome {
    k.parallel(&k.result_type(0).dims, |at| {
        let (n, count) = (k.local(I64, &[]), k.local(I64, &[]));
        n.store(&[], k.operand(0).load(at).astype(I64));
        count.store(&[], k.index(0));
        k.while_loop(
            || n.load(&[]).gt(1),
            || {
                let x = n.load(&[]);
                k.when_else((x % 2).equal(0), || n.store(&[], x / 2), || n.store(&[], 3 * x + 1));
                count.store(&[], count.load(&[]) + 1);
            },
        );
        k.when(n.load(&[]).lt(1), || count.store(&[], k.index(-1)));
        k.result(0).store(at, count.load(&[]).astype(F64));
    });
    Ok(())
}
#[test]
fn loops_and_branches_of_data() -> Result<()> {
    assert_eq!(run(rows!(steps), &[vector(&[1.0, 6.0, 27.0, 0.0])])?, [0.0, 8.0, 111.0, -1.0]);
    Ok(())
}

/// Sums up to each element, and the largest element before all of them.
fn sums(k: &Kernel) -> Outcome {
    let n = k.result_type(0).dims[0];
    let x = k.operand(0);
    let largest = k.reduce(Combiner::Max, 0, n, |i| x.at(i));
    let zero = k.constant(F64, 0.0);
    k.scan(n, &[zero], |left, right| vec![left[0] + right[0]], |i| vec![x.at(i)], |i, sum| k.result(0).set(i, sum[0] + largest));
    Ok(())
}
#[test]
fn scans_and_reductions() -> Result<()> {
    assert_eq!(run(rows!(sums), &[vector(&[1.0, 4.0, 2.0])])?, [5.0, 9.0, 11.0]);
    Ok(())
}

/// Adds each element of operand 1 to the element of operand 0 whose number operand 2 is.
fn added(k: &Kernel) -> Outcome {
    k.parallel(&k.operand_type(1).dims, |at| {
        let position = k.operand(2).load(at).astype(I64);
        k.result(0).combine(&[position], Combiner::Add, k.operand(1).load(at));
    });
    Ok(())
}
#[test]
fn updates_combine() -> Result<()> {
    let operands = [vector(&[1.0, 2.0]), vector(&[10.0, 20.0, 30.0]), vector(&[1.0, 0.0, 1.0])];
    assert_eq!(run(rows!(added, [Rule::Updates]), &operands)?, [21.0, 42.0]);
    Ok(())
}

/// Row by row, the row turned around, by parts of arrays and a copy.
fn turned(k: &Kernel) -> Outcome {
    let dims = k.result_type(0).dims;
    k.parallel(&dims[..1], |row| {
        let (x, y, buffer) = (k.operand(0).within(row), k.result(0).part(0, row[0]), k.local(F64, &dims[1..]));
        k.for_each(0, dims[1], |i| buffer.set((dims[1] - 1) - i, x.at(i)));
        y.copy(buffer);
    });
    Ok(())
}
#[test]
fn parts_and_copies() -> Result<()> {
    let x = (F64.shape(&[2, 3]), vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(run(rows!(turned), &[x])?, [3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
    Ok(())
}

/// The real part of (x + i y)^2.
fn square(k: &Kernel) -> Outcome {
    k.parallel(&k.result_type(0).dims, |at| {
        let z = k.complex(k.operand(0).load(at), k.operand(1).load(at));
        k.result(0).store(at, (z * z).parts().0);
    });
    Ok(())
}
#[test]
fn complex_numbers_have_parts() -> Result<()> {
    assert_eq!(run(rows!(square), &[vector(&[3.0, 1.0]), vector(&[2.0, 4.0])])?, [5.0, -15.0]);
    Ok(())
}

fn root(k: &Kernel) -> Outcome {
    k.parallel(&k.result_type(0).dims, |at| {
        let x = k.operand(0).load(at);
        k.require(x.ge(0.0), Code::OutOfRange, "x must not be less than 0");
        k.result(0).store(at, x.sqrt());
    });
    Ok(())
}
#[test]
fn what_is_required_fails_the_run() -> Result<()> {
    assert_eq!(run(rows!(root, [Rule::Loops, Rule::MayFail]), &[vector(&[4.0])])?, [2.0]);
    let e = run(rows!(root, [Rule::Loops, Rule::MayFail]), &[vector(&[4.0, -1.0])]).unwrap_err();
    assert_eq!(e.code(), Code::OutOfRange);
    expect_words(&e, &["x must not be less than 0", "small_row.rs:"]);
    Ok(())
}

// ---- misuse ----
#[test]
fn a_position_of_another_rank_is_refused() {
    let e = failure(rows!(|k| {
        k.for_each(0, 4, |i| k.result(0).store(&[i, i], k.operand(0).at(i)));
        Ok(())
    }));
    expect_words(&e, &["test.row: kernel: 2 indices for f64[4]"]);
}
#[test]
fn a_number_does_not_leave_its_loop() {
    let e = failure(rows!(|k| {
        let mut kept = None;
        k.for_each(0, 4, |i| kept = Some(k.operand(0).at(i) * 2.0));
        k.for_each(0, 4, |i| k.result(0).set(i, kept.expect("a loop runs its closure once")));
        Ok(())
    }));
    expect_words(&e, &["kernel test.row: store: value ", " is used outside the block that defines it"]);
}
#[test]
fn an_operand_is_not_written() {
    let e = failure(rows!(|k| {
        k.for_each(0, 4, |i| k.operand(0).set(i, k.constant(F64, 1.0)));
        Ok(())
    }));
    expect_words(&e, &["kernel test.row: store: buffer 0 does not allow it"]);
}
#[test]
fn a_number_of_another_type_is_refused() {
    let e = failure(rows!(|k| {
        k.for_each(0, 4, |i| k.result(0).set(i, i));
        Ok(())
    }));
    expect_words(&e, &["kernel test.row: store: buffer 1 is f64 but the value is i64"]);
}
#[test]
fn what_loops_refuse_is_said() {
    let e = failure(rows!(|k| Err(format!("{} is too small", k.result_type(0)))));
    assert_eq!(e.code(), Code::InvalidArgument);
    expect_words(&e, &["test.row: f64[4] is too small"]);
}
#[test]
fn a_panic_within_a_loop_names_plugin_primitive_and_rule() {
    let e = failure(rows!(|k| {
        k.for_each(0, 4, |_| panic!("planned panic"));
        Ok(())
    }));
    assert_eq!(e.code(), Code::Internal);
    expect_words(&e, &["test.row: rule loops of plugin small: panicked: planned panic"]);
    let e = failure(rows!(|k| {
        k.operand(7);
        Ok(())
    }));
    expect_words(&e, &["the operation has no operand 7"]);
}
#[test]
fn a_scan_has_one_element_for_each_state() {
    let e = failure(rows!(|k| {
        let zero = k.constant(F64, 0.0);
        k.scan(4, &[zero], |_, _| vec![], |_| vec![zero], |_, _| {});
        Ok(())
    }));
    expect_words(&e, &["scan: `combine` gives another number of states"]);
}
