//! The sizes and the path that a server and its clients have in common.

/// The longest payload. If a path carries only 1,200 bytes, the first datagrams of a connection
/// carry a little less: [`SAFE_PAYLOAD_BYTES`].
pub const MAX_PAYLOAD_BYTES: usize = 1_200;

/// The longest payload that fits every datagram of every connection, even before QUIC has
/// discovered the path's MTU. It is 1,200 bytes less the headers of QUIC and HTTP.
pub const SAFE_PAYLOAD_BYTES: usize = 1_140;

/// The path at which clients connect. The query contains the token: `/kinepack?token=…`.
pub const PATH: &str = "/kinepack";
