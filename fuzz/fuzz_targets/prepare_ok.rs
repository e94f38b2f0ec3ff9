//! The reply to a prepare.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| plimsoll_wire::fuzz_entry::prepare_ok(bytes));
