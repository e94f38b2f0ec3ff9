//! A slow log of any server.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| plimsoll_logs::fuzz_entry::slow_log(bytes));
