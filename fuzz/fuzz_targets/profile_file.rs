#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kinepack_fuzz::profile_file::profile_file(data));
