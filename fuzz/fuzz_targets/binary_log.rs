//! A binary log.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| plimsoll_logs::fuzz_entry::binary_log(bytes));
