#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kinepack_fuzz::live::face_csv(data));
