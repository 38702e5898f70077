//! Runs Chromium and its driver. A start takes longer than many tests, so a test takes a browser
//! that an earlier test of this process has left, if there is one. Each test has a tab of its own.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{env, thread};

use axum::http::Method;
use fantoccini::Client;
use fantoccini::wd::WebDriverCompatibleCommand;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use url::{ParseError, Url};

/// The browsers that no test uses. A test holds this lock, so only one browser uses the processor
/// to draw.
static IDLE: Mutex<Vec<Driver>> = Mutex::new(Vec::new());

/// The shell runs the driver, `$0`, until this process ends or closes the pipe, even if it is
/// killed. The first line is the number of the browser's process, which outlives its driver. `$1`
/// is the folder of the driver and the browser.
const UNTIL_THE_PIPE_CLOSES: &str = r#"
"$0" --port=0 &
driver=$!
read -r browser
cat > /dev/null
kill -KILL $driver $browser 2> /dev/null
wait
rm -rf "$1" || { sleep 1; rm -rf "$1"; }
"#;

/// Options that draw WebGL on the processor, which works on any machine.
const SOFTWARE_GL: &[&str] = &["--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
const NO_GL: &[&str] = &["--disable-gpu", "--disable-software-rasterizer", "--disable-3d-apis"];

/// A browser with one window. Each call returns when its effect is complete.
pub(crate) struct Browser {
    /// The driver of the browser. It is `None` only after the browser was dropped.
    driver: Option<Driver>,
    idle: MutexGuard<'static, Vec<Driver>>,
}

/// A running browser and its driver.
struct Driver {
    runtime: Runtime,
    client: Client,
    options: &'static [&'static str],
    shell: Child,
}

impl Browser {
    pub(crate) fn start() -> Self {
        Self::with(SOFTWARE_GL)
    }

    pub(crate) fn without_webgl() -> Self {
        Self::with(NO_GL)
    }

    fn with(options: &'static [&'static str]) -> Self {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(at) = idle.iter().position(|driver| driver.options == options) else {
            return Self { driver: Some(Driver::start(options)), idle };
        };
        let driver = idle.swap_remove(at);
        let browser = Self { driver: Some(driver), idle };
        browser.run(async |client| {
            let old = client.windows().await?;
            let tab = client.new_window(true).await?.handle;
            for window in old {
                client.switch_to_window(window).await?;
                client.close_window().await?;
            }
            client.switch_to_window(tab).await
        });
        browser.wait("document.visibilityState === 'visible'");
        // An earlier test may have left messages on the console.
        browser.console();
        browser
    }

    /// Runs a closure with the driver's client.
    pub(crate) fn run<T, E: std::fmt::Display>(
        &self,
        work: impl AsyncFnOnce(&Client) -> Result<T, E>,
    ) -> T {
        let driver = self.driver.as_ref().expect("a browser");
        let done = driver.runtime.block_on(work(&driver.client));
        done.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Runs a command that is specific to this driver. `path` is its path below the session.
    pub(crate) fn command(&self, path: &str, body: Option<Value>) -> Value {
        let command = Own { path: path.to_owned(), body };
        self.run(async move |client| client.issue_cmd(command).await)
    }

    /// Runs a command of the browser's own protocol.
    pub(crate) fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.command("goog/cdp/execute", Some(json!({ "cmd": command, "params": parameters })))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // After a failure the browser may be in any state.
        if !thread::panicking() {
            self.idle.extend(self.driver.take());
        }
    }
}

impl Driver {
    fn start(options: &'static [&'static str]) -> Self {
        let chromium =
            ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(installed);
        let (Some(chromium), Some(chromedriver)) = (chromium, installed("chromedriver")) else {
            panic!(
                "the tests of the page need Chromium and its driver: apt-get install chromium \
                 chromium-driver"
            );
        };
        // The shell deletes this folder.
        let home = TempDir::new().unwrap().keep();
        let (mut shell, port) = start_driver(&chromedriver, &home);
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let capabilities = capabilities(&chromium, &home, options);
        let capabilities = capabilities.as_object().unwrap();
        let address = format!("http://127.0.0.1:{port}");
        let connecting =
            Client::with_capabilities_and_connector(&address, capabilities, HttpConnector::new());
        let client = runtime
            .block_on(connecting)
            .unwrap_or_else(|error| panic!("the browser does not start: {error}"));
        let process = client.capabilities().and_then(|told| told.get("goog:processID")?.as_u64());
        let process = process.expect("the driver tells the number of the browser's process");
        writeln!(shell.stdin.as_mut().unwrap(), "{process}").unwrap();
        Self { runtime, client, options, shell }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // The pipe closes, so the shell ends the browser.
        let _ = self.shell.wait();
    }
}

fn installed(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// Starts the shell that runs the driver. Returns the shell and the driver's port.
fn start_driver(chromedriver: &Path, home: &Path) -> (Child, u16) {
    let mut command = Command::new("sh");
    command.args(["-c", UNTIL_THE_PIPE_CLOSES]).arg(chromedriver).arg(home).env("TMPDIR", home);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut shell = command.spawn().unwrap();
    let mut lines = BufReader::new(shell.stdout.take().unwrap()).lines().map_while(Result::ok);
    let port = lines.find_map(|line| {
        line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok()
    });
    thread::spawn(move || lines.for_each(drop));
    (shell, port.expect("chromedriver does not say its port"))
}

fn capabilities(chromium: &Path, home: &Path, options: &[&str]) -> Value {
    let mut arguments = vec![
        "--headless=new",
        "--window-size=640,600",
        "--disable-dev-shm-usage",
        "--no-first-run",
    ];
    // For the superuser, the browser has no sandbox, and starts only with an option that allows
    // this.
    if home.metadata().unwrap().uid() == 0 {
        arguments.push("--no-sandbox");
    }
    arguments.extend(options);
    json!({
        "goog:chromeOptions": { "binary": chromium, "args": arguments },
        "goog:loggingPrefs": { "browser": "ALL" },
    })
}

#[derive(Debug)]
struct Own {
    path: String,
    /// The body of the request. If there is one, the method is POST.
    body: Option<Value>,
}

impl WebDriverCompatibleCommand for Own {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        match &self.body {
            Some(body) => (Method::POST, Some(body.to_string())),
            None => (Method::GET, None),
        }
    }
}
