//! `kinepack-web-builder MODULE.wasm DIR NAME` writes DIR/NAME.js and DIR/NAME_bg.wasm.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = &arguments[..] else {
        eprintln!("usage: kinepack-web-builder MODULE.wasm DIR NAME");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    let web = bindgen.input_path(module).out_name(name).typescript(false).web(true);
    let written = web.and_then(|bindgen| {
        bindgen.remove_name_section(true).remove_producers_section(true).generate(folder)
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{module}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
