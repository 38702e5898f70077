#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kinepack_fuzz::net_stream::net_stream(data));
