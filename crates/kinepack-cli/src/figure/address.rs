//! Addresses on the command line: HOST:PORT, HOST at the usual port, or a PORT of this machine.

use std::net::{SocketAddr, ToSocketAddrs};

use super::FigureFailure;

/// Reads an address. A name with several addresses means the first one of IPv4, because the
/// programs receive at one of IPv4 unless the user chooses otherwise.
pub(super) fn parse(given: &str, usual_port: u16) -> Result<SocketAddr, FigureFailure> {
    let bad = || FigureFailure::BadAddress { given: given.to_owned() };
    if !given.is_empty() && given.bytes().all(|c| c.is_ascii_digit()) {
        // The system would take a larger number for an address of four bytes.
        let port = given.parse::<u16>().map_err(|_| bad())?;
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    if given.is_empty() || given.contains(char::is_whitespace) {
        return Err(bad());
    }
    // An address of IPv6 has several colons, and may have a port or none.
    let port =
        given.rsplit_once(':').filter(|(host, _)| !host.contains(':') || given.contains(']'));
    let resolved = match port {
        Some(("", _)) => return Err(bad()),
        Some((_, port)) if port.parse::<u16>().is_ok() => given.to_socket_addrs(),
        Some((_, port)) if !port.ends_with(']') => return Err(bad()),
        _ => (given.trim_matches(['[', ']']), usual_port).to_socket_addrs(),
    };
    let failed = |reason: String| FigureFailure::Unresolved { given: given.to_owned(), reason };
    let resolved = resolved.map_err(|error| failed(error.to_string()))?;
    preferred(resolved).ok_or_else(|| failed("the name has no address".to_owned()))
}

/// Returns the first address of IPv4, or the first of all.
fn preferred(addresses: impl Iterator<Item = SocketAddr>) -> Option<SocketAddr> {
    let mut addresses = addresses.peekable();
    let first = addresses.peek().copied();
    addresses.find(SocketAddr::is_ipv4).or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_host_a_port_or_both() {
        for (given, expected) in [
            ("5000", "127.0.0.1:5000"),
            ("0", "127.0.0.1:0"),
            ("10.0.0.1", "10.0.0.1:4653"),
            ("10.0.0.1:70", "10.0.0.1:70"),
            ("::1", "[::1]:4653"),
            ("[::1]", "[::1]:4653"),
            ("[::1]:70", "[::1]:70"),
        ] {
            assert_eq!(parse(given, 4653).unwrap().to_string(), expected, "{given}");
        }
        for given in ["", " ", "65536", "4294967295", "a b", "10.0.0.1:65536", "10.0.0.1:x", ":70"]
        {
            let refused = parse(given, 4653);
            assert!(
                matches!(refused, Err(FigureFailure::BadAddress { .. })),
                "{given}: {refused:?}"
            );
        }
    }

    #[test]
    fn ipv4_is_preferred() {
        let [four, six] = ["127.0.0.1:70", "[::1]:70"].map(|text| text.parse().unwrap());
        assert_eq!(preferred([six, four].into_iter()), Some(four));
        assert_eq!(preferred([six].into_iter()), Some(six));
        assert_eq!(preferred([].into_iter()), None);
    }
}
