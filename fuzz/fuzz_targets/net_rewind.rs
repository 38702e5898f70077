#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kinepack_fuzz::net_rewind::net_rewind(data));
