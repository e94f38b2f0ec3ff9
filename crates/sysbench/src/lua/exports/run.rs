//! A script's way through a run: events, counters, modules, and the log.

use std::ffi::{c_char, c_int};
use std::ptr::null;
use std::sync::atomic::Ordering;

use plimsoll_core::snapshot::ErrorClass;
use plimsoll_engine::{Outcome, StatementResult};

use super::{bytes, keep};
use crate::log::Level;
use crate::lua::host::{Host, guarded};
use crate::lua::modules;

keep!(RUN: sb_more_events, sb_event_start, sb_event_stop, sb_counter_inc, plimsoll_retry, plimsoll_log, plimsoll_module);

/// Waits for the next event. False when there is none.
#[unsafe(no_mangle)]
extern "C" fn sb_more_events(_thread_id: c_int) -> bool {
    guarded(false, |host| {
        let next = |gate: &mut plimsoll_engine::Gate<'_>| {
            gate.withdraw(); // one that was asked for and not done
            gate.next().is_some()
        };
        !host.is_broken() && host.thread.gate(next) == Some(true)
    })
}

/// The event begins.
#[unsafe(no_mangle)]
extern "C" fn sb_event_start(_thread_id: c_int) {
    guarded((), |host| {
        host.thread.gate(|gate| gate.is_open().then(|| gate.sent()));
    });
}

/// The event has ended.
#[unsafe(no_mangle)]
extern "C" fn sb_event_stop(_thread_id: c_int) {
    guarded((), |host| {
        host.thread.gate(|gate| {
            if gate.is_open() {
                gate.sent();
                gate.finish(0, Outcome::Completed);
            }
        });
    });
}

/// The event is tried again. False when the run is over and it should not be.
#[unsafe(no_mangle)]
extern "C" fn plimsoll_retry() -> bool {
    guarded(false, |host| {
        host.thread.gate(|gate| {
            if gate.is_open() {
                gate.retry();
            }
        });
        !host.thread.is_ending()
    })
}

/// Counts something by hand: `SB_CNT_OTHER`, `READ`, `WRITE`, `TRX`, `ERROR`, `RECONNECT`.
#[unsafe(no_mangle)]
extern "C" fn sb_counter_inc(_thread_id: c_int, counter: c_int) {
    guarded((), |host| count(host, counter));
}

fn count(host: &Host, counter: c_int) {
    let statement = |has_result_set, rows_affected| StatementResult {
        has_result_set,
        rows_returned: 0,
        rows_affected,
    };
    match counter {
        0 => host.thread.statement(statement(false, 0)),
        1 => host.thread.statement(statement(true, 0)),
        2 => host.thread.statement(statement(false, 1)),
        4 => host.thread.error(ErrorClass::Statement, 0),
        5 => {
            host.thread.shared.reconnects_count.fetch_add(1, Ordering::Relaxed);
        }
        _ => {} // events are counted as they end, and bytes not at all
    }
}

/// Prints a message of a level.
#[unsafe(no_mangle)]
extern "C" fn plimsoll_log(level: c_int, text: *const c_char, length: usize) {
    // SAFETY: Lua passes a string with its length, and holds it.
    let text = unsafe { bytes(text, length) };
    guarded((), |host| {
        let level = match level {
            0 => Level::Fatal,
            1 => Level::Alert,
            2 => Level::Warning,
            3 => Level::Notice,
            4 => Level::Info,
            _ => Level::Debug,
        };
        host.thread.log(level, String::from_utf8_lossy(text));
    });
}

/// The text of a module that is built in, with its length; null when there is none of this name.
///
/// # Safety
/// `size` points to a place for a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn plimsoll_module(name: *const c_char, length: usize, size: *mut usize) -> *const c_char {
    // SAFETY: Lua passes a string with its length, and holds it.
    let name = unsafe { bytes(name, length) };
    let Some(text) = modules::named(name) else {
        return null();
    };
    if !size.is_null() {
        // SAFETY: the caller's.
        unsafe { *size = text.len() };
    }
    text.as_ptr().cast()
}
