//! A row that is kept whole and decoded later, in both protocols.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| plimsoll_wire::fuzz_entry::whole_row(bytes));
