//! An installation by CMake, found by CMake and by pkg-config, with the static and the shared library.

#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Output};

fn succeed(command: &mut Command) -> String {
    let output: Output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

#[test]
fn an_installation_is_found() {
    if !is_installed("cmake") || !is_installed("pkg-config") {
        println!("cmake or pkg-config is not installed");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let libraries = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let [build, prefix] = ["build", "prefix"].map(|name| folder.path().join(name));
    let built_by_cargo = format!("-DKINEPACK_LIBRARIES={}", libraries.display());
    let at = |name: &str, path: &Path| format!("-D{name}={}", path.display());
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(root).arg("-B").arg(&build).arg(built_by_cargo);
    succeed(configure.arg("-DCMAKE_INSTALL_LIBDIR=lib"));
    succeed(Command::new("cmake").arg("--build").arg(&build));
    succeed(Command::new("cmake").arg("--install").arg(&build).arg("--prefix").arg(&prefix));

    let source = root.join("tests/c/values.c");
    for shared in ["OFF", "ON"] {
        let build = folder.path().join(shared);
        let mut configure = Command::new("cmake");
        configure.arg("-S").arg(root.join("tests/package")).arg("-B").arg(&build);
        configure.arg(at("CMAKE_PREFIX_PATH", &prefix)).arg(at("PROGRAM", &source));
        succeed(configure.arg(format!("-DKINEPACK_SHARED={shared}")));
        succeed(Command::new("cmake").arg("--build").arg(&build));
        // Cargo's own folders may have an older library.
        succeed(Command::new(build.join("program")).env_remove("LD_LIBRARY_PATH"));
    }

    let pkg_config = |arguments: &[&str]| {
        let mut command = Command::new("pkg-config");
        command.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")).args(arguments);
        let flags = succeed(command.arg("kinepack"));
        flags.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let program = folder.path().join("by-pkg-config");
    let mut compile = Command::new("cc");
    compile.arg(&source).args(pkg_config(&["--cflags", "--libs"])).arg("-o").arg(&program);
    succeed(&mut compile);
    succeed(Command::new(&program).env("LD_LIBRARY_PATH", prefix.join("lib")));
    assert_eq!(pkg_config(&["--modversion"]), [env!("CARGO_PKG_VERSION")]);
}
