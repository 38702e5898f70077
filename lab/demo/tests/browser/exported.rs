//! Tests the folder of `demo --export` on a host of static files. The worlds run, the link and the
//! level change live, and nothing is decoded wrongly.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io, thread};

use serde_json::Value;

use super::driver::Browser;
use super::layout::{FAINT, TOO_WIDE};

/// Serves the files of a folder until the test's process ends.
pub(crate) fn host(folder: &Path) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, folder) = (listener.local_addr().unwrap(), folder.to_owned());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            // A browser that closes a connection early is not a failure.
            thread::spawn(move || answer(stream, &folder));
        }
    });
    address
}

fn answer(mut stream: TcpStream, folder: &Path) -> io::Result<()> {
    let mut request = String::new();
    BufReader::new(&stream).read_line(&mut request)?;
    let path = request.split(' ').nth(1).unwrap_or("/").trim_start_matches('/');
    let path: PathBuf = folder.join(if path.is_empty() { "index.html" } else { path });
    let kind = match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html",
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("svg") => "image/svg+xml",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    };
    match fs::read(path) {
        Ok(bytes) => {
            let length = bytes.len();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
                 Connection: close\r\n\r\n"
            )?;
            stream.write_all(&bytes)
        }
        Err(_) => stream.write_all(b"HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n"),
    }
}

#[test]
fn the_exported_demo_runs_on_any_host() {
    let folder = tempfile::tempdir().unwrap();
    let export = folder.path().join("demo");
    let run = Command::new(crate::PROGRAM)
        .args(["demo", "--seconds", "3", "--level", "adaptive", "--export"])
        .arg(&export)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let address = host(&export);
    let browser = Browser::start();
    browser.resize(1280, 900);
    browser.open(address, "");
    browser.wait("kinepack.numbers().bodies === 901");
    browser.wait_above("kinepack.numbers().kbps", 20.0);
    let area = browser.area("worlds");
    browser.wait_for_a_frame();
    assert!(browser.screenshot().colours(area) > 30);

    // The world begins again after three seconds, and the level and the link change.
    browser.wait_above("kinepack.numbers().shownTick", 200.0);
    browser.choose("select[name=level]", "packed");
    browser.eval(
        "(form => { form.loss_percent.value = 20; \
         form.dispatchEvent(new Event('input')); return true; })(document.forms.settings)",
    );
    let tick = browser.number("kinepack.numbers().shownTick");
    browser.wait_above("kinepack.numbers().shownTick", tick + 60.0);
    browser.wait("Number(document.getElementById('lost').textContent) > 5");
    assert_eq!(browser.number("kinepack.numbers().wrong"), 0.0);
    for width in [400, 768, 1280] {
        browser.resize(width, 800);
        browser.wait_for_a_frame();
        assert_eq!(browser.eval(TOO_WIDE), Value::Array(Vec::new()), "{width}");
    }
    assert_eq!(browser.eval(FAINT), Value::Array(Vec::new()));
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn an_exported_demo_without_its_world_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let export = folder.path().join("demo");
    let run = Command::new(crate::PROGRAM)
        .args(["demo", "--seconds", "1", "--cubes", "20", "--export"])
        .arg(&export)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    fs::remove_file(export.join("world.bin")).unwrap();
    let browser = Browser::start();
    let address = host(&export);
    browser.run(async |client| client.goto(&format!("http://{address}/")).await);
    browser.wait_for_state("lost");
    browser
        .wait("document.querySelector('#banner p').textContent.includes('world.bin is missing')");
}
