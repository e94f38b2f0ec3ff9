//! Numbers with fractions as C reads them: hexadecimal, infinite, or with something behind them.

use std::ffi::CString;
use std::ptr::null_mut;

/// The number that a text begins with, as C reads it, and how many bytes of it that are; 0 where there is none.
pub(super) fn double(text: &str) -> (f64, usize) {
    let Ok(text) = CString::new(text) else { return (0.0, 0) };
    let mut end = null_mut();
    // SAFETY: the text ends with a zero byte, and `end` is a place for a pointer into it.
    let number = unsafe { libc::strtod(text.as_ptr(), &raw mut end) };
    (number, end as usize - text.as_ptr() as usize)
}
