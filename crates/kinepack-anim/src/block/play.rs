//! Plays a moment of a clip: computes the values of its tracks, group by group, in the order of the
//! file. See `spec/ANIM.md`, section 12.

use std::ops::Range;

use super::group::{Group, Groups};
use super::joint;
use super::kernel::{GROUPS_AT_ONCE, Kernel, Lanes, Sums, Task, Wanted};
use super::layout::GROUP;
use super::moment::{Join, Moment, joined};
use super::parameters::{Parameters, Rotations, VectorTracks, Vectors};
use super::pose::{Choice, PoseWriter};
use super::source::{GroupStart, Source};

/// A task for a kernel: writes the values of the chosen joints at a moment of the clip.
pub(super) struct Play<'a, C, W: ?Sized, F> {
    pub(super) source: Source<'a>,
    pub(super) position: f64,
    pub(super) choice: C,
    pub(super) writer: &'a mut W,
    /// Writes the bind pose. The task calls it after the prefetch, while the processor loads the
    /// segment's bytes from memory.
    pub(super) begin: F,
}

impl<C: Choice, W: PoseWriter + ?Sized, F: FnOnce(&mut W)> Task for Play<'_, C, W, F> {
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let Self { source, position, choice, writer, begin } = self;
        if let Some(joint) = choice.single() {
            begin(writer);
            return joint::play(kernel, &source, position, joint, writer);
        }
        if C::JOINTS {
            source.rotations.prefetch();
        }
        source.vectors.prefetch();
        if source.segments.count == 0 {
            begin(writer);
            return source.write_constants(&choice, writer);
        }
        let mut moment = Moment::new(&source, position);
        begin(writer);
        if C::JOINTS {
            source.write_constants(&choice, writer);
        }
        let mut sums = [Sums::new(), Sums::new()];
        let VectorTracks { joints, .. } = source.stored;
        if C::JOINTS {
            moment.play::<K, Rotations, _, _>(
                kernel,
                (source.rotations, 0..source.rotations.groups(), &[]),
                source.codes,
                &choice,
                &mut sums,
                writer,
            );
        } else {
            moment.seek(source.start_of(source.rotations.groups() + joints / GROUP));
        }
        // A group may have both scales and curves.
        let first = if C::JOINTS { 0 } else { joints / GROUP };
        let end = if C::CURVES { source.vectors.groups() } else { joints.div_ceil(GROUP) };
        moment.play::<K, Vectors, _, _>(
            kernel,
            (source.vectors, first..end, source.far),
            source.stored,
            &choice,
            &mut sums,
            writer,
        );
    }
}

impl Source<'_> {
    /// Writes the constant tracks of the chosen joints.
    #[inline(always)]
    fn write_constants<C: Choice, W: PoseWriter + ?Sized>(&self, choice: &C, writer: &mut W) {
        self.constants(|track, constant| {
            if !C::ALL && !choice.contains(usize::from(track.joint)) {
                return;
            }
            constant.write_to(track, writer);
        });
    }
}

impl Moment<'_> {
    /// Moves the readers from the beginning of their segments to the group that starts at `start`.
    #[inline(always)]
    fn seek(&mut self, start: GroupStart) {
        start.seek(&mut self.here.segment);
        if let Some((next, _)) = &mut self.next {
            start.seek(&mut next.segment);
        }
    }

    /// Plays the groups with the numbers `numbers`. They must be the groups that the readers reach
    /// next.
    #[inline(always)]
    fn play<K: Kernel, P: Parameters<K::Lanes>, C: Choice, W: PoseWriter + ?Sized>(
        &mut self,
        kernel: K,
        (groups, numbers, far): (Groups<'_>, Range<usize>, &[u16]),
        stored: P::Stored,
        choice: &C,
        sums: &mut [Sums<K::Lanes>; 2],
        writer: &mut W,
    ) {
        let mut rest = groups.from(numbers.start);
        let is_blend = matches!(self.next, Some((_, Join::Blend(_))));
        let mut relatives = [None; GROUPS_AT_ONCE];
        for number in numbers.clone() {
            let nth = if C::ALL { (number - numbers.start) % GROUPS_AT_ONCE } else { 0 };
            let mut ahead = rest;
            let group = rest.take();
            let chosen = chosen(&group, choice);
            if !C::ALL && chosen == 0 {
                // A group without a chosen joint is skipped instead of decoded.
                self.skip(usize::from(group.live.count));
                continue;
            }
            let end = if C::ALL { numbers.end.min(number + GROUPS_AT_ONCE) } else { number + 1 };
            if nth == 0 {
                self.decode(kernel, groups.components(number..end), sums);
            }
            // Blending takes less time for several groups together. Without blending, there is
            // nothing to gain.
            let (at, count) = if is_blend { (nth, end - number) } else { (0, 1) };
            if at == 0 {
                for relative in relatives.iter_mut().take(count) {
                    let group = ahead.take();
                    let mut here = sums[0].take(kernel, &group.live);
                    let mut next = None;
                    if let Some((_, join)) = self.next {
                        next = joined(&mut here, sums[1].take(kernel, &group.live), join);
                    }
                    *relative = Some(P::relative(kernel, &group, stored, here, next));
                }
            }
            let Some(relative) = relatives[at] else { continue };
            let values = K::Lanes::transpose(P::values(kernel, &group, stored, relative));
            for (lane, (joint, value)) in group.joints.iter().zip(values).enumerate() {
                if C::ALL || chosen >> lane & 1 != 0 {
                    let track = GROUP * number + lane;
                    let value = self.add_anchor(far, track, value);
                    P::write(stored, track, value, usize::from(*joint), writer);
                }
            }
        }
    }

    /// Decodes the next components, at both samples if the moment has two.
    #[inline(always)]
    fn decode<K: Kernel>(
        &mut self,
        kernel: K,
        count: usize,
        [here, next]: &mut [Sums<K::Lanes>; 2],
    ) {
        let (own, wanted) = (&mut self.here, Wanted::Next(count));
        match &mut self.next {
            Some((other, _)) if self.is_shared => {
                let weights = [&own.weights, &other.weights];
                kernel.decode([here, next], wanted, &mut own.segment, weights);
            }
            Some((other, _)) => {
                kernel.decode([here], wanted, &mut own.segment, [&own.weights]);
                kernel.decode([next], wanted, &mut other.segment, [&other.weights]);
            }
            None => kernel.decode([here], wanted, &mut own.segment, [&own.weights]),
        }
    }

    /// Skips the next `count` components.
    #[inline(always)]
    fn skip(&mut self, count: usize) {
        self.here.segment.skip(count);
        if let Some((next, _)) = &mut self.next {
            next.segment.skip(count);
        }
    }
}

/// Returns a mask with a bit for each lane of a group whose track belongs to a chosen joint.
#[inline(always)]
fn chosen<C: Choice>(group: &Group<'_>, choice: &C) -> u32 {
    let mut chosen = group.lanes();
    if !C::ALL {
        for (lane, joint) in group.joints.iter().enumerate() {
            chosen &= !(u32::from(!choice.contains(usize::from(*joint))) << lane);
        }
    }
    chosen
}
