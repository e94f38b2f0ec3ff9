//! The first packet of a reply.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| plimsoll_wire::fuzz_entry::reply_head(bytes));
