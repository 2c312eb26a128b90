//! Runs that end early, what their steps took, and the operation that makes a NaN.
use crate::abi_data::{header, text};
use crate::array::Array;
use crate::error::{check, Result};
use crate::program::Program;
use ricci_sys as sys;
use std::fmt;
use std::os::raw::{c_int, c_long, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Ends the runs that take it; clones are the same, for other threads.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Words>);
#[derive(Debug, Default)]
struct Words {
    cancel: AtomicU32,
    deadline_ns: AtomicU64,
}
impl Stop {
    /// One that ends nothing yet.
    pub fn new() -> Stop {
        Stop::default()
    }
    /// Runs end soon with [`Code::Cancelled`](crate::Code::Cancelled), later ones too, until `clear`. Any thread may ask.
    pub fn request(&self) {
        self.0.cancel.store(1, Ordering::Release)
    }
    /// Whether it was asked for.
    pub fn requested(&self) -> bool {
        self.0.cancel.load(Ordering::Acquire) != 0
    }
    /// Runs that begin after this call and take longer than `after` from now end with
    /// [`Code::DeadlineExceeded`](crate::Code::DeadlineExceeded).
    pub fn set_deadline(&self, after: Duration) {
        let ns = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
        self.0.deadline_ns.store(now_ns().saturating_add(ns), Ordering::Release)
    }
    /// Neither is wanted any more.
    pub fn clear(&self) {
        self.0.cancel.store(0, Ordering::Release);
        self.0.deadline_ns.store(0, Ordering::Release);
    }
}

/// On the clock of the core.
fn now_ns() -> u64 {
    #[repr(C)]
    struct Time {
        seconds: c_long,
        ns: c_long,
    }
    extern "C" {
        fn clock_gettime(clock: c_int, time: *mut Time) -> c_int;
    }
    const MONOTONIC: c_int = 1;
    let mut t = Time { seconds: 0, ns: 0 };
    // SAFETY: the system fills `t`, which has the layout of its timespec.
    unsafe { clock_gettime(MONOTONIC, &mut t) };
    t.seconds as u64 * 1_000_000_000 + t.ns as u64
}

/// One execution of a step of the plan, or of a part of it on one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfiledStep {
    /// Of the kernel, or what is called.
    pub name: String,
    /// Of the equation that it comes from; empty if unknown.
    pub file: String,
    /// Of the equation; 0 if unknown.
    pub line: u32,
    /// `sys::RICCI_SPAN_KERNEL` and so on.
    pub kind: u32,
    /// Its number in the plan: equal for a step and its parts.
    pub step: u32,
    /// 0: all of the step; i + 1: the part of worker i.
    pub thread: u32,
    /// Nanoseconds of the monotonic clock.
    pub begin_ns: u64,
    /// Nanoseconds of the monotonic clock.
    pub end_ns: u64,
}
/// Collects the steps of the runs that take it; clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Profile(Arc<Mutex<Vec<ProfiledStep>>>);
impl Profile {
    /// One without steps.
    pub fn new() -> Profile {
        Profile::default()
    }
    /// Those of all runs so far, in the order in which they ended.
    pub fn steps(&self) -> Vec<ProfiledStep> {
        self.locked().clone()
    }
    /// Forgets them.
    pub fn clear(&self) {
        self.locked().clear()
    }
    fn locked(&self) -> MutexGuard<'_, Vec<ProfiledStep>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// It refers to `self`.
    fn raw(&self) -> sys::ricci_profile {
        unsafe extern "C" fn add(profile: *mut c_void, span: *const sys::ricci_span) {
            // SAFETY: the profile outlives the run; the core lends the span for this call.
            let (profile, s) = (&*(profile as *const Profile), &*span);
            let step = ProfiledStep {
                name: text(s.name),
                file: text(s.file),
                line: s.line,
                kind: s.kind,
                step: s.step,
                thread: s.thread,
                begin_ns: s.begin_ns,
                end_ns: s.end_ns,
            };
            profile.locked().push(step);
        }
        sys::ricci_profile {
            hdr: header::<sys::ricci_profile>(),
            self_: self as *const Profile as *mut c_void,
            span: Some(add),
        }
    }
}

/// Options of [`Executable::run_with`](crate::Executable::run_with).
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// What ends the run early.
    pub stop: Option<Stop>,
    /// What collects its steps; the program is compiled by [`Program::compile_profiled`].
    pub profile: Option<Profile>,
}
impl RunOptions {
    /// Calls `f` with these options as the core takes them.
    pub(crate) fn lend<R>(&self, f: impl FnOnce(*const sys::ricci_run_opts) -> R) -> R {
        let profile = self.profile.as_ref().map(Profile::raw);
        let words = self.stop.as_ref().map(|s| &*s.0);
        let options = sys::ricci_run_opts {
            hdr: header::<sys::ricci_run_opts>(),
            stream: ptr::null_mut(),
            cancel: words.map_or(ptr::null(), |w| &w.cancel as *const AtomicU32 as *const u32),
            deadline_ns: words.map_or(0, |w| w.deadline_ns.load(Ordering::Acquire)),
            profile: profile.as_ref().map_or(ptr::null(), |p| p as *const _),
        };
        f(&options)
    }
}

impl Program {
    /// Runs operation by operation, slowly, and fails with [`Code::OutOfRange`](crate::Code::OutOfRange) at the first one
    /// that makes a NaN or an infinity of numbers that are none; the message names it, its line and the element.
    pub fn check_finite(&self, arguments: &[&Array]) -> Result<()> {
        let given: Vec<*mut sys::ricci_array> = arguments.iter().map(|a| a.raw()).collect();
        check(unsafe { sys::ricci_check_finite(self.raw(), ptr::null_mut(), given.as_ptr(), given.len() as u32) })
    }
}
impl fmt::Display for ProfiledStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ns", self.name, self.end_ns.saturating_sub(self.begin_ns))
    }
}
