//! The functions that scripts find through `ffi.C`. They are declared to Lua in `declarations.lua`.
//!
//! Each of them runs on the host of the state that calls, checks what it is given, and never unwinds into Lua.

mod histogram;
mod rand;
mod run;
mod sql;

use std::ffi::{c_char, c_void};
use std::slice;

/// The bytes that Lua passes with their number; none for a null pointer.
///
/// # Safety
/// A pointer that is not null has so many bytes behind it, which stay as they are while the result is used.
unsafe fn bytes<'a>(pointer: *const c_char, length: usize) -> &'a [u8] {
    if pointer.is_null() || isize::try_from(length).is_err() {
        return &[];
    }
    // SAFETY: the caller's.
    unsafe { slice::from_raw_parts(pointer.cast(), length) }
}

/// A function in the table that keeps all of them.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Exported(#[allow(dead_code)] *const c_void); // only its being there counts

// SAFETY: the address of a function, which nobody reads.
unsafe impl Sync for Exported {}

/// Keeps functions in the program that only scripts call, by their names.
macro_rules! keep {
    ($table:ident: $($function:ident),+ $(,)?) => {
        #[used]
        static $table: [$crate::lua::exports::Exported; [$(stringify!($function)),+].len()] =
            [$($crate::lua::exports::Exported($function as *const std::ffi::c_void)),+];

        /// Names a table that must be linked.
        pub fn link() -> usize {
            std::hint::black_box($table.as_ptr() as usize)
        }
    };
}
use keep;

/// Makes sure that all of them are in the program.
pub fn link() {
    std::hint::black_box([run::link(), rand::link(), sql::link(), histogram::link()]);
}
