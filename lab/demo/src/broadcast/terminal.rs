//! Formats messages about a broadcast for the terminal.

use kinepack_crowd::moq::Link;

/// Returns the state of the connection to the relay, as a line of text.
pub(super) fn link_status(link: &Link) -> String {
    match link {
        Link::Connected => "the relay is connected".to_owned(),
        Link::Connecting { because: Some(error) } => format!("{error}; trying again"),
        Link::Connecting { because: None } => "connecting to the relay".to_owned(),
    }
}

/// Returns the reason why no relay is connected, or `None` if one is.
pub(super) fn why_not_connected(link: &Link) -> Option<String> {
    match link {
        Link::Connected => None,
        Link::Connecting { because: Some(error) } => Some(error.to_string()),
        Link::Connecting { because: None } => Some("the relay has not answered yet".to_owned()),
    }
}
