//! Ends connections for which `wtransport` gives no handle yet.
//!
//! `wtransport` gives access to a visitor's connection only after its request was accepted. Before
//! that, dropping the handshake closes the connection only if no task of `wtransport` holds the
//! connection. A visitor can keep such a task waiting if it grants no stream, or begins a stream
//! and sends no more. Such a connection would live for as long as the visitor sends pings, and no
//! limit would count it.
//!
//! A connection that was accepted with [`Leash::hold`] has keys that refuse everything once the
//! leash is cut. The connection's next packet closes it, because too many packets were not
//! authentic (RFC 9001, section 6.6). If no packet arrives, the idle connection times out.
//!
//! Cost: one load of an atomic flag for each packet.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::BytesMut;
use quinn_proto::TransportError;
use quinn_proto::transport_parameters::TransportParameters;
use wtransport::quinn::crypto::{
    self, CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey,
    UnsupportedVersion,
};
use wtransport::quinn::{ConnectionId, ServerConfig, Side};

/// Ends a connection. Clones of a leash belong to the same connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leash(Arc<AtomicBool>);

impl Leash {
    /// Returns settings for one connection, which this leash can then end.
    pub(crate) fn hold(&self, config: &ServerConfig) -> Arc<ServerConfig> {
        let mut config = config.clone();
        config.crypto = Arc::new(Held { inner: config.crypto, leash: self.clone() });
        Arc::new(config)
    }

    /// Ends the connection.
    pub(crate) fn cut(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_cut(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn key(&self, inner: Box<dyn PacketKey>) -> Box<dyn PacketKey> {
        Box::new(Held { inner, leash: self.clone() })
    }

    fn pair(&self, keys: KeyPair<Box<dyn PacketKey>>) -> KeyPair<Box<dyn PacketKey>> {
        KeyPair { local: self.key(keys.local), remote: self.key(keys.remote) }
    }
}

/// A part of the encryption, which works until the leash is cut.
struct Held<T> {
    inner: T,
    leash: Leash,
}

impl crypto::ServerConfig for Held<Arc<dyn crypto::ServerConfig>> {
    fn initial_keys(
        &self,
        version: u32,
        dst_cid: &ConnectionId,
    ) -> Result<Keys, UnsupportedVersion> {
        self.inner.initial_keys(version, dst_cid)
    }

    fn retry_tag(&self, version: u32, orig_dst_cid: &ConnectionId, packet: &[u8]) -> [u8; 16] {
        self.inner.retry_tag(version, orig_dst_cid, packet)
    }

    fn start_session(
        self: Arc<Self>,
        version: u32,
        params: &TransportParameters,
    ) -> Box<dyn crypto::Session> {
        let inner = Arc::clone(&self.inner).start_session(version, params);
        Box::new(Held { inner, leash: self.leash.clone() })
    }
}

impl crypto::Session for Held<Box<dyn crypto::Session>> {
    fn initial_keys(&self, dst_cid: &ConnectionId, side: Side) -> Keys {
        self.inner.initial_keys(dst_cid, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.inner.handshake_data()
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.inner.peer_identity()
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        let (header, packet) = self.inner.early_crypto()?;
        Some((header, self.leash.key(packet)))
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.inner.early_data_accepted()
    }

    fn is_handshaking(&self) -> bool {
        self.inner.is_handshaking()
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.inner.read_handshake(buf)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        self.inner.transport_parameters()
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let Keys { header, packet } = self.inner.write_handshake(buf)?;
        Some(Keys { header, packet: self.leash.pair(packet) })
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let keys = self.inner.next_1rtt_keys()?;
        Some(self.leash.pair(keys))
    }

    fn is_valid_retry(&self, orig_dst_cid: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        self.inner.is_valid_retry(orig_dst_cid, header, payload)
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.inner.export_keying_material(output, label, context)
    }
}

impl PacketKey for Held<Box<dyn PacketKey>> {
    fn encrypt(&self, packet: u64, buf: &mut [u8], header_len: usize) {
        self.inner.encrypt(packet, buf, header_len);
    }

    fn decrypt(
        &self,
        packet: u64,
        header: &[u8],
        payload: &mut BytesMut,
    ) -> Result<(), CryptoError> {
        if self.leash.is_cut() {
            return Err(CryptoError);
        }
        self.inner.decrypt(packet, header, payload)
    }

    fn tag_len(&self) -> usize {
        self.inner.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.inner.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        if self.leash.is_cut() { 0 } else { self.inner.integrity_limit() }
    }
}
