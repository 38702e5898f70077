//! A relay that runs inside the program.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use moq_net::{Server, origin};
use rcgen::{CertificateParams, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tokio::task::JoinSet;
use tokio::time::timeout;
use web_transport_quinn::crypto::sha256;
use web_transport_quinn::proto::ConnectResponse;
use web_transport_quinn::quinn::crypto::rustls::QuicServerConfig;
use web_transport_quinn::quinn::{Incoming, ServerConfig};
use web_transport_quinn::{ALPN, Request, ServerError};

use super::MoqError;
use super::connector::{self, CONNECT_TIMEOUT, endpoint, transport};

/// The memory for the groups that the relay keeps for late subscribers, in bytes.
const CACHE_BYTES: u64 = 256 << 20;
/// The maximum number of sessions at once, including those whose handshake is not finished.
const MOST_SESSIONS: usize = 1_024;

/// A relay for one machine: any client that reaches its port may publish and watch anything. For
/// all other uses, run `moq-relay`, which has tokens, clusters and statistics. The relay accepts at
/// most 1,024 sessions at once, and refuses further sessions.
///
/// The relay stops when it is dropped.
#[derive(Debug)]
pub struct LocalRelay {
    address: SocketAddr,
    _tasks: JoinSet<()>,
}

/// A certificate that a relay makes for itself, with the certificate's key. Clients trust the
/// certificate by its hash.
pub struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
    hash: [u8; 32],
    pem: [String; 2],
}

impl Identity {
    /// Makes a new certificate for this machine. The certificate is valid for 13 days, because
    /// browsers accept a certificate by its hash only if it is valid for at most two weeks.
    ///
    /// # Errors
    /// [`MoqError::System`] if the certificate cannot be made.
    pub fn self_signed() -> Result<Self, MoqError> {
        let system = |error: rcgen::Error| MoqError::System(error.to_string());
        let key = KeyPair::generate().map_err(system)?;
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let mut parameters = CertificateParams::new(names.to_vec()).map_err(system)?;
        let (now, day) = (SystemTime::now(), Duration::from_secs(24 * 3600));
        // The validity begins an hour ago, because the clocks of two machines may differ by that
        // much.
        parameters.not_before = (now - day / 24).into();
        parameters.not_after = (now + 13 * day).into();
        let signed = parameters.self_signed(&key).map_err(system)?;
        let pem = [signed.pem(), key.serialize_pem()];
        let certificate = signed.der().clone();
        let provider = Arc::new(ring::default_provider());
        let mut hash = [0; 32];
        hash.copy_from_slice(sha256(&provider, &certificate).as_ref());
        Ok(Self { certificate, key: key.serialize_der().into(), hash, pem })
    }

    /// The certificate and its key as PEM text, for another relay on this machine.
    pub fn pem(&self) -> [&str; 2] {
        let [certificate, key] = &self.pem;
        [certificate, key]
    }

    /// The SHA-256 hash of the certificate, for [`Trust::Certificates`](super::Trust).
    pub fn hash(&self) -> [u8; 32] {
        self.hash
    }
}

impl LocalRelay {
    /// Listens on a UDP port. Call this within a tokio runtime.
    ///
    /// # Errors
    /// [`MoqError::System`] if the relay cannot listen on the port.
    pub fn listen(address: SocketAddr, identity: &Identity) -> Result<Self, MoqError> {
        Self::listen_within(MOST_SESSIONS, address, identity)
    }

    fn listen_within(
        most: usize,
        address: SocketAddr,
        identity: &Identity,
    ) -> Result<Self, MoqError> {
        let system = |error: &dyn std::fmt::Display| MoqError::System(error.to_string());
        let chain = vec![identity.certificate.clone()];
        let key = identity.key.clone_key().into();
        let provider = Arc::new(ring::default_provider());
        let tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .and_then(|tls| tls.with_no_client_auth().with_single_cert(chain, key));
        let mut tls = tls.map_err(|error| system(&error))?;
        tls.alpn_protocols = vec![ALPN.as_bytes().to_vec()];
        let tls = QuicServerConfig::try_from(tls).map_err(|error| system(&error))?;
        let mut config = ServerConfig::with_crypto(Arc::new(tls));
        config.transport_config(Arc::new(transport()));
        let endpoint = endpoint(address, Some(config)).map_err(|error| {
            MoqError::System(format!("the relay cannot listen on {address}: {error}"))
        })?;
        let address = endpoint.local_addr().map_err(|error| system(&error))?;
        let mut tasks = JoinSet::new();
        let origin = connector::origin(CACHE_BYTES, &mut tasks);
        tasks.spawn(async move {
            let mut sessions = JoinSet::new();
            loop {
                tokio::select! {
                    incoming = endpoint.accept() => match incoming {
                        Some(incoming) if sessions.len() < most => {
                            sessions.spawn(serve(incoming, origin.clone()));
                        }
                        Some(incoming) => incoming.refuse(),
                        None => return,
                    },
                    Some(_) = sessions.join_next() => {}
                }
            }
        });
        Ok(Self { address, _tasks: tasks })
    }

    /// The address that the relay listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("hash", &self.hash).finish_non_exhaustive()
    }
}

async fn serve(incoming: Incoming, origin: origin::Producer) {
    let mut connection = None;
    let begin = async {
        let connected = connection.insert(incoming.await.ok()?).clone();
        let session = accept(Request::accept(connected).await.ok()?).await.ok()?;
        let server = Server::new().with_origin(origin);
        server.accept(Instant::now(), session).await.ok()
    };
    // The timeout covers the whole handshake, because a client may connect and then send no
    // request, or never read the answer.
    let Ok(Some((session, driver))) = timeout(CONNECT_TIMEOUT, begin).await else {
        if let Some(connection) = connection {
            connection.close(0u32.into(), b"");
        }
        return;
    };
    connector::run(driver).await;
    drop(session);
}

/// Accepts a request with the first version of MoQ that both sides support.
async fn accept(request: Request) -> Result<web_transport_quinn::Session, ServerError> {
    let offered = request.protocols.iter();
    let common = offered.into_iter().find(|name| moq_net::ALPNS.contains(&name.as_str())).cloned();
    let mut response = ConnectResponse::OK;
    if let Some(name) = common {
        response = response.with_protocol(name);
    }
    request.respond(response).await
}

#[cfg(test)]
mod tests {
    use moq_net::Client;

    use super::*;
    use crate::moq::{Address, Connector, Trust};

    #[tokio::test]
    async fn a_relay_takes_a_limited_number_of_sessions() {
        let identity = Identity::self_signed().unwrap();
        let local = "[::1]:0".parse().unwrap();
        let relay = LocalRelay::listen_within(2, local, &identity).unwrap();
        let connector = Connector::new(&Trust::Certificates(vec![identity.hash()])).unwrap();
        let address: Address = format!("https://{}/balls", relay.address()).parse().unwrap();
        let mut tasks = JoinSet::new();
        let origin = connector::origin(CACHE_BYTES, &mut tasks);
        let connect = || connector.connect(&address, Client::new().with_subscriber(origin.clone()));
        let first = connect().await.unwrap();
        let _second = connect().await.unwrap();
        assert!(matches!(connect().await, Err(MoqError::Connect(_))));
        // The place becomes free when the relay has noticed the end of the session.
        drop(first);
        let again = async {
            while connect().await.is_err() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(CONNECT_TIMEOUT, again).await.unwrap();
    }
}
