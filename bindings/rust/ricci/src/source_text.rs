//! Functions as text for the compiler of one target, which makes them part of a program.
use crate::abi_data::{header, view};
use crate::array::Element;
use ricci_sys as sys;
use std::fmt;

/// A function in the language of one target, and how it is launched: LLVM assembly for `cpu`, CUDA C++17 for `cuda`.
///
/// `ricci/primitive.h` says which arguments the function gets. On `cpu` it is
/// `void @entry(ptr %args, ptr %workspace, i64 %task, <scalars>)`, called once for each block of the grid; on `cuda`
/// `extern "C" __global__ void entry(<operands>, <results>, <workspace>, <scalars>)`.
///
/// ```no_run
/// use ricci::plugin::Source;
///
/// let n: i64 = 1000;
/// let text = r#"
///     extern "C" __global__ void twice(const float* x, float* y, long long n) {
///       const long long i = blockIdx.x * 256ll + threadIdx.x;
///       if (i < n) y[i] = 2 * x[i];
///     }"#;
/// let launch = Source::new("twice", text).grid([(n + 255) / 256, 1, 1]).block([256, 1, 1]).scalar(n).at(file!(), 5);
/// # let _ = launch;
/// ```
#[derive(Clone)]
pub struct Source {
    entry: String,
    text: String,
    grid: [i64; 3],
    block: [i64; 3],
    scalars: Vec<sys::ricci_source_scalar>,
    workspace_bytes: u64,
    shared_bytes: u64,
    flops: u64,
    file: String,
    line: u32,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({}, {:?} blocks of {:?})", self.entry, self.grid, self.block)
    }
}

impl Source {
    /// The function `entry` in `text`, launched as one block of one thread.
    pub fn new(entry: impl Into<String>, text: impl Into<String>) -> Source {
        Source {
            entry: entry.into(),
            text: text.into(),
            grid: [1; 3],
            block: [1; 3],
            scalars: Vec::new(),
            workspace_bytes: 0,
            shared_bytes: 0,
            flops: 0,
            file: String::new(),
            line: 0,
        }
    }
    /// Blocks along x, y and z. If one of them is 0, nothing is launched: for results without elements.
    #[must_use]
    pub fn grid(mut self, blocks: [i64; 3]) -> Source {
        self.grid = blocks;
        self
    }
    /// Threads of a block, at least 1 each; `cpu` has one.
    #[must_use]
    pub fn block(mut self, threads: [i64; 3]) -> Source {
        self.block = threads;
        self
    }
    /// One more argument of the function, after all others.
    #[must_use]
    pub fn scalar<T: Element>(mut self, x: T) -> Source {
        let (mut bits, n) = (0u64, std::mem::size_of::<T>());
        // SAFETY: an element is a plain number of at most 8 bytes.
        unsafe { std::ptr::copy_nonoverlapping(&x as *const T as *const u8, &mut bits as *mut u64 as *mut u8, n) };
        self.scalars.push(sys::ricci_source_scalar { dtype: T::DTYPE.0, reserved0: 0, bits });
        self
    }
    /// Memory that all tasks share, contents undefined; the same for all launches of an operation.
    #[must_use]
    pub fn workspace(mut self, bytes: u64) -> Source {
        self.workspace_bytes = bytes;
        self
    }
    /// Memory that the threads of a block share; 0 on `cpu`.
    #[must_use]
    pub fn shared(mut self, bytes: u64) -> Source {
        self.shared_bytes = bytes;
        self
    }
    /// Floating operations of the launch, for statistics and estimates.
    #[must_use]
    pub fn flops(mut self, n: u64) -> Source {
        self.flops = n;
        self
    }
    /// Where the text begins, for messages of the compiler: `.at(file!(), line!())`.
    #[must_use]
    pub fn at(mut self, file: impl Into<String>, line: u32) -> Source {
        self.file = file.into();
        self.line = line;
        self
    }
    /// As the core takes it; it borrows from `self`.
    pub(crate) fn raw(&self) -> sys::ricci_source {
        sys::ricci_source {
            hdr: header::<sys::ricci_source>(),
            text: view(&self.text),
            entry: view(&self.entry),
            grid: self.grid,
            block: self.block,
            scalars: self.scalars.as_ptr(),
            n_scalars: self.scalars.len() as u32,
            reserved0: 0,
            workspace_bytes: self.workspace_bytes,
            shared_bytes: self.shared_bytes,
            flops: self.flops,
            file: view(&self.file),
            line: self.line,
            reserved1: 0,
        }
    }
}
