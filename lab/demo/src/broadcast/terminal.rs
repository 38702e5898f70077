//! What the terminal says about a broadcast.

use kinepack_crowd::moq::Link;

/// The state of a connection, as a line of news.
pub(super) fn news_of(link: &Link) -> String {
    match link {
        Link::Connected => "the relay is connected".to_owned(),
        Link::Connecting { because: Some(error) } => format!("{error}; trying again"),
        Link::Connecting { because: None } => "connecting to the relay".to_owned(),
    }
}
