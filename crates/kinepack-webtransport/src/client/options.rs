//! The settings of a client.

use std::time::Duration;

/// How a [`WebClient`](crate::WebClient) connects.
///
/// ```
/// use kinepack_webtransport::WebClientOptions;
///
/// let options = WebClientOptions { certificate_hash: Some([7; 32]), ..Default::default() };
/// assert_eq!(options.timeout.as_secs(), 5);
/// ```
#[derive(Clone, Debug)]
pub struct WebClientOptions {
    /// The SHA-256 hash of the server's certificate, if the server signs it itself. `None` for a
    /// certificate of a domain, which the system or the browser trusts.
    pub certificate_hash: Option<[u8; 32]>,
    /// The origin that a native client sends, such as `https://play.example`. The server must allow
    /// it. `None` for the server's own host and port. A browser ignores this option, and sends the
    /// origin of its page.
    pub origin: Option<String>,
    /// The attempt fails if there is no session after this time. A native client also counts the
    /// session as lost if the server is silent for longer than this. Browsers have their own
    /// time-out. The server's time-out applies too.
    pub timeout: Duration,
}

impl Default for WebClientOptions {
    /// The defaults are a certificate that the system trusts, the server's own host as the origin,
    /// and a time-out of 5 seconds.
    fn default() -> Self {
        Self { certificate_hash: None, origin: None, timeout: Duration::from_secs(5) }
    }
}
