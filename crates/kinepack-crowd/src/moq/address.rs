//! Parses the address of a broadcast at a relay.

use core::fmt;
use core::str::FromStr;

use url::Url;

use super::MoqError;

/// The address of a broadcast: the address of a relay, with the broadcast's name as the last part
/// of the path. A token may follow as `?jwt=`.
///
/// ```
/// use kinepack_crowd::moq::Address;
///
/// let address: Address = "https://relay.example:4443/anon/cubes".parse()?;
/// assert_eq!(address.broadcast(), "cubes");
/// assert_eq!(address.relay().as_str(), "https://relay.example:4443/anon");
/// # Ok::<(), kinepack_crowd::moq::MoqError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    relay: Url,
    broadcast: String,
}

impl Address {
    /// The address of the relay, with the token if there is one.
    pub fn relay(&self) -> &Url {
        &self.relay
    }

    /// The name of the broadcast.
    pub fn broadcast(&self) -> &str {
        &self.broadcast
    }

    /// The whole address, with the token if there is one.
    pub fn to_url(&self) -> Url {
        let mut url = self.relay.clone();
        url.set_path(&format!("{}/{}", url.path().trim_end_matches('/'), self.broadcast));
        url
    }
}

impl FromStr for Address {
    type Err = MoqError;

    fn from_str(text: &str) -> Result<Self, MoqError> {
        let wrong = |reason| MoqError::Address { text: text.to_owned(), reason };
        let mut relay = Url::parse(text).map_err(|_| wrong("it is not a URL"))?;
        if relay.scheme() != "https" {
            return Err(wrong("it does not begin with https://"));
        }
        if relay.host().is_none() {
            return Err(wrong("it has no host"));
        }
        let (path, broadcast) = relay.path().rsplit_once('/').unwrap_or_default();
        if broadcast.is_empty() {
            return Err(wrong("its path does not end with the name of the broadcast"));
        }
        let (path, broadcast) = (path.to_owned(), broadcast.to_owned());
        relay.set_path(&path);
        Ok(Self { relay, broadcast })
    }
}

/// Shows the address without the token.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut url = self.to_url();
        url.set_query(None);
        f.write_str(url.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_is_the_broadcast() {
        for (text, relay, broadcast, shown) in [
            ("https://a:1/b", "https://a:1/", "b", "https://a:1/b"),
            ("https://a/b/c/d?jwt=x", "https://a/b/c?jwt=x", "d", "https://a/b/c/d"),
            (
                "https://[::1]:4443/anon/b",
                "https://[::1]:4443/anon",
                "b",
                "https://[::1]:4443/anon/b",
            ),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!((address.relay().as_str(), address.broadcast()), (relay, broadcast));
            assert_eq!(address.to_string(), shown);
            assert_eq!(address.to_url().as_str(), text);
        }
        for wrong in ["", "cubes", "http://a/b", "https://a", "https://a/b/", "https:///"] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
    }
}
