//! The command line of the sysbench front door.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| plimsoll_sysbench::fuzz_entry::command_line(bytes));
