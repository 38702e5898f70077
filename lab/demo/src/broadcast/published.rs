//! Counts the data that a broadcast sent to the relay.

use command_kit::counted;

use super::BroadcastError;

/// The message of a command before it waits for `--delay`.
pub const REST_FOLLOWS: &str = "the last seconds follow after --delay; Ctrl-C cuts them off";

/// Counts the published snapshots, which are called frames as in captures.
#[derive(Clone, Debug, Default)]
pub struct Published {
    /// The broadcast's address, without its token.
    pub address: String,
    /// The number of frames that were sent to a connected relay.
    pub frames: u64,
    /// The number of frames that were due while no relay was connected.
    pub missed: u64,
    /// The number of frames that were not sent because a signal arrived while `--delay` still held
    /// them back.
    pub cut: u64,
    /// The reason why no relay is connected now. The value is `None` if a relay is connected.
    pub why_not: Option<String>,
}

impl Published {
    /// The counts as a sentence.
    pub fn line(&self) -> String {
        let mut line = format!("{} published", counted(self.frames, "frame"));
        if self.missed > 0 {
            line.push_str(&format!(
                "; {} due while no relay was connected",
                counted(self.missed, "frame")
            ));
        }
        if self.cut > 0 {
            line.push_str(&format!("; {} cut off within --delay", counted(self.cut, "frame")));
        }
        line
    }

    /// # Errors
    /// Returns [`BroadcastError::NothingPublished`] if frames were due and no relay was connected.
    pub fn check(&self) -> Result<(), BroadcastError> {
        let Self { address, frames, missed, why_not, .. } = self;
        if *frames > 0 || *missed == 0 {
            return Ok(());
        }
        let reason = why_not.clone().unwrap_or_else(|| "it came too late".to_owned());
        Err(BroadcastError::NothingPublished { address: address.clone(), reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broadcast_that_no_relay_got_is_an_error() {
        let address = "https://relay.example/match".to_owned();
        let published = |frames, missed, cut| Published {
            address: address.clone(),
            frames,
            missed,
            cut,
            why_not: Some("the relay has not answered yet".to_owned()),
        };
        assert_eq!(published(1, 0, 0).line(), "1 frame published");
        assert_eq!(
            published(60, 2, 30).line(),
            "60 frames published; 2 frames due while no relay was connected; 30 frames cut off \
             within --delay"
        );
        for (frames, missed, cut) in [(60, 0, 0), (1, 59, 0), (0, 0, 0), (0, 0, 9)] {
            assert!(published(frames, missed, cut).check().is_ok(), "{frames} {missed} {cut}");
        }
        let error = published(0, 60, 0).check().unwrap_err().to_string();
        assert!(error.contains(&address) && error.contains("has not answered yet"), "{error}");
    }
}
