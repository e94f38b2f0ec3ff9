//! The packet after the last row.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| plimsoll_wire::fuzz_entry::rows_end(bytes));
