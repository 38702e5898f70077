//! Tests the files of the page, and the address where it listens.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener};

use super::http::{Answer, get, request};
use crate::support::running::Running;

const SMALL: &[&str] = &["--cubes", "20"];
/// The default port of the page.
const DEFAULT_PORT: u16 = 4650;

/// Returns each text between `before` and the next closing quote.
fn quoted<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(before).skip(1).filter_map(|rest| rest.split(['"', '\'', ')']).next())
}

/// Returns the files that the file at `path` names.
fn named(path: &str, body: &str) -> Vec<String> {
    let marks: &[&str] = match path.rsplit('.').next() {
        Some("js") => &["from \"", "import \"", "import(\"", "from '", "import '", "import('"],
        Some("css") => &["url(\"", "url('", "url("],
        _ => &["href=\"", "src=\""],
    };
    let found = marks.iter().flat_map(|mark| quoted(body, mark));
    let files = found.filter(|name| {
        !name.is_empty() && !name.starts_with(['#', '"', '\'']) && !name.contains(':')
    });
    files.map(|name| resolved(path, name)).collect()
}

/// Resolves a file's name that the file at `from` contains. Returns its path.
fn resolved(from: &str, name: &str) -> String {
    let mut folders: Vec<_> = from.split('/').collect();
    folders.pop();
    for part in name.split('/') {
        match part {
            "" => folders.truncate(1),
            "." => {}
            ".." => _ = folders.pop(),
            part => folders.push(part),
        }
    }
    folders.join("/")
}

/// Loads the page and all files that it needs. Returns the answers with their paths.
fn files(address: SocketAddr) -> Vec<(String, Answer)> {
    let mut known = BTreeSet::from(["/".to_owned()]);
    let mut waiting = vec!["/".to_owned()];
    let mut files = Vec::new();
    while let Some(path) = waiting.pop() {
        let answer = get(address, &path);
        assert_eq!(answer.status, 200, "{path}");
        waiting.extend(
            named(&path, &answer.body).into_iter().filter(|name| known.insert(name.clone())),
        );
        files.push((path, answer));
    }
    files
}

#[test]
fn every_file_is_served_with_its_type_and_the_headers_that_protect_it() {
    let (_demo, address) = Running::demo(SMALL);
    assert_files_are_protected(address);
}

/// Asserts the type and the headers of every file of a page.
pub(crate) fn assert_files_are_protected(address: SocketAddr) {
    let files = files(address);
    for (ending, least) in [(".js", 3), (".css", 1), (".svg", 1)] {
        assert!(
            files.iter().filter(|(path, _)| path.ends_with(ending)).count() >= least,
            "{ending}"
        );
    }
    for (path, answer) in files {
        let kind = match path.rsplit('.').next().unwrap() {
            "/" | "html" => "text/html",
            "js" => "text/javascript",
            "css" => "text/css",
            "svg" => "image/svg+xml",
            other => panic!("{other}: {path}"),
        };
        assert!(
            answer.header("content-type").starts_with(kind),
            "{path}: {}",
            answer.header("content-type")
        );
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        let policy = answer.header("content-security-policy");
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "connect-src 'self'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        // The page may run its own modules. Nothing else that is unsafe is allowed.
        let policy = policy.replace("'wasm-unsafe-eval'", "");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.header("access-control-allow-origin"), "", "{path}");
        assert!(!answer.body.is_empty(), "{path}");
    }
}

#[test]
fn other_paths_and_methods_are_refused() {
    let (_demo, address) = Running::demo(SMALL);
    for path in [
        "/nothing",
        "/main.rs",
        "/../Cargo.toml",
        "/..%2fCargo.toml",
        "//etc/passwd",
        "/index.html/x",
    ] {
        let status = get(address, path).status;
        assert!([400, 404].contains(&status), "{path}: {status}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        assert_eq!(request(address, method, "/", &address.to_string()).status, 405, "{method}");
    }
    // Without the headers of a WebSocket, this path serves no file.
    let status = get(address, "/socket").status;
    assert!((400..500).contains(&status), "{status}");
}

#[test]
fn a_foreign_host_name_is_refused() {
    let (_demo, address) = Running::demo(SMALL);
    let port = address.port();
    for host in [format!("127.0.0.1:{port}"), format!("localhost:{port}")] {
        assert_eq!(request(address, "GET", "/", &host).status, 200, "{host}");
    }
    for host in [
        "evil.example",
        &format!("evil.example:{port}"),
        &format!("127.0.0.1.evil.example:{port}"),
        "",
    ] {
        let status = request(address, "GET", "/", host).status;
        assert!([400, 403, 421].contains(&status), "{host:?}: {status}");
    }
}

#[test]
fn a_taken_port_is_an_error_only_if_the_user_asked_for_it() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let listen = format!("127.0.0.1:{port}");
    let run = Running::start(&["demo", "--no-open", "--json", "--listen", &listen], None).end();
    assert!(
        run.code.is_some_and(|code| code != 0) && run.stdout.is_empty(),
        "{:?}: {}",
        run.code,
        run.stderr
    );
    assert!(run.stderr.contains(&listen) && run.stderr.lines().count() == 1, "{}", run.stderr);

    // This test or another program takes the port.
    let _taken = TcpListener::bind(("127.0.0.1", DEFAULT_PORT));
    let mut demo = Running::start(&[&["demo", "--no-open", "--json"], SMALL].concat(), None);
    let address = demo.page();
    assert_ne!(address.port(), DEFAULT_PORT);
    assert_eq!(get(address, "/").status, 200);
}
