//! The sizes and the path that a server and its clients have in common.

/// The longest payload. The first datagrams of a connection carry a little less on a path that
/// takes only 1,200 bytes: [`SAFE_PAYLOAD_BYTES`].
pub const MAX_PAYLOAD_BYTES: usize = 1_200;

/// The longest payload that fits every datagram of every connection, even before QUIC has
/// discovered the path's MTU: 1,200 bytes less the headers of QUIC and HTTP.
pub const SAFE_PAYLOAD_BYTES: usize = 1_140;

/// The path at which clients connect. The query has the token: `/kinepack?token=…`.
pub const PATH: &str = "/kinepack";
