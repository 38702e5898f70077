//! The simulation of the people: they stand, look, talk and walk.

use std::f32::consts::{FRAC_PI_2, PI, TAU};

use kinepack::EntityId;
use kinepack_anim::Transform;

use super::common::Random;
use super::skeleton::{ARMS, HEAD, HIPS, JAW, JOINTS, LEGS, bind_pose};
use super::{AVATARS, RATE_HZ, quaternion};

const TICK_S: f32 = 1.0 / RATE_HZ as f32;

/// A joint that follows its goal like a limb: about three axes, in radians.
#[derive(Clone, Copy, Default)]
struct Limb {
    angles: [f32; 3],
    speeds: [f32; 3],
    wanted: [f32; 3],
}

struct Person {
    root: [f32; 3],
    goal: [f32; 2],
    heading: f32,
    speed: f32,
    stride: f32,
    limbs: [Limb; JOINTS],
    /// The time until the person walks, and the time until the person stops talking. The second
    /// time is below 0 while the person is silent.
    stay_s: f32,
    talk_s: f32,
}

pub(crate) struct World {
    random: Random,
    people: Vec<Person>,
}

impl Person {
    fn new(random: &mut Random) -> Self {
        let place = [(); 2].map(|()| random.within(-5.0, 5.0));
        let root = [place[0], place[1], 0.95];
        let (stay_s, talk_s) = (random.within(0.0, 30.0), random.within(-8.0, 4.0));
        let limbs = [Limb::default(); JOINTS];
        Self {
            root,
            goal: place,
            heading: random.within(0.0, TAU),
            speed: 0.0,
            stride: 0.0,
            limbs,
            stay_s,
            talk_s,
        }
    }

    fn step(&mut self, random: &mut Random) {
        self.walk(random);
        let mut happens_every = |seconds: f32| random.unit() < TICK_S / seconds;
        let (glances, gestures, shifts) =
            (happens_every(2.0), happens_every(0.7), happens_every(6.0));
        let mut angles = |most: f32| [(); 3].map(|()| random.within(-most, most));
        if glances {
            self.limbs[HEAD].wanted = angles(0.5);
            self.limbs[HEAD - 1].wanted = self.limbs[HEAD].wanted.map(|angle| 0.3 * angle);
        }
        if shifts {
            (self.limbs[1].wanted, self.limbs[2].wanted) = (angles(0.05), angles(0.05));
        }
        let is_talking = self.talk_s > 0.0;
        for (arm, limb) in ARMS.into_iter().flat_map(|arm| (arm..arm + 4).zip([0.1, 0.7, 0.9, 0.6]))
        {
            if is_talking && gestures {
                self.limbs[arm].wanted = angles(limb);
            } else if !is_talking && self.stay_s > 0.0 {
                self.limbs[arm].wanted = [0.0; 3];
            }
        }
        self.talk_s -= TICK_S;
        if self.talk_s < -8.0 {
            self.talk_s = random.within(1.0, 8.0);
        }
        if random.unit() < 6.0 * TICK_S {
            self.limbs[JAW].wanted =
                [if is_talking { random.within(0.0, 0.3) } else { 0.0 }, 0.0, 0.0];
        }
        for (joint, limb) in self.limbs.iter_mut().enumerate() {
            // The head and the hands are tracked, so they tremble. The rotations of the other
            // joints follow from theirs.
            let trembling =
                if [HEAD, ARMS[0] + 3, ARMS[1] + 3].contains(&joint) { 1.5 } else { 0.0 };
            for axis in 0..3 {
                let pull =
                    100.0 * (limb.wanted[axis] - limb.angles[axis]) - 18.0 * limb.speeds[axis];
                limb.speeds[axis] += pull * TICK_S + random.within(-0.02, 0.02) * trembling;
                limb.angles[axis] += limb.speeds[axis] * TICK_S;
            }
        }
    }

    /// Walks a step; legs and arms swing with the walked distance.
    fn walk(&mut self, random: &mut Random) {
        self.stay_s -= TICK_S;
        let away = [self.goal[0] - self.root[0], self.goal[1] - self.root[1]];
        let distance = away[0].hypot(away[1]);
        if self.stay_s <= 0.0 && distance < 0.3 {
            self.goal = [(); 2].map(|()| random.within(-5.0, 5.0));
            self.stay_s = random.within(3.0, 20.0);
        }
        let wanted = if self.stay_s > 0.0 { 0.0 } else { distance.min(1.3) };
        self.speed += (wanted - self.speed).clamp(-2.0 * TICK_S, 2.0 * TICK_S);
        if wanted > 0.0 {
            let turn = (away[1].atan2(away[0]) - self.heading + PI).rem_euclid(TAU) - PI;
            self.heading += turn.clamp(-2.5, 2.5) * TICK_S;
        }
        self.root[0] += self.speed * self.heading.cos() * TICK_S;
        self.root[1] += self.speed * self.heading.sin() * TICK_S;
        self.stride += self.speed * TICK_S / 1.4 * TAU;
        let swing = (self.speed / 1.3).min(1.0);
        self.root[2] = 0.95 - 0.02 * swing * self.stride.cos().powi(2);
        for (leg, arm, side) in [(LEGS[0], ARMS[1], 1.0), (LEGS[1], ARMS[0], -1.0)] {
            let phase = side * self.stride.sin() * swing;
            let bent = (side * self.stride.cos()).max(0.0) * swing;
            self.limbs[leg].wanted[0] = 0.5 * phase;
            self.limbs[leg + 1].wanted[0] = -0.9 * bent;
            self.limbs[leg + 2].wanted[0] = 0.3 * phase;
            if swing > 0.3 {
                self.limbs[arm + 1].wanted = [0.4 * phase, 0.0, 0.0];
            }
        }
    }

    /// Returns the joints' transforms, relative to their parents.
    fn pose(&self) -> [Transform; JOINTS] {
        let mut pose = bind_pose();
        pose[HIPS].translation = self.root.map(|metres| 100.0 * metres);
        for (joint, limb) in pose.iter_mut().zip(&self.limbs) {
            let [x, y, z] = limb.angles;
            let yz = quaternion::product(
                quaternion::around([0.0, 0.0, 1.0], z),
                quaternion::around([0.0, 1.0, 0.0], y),
            );
            joint.rotation = quaternion::product(yz, quaternion::around([1.0, 0.0, 0.0], x));
        }
        // The skeleton faces y, which is a quarter turn from the heading 0.
        let turn = quaternion::around([0.0, 0.0, 1.0], self.heading - FRAC_PI_2);
        pose[HIPS].rotation = quaternion::product(turn, pose[HIPS].rotation);
        pose
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let mut random = Random::new(5);
        let people = (0..AVATARS).map(|_| Person::new(&mut random)).collect();
        Self { random, people }
    }

    pub(crate) fn step(&mut self) {
        self.people.iter_mut().for_each(|person| person.step(&mut self.random));
    }

    /// Returns the pose of each avatar, in the order of the ids.
    pub(crate) fn poses(&self) -> impl Iterator<Item = (EntityId, [Transform; JOINTS])> {
        (0..).map(EntityId).zip(self.people.iter().map(Person::pose))
    }
}
