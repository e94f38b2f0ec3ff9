//! `sysbench.rand` as functions of C.

use std::ffi::c_char;
use std::slice;

use super::{bytes, keep};
use crate::lua::host::guarded;
use crate::lua::rand::Way;

keep!(RAND:
    sb_rand_default, sb_rand_uniform, sb_rand_gaussian, sb_rand_special, sb_rand_pareto, sb_rand_zipfian, sb_rand_unique,
    sb_rand_uniform_double, sb_rand_uniform_uint64, sb_rand_str, sb_rand_varstr, plimsoll_rand_str);

fn within(way: Way, a: u32, b: u32) -> u32 {
    guarded(a, |host| host.draws.borrow_mut().within(way, a, b))
}

#[unsafe(no_mangle)]
extern "C" fn sb_rand_default(a: u32, b: u32) -> u32 {
    within(Way::Default, a, b)
}

#[unsafe(no_mangle)]
extern "C" fn sb_rand_uniform(a: u32, b: u32) -> u32 {
    within(Way::Uniform, a, b)
}

#[unsafe(no_mangle)]
extern "C" fn sb_rand_gaussian(a: u32, b: u32) -> u32 {
    within(Way::Gaussian, a, b)
}

#[unsafe(no_mangle)]
extern "C" fn sb_rand_special(a: u32, b: u32) -> u32 {
    within(Way::Special, a, b)
}

#[unsafe(no_mangle)]
extern "C" fn sb_rand_pareto(a: u32, b: u32) -> u32 {
    within(Way::Pareto, a, b)
}

#[unsafe(no_mangle)]
extern "C" fn sb_rand_zipfian(a: u32, b: u32) -> u32 {
    within(Way::Zipfian, a, b)
}

#[unsafe(no_mangle)]
extern "C" fn sb_rand_unique() -> u32 {
    guarded(0, |host| host.thread.shared.unique.next())
}

#[unsafe(no_mangle)]
extern "C" fn sb_rand_uniform_double() -> f64 {
    guarded(0.0, |host| host.draws.borrow_mut().unit())
}

#[unsafe(no_mangle)]
extern "C" fn sb_rand_uniform_uint64() -> u64 {
    guarded(0, |host| host.draws.borrow_mut().bits())
}

/// Copies a template of so many bytes with `#` and `@` replaced.
///
/// # Safety
/// `out` has room for as many bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn plimsoll_rand_str(template: *const c_char, length: usize, out: *mut c_char) {
    if out.is_null() {
        return;
    }
    // SAFETY: Lua passes a string with its length, and holds it.
    let template = unsafe { bytes(template, length) };
    // SAFETY: the caller's; a template is not larger than what it says.
    let out = unsafe { slice::from_raw_parts_mut(out.cast::<u8>(), template.len()) };
    out.copy_from_slice(template);
    guarded((), |host| host.draws.borrow_mut().fill(out));
}

/// The same with a template that ends with a zero byte, which is copied too.
///
/// # Safety
/// `template` ends with a zero byte, and `out` has room for as many bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn sb_rand_str(template: *const c_char, out: *mut c_char) {
    if template.is_null() || out.is_null() {
        return;
    }
    // SAFETY: the caller's.
    unsafe {
        let length = std::ffi::CStr::from_ptr(template).to_bytes().len();
        plimsoll_rand_str(template, length, out);
        *out.add(length) = 0;
    }
}

/// Fills `out` with `min` to `max` characters, and returns how many. There is no zero byte behind them.
///
/// # Safety
/// `out` has room for `max` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn sb_rand_varstr(out: *mut c_char, min: u32, max: u32) -> u32 {
    if out.is_null() || min > max {
        return 0;
    }
    guarded(0, |host| {
        let mut draws = host.draws.borrow_mut();
        let length = draws.within(Way::Uniform, min, max);
        // SAFETY: the caller's; the length is not above `max`.
        draws.fill_any(unsafe { slice::from_raw_parts_mut(out.cast::<u8>(), length as usize) });
        length
    })
}
