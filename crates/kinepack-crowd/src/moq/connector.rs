//! Connects to relays by WebTransport.

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use moq_net::{Client, Driver, Session, origin, time};
use rustls::RootCertStore;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, SignatureScheme};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::task::JoinSet;
use web_transport_quinn::quinn::crypto::rustls::QuicClientConfig;
use web_transport_quinn::quinn::{
    self, ClientConfig, Endpoint, EndpointConfig, ServerConfig, TransportConfig, VarInt,
};
use web_transport_quinn::{crypto::sha256, proto::ConnectRequest};

use super::{Address, MoqError};

/// The duration of silence after which a relay counts as lost.
const SILENCE: Duration = Duration::from_secs(2);
const KEEP_ALIVE: Duration = Duration::from_millis(600);
const IP_AND_UDP_BYTES: u64 = 28;
/// The longest time to wait for an answer.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The shortest and the longest pause between attempts to connect; the pauses grow from the
/// shortest to the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(2)];

/// The size of a socket's buffers, in bytes. Buffers of the usual size overflow when many viewers
/// of one connector, or of one relay, begin at the same time.
const SOCKET_BYTES: usize = 4 << 20;

/// The maximum random time that is added to a pause, in milliseconds.
const SPREAD_MS: u64 = 500;
/// The round-trip time that is assumed before the first answer. If the first packet is lost, QUIC
/// sends it again after three times this duration.
const INITIAL_ROUND_TRIP: Duration = Duration::from_millis(100);

/// The relays that are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Relays are trusted if this system trusts their certificate.
    System,
    /// Relays are trusted if their certificate has one of these SHA-256 hashes.
    Certificates(Vec<[u8; 32]>),
}

/// A session with a relay.
pub struct Connection {
    /// The MoQ session.
    pub session: Session,
    /// The driver, which must [run](time::run) as long as the session is used.
    pub driver: Driver<web_transport_quinn::Session>,
    quic: quinn::Connection,
}

/// Counts the traffic of a connection.
#[derive(Clone, Debug)]
pub struct Traffic(quinn::Connection);

impl Traffic {
    /// The number of bytes received so far, with all headers: those of IP (version 4), UDP, QUIC
    /// and MoQ.
    pub fn received_bytes(&self) -> u64 {
        let received = self.0.stats().udp_rx;
        received.bytes + IP_AND_UDP_BYTES * received.datagrams
    }
}

impl Connection {
    /// Returns a counter of the connection's traffic.
    pub fn traffic(&self) -> Traffic {
        Traffic(self.quic.clone())
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("quic", &self.quic).finish_non_exhaustive()
    }
}

/// Connects to relays. Clones of a connector share one UDP socket, so one connector serves many
/// viewers.
#[derive(Clone, Debug)]
pub struct Connector {
    client: web_transport_quinn::Client,
}

impl Connector {
    /// Makes a connector with its own socket. Call this within a tokio runtime.
    ///
    /// # Errors
    /// [`MoqError::System`] if no socket can be opened, or the system's certificates cannot be
    /// read.
    pub fn new(trust: &Trust) -> Result<Self, MoqError> {
        let system = |error: &dyn std::fmt::Display| MoqError::System(error.to_string());
        let provider = Arc::new(ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| system(&error))?;
        let mut tls = match trust {
            Trust::System => {
                let mut roots = RootCertStore::empty();
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
                tls.with_root_certificates(roots).with_no_client_auth()
            }
            Trust::Certificates(hashes) => {
                let pinned = Pinned { hashes: hashes.clone(), provider };
                let tls = tls.dangerous().with_custom_certificate_verifier(Arc::new(pinned));
                tls.with_no_client_auth()
            }
        };
        tls.alpn_protocols = vec![web_transport_quinn::ALPN.as_bytes().to_vec()];
        let tls = QuicClientConfig::try_from(tls).map_err(|error| system(&error))?;
        let mut config = ClientConfig::new(Arc::new(tls));
        config.transport_config(Arc::new(transport()));
        let endpoint = endpoint((Ipv6Addr::UNSPECIFIED, 0).into(), None)
            .or_else(|_| endpoint((Ipv4Addr::UNSPECIFIED, 0).into(), None))
            .map_err(|error| system(&error))?;
        Ok(Self { client: web_transport_quinn::Client::new(endpoint, config) })
    }

    /// Connects to the relay of an address, for programs that have their own tracks. `client` holds
    /// the broadcasts that these programs publish and subscribe to.
    ///
    /// # Errors
    /// [`MoqError::Connect`] if the relay cannot be reached, or refuses the client.
    pub async fn connect(&self, address: &Address, client: Client) -> Result<Connection, MoqError> {
        let refused = |error: &dyn std::fmt::Display| MoqError::Connect(error.to_string());
        let request = ConnectRequest::new(address.relay().clone())
            .with_protocols(moq_net::ALPNS.iter().map(|name| (*name).to_owned()));
        let connecting = async {
            let transport = self.client.connect(request).await.map_err(|error| refused(&error))?;
            let quic = (*transport).clone();
            let started = client.connect(Instant::now(), transport).await;
            let (session, driver) = started.map_err(|error| refused(&error))?;
            Ok(Connection { session, driver, quic })
        };
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, connecting).await;
        connected.map_err(|_| {
            let seconds = CONNECT_TIMEOUT.as_secs();
            MoqError::Connect(format!("{address} did not answer in {seconds} s"))
        })?
    }
}

/// Makes a QUIC endpoint with its own socket.
pub(super) fn endpoint(address: SocketAddr, server: Option<ServerConfig>) -> io::Result<Endpoint> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() && server.is_none() {
        // On most systems, the socket then accepts IPv4 too.
        let _ = socket.set_only_v6(false);
    }
    // A system with a lower limit gives as much as it allows.
    let _ = socket.set_recv_buffer_size(SOCKET_BYTES);
    let _ = socket.set_send_buffer_size(SOCKET_BYTES);
    socket.bind(&address.into())?;
    let runtime = quinn::default_runtime().ok_or_else(|| io::Error::other("no tokio runtime"))?;
    Endpoint::new(EndpointConfig::default(), server, socket.into(), runtime)
}

/// Runs a driver of `moq-net` to its end.
pub(super) async fn run(driver: impl time::Driver + Send) {
    time::run(driver).await;
}

/// Makes an origin, and adds its driver to `tasks`.
pub(super) fn origin(cache_bytes: u64, tasks: &mut JoinSet<()>) -> origin::Producer {
    let cache = moq_net::cache::Config::default()
        .with_capacity(cache_bytes)
        .with_expiry(moq_net::cache::DEFAULT_EXPIRY);
    let mut config = origin::Config::default();
    config.pool = moq_net::cache::Pool::new(cache);
    let (producer, driver) = origin::Producer::new(config);
    tasks.spawn(run(driver));
    producer
}

/// Returns the QUIC settings of clients and of the local relay.
pub(super) fn transport() -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport.initial_rtt(INITIAL_ROUND_TRIP);
    transport.keep_alive_interval(Some(KEEP_ALIVE));
    let silence_ms = VarInt::from_u32(SILENCE.as_millis() as u32);
    transport.max_idle_timeout(Some(silence_ms.into()));
    // Each group is a stream, and late groups overlap with newer groups, so many streams are open
    // at once.
    transport.max_concurrent_uni_streams(1024u32.into());
    transport
}

/// Runs one session after another, until `session` returns `Ok` or `failed` returns false. `failed`
/// is called with the reason why a session ended.
pub(super) async fn again_and_again<F>(
    mut session: impl FnMut() -> F,
    mut failed: impl FnMut(MoqError) -> bool,
) where
    F: Future<Output = Result<(), MoqError>>,
{
    let [shortest, longest] = PAUSES;
    let mut pause = shortest;
    loop {
        let begin = Instant::now();
        let Err(error) = session().await else { return };
        if begin.elapsed() > CONNECT_TIMEOUT {
            pause = shortest;
        }
        if !failed(error) {
            return;
        }
        // If all viewers reconnected at the same moment, they would overflow the relay's socket.
        let spread_ms = RandomState::new().hash_one(0) % SPREAD_MS;
        tokio::time::sleep(pause + Duration::from_millis(spread_ms)).await;
        pause = (pause * 2).min(longest);
    }
}

/// Trusts certificates by their hashes.
#[derive(Debug)]
struct Pinned {
    hashes: Vec<[u8; 32]>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let hash = sha256(&self.provider, certificate);
        if self.hashes.iter().any(|pinned| pinned[..] == *hash.as_ref()) {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer))
        }
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("QUIC has TLS 1.3".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
