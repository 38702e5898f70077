//! Connects to a relay.

use kinepack_crowd::moq::{Connector, Trust};
use tokio::runtime::{Builder, Runtime};

use super::{BroadcastError, RelayOptions};

impl RelayOptions {
    /// Returns the runtime for a connection, and the connector.
    pub fn connector(&self) -> Result<(Runtime, Connector), BroadcastError> {
        let trust = match self.relay_certificate {
            Some(hash) => Trust::Certificates(vec![hash]),
            None => Trust::System,
        };
        connector(&trust)
    }
}

/// Returns the runtime for a connection, and the connector.
pub(super) fn connector(trust: &Trust) -> Result<(Runtime, Connector), BroadcastError> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(BroadcastError::Threads)?;
    let connector = {
        let _within = runtime.enter();
        Connector::new(trust)?
    };
    Ok((runtime, connector))
}
