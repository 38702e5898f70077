//! Runs the program as a user does: passes options, reads its lines, and interrupts it. The program
//! never outlives the test.

#![allow(dead_code, reason = "each test program uses its part")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::program::Run;

/// The longest time that a test waits, which suffices for a machine that is busy with other tests.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

/// The running program, and its lines on standard error. Dropping this value kills the program.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Running {
    pub(crate) fn start(arguments: &[&str], secret: Option<&str>) -> Self {
        let mut command = Command::new(crate::PROGRAM);
        command
            .args(arguments)
            .env_remove("KINEPACK_SECRET")
            .envs(secret.map(|secret| ("KINEPACK_SECRET", secret)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || {
            stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { child, lines, seen: Vec::new() }
    }

    /// Returns the next line that contains `text`.
    pub(crate) fn until(&mut self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => self.seen.push(line),
                Err(error) => panic!("{error}: no line with {text:?} in {:#?}", self.seen),
            }
            if let Some(line) = self.seen.last().filter(|line| line.contains(text)) {
                return line.clone();
            }
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let status =
            Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Waits until a signal no longer kills the program. Only Linux reports which signals a process
    /// handles. On other systems, this method waits for a second.
    pub(crate) fn until_it_handles_signals(&self) {
        let status = format!("/proc/{}/status", self.child.id());
        let handles_interrupts = || {
            let status = std::fs::read_to_string(&status).unwrap_or_default();
            let handled = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
            handled.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & 0b10 != 0)
        };
        if cfg!(target_os = "linux") {
            wait_for("a handler of signals", handles_interrupts);
        } else {
            thread::sleep(Duration::from_secs(1));
        }
    }

    /// Waits until the program ends.
    pub(crate) fn end(mut self) -> Run {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => self.seen.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("the program does not end: {:#?}", self.seen)
                }
            }
        }
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        let code = self.child.wait().unwrap().code();
        Run { code, stdout, stderr: self.seen.join("\n") }
    }

    pub(crate) fn interrupt(self) -> Run {
        self.signal("-INT");
        self.end()
    }

    /// Kills the program without giving it a chance to react.
    pub(crate) fn kill(self) {
        self.signal("-KILL");
        self.end();
    }
}

/// Waits until `holds` returns true.
pub(crate) fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn number(document: &Value, key: &str) -> f64 {
    document[key].as_f64().unwrap_or_else(|| panic!("{key} in {document:#}"))
}
