//! The settings of a server.

use std::path::PathBuf;
use std::time::Duration;

use kinepack_udp::RateLimit;

/// The settings of a [`WebServer`](crate::WebServer).
///
/// ```
/// use kinepack_webtransport::WebOptions;
///
/// let options = WebOptions { max_clients: 200, ..WebOptions::new(["https://play.example"]) };
/// assert_eq!(options.timeout.as_secs(), 5);
/// ```
#[derive(Clone, Debug)]
pub struct WebOptions {
    /// The maximum number of simultaneous clients.
    pub max_clients: usize,
    /// The pages that may connect. Browsers send the page's origin, and no page can forge it.
    pub origins: Origins,
    /// A client that is silent for this long counts as lost.
    pub timeout: Duration,
    /// The rate of datagrams that a client may send. Datagrams above this rate are dropped. A
    /// client may send pings and pongs of a WebSocket at the same rate. If it sends more, the
    /// server disconnects it.
    pub per_client: RateLimit,
    /// The server's certificate.
    pub certificate: Certificate,
}

/// The pages that may connect.
#[derive(Clone, Debug, Default)]
pub enum Origins {
    /// Pages from the same host and port as this server, by whatever name the browser reached it.
    #[default]
    SameHost,
    /// Pages of these origins, such as `https://play.example`.
    These(Vec<String>),
}

/// How a server proves its identity.
#[derive(Clone, Debug, Default)]
pub enum Certificate {
    /// A new certificate that the server signs itself, for pages that know its
    /// [hash](crate::WebServer::certificate_hash). The server replaces this certificate every week.
    #[default]
    SelfSigned,
    /// The certificates and the key of a domain, as PEM files.
    Files {
        /// The file with the certificate and its chain.
        chain: PathBuf,
        /// The file with the certificate's private key.
        key: PathBuf,
    },
}

impl WebOptions {
    /// The default options, for pages of the origins `origins`.
    pub fn new<O: Into<String>>(origins: impl IntoIterator<Item = O>) -> Self {
        let origins = Origins::These(origins.into_iter().map(Into::into).collect());
        Self { origins, ..Self::default() }
    }
}

impl Default for WebOptions {
    /// The defaults are 64 clients, pages from the same host, 5 seconds of silence, 500 datagrams
    /// per second as over UDP, and a certificate that the server signs itself.
    fn default() -> Self {
        Self {
            max_clients: 64,
            origins: Origins::SameHost,
            timeout: Duration::from_secs(5),
            per_client: RateLimit { per_second: 500, burst: 200 },
            certificate: Certificate::SelfSigned,
        }
    }
}
