//! Detects that the sender has begun a new session, and asks for the state again after a fault.

use kinepack::Tick;

use super::{Received, Receiver};
use crate::receiver::assembly::Assembly;
use crate::seen::Arrivals;
use crate::sequence::SAME_SESSION;
use crate::trace::event;
use crate::{Refused, Sequence};

impl Receiver {
    /// Whether `sequence` belongs to another session, which shows that the sender has begun a new
    /// session. A sequence that is far ahead always does. A sequence that is far behind may just be
    /// late, so it counts only while the receiver sends hellos again.
    pub(super) fn is_other_session(&self, sequence: Sequence) -> bool {
        let Some(newest) = self.window.newest() else { return false };
        let since = sequence.since(newest);
        since > *SAME_SESSION.end() || (self.seeks && since < *SAME_SESSION.start())
    }

    /// Whether `tick` shows that another session has begun although `sequence` fits. Within a
    /// session, a state that was sent later is never older.
    pub(super) fn runs_back(&self, sequence: Sequence, tick: Tick) -> bool {
        !self.is_new_session
            && self.window.newest().is_some_and(|newest| sequence.since(newest) > 0)
            && self.newest_shown.as_ref().is_some_and(|shown| shown.state.tick > tick)
    }

    /// Forgets everything of the previous session except what is shown.
    pub(super) fn begin_session(&mut self) {
        event!(info, "the sender has begun a new session");
        self.stats.begun_anew += 1;
        self.window.begin_anew();
        (self.arrivals, self.full_state) = (Arrivals::default(), None);
        self.connection.begin_anew();
        self.views.begin_anew();
        self.assembly = Assembly::default();
        (self.newest, self.anew) = (None, None);
        // The sender may mistake an old acknowledgement for one of the new session, and code
        // against a view that this side no longer holds.
        self.has_lost_views = true;
        (self.shows_anew, self.is_new_session) = (true, true);
        if let Some(incoming) = &mut self.events {
            incoming.begin_session();
        }
    }

    /// Drops all views, because they differ from the sender's views. A state that begins another
    /// session uses none of the views, so its refusal proves nothing about them.
    pub(super) fn lose_views(&mut self, refused: Sequence, begins_session: bool) {
        if begins_session {
            return;
        }
        self.stats.mismatches += 1;
        event!(warn, sequence = refused.0, "state check failed: asking for the state anew");
        self.views.begin_anew();
        self.has_lost_views = true;
        self.shows_anew = true;
        self.ask_anew(refused);
    }

    /// Passes on `taken`, the result of a datagram. If the sender used a view that was dropped,
    /// requests the state anew once more.
    pub(super) fn asking_anew(
        &mut self,
        sequence: Sequence,
        taken: Result<Received, Refused>,
    ) -> Result<Received, Refused> {
        // A late datagram may lack its baseline although the sender now uses other baselines.
        let is_newest = self.window.newest().is_none_or(|newest| sequence.since(newest) > 0);
        let lacks_memory = self.stats.dropped_views > 0 && is_newest;
        if taken == Err(Refused::NoBaseline) && (self.has_lost_views || lacks_memory) {
            self.ask_anew(sequence);
        }
        taken
    }

    fn ask_anew(&mut self, refused: Sequence) {
        let newest = self.anew.filter(|asked| asked.since(refused) > 0);
        self.anew = newest.or(Some(refused));
    }

    /// Prepares for the first state after the views were dropped. Called before a new state of tick
    /// `tick` is shown. That state is complete, so what is shown of others does not matter.
    pub(super) fn forget_shown(&mut self, tick: Tick) {
        if std::mem::take(&mut self.shows_anew) {
            event!(info, "the state came anew");
            if !std::mem::take(&mut self.is_new_session) {
                return;
            }
            let before = self.newest_shown.take();
            if before.is_some_and(|before| before.state.tick >= tick) {
                // The world itself has restarted, so its ticks begin anew.
                self.buffer.reset();
                if let Some(incoming) = &mut self.events {
                    incoming.restart(tick);
                }
            }
        }
    }
}
