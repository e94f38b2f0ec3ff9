//! Walking over packets in pieces.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| plimsoll_wire::fuzz_entry::skipper(bytes));
