//! The options of the simulated link, with a range for each number. A number out of range is
//! refused in the unit of its option.

use std::fmt::Display;
use std::ops::{Deref, RangeInclusive};
use std::str::FromStr;

use clap::{Arg, Args};
use command_kit::LinkOptions;
use kinepack_net::LinkConfig;

use crate::session_error::SessionError;

/// The longest delay of a link: an hour, in milliseconds.
const MAX_MS: f64 = 3_600_000.0;

/// The options of a simulated link. Both directions have the same.
#[derive(Args, Clone, Debug)]
#[command(
    mut_arg("round_trip_ms", |arg| number(arg, 0.0..=MAX_MS, "ms")),
    mut_arg("jitter_ms", |arg| number(arg, 0.0..=MAX_MS, "ms")),
    mut_arg("loss", |arg| number(arg, 0.0..=100.0_f32, "percent")),
    mut_arg("burst", |arg| number(arg, 1.0..=10_000.0_f32, "datagrams")),
    mut_arg("duplicate", |arg| number(arg, 0.0..=100.0_f32, "percent")),
    mut_arg("reorder", |arg| number(arg, 0.0..=100.0_f32, "percent")),
    mut_arg("reorder_ms", |arg| number(arg, 0.0..=MAX_MS, "ms")),
    mut_arg("bandwidth_kbps", |arg| number(arg, 1..=4_000_000_u32, "kbit/s")),
    mut_arg("mtu", |arg| number(arg, kinepack_net::HEADER_BYTES..=65_535, "bytes")),
    mut_arg("outage", |arg| arg.value_parser(parse_seconds).allow_hyphen_values(true)),
)]
pub struct SimulatedLink {
    #[command(flatten)]
    options: LinkOptions,
}

impl Deref for SimulatedLink {
    type Target = LinkOptions;

    fn deref(&self) -> &LinkOptions {
        &self.options
    }
}

impl SimulatedLink {
    /// The link that the options describe.
    ///
    /// # Errors
    /// An unknown name, or bursts that are too short for the loss.
    pub fn config(&self) -> Result<LinkConfig, SessionError> {
        let mut options = self.options.clone();
        match options.loss {
            // If all datagrams are lost, the length of a burst has no meaning.
            Some(100.0) => options.burst = 1.0,
            Some(percent) if options.burst > 1.0 => {
                // The pauses between bursts have at least one datagram.
                let least = percent / (100.0 - percent);
                if options.burst < least {
                    return Err(SessionError::ShortBurst { percent, burst: options.burst, least });
                }
            }
            _ => {}
        }
        Ok(options.config()?)
    }
}

/// Limits the option to a range. The message of an error names the range and its unit.
fn number<T>(arg: Arg, range: RangeInclusive<T>, unit: &'static str) -> Arg
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    let parse = move |text: &str| match text.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!("it takes {} to {} ({unit})", range.start(), range.end())),
    };
    arg.allow_negative_numbers(true).value_parser(parse)
}

/// `FROM..TO` in seconds.
fn parse_seconds(text: &str) -> Result<(f64, f64), String> {
    parse_range(text, "seconds", "5..8", f64::INFINITY)
}

/// `FROM..TO` in milliseconds.
pub fn parse_milliseconds(text: &str) -> Result<(f64, f64), String> {
    parse_range(text, "milliseconds", "10..200", MAX_MS)
}

fn parse_range(text: &str, unit: &str, example: &str, max: f64) -> Result<(f64, f64), String> {
    let parts =
        text.split_once("..").and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    match parts {
        Some((from, to)) if from > to => {
            Err(format!("{from} is after {to}: the smaller number comes first"))
        }
        Some((from, to)) if 0.0 <= from && from <= to && to <= max => Ok((from, to)),
        Some(_) if max.is_finite() => {
            Err(format!("it takes {unit} from 0 to {max}, such as {example}"))
        }
        _ => Err(format!("it takes two numbers of {unit} from 0 on, such as {example}")),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Options {
        #[command(flatten)]
        link: SimulatedLink,
    }

    fn refusal(arguments: &[&str]) -> String {
        Options::try_parse_from([&["test"], arguments].concat()).unwrap_err().to_string()
    }

    #[test]
    fn a_number_out_of_range_is_refused_in_the_unit_of_its_option() {
        for (arguments, says) in [
            (&["--loss", "200"][..], "'--loss <PERCENT>': it takes 0 to 100 (percent)"),
            (&["--loss", "-1"], "'--loss <PERCENT>': it takes 0 to 100 (percent)"),
            (&["--loss", "NaN"], "it takes 0 to 100 (percent)"),
            (&["--duplicate", "101"], "'--duplicate <PERCENT>': it takes 0 to 100 (percent)"),
            (&["--reorder", "much"], "'--reorder <PERCENT>': it takes 0 to 100 (percent)"),
            (&["--round-trip-ms", "-5"], "it takes 0 to 3600000 (ms)"),
            (&["--jitter-ms", "1e9"], "it takes 0 to 3600000 (ms)"),
            (&["--loss", "5", "--burst", "0"], "it takes 1 to 10000 (datagrams)"),
            (&["--bandwidth-kbps", "0"], "it takes 1 to 4000000 (kbit/s)"),
            (&["--mtu", "20"], "it takes 28 to 65535 (bytes)"),
            (&["--outage", "8..5"], "8 is after 5: the smaller number comes first"),
            (&["--outage", "-1..5"], "two numbers of seconds from 0 on, such as 5..8"),
            (&["--outage", "5"], "two numbers of seconds from 0 on, such as 5..8"),
        ] {
            let refused = refusal(arguments);
            assert!(refused.contains(says), "{arguments:?}: {refused}");
        }
        assert_eq!(parse_milliseconds("10..200"), Ok((10.0, 200.0)));
        assert!(parse_milliseconds("10..4e6").is_err_and(|error| error.contains("3600000")));
    }

    #[test]
    fn bursts_have_at_least_the_length_that_the_loss_needs() {
        let config =
            |arguments: &[&str]| Options::parse_from([&["test"], arguments].concat()).link.config();
        let error = config(&["--loss", "90", "--burst", "2"]).unwrap_err().to_string();
        assert_eq!(
            error,
            "--burst 2 is too short for --loss 90: bursts must have at least 9.0 datagrams"
        );
        assert!(
            (config(&["--loss", "90", "--burst", "9"]).unwrap().loss.mean_ratio() - 0.9) < 1e-3
        );
        let all = config(&["--loss", "100", "--burst", "9"]).unwrap();
        assert_eq!(all.loss.mean_ratio(), 1.0);
        assert!(config(&["--link", "loud"]).unwrap_err().to_string().contains("lan, cable, wifi"));
    }
}
