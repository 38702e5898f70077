//! The session of a native client, in a thread of its own.

use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

pub(super) use std::time::Instant as Moment;
use wtransport::config::{IpBindConfig, QuicTransportConfig};
use wtransport::endpoint::ConnectOptions;
use wtransport::endpoint::endpoint_side::Client;
use wtransport::error::ConnectionError;
use wtransport::tls::Sha256Digest;
use wtransport::{ClientConfig, Connection, Endpoint};

use super::link::{Link, Session, drive};
use super::{WebClientOptions, WebLostReason};
use crate::datagrams;
use crate::window::Windows;

/// The number of bytes of datagrams that may wait in either direction.
const DATAGRAM_BUFFER_BYTES: usize = 256 << 10;
/// How long the thread waits at its end, so that the close message is sent.
const GOODBYE: Duration = Duration::from_millis(200);

/// Begins a session.
pub(super) fn start(link: Arc<Link>, url: String, options: WebClientOptions) -> io::Result<()> {
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        match runtime {
            Ok(runtime) => runtime.block_on(run(&link, &url, &options)),
            Err(error) => link.fail(error.to_string()),
        }
    };
    thread::Builder::new().name("webtransport-client".into()).spawn(run).map(drop)
}

async fn run(link: &Link, url: &str, options: &WebClientOptions) {
    let endpoint = match open(options) {
        Ok(endpoint) => endpoint,
        Err(error) => return link.fail(format!("a UDP socket: {error}")),
    };
    // If the options have no origin, the client states the server's own address as its origin.
    let own = || url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
    let origin = options.origin.clone().unwrap_or_else(own);
    let connect = async {
        let request = ConnectOptions::builder(url).add_header("origin", origin).build();
        endpoint.connect(request).await.map_err(|error| error.to_string())
    };
    drive(link, connect).await;
    endpoint.close(0u32.into(), b"");
    let _ = tokio::time::timeout(GOODBYE, endpoint.wait_idle()).await;
}

/// Opens a socket for both versions of IP, or only for version 4 if the system lacks version 6.
fn open(options: &WebClientOptions) -> io::Result<Endpoint<Client>> {
    let both = Endpoint::client(config(options, IpBindConfig::InAddrAnyDual));
    both.or_else(|_| Endpoint::client(config(options, IpBindConfig::InAddrAnyV4)))
}

fn config(options: &WebClientOptions, bind: IpBindConfig) -> ClientConfig {
    let builder = ClientConfig::builder().with_bind_config(bind);
    let mut config = match options.certificate_hash {
        Some(hash) => builder.with_server_certificate_hashes([Sha256Digest::new(hash)]).build(),
        None => builder.with_native_certs().build(),
    };
    let mut transport = QuicTransportConfig::default();
    transport
        .datagram_receive_buffer_size(Some(DATAGRAM_BUFFER_BYTES))
        .datagram_send_buffer_size(DATAGRAM_BUFFER_BYTES)
        .keep_alive_interval(Some(options.timeout / 3))
        .max_idle_timeout(options.timeout.try_into().ok())
        .congestion_controller_factory(Arc::new(Windows));
    config.quic_config_mut().transport_config(Arc::new(transport));
    config
}

impl Session for Connection {
    async fn receive(&self) -> Result<Vec<u8>, WebLostReason> {
        match self.receive_datagram().await {
            Ok(datagram) => Ok(datagram.to_vec()),
            Err(ConnectionError::ApplicationClosed(_) | ConnectionError::ConnectionClosed(_)) => {
                Err(WebLostReason::Dropped)
            }
            Err(error) => Err(WebLostReason::Broken { detail: error.to_string() }),
        }
    }

    fn send(&self, datagram: &[u8]) -> bool {
        datagrams::send(self, datagram) == Ok(true)
    }
}
