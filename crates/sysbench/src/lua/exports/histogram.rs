//! `sysbench.histogram` as functions of C.

use std::ptr::null_mut;

use super::keep;
use crate::lua::host::guarded;

keep!(HISTOGRAM: sb_histogram_new, sb_histogram_update, sb_histogram_print, sb_histogram_delete);

/// A new one; null when its bounds make no sense.
#[unsafe(no_mangle)]
extern "C" fn sb_histogram_new(size: usize, low: f64, high: f64) -> *mut u64 {
    guarded(null_mut(), |host| {
        let mut all = host.histograms.borrow_mut();
        let index = all.add();
        if all.at(index).begin(size, low, high) {
            return crate::lua::slab::Faced::face(all.at(index));
        }
        all.release(index);
        null_mut()
    })
}

/// Counts a value. What is no histogram is left alone.
#[unsafe(no_mangle)]
extern "C" fn sb_histogram_update(histogram: *const u64, value: f64) {
    guarded((), |host| {
        let mut all = host.histograms.borrow_mut();
        if let Some(index) = all.find(histogram) {
            all.at(index).update(value);
        }
    });
}

/// Prints it.
#[unsafe(no_mangle)]
extern "C" fn sb_histogram_print(histogram: *const u64) {
    guarded((), |host| {
        let mut all = host.histograms.borrow_mut();
        if let Some(index) = all.find(histogram) {
            host.thread.shared.log.print(all.at(index).shown());
        }
    });
}

/// Lua holds it no more.
#[unsafe(no_mangle)]
extern "C" fn sb_histogram_delete(histogram: *const u64) {
    guarded((), |host| {
        let mut all = host.histograms.borrow_mut();
        if let Some(index) = all.find(histogram) {
            if let Some(gone) = all.release(index) {
                gone.end();
            }
        }
    });
}
