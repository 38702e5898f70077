//! No time is lost or counted twice, in either direction, and clips that do not loop stop at their
//! ends.

use kinepack_anim::pose::{Passed, Piece, Playhead};

use crate::random::Random;

fn pieces(passed: Passed) -> Vec<(f32, f32)> {
    passed.pieces().map(|Piece { from_s, to_s }| (from_s, to_s)).collect()
}

#[test]
fn backwards_it_wraps_at_the_beginning() {
    let mut playhead = Playhead::looped(2.0).at_rate(-1.0);
    let passed = playhead.advance(0.5);
    assert_eq!((playhead.time_s(), passed.wraps, passed.is_backwards()), (1.5, -1, true));
    assert_eq!(pieces(passed), [(2.0, 1.5)]);
    let passed = playhead.advance(4.0);
    assert_eq!(passed.wraps, -2);
    assert_eq!(pieces(passed), [(1.5, 0.0), (2.0, 0.0), (2.0, 1.5)]);
    let passed = playhead.advance(0.25);
    assert_eq!((pieces(passed), passed.is_backwards()), (vec![(1.5, 1.25)], true));
}

#[test]
fn the_end_of_a_loop_is_its_beginning() {
    let mut playhead = Playhead::looped(2.0);
    let passed = playhead.advance(2.0);
    assert_eq!((playhead.time_s(), passed.wraps), (0.0, 1));
    assert_eq!(pieces(passed), [(0.0, 2.0)]);
    assert!(!playhead.is_at_end());
    // A time that rounds to the end is wrapped too.
    let passed = Passed::looped(2.0, -1e-20, 1.0);
    assert_eq!((passed.from_s, passed.wraps), (0.0, 0));
}

#[test]
fn without_a_loop_it_stops_at_both_ends() {
    let mut playhead = Playhead::new(1.0);
    assert_eq!(pieces(playhead.advance(0.75)), [(0.0, 0.75)]);
    assert!(!playhead.is_at_end());
    let passed = playhead.advance(5.0);
    assert_eq!((pieces(passed), passed.wraps), (vec![(0.75, 1.0)], 0));
    assert!(playhead.is_at_end());
    assert_eq!(pieces(playhead.advance(1.0)), []);
    playhead.rate = -2.0;
    assert!(!playhead.is_at_end());
    assert_eq!(pieces(playhead.advance(9.0)), [(1.0, 0.0)]);
    assert!(playhead.is_at_end());
}

#[test]
fn passed_has_the_form_of_a_playhead() {
    let mut random = Random(3);
    for _ in 0..200 {
        let duration_s = random.between(0.1, 3.0);
        let [from_s, step_s] = [random.between(-4.0, 4.0), random.between(-4.0, 4.0)];
        for (mut playhead, looping) in
            [(Playhead::new(duration_s), false), (Playhead::looped(duration_s), true)]
        {
            assert_eq!(playhead.looping, looping);
            playhead.seek(from_s);
            let from_s = f64::from(playhead.time_s());
            let stepped = playhead.advance(step_s);
            let make = if looping { Passed::looped } else { Passed::new };
            let made = make(duration_s, from_s, from_s + f64::from(step_s));
            assert_eq!((made.wraps, made.duration_s), (stepped.wraps, stepped.duration_s));
            assert_eq!(made.from_s, stepped.from_s);
            assert!((made.to_s - stepped.to_s).abs() < 1e-6, "{made:?} {stepped:?}");
        }
    }
    let useless = Passed::new(2.0, f64::NAN, f64::INFINITY);
    assert_eq!((useless.from_s, useless.to_s, useless.wraps), (0.0, 2.0, 0));
    assert_eq!(Passed::new(f32::NAN, 1.0, 2.0).pieces().count(), 0);
}

#[test]
fn the_pieces_sum_to_the_time() {
    let mut random = Random(1);
    for _ in 0..200 {
        let duration_s = random.between(0.1, 3.0);
        let mut playhead = Playhead::looped(duration_s).at_rate(random.between(-3.0, 3.0));
        playhead.seek(random.between(-10.0, 10.0));
        let (mut expected, mut sum) = (0.0_f64, 0.0_f64);
        for _ in 0..50 {
            let before_s = playhead.time_s();
            let dt_s = random.between(0.0, 2.0);
            let passed = playhead.advance(dt_s);
            expected += f64::from(dt_s) * f64::from(playhead.rate);
            assert_eq!((passed.from_s, passed.to_s), (before_s, playhead.time_s()));
            assert!((0.0..=duration_s).contains(&playhead.time_s()));
            let pieces = pieces(passed);
            assert!(pieces.len() as u64 <= passed.wraps.unsigned_abs() + 1);
            for (from_s, to_s) in pieces {
                assert!((from_s > to_s) == (playhead.rate < 0.0));
                sum += f64::from(to_s) - f64::from(from_s);
            }
        }
        assert!((sum - expected).abs() < 2e-5, "{sum} {expected}");
    }
}

#[test]
fn two_times_on_a_line_give_what_the_steps_between_them_give() {
    let mut random = Random(2);
    for _ in 0..500 {
        let duration_s = random.between(0.1, 3.0);
        let [a, b, c] = [0; 3].map(|_| f64::from(random.between(-20.0, 20.0)));
        let whole = Passed::looped(duration_s, a, c);
        let parts = [Passed::looped(duration_s, a, b), Passed::looped(duration_s, b, c)];
        assert_eq!(whole.wraps, parts[0].wraps + parts[1].wraps);
        assert_eq!((parts[0].to_s, whole.to_s), (parts[1].from_s, parts[1].to_s));
        let time = f64::from(whole.to_s) - f64::from(whole.from_s)
            + whole.wraps as f64 * f64::from(duration_s);
        assert!((time - (c - a)).abs() < 1e-5, "{time}");
    }
}

#[test]
fn useless_numbers_pass_no_time() {
    let mut playhead = Playhead::looped(1.0);
    playhead.advance(0.25);
    for dt_s in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(pieces(playhead.advance(dt_s)), []);
        playhead.seek(dt_s);
    }
    playhead.rate = f32::NAN;
    assert_eq!(pieces(playhead.advance(1.0)), []);
    assert_eq!(playhead.time_s(), 0.25);
    for duration_s in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let mut playhead = Playhead::looped(duration_s);
        assert_eq!(pieces(playhead.advance(1.0)), []);
        assert_eq!((playhead.time_s(), playhead.duration_s()), (0.0, 0.0));
        assert_eq!(Passed::looped(duration_s, 3.0, 4.0).wraps, 0);
    }
    // The number of rounds is huge, so a loop over the rounds would not end.
    let passed = Playhead::looped(1e-30).at_rate(f32::MAX).advance(f32::MAX);
    assert!(passed.wraps > 1 << 60 && passed.pieces().take(3).count() == 3);
}
