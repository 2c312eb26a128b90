//! What failed: the status of the core as a Rust error.
use crate::abi_data::{text, NO_TEXT};
use ricci_sys as sys;
use std::fmt;

/// The result of everything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Code {
    /// Somebody ended it.
    Cancelled,
    /// What the caller gave is wrong.
    InvalidArgument,
    /// It took too long.
    DeadlineExceeded,
    /// There is nothing of that name.
    NotFound,
    /// It needs more memory than is free, or is too large.
    ResourceExhausted,
    /// Something else must come first.
    FailedPrecondition,
    /// A number is out of its range.
    OutOfRange,
    /// A rule is missing.
    Unimplemented,
    /// A fault of Ricci or of a plugin.
    Internal,
    /// Data cannot be read.
    DataLoss,
    /// Another code of the core.
    Other(u32),
}

impl Code {
    fn of(code: u32) -> Code {
        match code {
            sys::RICCI_CANCELLED => Code::Cancelled,
            sys::RICCI_INVALID_ARGUMENT => Code::InvalidArgument,
            sys::RICCI_DEADLINE_EXCEEDED => Code::DeadlineExceeded,
            sys::RICCI_NOT_FOUND => Code::NotFound,
            sys::RICCI_RESOURCE_EXHAUSTED => Code::ResourceExhausted,
            sys::RICCI_FAILED_PRECONDITION => Code::FailedPrecondition,
            sys::RICCI_OUT_OF_RANGE => Code::OutOfRange,
            sys::RICCI_UNIMPLEMENTED => Code::Unimplemented,
            sys::RICCI_INTERNAL => Code::Internal,
            sys::RICCI_DATA_LOSS => Code::DataLoss,
            other => Code::Other(other),
        }
    }
}

/// A failure: the complete message, and where it happened as far as it is known.
#[derive(Clone, Debug)]
pub struct Error {
    code: Code,
    message: String,
    primitive: String,
    rule: String,
    file: String,
    line: u32,
}

impl Code {
    pub(crate) fn number(self) -> u32 {
        match self {
            Code::Cancelled => sys::RICCI_CANCELLED,
            Code::InvalidArgument => sys::RICCI_INVALID_ARGUMENT,
            Code::DeadlineExceeded => sys::RICCI_DEADLINE_EXCEEDED,
            Code::NotFound => sys::RICCI_NOT_FOUND,
            Code::ResourceExhausted => sys::RICCI_RESOURCE_EXHAUSTED,
            Code::FailedPrecondition => sys::RICCI_FAILED_PRECONDITION,
            Code::OutOfRange => sys::RICCI_OUT_OF_RANGE,
            Code::Unimplemented => sys::RICCI_UNIMPLEMENTED,
            Code::Internal => sys::RICCI_INTERNAL,
            Code::DataLoss => sys::RICCI_DATA_LOSS,
            Code::Other(n) => n,
        }
    }
}

impl Error {
    /// An error of this crate's own checks.
    #[track_caller]
    pub(crate) fn here(message: impl Into<String>) -> Error {
        Error::at(std::panic::Location::caller(), message)
    }
    pub(crate) fn at(location: &std::panic::Location<'_>, message: impl Into<String>) -> Error {
        Error {
            code: Code::InvalidArgument,
            message: format!("{}:{}: {}", location.file(), location.line(), message.into()),
            primitive: String::new(),
            rule: String::new(),
            file: location.file().to_string(),
            line: location.line(),
        }
    }
    /// What a rule says; the core adds the primitive and the location.
    pub(crate) fn refused(message: String) -> Error {
        let (primitive, rule, file) = (String::new(), String::new(), String::new());
        Error { code: Code::InvalidArgument, message, primitive, rule, file, line: 0 }
    }
    /// The kind of the failure.
    pub fn code(&self) -> Code {
        self.code
    }
    /// The complete text: `file:line: primitive: what is wrong`, and what to do.
    pub fn message(&self) -> &str {
        &self.message
    }
    /// The primitive that refused; empty if it was none.
    pub fn primitive(&self) -> &str {
        &self.primitive
    }
    /// The rule of that primitive (`abstract_eval`, `jvp`, ...); empty if it is unknown.
    pub fn rule(&self) -> &str {
        &self.rule
    }
    /// The line of the program's source; `None` if it is unknown.
    pub fn location(&self) -> Option<(&str, u32)> {
        (!self.file.is_empty()).then(|| (self.file.as_str(), self.line))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
impl std::error::Error for Error {}

/// Takes a status of the core: NULL is fine.
#[inline]
pub(crate) fn check(status: *mut sys::ricci_status) -> Result<()> {
    if status.is_null() {
        return Ok(());
    }
    Err(taken(status))
}
#[cold]
fn taken(status: *mut sys::ricci_status) -> Error {
    let (mut message, mut primitive, mut rule, mut file, mut line) = (NO_TEXT, NO_TEXT, NO_TEXT, NO_TEXT, 0);
    // SAFETY: the status is ours, and its texts are copied before it is freed.
    unsafe {
        sys::ricci_status_message(status, &mut message);
        sys::ricci_status_site(status, &mut primitive, &mut rule, &mut file, &mut line);
        let error = Error {
            code: Code::of(sys::ricci_status_code(status)),
            message: text(message),
            primitive: text(primitive),
            rule: text(rule),
            file: text(file),
            line,
        };
        sys::ricci_status_free(status);
        error
    }
}
