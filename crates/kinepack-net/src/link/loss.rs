//! Decides which datagrams are lost.

use super::Loss;
use super::random::Random;

/// The Gilbert-Elliott chain: a state that is good or bad, and a chance of loss in each.
#[derive(Clone, Debug)]
pub(super) struct LossChain {
    random: Random,
    is_bad: bool,
}

impl LossChain {
    pub(super) fn new(random: Random) -> Self {
        Self { random, is_bad: false }
    }

    /// Whether the next datagram is lost. Each call takes one step of the chain.
    pub(super) fn takes(&mut self, loss: &Loss) -> bool {
        match *loss {
            Loss::None => false,
            Loss::Independent { ratio } => self.random.chance(ratio),
            Loss::GilbertElliott {
                to_bad_ratio,
                to_good_ratio,
                good_loss_ratio,
                bad_loss_ratio,
            } => {
                let leaves =
                    self.random.chance(if self.is_bad { to_good_ratio } else { to_bad_ratio });
                self.is_bad ^= leaves;
                self.random.chance(if self.is_bad { bad_loss_ratio } else { good_loss_ratio })
            }
        }
    }
}
