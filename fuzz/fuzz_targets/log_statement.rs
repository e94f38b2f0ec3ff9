//! A statement of a log.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| plimsoll_logs::fuzz_entry::log_statement(bytes));
