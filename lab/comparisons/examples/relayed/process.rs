//! Starts the other processes, and reads their processor time.

use std::error::Error;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use kinepack_crowd::moq::Identity;
use tokio::process::Command;

/// A process whose processor time is measured.
pub trait Child {
    fn id(&self) -> Option<u32>;

    /// Returns the processor time that the process has used.
    fn processor_time(&self) -> io::Result<Duration> {
        self.id().map_or(Ok(Duration::ZERO), processor_time)
    }
}

impl Child for tokio::process::Child {
    fn id(&self) -> Option<u32> {
        tokio::process::Child::id(self)
    }
}

/// Returns the user and system time of a process, read from `/proc`.
pub fn processor_time(process: u32) -> io::Result<Duration> {
    const TICKS_HZ: u64 = 100;
    let text = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name in parentheses may contain spaces.
    let fields = text.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let number = |nth| fields.split(' ').nth(nth).and_then(|field| field.parse::<u64>().ok());
    let ticks = number(11).zip(number(12)).map(|(user, system)| user + system);
    ticks
        .map(|ticks| Duration::from_millis(ticks * 1_000 / TICKS_HZ))
        .ok_or(io::Error::other("no time"))
}

/// A process of `moq-relay`.
pub struct Relay {
    program: PathBuf,
    arguments: Vec<String>,
    address: SocketAddr,
    child: tokio::process::Child,
    /// The processor time of earlier processes that were killed.
    before: Duration,
}

impl Relay {
    /// Starts a relay on a free port of this machine. The relay connects to `before`, if given.
    pub async fn start(
        program: &Path,
        identity: &Identity,
        nth: u16,
        before: Option<SocketAddr>,
    ) -> Result<Self, Box<dyn Error>> {
        let folder = std::env::temp_dir().join(format!("kinepack-relayed-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let files = ["certificate.pem", "key.pem"].map(|name| folder.join(name));
        for (file, pem) in files.iter().zip(identity.pem()) {
            std::fs::write(file, pem)?;
        }
        let address = UdpSocket::bind("127.0.0.1:0")?.local_addr()?;
        let [certificate, key] = files.map(|file| file.display().to_string());
        let mut arguments = [
            "--listen",
            &address.to_string(),
            "--listen-tls-cert",
            &certificate,
            "--listen-tls-key",
            &key,
            "--auth-public",
            "**",
            "--log-level",
            "error",
            "--cluster-id",
            &(nth + 1).to_string(),
        ]
        .map(str::to_owned)
        .to_vec();
        if let Some(before) = before {
            let hash = identity
                .hash()
                .iter()
                .fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
            arguments.extend(["--cluster-connect".to_owned(), format!("https://{before}/")]);
            arguments.extend(["--connect-tls-fingerprint".to_owned(), hash]);
        }
        let child = spawn(program, &arguments)?;
        let (program, before) = (program.to_owned(), Duration::ZERO);
        let mut relay = Self { program, arguments, address, child, before };
        relay.check().await?;
        Ok(relay)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub async fn kill(&mut self) -> io::Result<()> {
        self.before = self.processor_time()?;
        self.child.kill().await
    }

    pub async fn start_again(&mut self) -> Result<(), Box<dyn Error>> {
        self.child = spawn(&self.program, &self.arguments)?;
        self.check().await
    }

    /// Fails if the relay exits right after its start, for example because of a wrong option.
    async fn check(&mut self) -> Result<(), Box<dyn Error>> {
        tokio::time::sleep(Duration::from_millis(300)).await;
        match self.child.try_wait()? {
            Some(status) => Err(format!("{} ended: {status}", self.program.display()).into()),
            None => Ok(()),
        }
    }
}

impl Child for Relay {
    fn id(&self) -> Option<u32> {
        self.child.id()
    }

    fn processor_time(&self) -> io::Result<Duration> {
        Ok(self.before + self.id().map_or(Ok(Duration::ZERO), processor_time)?)
    }
}

fn spawn(program: &Path, arguments: &[String]) -> Result<tokio::process::Child, String> {
    Command::new(program).args(arguments).stdin(Stdio::null()).kill_on_drop(true).spawn().map_err(
        |error| {
            let program = program.display();
            format!("{program} cannot be started: {error}. `cargo install moq-relay` builds it")
        },
    )
}
