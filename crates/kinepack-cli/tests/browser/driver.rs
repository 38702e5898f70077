//! Chromium and its driver, started and stopped with each test.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{env, thread};

use axum::http::Method;
use fantoccini::Client;
use fantoccini::wd::WebDriverCompatibleCommand;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use url::{ParseError, Url};

/// One browser at a time: each of them draws with the processor.
static ONE: Mutex<()> = Mutex::new(());

/// WebGL on the processor, which works on any machine.
const SOFTWARE_GL: &[&str] = &["--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
const NO_GL: &[&str] = &["--disable-gpu", "--disable-software-rasterizer", "--disable-3d-apis"];

/// A browser with one window. Each call returns when its effect is complete.
pub(crate) struct Browser {
    runtime: Runtime,
    client: Client,
    /// The browser's process, which outlives a killed driver.
    browser_id: u64,
    driver: Child,
    /// The browser's files, deleted after the test.
    _home: TempDir,
    _one: MutexGuard<'static, ()>,
}

impl Browser {
    pub(crate) fn start() -> Self {
        Self::with(SOFTWARE_GL)
    }

    pub(crate) fn without_webgl() -> Self {
        Self::with(NO_GL)
    }

    fn with(options: &[&str]) -> Self {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let chromium =
            ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(installed);
        let (Some(chromium), Some(chromedriver)) = (chromium, installed("chromedriver")) else {
            panic!(
                "the tests of the page need Chromium and its driver: apt-get install chromium \
                 chromium-driver"
            );
        };
        let home = TempDir::new().unwrap();
        let (driver, port) = start_driver(&chromedriver, home.path());
        // From here on, a failure must kill `driver` explicitly.
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let capabilities = capabilities(&chromium, home.path(), options);
        let capabilities = capabilities.as_object().unwrap();
        let address = format!("http://127.0.0.1:{port}");
        let connecting =
            Client::with_capabilities_and_connector(&address, capabilities, HttpConnector::new());
        let mut driver = KillOnDrop(Some(driver));
        let client = runtime
            .block_on(connecting)
            .unwrap_or_else(|error| panic!("the browser does not start: {error}"));
        let browser_id =
            client.capabilities().and_then(|told| told.get("goog:processID")?.as_u64());
        let browser_id = browser_id.expect("the driver tells the number of the browser's process");
        Self {
            runtime,
            client,
            browser_id,
            driver: driver.0.take().unwrap(),
            _home: home,
            _one: one,
        }
    }

    /// Runs a closure with the driver's client.
    pub(crate) fn run<T, E: std::fmt::Display>(
        &self,
        work: impl AsyncFnOnce(&Client) -> Result<T, E>,
    ) -> T {
        self.runtime.block_on(work(&self.client)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// A command that is specific to this driver, by its path below the session.
    pub(crate) fn command(&self, path: &str, body: Option<Value>) -> Value {
        let command = Own { path: path.to_owned(), body };
        self.run(async move |client| client.issue_cmd(command).await)
    }

    /// A command of the browser's own protocol.
    pub(crate) fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.command("goog/cdp/execute", Some(json!({ "cmd": command, "params": parameters })))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let closing = async {
            tokio::time::timeout(Duration::from_secs(5), self.client.clone().close()).await
        };
        let closed = self.runtime.block_on(closing);
        if !matches!(closed, Ok(Ok(()))) {
            let _ = Command::new("kill").args(["-KILL", &self.browser_id.to_string()]).status();
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

struct KillOnDrop(Option<Child>);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn installed(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// The driver, and the port that it has found.
fn start_driver(chromedriver: &Path, home: &Path) -> (Child, u16) {
    let mut command = Command::new(chromedriver);
    command.arg("--port=0").env("TMPDIR", home);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut driver = command.spawn().unwrap();
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
    let port = lines.find_map(|line| {
        line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok()
    });
    thread::spawn(move || lines.for_each(drop));
    let Some(port) = port else {
        drop(KillOnDrop(Some(driver)));
        panic!("chromedriver does not say its port");
    };
    (driver, port)
}

fn capabilities(chromium: &Path, home: &Path, options: &[&str]) -> Value {
    let mut arguments = vec![
        "--headless=new",
        "--window-size=640,600",
        "--disable-dev-shm-usage",
        "--no-first-run",
    ];
    // As superuser, the browser has no sandbox and must be told so.
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
    /// The body to post, if there is one.
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
