//! What happened: the shots, and what the screens showed.

use std::ops::AddAssign;

use serde::Serialize;

/// How one way to find the targets judged the shots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Verdicts {
    /// The shots that hit the same player as on the shooter's screen.
    pub confirmed: u64,
    /// Those of them that are not [displaced](Shots::displaced).
    pub confirmed_in_place: u64,
    /// The shots that hit somebody else, or anybody although the screen showed none hit.
    pub wrong: u64,
    /// How far the targets that were hit on the screens are from where the screens had them, in
    /// metres: the sum.
    pub distance_m: f64,
}

/// The shots of one or several players.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Shots {
    /// All shots that the server let off.
    pub fired: u64,
    /// Those that hit somebody on the shooter's screen.
    pub on_screen: u64,
    /// Of these, the shots of players who stood elsewhere than their clients believed: a hit
    /// had pushed them, or an input had not arrived in time. No rewinding helps against that.
    pub displaced: u64,
    /// Judged by `Hub::rewind`.
    pub exact: Verdicts,
    /// Judged by the nearest tick of the shooter's screen.
    pub tick: Verdicts,
    /// Judged by where everybody is now.
    pub none: Verdicts,
    /// Inputs whose stamp was refused, for example as too old.
    pub refused: u64,
    /// Inputs that arrived in time.
    pub in_time: u64,
    /// Ticks for which the input was late or lost.
    pub missed: u64,
}

/// What a client's screen showed. Lengths are in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Screen {
    /// The frames that showed the own player alive.
    pub frames: u64,
    /// The states from the server that equal the prediction.
    pub confirmed: u64,
    /// Those that do not.
    pub corrected: u64,
    /// The largest correction that is not a jump.
    pub largest_m: f64,
    /// The frames to which the own player leapt: he was drawn farther on than he can walk.
    pub leaps: u64,
    /// The distance from where the own player is drawn to where his inputs have brought him: the
    /// sum over all frames.
    pub behind_m: f64,
    /// The frames that showed the own player on the ferry.
    pub aboard: u64,
    /// By how much he is drawn beside his place on the deck: the sum over those frames.
    pub slip_m: f64,
    /// How often a frame showed another player in flight over the river.
    pub in_flight: u64,
    /// How often another player who walked stopped dead between two frames.
    pub stops: u64,
}

impl AddAssign for Verdicts {
    fn add_assign(&mut self, other: Self) {
        self.confirmed += other.confirmed;
        self.confirmed_in_place += other.confirmed_in_place;
        self.wrong += other.wrong;
        self.distance_m += other.distance_m;
    }
}

impl AddAssign for Shots {
    fn add_assign(&mut self, other: Self) {
        self.fired += other.fired;
        self.on_screen += other.on_screen;
        self.displaced += other.displaced;
        self.exact += other.exact;
        self.tick += other.tick;
        self.none += other.none;
        self.refused += other.refused;
        self.in_time += other.in_time;
        self.missed += other.missed;
    }
}

impl AddAssign for Screen {
    fn add_assign(&mut self, other: Self) {
        self.frames += other.frames;
        self.confirmed += other.confirmed;
        self.corrected += other.corrected;
        self.largest_m = self.largest_m.max(other.largest_m);
        self.leaps += other.leaps;
        self.behind_m += other.behind_m;
        self.aboard += other.aboard;
        self.slip_m += other.slip_m;
        self.in_flight += other.in_flight;
        self.stops += other.stops;
    }
}
