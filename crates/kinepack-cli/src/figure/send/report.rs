//! The report at the end of `figure send`.

use command_kit::table::write_rows;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Report {
    pub(super) source: String,
    pub(super) to: String,
    pub(super) joints: usize,
    pub(super) curves: usize,
    pub(super) rate_hz: u32,
    pub(super) precision_cm: f64,
    pub(super) max_error_cm: f64,
    pub(super) seconds: f64,
    pub(super) poses: u64,
    /// The poses that the figure refused, for example because the body was too far away.
    pub(super) refused_poses: u64,
    /// How often the other side fell silent, and the session began anew.
    pub(super) restarts: u64,
    /// The poses that were skipped because this program was late.
    pub(super) skipped_poses: u64,
    /// The bytes of the body's datagrams, without the headers of UDP and IP.
    pub(super) bytes: u64,
    pub(super) bytes_per_s: f64,
    pub(super) bits_per_pose: f64,
    pub(super) lost_ratio: f64,
    pub(super) round_trip_ms: Option<f64>,
}

impl Report {
    pub(super) fn write(&self, out: &mut impl std::io::Write) -> std::io::Result<()> {
        let round_trip = self.round_trip_ms.map_or("–".to_owned(), |ms| format!("{ms:.1} ms"));
        write_rows(
            out,
            [
                ("poses", format!("{} in {:.1} s", self.poses, self.seconds)),
                ("refused poses", self.refused_poses.to_string()),
                ("skipped poses", self.skipped_poses.to_string()),
                ("bytes per second", format!("{:.0} without UDP's headers", self.bytes_per_s)),
                ("bits per pose", format!("{:.0}", self.bits_per_pose)),
                ("promised error", format!("{:.3} cm", self.max_error_cm)),
                ("lost", format!("{:.1} %", 100.0 * self.lost_ratio)),
                ("round trip", round_trip),
            ],
        )
    }
}
