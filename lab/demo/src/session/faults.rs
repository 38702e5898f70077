//! Injects faults into a receiver. Measures whether its state checks find the faults, and how long
//! the receiver takes to heal.

use std::time::Duration;

use command_kit::{Distribution, Summary};
use kinepack_net::Receiver;
use serde::Serialize;

/// The injected faults of one receiver, with the measurements.
#[derive(Debug, Default)]
pub(super) struct Faults {
    injected: u64,
    /// The time at which the newest fault was injected. The value is `None` before the first fault,
    /// and once a new state has repaired a fault that a check found.
    injected_at: Option<Duration>,
    /// The time at which a check failed. The value is `None` once a new state has arrived.
    noticed_at: Option<Duration>,
    noticed: u64,
    /// The number of checks that failed without a fault.
    false_alarms: u64,
    /// The times from the failed check until a new state arrived.
    heal_ms: Distribution,
    /// The times from the fault until a new state arrived.
    wrong_ms: Distribution,
    wrong_lanes: u64,
}

/// The measurements of faults in a report.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FaultReport {
    /// The number of injected faults. Each changes a lane of a view by one.
    pub injected: u64,
    /// The number of faults that a state check found. For the other faults, no snapshot with a
    /// check depended on the faulty view.
    pub noticed: u64,
    /// The number of checks that failed without a fault.
    pub false_alarms: u64,
    /// The number of found faults that a new state followed.
    pub healed: u64,
    /// The number of found faults for which a new state arrived within three round trips of the
    /// failed check.
    pub healed_within_three_round_trips: u64,
    /// The time from the failed check until the new state arrived.
    pub heal_ms: Summary,
    /// The time from the fault until the new state arrived, for faults that were found.
    pub fault_to_heal_ms: Summary,
    /// The number of lanes that were wrong between a fault and its end.
    pub wrong_lanes: u64,
}

impl Faults {
    /// Changes one lane of one entity in the receiver's newest view.
    pub(super) fn inject(&mut self, now: Duration, receiver: &mut Receiver) {
        let Some(view) = receiver.newest_sequence().and_then(|newest| receiver.view(newest)) else {
            return;
        };
        // Faults are spread over entities and lanes.
        let random = (self.injected + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let place = |count: usize, random: u64| (random >> 32) as usize % count.max(1);
        let index = place(view.len(), random);
        let Some(kind) = view.kind_at(index) else { return };
        let (id, lane) = (view.ids()[index], place(view.lanes_of(kind).len(), random << 16));
        if receiver.inject_fault(id, lane) {
            self.injected += 1;
            self.injected_at = Some(now);
        }
    }

    /// Returns whether new views may be wrong because of a fault.
    pub(super) fn is_faulty(&self) -> bool {
        self.injected_at.is_some()
    }

    pub(super) fn add_wrong_lanes(&mut self, lanes: u64) {
        self.wrong_lanes += lanes;
    }

    /// Records the outcome of a datagram: the number of failed checks, and whether it brought a
    /// state.
    pub(super) fn note(&mut self, now: Duration, failed_checks: u64, brought_state: bool) {
        if failed_checks > 0 && self.noticed_at.is_none() {
            self.noticed_at = Some(now);
            self.noticed += u64::from(self.injected_at.is_some());
            self.false_alarms += u64::from(self.injected_at.is_none());
        } else if brought_state && let Some(noticed_at) = self.noticed_at.take() {
            self.heal_ms.add((now - noticed_at).as_secs_f64() * 1e3);
            if let Some(injected_at) = self.injected_at.take() {
                self.wrong_ms.add((now - injected_at).as_secs_f64() * 1e3);
            }
        }
    }

    pub(super) fn report(&self, round_trip_ms: f64) -> Option<FaultReport> {
        (self.injected > 0).then(|| FaultReport {
            injected: self.injected,
            noticed: self.noticed,
            false_alarms: self.false_alarms,
            healed: self.heal_ms.count(),
            healed_within_three_round_trips: self.heal_ms.count_up_to(3.0 * round_trip_ms),
            heal_ms: self.heal_ms.summary(),
            fault_to_heal_ms: self.wrong_ms.summary(),
            wrong_lanes: self.wrong_lanes,
        })
    }
}
