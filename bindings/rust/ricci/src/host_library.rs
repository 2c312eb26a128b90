//! Libraries: functions of Rust that compute the results of an operation, planned once for each place in a program.
//!
//! The function works on slices. It runs for groups of rows at once, on many threads, so each run gets only its own rows
//! of the results, which cannot overlap; everything is checked when the operation is planned or by comparing two
//! numbers, so a run neither allocates nor locks. Asked for as another type, an array is an error.
use crate::array::Element;
use crate::attributes::Operation;
use crate::types::{self, DType, Type};
use ricci_sys as sys;
use std::cell::Cell;
use std::fmt;
use std::mem::{align_of, size_of};
use std::ops::Range;

type Run = dyn Fn(&LibraryCall<'_>) -> std::result::Result<(), String> + Send + Sync;

/// How a function of Rust computes an operation of these types: what
/// [`Primitive::library`](crate::plugin::Primitive::library) gives.
///
/// The function may hold what was computed when the operation was planned. It runs on many threads at once, so it is
/// `Send` and `Sync`; it is dropped with the code of the program. It must not allocate where a run must not.
///
/// ```
/// use ricci::plugin::{Attributes, LibraryPlan, Operation, Primitive, Rule};
/// use ricci::{Context, Type, F64};
///
/// /// The rows of x, sorted.
/// #[derive(Default)]
/// struct Sorted;
/// impl Primitive for Sorted {
///     fn name(&self) -> &str { "demo.sorted" }
///     fn doc(&self) -> &str { "y = demo.sorted(x): the rows of x, sorted" }
///     fn examples(&self) -> &str { "" }
///     fn types(&self, operands: &[Type], _: &Attributes<'_>) -> Result<Vec<Type>, String> { Ok(operands.to_vec()) }
///     fn rules(&self) -> &[Rule] { &[Rule::Library] }
///     fn library(&self, op: &Operation<'_>) -> Result<LibraryPlan, String> {
///         let (rows, n) = match op.operands[0].dims[..] {
///             [rows, n] => (rows as usize, n as usize),
///             _ => return Err(format!("x is {}; it must be a matrix", op.operands[0])),
///         };
///         let run = move |call: &ricci::plugin::LibraryCall<'_>| {
///             let (x, y) = (call.operand::<f64>(0)?, call.result::<f64>(0)?);
///             for (row, sorted) in call.rows().zip(y.chunks_mut(n.max(1))) {
///                 sorted.copy_from_slice(&x[row * n..(row + 1) * n]);
///                 sorted.sort_unstable_by(f64::total_cmp);
///             }
///             Ok(())
///         };
///         Ok(LibraryPlan::new(run).rows(rows, 16))
///     }
/// }
///
/// fn main() -> ricci::Result<()> {
///     let mut ctx = Context::new()?;
///     unsafe { ctx.add_primitives("sorted", || vec![Box::new(Sorted)])? };
///     let f = ctx.trace("f", F64.shape(&[2, 3]), |x| x.emit("demo.sorted", &[], &[], 1).remove(0))?;
///     let x = ctx.array(&[3.0, 1.0, 2.0, 6.0, 5.0, 4.0], &[2, 3])?;
///     assert_eq!(f.compile()?.run(&[&x])?[0].to_vec::<f64>()?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
///     Ok(())
/// }
/// ```
///
/// What the function gets ends with the call, and what it holds can be used by many threads:
///
/// ```compile_fail,E0521
/// use ricci::plugin::LibraryPlan;
/// let kept = std::sync::Mutex::new(&[0.0f64][..]);
/// LibraryPlan::new(move |call| Ok(*kept.lock().unwrap() = call.operand::<f64>(0)?));
/// ```
/// ```compile_fail,E0277
/// let count = std::rc::Rc::new(std::cell::Cell::new(0));
/// ricci::plugin::LibraryPlan::new(move |_| Ok(count.set(count.get() + 1)));
/// ```
pub struct LibraryPlan {
    run: Box<Run>,
    rows: usize,
    rows_each: usize,
    workspace: Option<(DType, usize, usize)>, // elements, bytes
    flops: u64,
}
impl fmt::Debug for LibraryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LibraryPlan({} rows, {} at once)", self.rows, self.rows_each)
    }
}

impl LibraryPlan {
    /// One call of `run` computes everything. What it refuses fails the run of the program.
    pub fn new(run: impl Fn(&LibraryCall<'_>) -> std::result::Result<(), String> + Send + Sync + 'static) -> LibraryPlan {
        LibraryPlan { run: Box::new(run), rows: 1, rows_each: 1, workspace: None, flops: 0 }
    }
    /// Every result is `rows` equal consecutive parts, and a call computes `each` of them (the last one fewer):
    /// the rows of a batch. Calls run at once, on many threads.
    #[must_use]
    pub fn rows(mut self, rows: usize, each: usize) -> LibraryPlan {
        self.rows = rows;
        self.rows_each = each;
        self
    }
    /// Each call has memory of its own for as many elements: [`LibraryCall::workspace`].
    #[must_use]
    pub fn workspace<T: Element>(mut self, elements: usize) -> LibraryPlan {
        self.workspace = Some((T::DTYPE, elements, elements.saturating_mul(size_of::<T>())));
        self
    }
    /// Floating operations of all calls together, for statistics.
    #[must_use]
    pub fn flops(mut self, n: u64) -> LibraryPlan {
        self.flops = n;
        self
    }
    /// What the core asks for.
    pub(crate) fn write(&self, out: &mut sys::ricci_library_plan) {
        out.tasks = i64::try_from(self.tasks().max(1)).unwrap_or(i64::MAX);
        out.flops = self.flops;
        out.scratch_bytes = self.workspace.map_or(0, |(_, _, bytes)| bytes as u64);
    }
    fn tasks(&self) -> usize {
        self.rows / self.rows_each + usize::from(self.rows % self.rows_each != 0)
    }
    /// What is wrong with it for results of these types.
    pub(crate) fn refused(&self, results: &[Type]) -> Option<String> {
        if self.rows_each == 0 {
            return Some("a call computes 0 rows; it must compute at least 1".to_string());
        }
        if results.len() > MOST_RESULTS {
            return Some(format!("{} results; a library in Rust has at most {}", results.len(), MOST_RESULTS));
        }
        let uneven = |(i, t): (usize, &Type)| {
            let n = elements(t);
            let is_even = if self.rows == 0 { n == 0 } else { n % self.rows == 0 };
            (!is_even).then(|| format!("result {} is {}, which is not {} equal rows", i, t, self.rows))
        };
        results.iter().enumerate().find_map(uneven)
    }
}
fn elements(t: &Type) -> usize {
    t.dims.iter().map(|d| usize::try_from(*d).unwrap_or(0)).product()
}

const MOST_RESULTS: usize = 63;
const WORKSPACE: usize = MOST_RESULTS; // its place among what is taken

/// What the core holds of a planned operation.
pub(crate) struct Planned {
    plan: LibraryPlan,
    operands: Vec<(Type, usize)>, // with the number of elements
    results: Vec<(Type, usize)>,
    pub(crate) who: String, // for messages
}
impl Planned {
    pub(crate) fn new(plan: LibraryPlan, operation: Operation<'_>, who: String) -> Planned {
        let counted = |types: Vec<Type>| types.into_iter().map(|t| (t.clone(), elements(&t))).collect::<Vec<_>>();
        let (operands, results) = (counted(operation.operands), counted(operation.results));
        Planned { plan, operands, results, who }
    }
    /// One call of the library.
    pub(crate) fn run(&self, raw: &sys::ricci_launch) -> std::result::Result<(), String> {
        (self.plan.run)(&LibraryCall { planned: self, raw, taken: Cell::new(0) })
    }
}

/// One call of a library: the operands, its rows of the results, and its workspace, as slices.
///
/// An element type other than that of the array is refused, so `?` is all that is needed. Elements of 16 bits and complex
/// numbers have no type of Rust here.
pub struct LibraryCall<'a> {
    planned: &'a Planned,
    raw: &'a sys::ricci_launch,
    taken: Cell<u64>, // a bit for each result, and for the workspace
}
impl fmt::Debug for LibraryCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LibraryCall({:?})", self.rows())
    }
}

impl<'a> LibraryCall<'a> {
    /// The rows that this call computes.
    pub fn rows(&self) -> Range<usize> {
        let plan = &self.planned.plan;
        let first = (self.raw.task as usize).saturating_mul(plan.rows_each);
        first.min(plan.rows)..first.saturating_add(plan.rows_each).min(plan.rows)
    }
    /// All elements of operand `i`, row-major.
    pub fn operand<T: Element>(&self, i: usize) -> std::result::Result<&'a [T], String> {
        let all = &self.planned.operands;
        let (t, n) = all.get(i).ok_or_else(|| format!("operand {}: there are {}", i, all.len()))?;
        expect_type::<T>("operand", i, t)?;
        // SAFETY: the core gives an address for each operand, of elements of its type, which do not change meanwhile.
        unsafe {
            let at = *self.raw.r#in.add(i) as *const T;
            expect_aligned("operand", i, at)?;
            if *n == 0 {
                return Ok(&[]);
            }
            expect_truth::<T>(i, std::slice::from_raw_parts(at as *const u8, *n * size_of::<T>()))?;
            Ok(std::slice::from_raw_parts(at, *n))
        }
    }
    /// The elements of result `i` that are this call's rows, to be written: what they hold is undefined. Each result can
    /// be taken once.
    #[allow(clippy::mut_from_ref)] // each is given once
    pub fn result<T: Element>(&self, i: usize) -> std::result::Result<&'a mut [T], String> {
        let all = &self.planned.results;
        let (t, n) = all.get(i).ok_or_else(|| format!("result {}: there are {}", i, all.len()))?;
        expect_type::<T>("result", i, t)?;
        self.take(i, || format!("result {}", i))?;
        let each = n / self.planned.plan.rows.max(1);
        let rows = self.rows();
        // SAFETY: the rows of one call are those of no other, each result is given once, and the core gives an address
        // for each, of elements of its type.
        unsafe {
            let at = *self.raw.out.add(i) as *mut T;
            expect_aligned("result", i, at)?;
            Ok(if *n == 0 { &mut [] } else { cleared(at.add(rows.start * each), rows.len() * each) })
        }
    }
    /// The memory that [`LibraryPlan::workspace`] asked for; what it holds is undefined. It can be taken once.
    #[allow(clippy::mut_from_ref)]
    pub fn workspace<T: Element>(&self) -> std::result::Result<&'a mut [T], String> {
        let (of, n, _) = self.planned.plan.workspace.ok_or("the workspace: the plan asks for none")?;
        if of != T::DTYPE {
            return Err(format!("the workspace is of {}; it cannot be taken as {}", of, T::DTYPE));
        }
        self.take(WORKSPACE, || "the workspace".to_string())?;
        // SAFETY: the core gives each thread as many bytes, aligned to 64, and a thread makes one call after another.
        Ok(if n == 0 { &mut [] } else { unsafe { cleared(self.raw.scratch as *mut T, n) } })
    }
    fn take(&self, bit: usize, what: impl FnOnce() -> String) -> std::result::Result<(), String> {
        if self.taken.get() & (1 << bit) != 0 {
            return Err(format!("{} is taken a second time; take it once and pass the slice on", what()));
        }
        self.taken.set(self.taken.get() | (1 << bit));
        Ok(())
    }
}
fn expect_type<T: Element>(what: &str, i: usize, t: &Type) -> std::result::Result<(), String> {
    if t.dtype == T::DTYPE {
        return Ok(());
    }
    Err(format!("{} {} is {}; it cannot be taken as {}", what, i, t, T::DTYPE))
}
fn expect_aligned<T>(what: &str, i: usize, at: *const T) -> std::result::Result<(), String> {
    if at as usize % align_of::<T>() == 0 {
        return Ok(());
    }
    Err(format!("{} {} is at {:?}; it must be aligned to {} bytes", what, i, at, align_of::<T>()))
}
/// Rust has no `bool` but 0 and 1, and a host can give any byte.
fn expect_truth<T: Element>(i: usize, bytes: &[u8]) -> std::result::Result<(), String> {
    if T::DTYPE != types::BOOL {
        return Ok(());
    }
    match bytes.iter().find(|b| **b > 1) {
        Some(b) => Err(format!("operand {} holds {}; a bool is 0 or 1", i, b)),
        None => Ok(()),
    }
}
/// Memory whose contents are undefined as a slice. A `bool` must not be anything else, so these are cleared.
///
/// SAFETY: it is valid, aligned, and not accessed otherwise during `'a`.
unsafe fn cleared<'a, T: Element>(at: *mut T, n: usize) -> &'a mut [T] {
    if T::DTYPE == types::BOOL {
        std::ptr::write_bytes(at, 0, n);
    }
    std::slice::from_raw_parts_mut(at, n)
}
