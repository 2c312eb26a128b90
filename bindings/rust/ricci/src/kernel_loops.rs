//! Kernels with loops: the arrays that they read and write, and blocks that are closures, so none can stay open.
//!
//! What changes from one trip of a loop to the next is kept in a private array ([`Kernel::local`]), of which each point
//! of the parallel loops around it has its own.
//!
//! A block runs once, and a panic in it is that of the rule. Numbers and arrays borrow from the kernel, which the core
//! lends for one call, so they cannot outlive it. A number that leaves its loop is an error of the core, not of the
//! compiler: with a lifetime for each block, two of them could not be added.
use crate::error::{check, Code, Result};
use crate::lowering::{Kernel, Scalar};
use crate::program::Program;
use crate::types::{DType, Type};
use ricci_sys as sys;
use std::fmt;
use std::os::raw::c_char;

/// How a reduction combines the numbers of its trips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combiner {
    /// The sum.
    Add,
    /// The product.
    Mul,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// Whether all hold, or the bits that all have.
    And,
    /// Whether any holds, or the bits that any has.
    Or,
    /// The bits that an odd number of them have.
    Xor,
}
impl Combiner {
    fn number(self) -> u32 {
        match self {
            Combiner::Add => sys::RICCI_S_ADD,
            Combiner::Mul => sys::RICCI_S_MUL,
            Combiner::Max => sys::RICCI_S_MAX,
            Combiner::Min => sys::RICCI_S_MIN,
            Combiner::And => sys::RICCI_S_AND,
            Combiner::Or => sys::RICCI_S_OR,
            Combiner::Xor => sys::RICCI_S_XOR,
        }
    }
}

/// A position along a dimension, or the bound of a loop: a number of the kernel of type i64, or one of Rust.
pub trait Position<'k> {
    /// This as a number of the kernel.
    fn on(self, kernel: &'k Kernel) -> Scalar<'k>;
}
impl<'k> Position<'k> for Scalar<'k> {
    fn on(self, _: &'k Kernel) -> Scalar<'k> {
        self
    }
}
impl<'k> Position<'k> for i64 {
    fn on(self, kernel: &'k Kernel) -> Scalar<'k> {
        kernel.index(self)
    }
}

/// An array of a kernel: an operand, a result, a private array, or a part of one. It holds nothing itself.
#[derive(Clone, Copy)]
pub struct KernelArray<'k> {
    kernel: &'k Kernel,
    id: sys::ricci_karr,
}
impl fmt::Debug for KernelArray<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KernelArray({})", self.id)
    }
}

impl<'k> KernelArray<'k> {
    /// The element at a position: one number for each dimension. An operand that is computed by other operations is computed
    /// here, where it is loaded once.
    pub fn load(self, position: &[Scalar<'k>]) -> Scalar<'k> {
        let (raw, at) = (self.kernel.raw, ids(position));
        self.kernel.made(|out| check(unsafe { sys::ricci_kernel_load(raw, self.id, at.as_ptr(), at.len() as u32, out) }))
    }
    /// Element `i` of an array with one dimension.
    pub fn at(self, i: impl Position<'k>) -> Scalar<'k> {
        self.load(&[i.on(self.kernel)])
    }
    /// Writes an element of a result or of a private array. Each element of a result is written exactly once, unless the
    /// same point of the parallel loops reads it back.
    pub fn store(self, position: &[Scalar<'k>], x: Scalar<'k>) {
        let (raw, at) = (self.kernel.raw, ids(position));
        self.kernel.done(|| check(unsafe { sys::ricci_kernel_store(raw, self.id, at.as_ptr(), at.len() as u32, x.id) }))
    }
    /// Writes element `i` of an array with one dimension.
    pub fn set(self, i: impl Position<'k>, x: Scalar<'k>) {
        self.store(&[i.on(self.kernel)], x)
    }
    /// An element becomes it combined with `x`, by `Add`, `Mul`, `Max` or `Min`. For lowerings of the kind
    /// [`Rule::Updates`](crate::plugin::Rule::Updates): several points may combine into one element, in an order that
    /// depends on shapes alone.
    pub fn combine(self, position: &[Scalar<'k>], by: Combiner, x: Scalar<'k>) {
        let at = ids(position);
        self.kernel.done(|| {
            check(unsafe {
                sys::ricci_kernel_combine(self.kernel.raw, self.id, at.as_ptr(), at.len() as u32, by.number(), x.id)
            })
        })
    }
    /// The part at `position` along dimension `axis`, which goes. It shares its elements with this array.
    pub fn part(self, axis: u32, position: impl Position<'k>) -> KernelArray<'k> {
        let at = position.on(self.kernel);
        self.kernel.array(|out| check(unsafe { sys::ricci_kernel_view(self.kernel.raw, self.id, axis, at.id, out) }))
    }
    /// The part at a position along the first dimensions, which go: one system of a batch.
    pub fn within(self, position: &[Scalar<'k>]) -> KernelArray<'k> {
        position.iter().fold(self, |a, i| a.part(0, *i))
    }
    /// All elements of this, a result or private array, become those of `from`.
    pub fn copy(self, from: KernelArray<'k>) {
        self.kernel.done(|| check(unsafe { sys::ricci_kernel_copy(self.kernel.raw, self.id, from.id) }))
    }
}
fn ids(scalars: &[Scalar<'_>]) -> Vec<sys::ricci_sval> {
    scalars.iter().map(|s| s.id).collect()
}

impl Kernel {
    fn array<'k>(&'k self, make: impl FnOnce(&mut sys::ricci_karr) -> Result<()>) -> KernelArray<'k> {
        let mut id = 0;
        self.done(|| make(&mut id));
        KernelArray { kernel: self, id }
    }
    /// Operand `i`.
    ///
    /// # Panics
    /// If operand `i` does not exist, as [`result`](Kernel::result).
    pub fn operand(&self, i: usize) -> KernelArray<'_> {
        let id = unsafe { sys::ricci_kernel_operand(self.raw, i as u32) };
        assert!(id != 0, "the operation has no operand {}", i);
        KernelArray { kernel: self, id }
    }
    /// The element of operand `i` at a position: one number for each of its dimensions.
    pub fn load<'k>(&'k self, i: usize, position: &[Scalar<'k>]) -> Scalar<'k> {
        self.operand(i).load(position)
    }
    /// Result `i`.
    pub fn result(&self, i: usize) -> KernelArray<'_> {
        let id = unsafe { sys::ricci_kernel_result(self.raw, i as u32) };
        assert!(id != 0, "the operation has no result {}", i);
        KernelArray { kernel: self, id }
    }
    /// The type of result `i`.
    ///
    /// # Panics
    /// If result `i` does not exist.
    pub fn result_type(&self, i: usize) -> Type {
        let id = unsafe { sys::ricci_kernel_array_type(self.raw, self.result(i).id) };
        self.context.type_of(id).expect("a result has a type of its context")
    }
    /// A private array, of one number if `dims` is empty. What it holds is undefined until it is written.
    pub fn local(&self, dtype: DType, dims: &[i64]) -> KernelArray<'_> {
        self.array(|out| {
            let t = self.context.type_id(&dtype.shape(dims))?;
            check(unsafe { sys::ricci_kernel_private(self.raw, t, out) })
        })
    }
    /// Runs `body` between what opens a block and its end.
    fn block(&self, begin: impl FnOnce() -> Result<()>, body: impl FnOnce()) {
        self.done(begin);
        body();
        self.done(|| check(unsafe { sys::ricci_kernel_end(self.raw) }))
    }
    /// `body` once for each position in a box of these sizes, in any order and at once. Without sizes it is just the body.
    pub fn parallel<'k>(&'k self, sizes: &[i64], body: impl FnOnce(&[Scalar<'k>])) {
        if sizes.is_empty() {
            return body(&[]);
        }
        let mut at = vec![0; sizes.len()];
        self.done(|| check(unsafe { sys::ricci_kernel_parallel(self.raw, sizes.as_ptr(), sizes.len() as u32, at.as_mut_ptr()) }));
        let position: Vec<_> = at.into_iter().map(|id| self.scalar(id)).collect();
        self.block(|| Ok(()), || body(&position))
    }
    /// `body` for each position from `low` to `high` - 1, in order.
    pub fn for_each<'k>(&'k self, low: impl Position<'k>, high: impl Position<'k>, body: impl FnOnce(Scalar<'k>)) {
        let (low, high) = (low.on(self), high.on(self));
        let i = self.made(|out| check(unsafe { sys::ricci_kernel_for(self.raw, low.id, high.id, out) }));
        self.block(|| Ok(()), || body(i))
    }
    /// `body` as long as the flag that `goes_on` gives holds.
    pub fn while_loop<'k>(&'k self, goes_on: impl FnOnce() -> Scalar<'k>, body: impl FnOnce()) {
        self.done(|| check(unsafe { sys::ricci_kernel_while(self.raw) }));
        let flag = goes_on();
        self.block(|| check(unsafe { sys::ricci_kernel_cond(self.raw, flag.id) }), body)
    }
    /// `body` where the flag holds.
    pub fn when<'k>(&'k self, flag: Scalar<'k>, body: impl FnOnce()) {
        self.block(|| check(unsafe { sys::ricci_kernel_if(self.raw, flag.id) }), body)
    }
    /// `body` where the flag holds, else `otherwise`.
    pub fn when_else<'k>(&'k self, flag: Scalar<'k>, body: impl FnOnce(), otherwise: impl FnOnce()) {
        self.when(flag, || {
            body();
            self.done(|| check(unsafe { sys::ricci_kernel_else(self.raw) }));
            otherwise()
        })
    }
    /// What `term(i)` is for i from `low` to `high` - 1, combined in an order that depends on sizes alone.
    pub fn reduce<'k>(
        &'k self, by: Combiner, low: impl Position<'k>, high: impl Position<'k>, term: impl FnOnce(Scalar<'k>) -> Scalar<'k>,
    ) -> Scalar<'k> {
        let (low, high) = (low.on(self), high.on(self));
        let i = self.made(|out| check(unsafe { sys::ricci_kernel_reduce(self.raw, by.number(), low.id, high.id, out) }));
        let x = term(i);
        self.made(|out| check(unsafe { sys::ricci_kernel_yield(self.raw, x.id, out) }))
    }
    /// The sum of `term(i)` over i from 0 to `n` - 1.
    pub fn sum<'k>(&'k self, n: i64, term: impl FnOnce(Scalar<'k>) -> Scalar<'k>) -> Scalar<'k> {
        self.reduce(Combiner::Add, 0, n, term)
    }
    /// A prefix scan of `n` trips over as many states as `identity` has: `combine(left, right)` is associative, and made
    /// of scalar operations alone; `element(i)` gives the states of trip i; `body(i, prefixes)` takes those up to trip i,
    /// combined. Trips may be grouped in any way that depends on sizes alone.
    pub fn scan<'k>(
        &'k self, n: i64, identity: &[Scalar<'k>],
        combine: impl FnOnce(&[Scalar<'k>], &[Scalar<'k>]) -> Vec<Scalar<'k>>,
        element: impl FnOnce(Scalar<'k>) -> Vec<Scalar<'k>>,
        body: impl FnOnce(Scalar<'k>, &[Scalar<'k>]),
    ) {
        let (low, high, first, states) = (self.index(0), self.index(n), ids(identity), identity.len());
        let (mut left, mut right, mut prefix) = (vec![0; states], vec![0; states], vec![0; states]);
        self.done(|| {
            check(unsafe {
                sys::ricci_kernel_scan(
                    self.raw, low.id, high.id, first.as_ptr(), states as u32, left.as_mut_ptr(), right.as_mut_ptr(),
                )
            })
        });
        let scalars = |ids: &[sys::ricci_sval]| ids.iter().map(|id| self.scalar(*id)).collect::<Vec<_>>();
        let combined = self.states("combine", combine(&scalars(&left), &scalars(&right)), states);
        let i = self.made(|out| check(unsafe { sys::ricci_kernel_combiner(self.raw, combined.as_ptr(), states as u32, out) }));
        let elements = self.states("element", element(i), states);
        self.done(|| check(unsafe { sys::ricci_kernel_prefix(self.raw, elements.as_ptr(), states as u32, prefix.as_mut_ptr()) }));
        self.block(|| Ok(()), || body(i, &scalars(&prefix)))
    }
    /// The ids of what a closure of a scan gives, one for each state.
    fn states(&self, what: &str, given: Vec<Scalar<'_>>, states: usize) -> Vec<sys::ricci_sval> {
        assert_eq!(given.len(), states, "scan: `{}` gives another number of states than `identity` has", what);
        ids(&given)
    }
    /// Wherever this is reached, the flag must hold; else the run fails as `code` with this message and the location of the
    /// operation. What follows runs all the same, so it must stay within bounds. For rows with
    /// [`Rule::MayFail`](crate::plugin::Rule::MayFail).
    pub fn require<'k>(&'k self, flag: Scalar<'k>, code: Code, message: &str) {
        self.done(|| {
            check(unsafe {
                sys::ricci_kernel_check(self.raw, flag.id, code.number(), message.as_ptr() as *const c_char, message.len())
            })
        })
    }
    /// The operations of a program on `operands`, here; its results can be loaded until the block around this ends.
    pub fn inline<'k>(&'k self, f: &Program, operands: &[KernelArray<'k>]) -> Vec<KernelArray<'k>> {
        let (given, mut out): (Vec<_>, Vec<_>) = (array_ids(operands), vec![0; f.results().len()]);
        self.done(|| {
            check(unsafe {
                sys::ricci_kernel_inline(
                    self.raw, f.raw(), given.as_ptr(), given.len() as u32, std::ptr::null(), out.as_mut_ptr(), out.len() as u32,
                )
            })
        });
        out.into_iter().map(|id| KernelArray { kernel: self, id }).collect()
    }
    /// The same, with the results written to `results`: results or private arrays, or parts of them.
    pub fn inline_to<'k>(&'k self, f: &Program, operands: &[KernelArray<'k>], results: &[KernelArray<'k>]) {
        let (given, to) = (array_ids(operands), array_ids(results));
        self.done(|| {
            check(unsafe {
                sys::ricci_kernel_inline(
                    self.raw, f.raw(), given.as_ptr(), given.len() as u32, to.as_ptr(), std::ptr::null_mut(), to.len() as u32,
                )
            })
        })
    }
}
fn array_ids(arrays: &[KernelArray<'_>]) -> Vec<sys::ricci_karr> {
    arrays.iter().map(|a| a.id).collect()
}
