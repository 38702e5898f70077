//! Chooses the steps of a figure's lanes, as coarse as the precision allows.
//!
//! A joint's *turn* is the largest angle between its orientation in model space and the receiver's.
//! If the joint turns about any axis, its turn is the error of its own lanes, because the lanes are
//! relative to the parent as the receiver has it. A hinge corrects its parent's error only about
//! its axis. A joint that stays still corrects nothing. For both kinds, the parent's turn is added.
//!
//! ```text
//! turn(j)  = own(j)                    a joint that turns about any axis
//!          = own(j) + turn(parent)     a hinge; own(j) = 0: a joint that stays still
//! off(j)   = off(parent) + bone(j) × turn(parent) + moved(j)
//! error(j) = off(j) + shell × turn(j) ≤ precision(j)
//! ```
//!
//! All errors are sums of steps times constants. Among the steps that keep every joint's precision,
//! those with the largest product take the fewest bits. For the best steps, each joint's precision
//! has a price, and each step is inversely proportional to its cost at these prices. The loop below
//! raises the price of each precision that is exceeded, and lowers the other prices. Afterwards,
//! the steps are scaled until all joints keep their precision. The promise therefore does not
//! depend on convergence.
//!
//! Both sides compute the steps. The functions therefore use only + − × ÷ and square roots, in a
//! fixed order.

/// The lengths and limits of a joint. In lists, parents come first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lever {
    pub(super) parent: Option<usize>,
    /// The largest distance of the joint from its parent, in cm.
    pub(super) bone_cm: f64,
    /// The scale of the parents, with which a step of the joint's translation is multiplied.
    pub(super) scale: f64,
    /// The number of lanes of the joint's rotation, and of its translation.
    pub(super) turning: usize,
    pub(super) moving: usize,
    /// The errors of rounding the pose's numbers, which do not depend on the steps.
    pub(super) rounding: Steps,
    pub(super) shell_cm: f64,
    pub(super) precision_cm: f64,
}

/// The largest errors that a joint's own lanes may have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Steps {
    pub(super) turn_rad: f64,
    pub(super) move_cm: f64,
}

/// The number of rounds that change the prices. After 200 rounds, the sizes of the steps change by
/// less than a percent.
const ROUNDS: usize = 200;

/// The largest errors of lanes, for joints whose errors move nothing.
const COARSEST: Steps = Steps { turn_rad: 0.25, move_cm: 1000.0 };

/// Chooses the largest errors of the joints' lanes. If a joint's precision is finer than rounding
/// allows, returns the first such joint, and the finest precision that it can have.
pub(super) fn choose(joints: &[Lever]) -> Result<Vec<Steps>, (usize, f64)> {
    let rounded: Vec<Steps> = joints.iter().map(|joint| joint.rounding).collect();
    let rounding = errors(joints, &rounded);
    // Half of the precision must be left for the steps.
    let too_fine = |(joint, error): (usize, f64)| {
        // The comparison also fails if the error is not a number, which happens after numbers that
        // overflow.
        let fits = 2.0 * error <= joints[joint].precision_cm;
        (!fits).then_some((joint, 2.0 * error))
    };
    if let Some(joint) = rounding.iter().copied().enumerate().find_map(too_fine) {
        return Err(joint);
    }
    let left_cm: Vec<f64> =
        joints.iter().zip(&rounding).map(|(joint, error)| joint.precision_cm - error).collect();

    let mut prices = vec![1.0; joints.len()];
    let mut steps = vec![Steps::default(); joints.len()];
    let mut worst = 1.0;
    for _ in 0..ROUNDS {
        let costs = costs(joints, &prices, &left_cm);
        for ((step, joint), cost) in steps.iter_mut().zip(joints).zip(&costs) {
            let share =
                |lanes: usize, cost: f64| if lanes == 0 { 0.0 } else { lanes as f64 / cost };
            // The cost of a joint that moves nothing is 0.
            *step = Steps {
                turn_rad: share(joint.turning, cost.turn_rad).min(COARSEST.turn_rad),
                move_cm: share(joint.moving, cost.move_cm).min(COARSEST.move_cm),
            };
        }
        worst = 0.0;
        let used = errors(joints, &steps);
        for ((price, used), left_cm) in prices.iter_mut().zip(used).zip(&left_cm) {
            let share: f64 = used / left_cm;
            *price *= share.sqrt();
            worst = if share > worst { share } else { worst };
        }
    }
    // `worst` is zero if nothing moves.
    let worst = if worst > 0.0 { worst } else { 1.0 };
    for step in &mut steps {
        step.turn_rad = (step.turn_rad / worst).min(COARSEST.turn_rad);
        step.move_cm = (step.move_cm / worst).min(COARSEST.move_cm);
    }
    Ok(steps)
}

/// Returns the largest error of each joint, in cm. `own` are the errors of its own lanes.
pub(super) fn errors(joints: &[Lever], own: &[Steps]) -> Vec<f64> {
    let mut turns_rad = vec![0.0; joints.len()];
    let mut offs_cm = vec![0.0; joints.len()];
    let mut errors_cm = Vec::with_capacity(joints.len());
    for (index, (joint, own)) in joints.iter().zip(own).enumerate() {
        let above = joint.parent.map_or([0.0; 2], |parent| [turns_rad[parent], offs_cm[parent]]);
        let corrects = joint.turning == 3;
        turns_rad[index] = own.turn_rad + if corrects { 0.0 } else { above[0] };
        offs_cm[index] = above[1] + joint.bone_cm * above[0] + joint.scale * own.move_cm;
        errors_cm.push(offs_cm[index] + joint.shell_cm * turns_rad[index]);
    }
    errors_cm
}

/// Returns the cost of a step of each joint at these prices. The function computes the same sums as
/// `errors`, from the children to the roots.
fn costs(joints: &[Lever], prices: &[f64], left_cm: &[f64]) -> Vec<Steps> {
    let mut costs = vec![Steps::default(); joints.len()];
    for (index, joint) in joints.iter().enumerate().rev() {
        let price = prices[index] / left_cm[index];
        costs[index].move_cm += price;
        costs[index].turn_rad += joint.shell_cm * price;
        let own = costs[index];
        costs[index].move_cm *= joint.scale;
        if let Some(parent) = joint.parent {
            costs[parent].move_cm += own.move_cm;
            costs[parent].turn_rad += joint.bone_cm * own.move_cm;
            if joint.turning != 3 {
                costs[parent].turn_rad += own.turn_rad;
            }
        }
    }
    costs
}
