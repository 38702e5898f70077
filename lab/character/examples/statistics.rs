//! Prints how the player spends its time, and how its moves differ from earlier ones.
//!
//! Run it with `cargo run --release -p character --example statistics [-- SECONDS [SEED]]`.

use std::collections::HashMap;
use std::error::Error;

use character::{Activity, FALLING, Move, Script};
use kinepack::bits::bits_for;
use kinepack::schema::LaneArithmetic;
use kinepack::{Pack, Schema};

/// The lags in moves: the previous move, and 100 ms as in the articles.
const LAGS: [usize; 2] = [1, 6];
/// The approximate number of moves per second.
const MOVES_PER_S: usize = 60;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds: usize = arguments.next().map_or(Ok(3600), |text| text.parse())?;
    let seed: u64 = arguments.next().map_or(Ok(1), |text| text.parse())?;

    let mut script = Script::new(seed);
    let mut counts: HashMap<Activity, usize> = HashMap::new();
    let mut played: Vec<Move> = Vec::new();
    for _ in 0..seconds * MOVES_PER_S {
        played.push(script.step());
        *counts.entry(script.activity()).or_default() += 1;
    }
    println!("{} moves, seed {seed}", played.len());
    let percent = |count: usize| 100.0 * count as f64 / played.len() as f64;
    for activity in Activity::ALL {
        let name = format!("{activity:?}");
        println!("{name:<8} {:>6.1} %", percent(counts.get(&activity).copied().unwrap_or(0)));
    }
    let falling = played.iter().filter(|one| one.movement_mode == FALLING).count();
    println!("{:<8} {:>6.1} %", "in air", percent(falling));
    let jumps =
        played.windows(2).filter(|pair| pair[1].movement_mode > pair[0].movement_mode).count();
    let moving: usize =
        counts.iter().filter(|(activity, _)| activity.is_moving()).map(|(_, count)| count).sum();
    println!("a jump each {:.1} s of moving", moving as f64 / MOVES_PER_S as f64 / jumps as f64);

    let mut lanes = Vec::new();
    for one in &played {
        let mut row = vec![0; Move::LANES];
        one.quantize(&mut row)?;
        lanes.push(row);
    }
    LAGS.into_iter().for_each(|lag| compare(lag, &lanes));
    Ok(())
}

/// Prints how often each field differs from its value `lag` moves earlier, and the size of its
/// lanes' differences.
fn compare(lag: usize, moves: &[Vec<u32>]) {
    let schema = Schema::of::<Move>();
    println!("\nagainst {lag} moves before");
    println!(
        "{:<18} {:>9} {:>10} {:>10}  lane by lane",
        "field", "differs %", "bits/lane", "if not 0"
    );
    // Here, the parts of an array count as one field.
    let mut groups: Vec<(&str, std::ops::Range<usize>)> = Vec::new();
    for field in schema.fields() {
        let name = field.name.split('[').next().unwrap_or_default();
        match groups.last_mut() {
            Some((last, range)) if *last == name => range.end = field.lanes().end,
            _ => groups.push((name, field.lanes())),
        }
    }
    let pairs = moves.len() - lag;
    for (name, range) in groups {
        let mut differ = 0;
        let mut bits = vec![0_u64; range.len()];
        let mut changed_lanes = 0_u64;
        for (now, base) in moves[lag..].iter().zip(moves) {
            differ += usize::from(now[range.clone()] != base[range.clone()]);
            for (sum, lane) in bits.iter_mut().zip(range.clone()) {
                let mut steps = now[lane].abs_diff(base[lane]);
                if schema.lanes()[lane].arithmetic == LaneArithmetic::Cyclic {
                    // A lane that wraps changes in the shorter direction.
                    steps = steps.min((schema.lanes()[lane].max - steps).wrapping_add(1));
                }
                *sum += u64::from(bits_for(u64::from(steps)));
                changed_lanes += u64::from(steps != 0);
            }
        }
        let sum: u64 = bits.iter().sum();
        let each: Vec<String> =
            bits.iter().map(|&bits| format!("{:.2}", bits as f64 / pairs as f64)).collect();
        println!(
            "{name:<18} {:>9.1} {:>10.2} {:>10.2}  {}",
            100.0 * differ as f64 / pairs as f64,
            sum as f64 / pairs as f64 / range.len() as f64,
            sum as f64 / changed_lanes.max(1) as f64,
            each.join(" ")
        );
    }
}
