#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kinepack_fuzz::clip_database::clip_database(data));
