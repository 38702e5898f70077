//! The client's WebTransport session, which connects [`MotionClient`] to the network.

use bevy_app::{App, Plugin, PostUpdate, PreUpdate};
use bevy_ecs::change_detection::ResMut;
use bevy_ecs::message::{Message, MessageWriter};
use bevy_ecs::resource::Resource;
use bevy_ecs::schedule::IntoScheduleConfigs;
use bevy_ecs::schedule::common_conditions::{resource_exists, resource_removed};
use kinepack_webtransport::{
    WebClient, WebClientError, WebClientOptions, WebClientState, WebClientStats, WebLostReason,
};

use super::Socket;
use crate::{MotionClient, MotionClientSystems};

/// Connects a [`MotionClient`] to its server over WebTransport, while the resource
/// [`MotionWebClient`] exists. It works the same in a native game and in a game that is compiled to
/// WebAssembly for a browser.
#[derive(Clone, Copy, Debug, Default)]
pub struct MotionWebClientPlugin;

impl Plugin for MotionWebClientPlugin {
    fn build(&self, app: &mut App) {
        let is_open = resource_exists::<MotionWebClient>;
        let receive = (poll.run_if(is_open), leave.run_if(resource_removed::<MotionWebClient>));
        app.add_message::<WebLost>()
            .add_systems(PreUpdate, receive.before(MotionClientSystems::Receive))
            .add_systems(PostUpdate, send.after(MotionClientSystems::Send).run_if(is_open));
    }
}

/// The message that the session has ended, or never began. To connect again, ask your web site for
/// a new token, and insert a new [`MotionWebClient`].
#[derive(Message, Clone, Debug, PartialEq, Eq)]
pub struct WebLost {
    /// Why the session ended, as a sentence for the player or the log.
    pub reason: WebLostReason,
}

/// The client's session. Insert it as a resource to connect, and remove it to disconnect.
///
/// ```
/// use bevy_app::App;
/// use kinepack_bevy::MotionWebClient;
/// use kinepack_webtransport::WebClientOptions;
///
/// // Your web site provides both. The address contains a token for one session.
/// let url = "https://127.0.0.1:4433/kinepack?token=0123";
/// let certificate_hash = Some([7; 32]); // or `None`, if a domain has the certificate
/// let options = WebClientOptions { certificate_hash, ..WebClientOptions::default() };
/// # let mut app = App::new();
/// app.insert_resource(MotionWebClient::connect(url, options)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Resource)]
pub struct MotionWebClient {
    socket: Socket<WebClient>,
    /// The state as of the last frame.
    state: WebClientState,
    stats: WebClientStats,
}

impl MotionWebClient {
    /// Begins to connect to an address with a token.
    ///
    /// # Errors
    /// Returns the errors of [`WebClient::connect`].
    pub fn connect(url: &str, options: WebClientOptions) -> Result<Self, WebClientError> {
        let client = WebClient::connect(url, options)?;
        Ok(Self {
            state: client.state().clone(),
            stats: client.stats(),
            socket: Socket::new(client),
        })
    }

    /// The state of the session, as of the last frame.
    pub fn state(&self) -> &WebClientState {
        &self.state
    }

    /// The session's counters, as of the last frame.
    pub fn stats(&self) -> WebClientStats {
        self.stats
    }
}

/// Passes the datagrams that have arrived to the client.
fn poll(
    mut web: ResMut<'_, MotionWebClient>,
    mut client: ResMut<'_, MotionClient>,
    mut lost: MessageWriter<'_, WebLost>,
) {
    let MotionWebClient { socket, state, stats } = &mut *web;
    let Some(socket) = socket.open() else { return };
    socket.poll(&mut |datagram| client.incoming.push((), datagram));
    *stats = socket.stats();
    if socket.state() == state {
        return;
    }
    *state = socket.state().clone();
    match state {
        WebClientState::Connecting => {}
        WebClientState::Connected => client.connect(),
        WebClientState::Lost { reason } => {
            client.disconnect();
            lost.write(WebLost { reason: reason.clone() });
        }
    }
}

/// Disconnects the client after the program has removed the session.
fn leave(mut client: ResMut<'_, MotionClient>) {
    client.disconnect();
}

fn send(mut web: ResMut<'_, MotionWebClient>, mut client: ResMut<'_, MotionClient>) {
    let Some(socket) = web.socket.open() else { return };
    for ((), datagram) in client.outgoing.iter() {
        // Errors do not matter, because the network may lose the datagram too.
        let _ = socket.send(datagram);
    }
    client.outgoing.clear();
}
