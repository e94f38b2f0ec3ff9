//! The allocator of all Lua states.

use std::alloc::{Layout, alloc, dealloc, realloc};
use std::ffi::c_void;
use std::ptr::null_mut;

use super::memory::take;

/// What the C library's allocator guarantees.
const ALIGN: usize = 16;

/// What a Lua state calls for all its memory.
///
/// # Safety
/// As Lua's manual says of `lua_Alloc`: `old` is null or came from here with `old_bytes`.
pub unsafe extern "C" fn allocate(_: *mut c_void, old: *mut c_void, old_bytes: usize, bytes: usize) -> *mut c_void {
    let held = if old.is_null() { 0 } else { old_bytes };
    if isize::try_from(bytes).is_err() {
        return null_mut();
    }
    let (wanted, before) = (cost(bytes), cost(held));
    if !take(wanted - before) {
        return null_mut();
    }
    // SAFETY: `old` came from here, with this size and alignment; sizes of zero are kept from the allocator.
    let new = unsafe {
        match (held, bytes) {
            (0, 0) => null_mut(),
            (_, 0) => {
                dealloc(old.cast(), layout(held));
                null_mut()
            }
            (0, _) => alloc(layout(bytes)),
            _ => realloc(old.cast(), layout(held), bytes),
        }
    };
    if new.is_null() && bytes > 0 {
        take(before - wanted);
    }
    new.cast()
}

/// What so many bytes take of the C library: a word of its own, and all in units.
#[allow(clippy::cast_possible_wrap)] // what does not fit was refused
fn cost(bytes: usize) -> isize {
    match bytes {
        0 => 0,
        _ => (bytes + size_of::<usize>()).next_multiple_of(ALIGN).max(2 * ALIGN) as isize,
    }
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, ALIGN).expect("a size within isize was checked")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lua::memory::USED_BYTES;
    use std::sync::atomic::Ordering;

    #[test]
    fn what_is_taken_is_counted_and_given_back() {
        // SAFETY: each pointer is used once, with the size that it was taken with.
        unsafe {
            let first = allocate(null_mut(), null_mut(), 0, 1 << 20);
            let used = USED_BYTES.load(Ordering::Relaxed);
            assert!(used >= 1 << 20, "{used}");
            let second = allocate(null_mut(), first, 1 << 20, 1 << 21);
            assert!(USED_BYTES.load(Ordering::Relaxed) >= 1 << 21);
            assert!(allocate(null_mut(), second, 1 << 21, 0).is_null());
            assert!(allocate(null_mut(), null_mut(), 0, usize::MAX).is_null());
        }
    }
}
