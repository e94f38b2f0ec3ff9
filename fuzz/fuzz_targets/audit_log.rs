//! An audit log with columns.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| plimsoll_logs::fuzz_entry::audit_log(bytes));
