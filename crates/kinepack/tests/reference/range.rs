//! Reads the range coder's decisions (section 12.2) bit by bit from data that are held as one long
//! number.

use super::{Refused, refuse};

/// A probability that adapts: q in 2⁻²⁴, and the number of observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counter {
    q: i64,
    n: i64,
}

impl Counter {
    pub(crate) const EVEN: Self = Self { q: 1 << 23, n: 0 };

    fn learn(&mut self, decision: bool, most: i64) {
        self.n = self.n.min(most);
        let aim = if decision { 1 << 24 } else { 0 };
        let rate = (655_360 + 5 * self.n + 8) / (10 * self.n + 16);
        self.q = (self.q + (((aim - self.q) * rate) >> 16)).clamp(32 * 256, 65_503 * 256);
        self.n = (self.n + 1).min(most);
    }
}

/// Reads decisions, from the first bit of a packet on.
pub(crate) struct Range {
    bits: Vec<bool>,
    at: usize,
    range: u64,
    code: u64,
}

impl Range {
    pub(crate) fn of(packet: &[u8]) -> Result<Self, Refused> {
        let bits =
            packet.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).collect();
        let mut range = Self { bits, at: 0, range: (1 << 32) - 1, code: 0 };
        range.code = range.window();
        if range.code == (1 << 32) - 1 {
            refuse("a beginning that no decisions have")
        } else {
            Ok(range)
        }
    }

    fn window(&self) -> u64 {
        let bit = |at: usize| u64::from(self.bits.get(at).copied().unwrap_or(false));
        (self.at..self.at + 32).fold(0, |window, at| 2 * window + bit(at))
    }

    fn narrow(&mut self, below: u64, range: u64) -> Result<(), Refused> {
        self.code -= below;
        self.range = range;
        while self.range < 1 << 24 {
            self.at += 8;
            if self.at > self.bits.len() {
                return refuse("the position passes the end of the data");
            }
            self.range *= 256;
            self.code = 256 * self.code + self.window() % 256;
        }
        Ok(())
    }

    /// Reads a decision that is true with probability `p`, in 1/65536.
    pub(crate) fn decision(&mut self, p: u64) -> Result<bool, Refused> {
        let upper = (self.range * p) >> 16;
        let lower = self.range - upper;
        let decision = self.code >= lower;
        let (below, range) = if decision { (lower, upper) } else { (0, lower) };
        self.narrow(below, range)?;
        Ok(decision)
    }

    /// Reads a decision with a counter, which learns from it; `most` is the limit of the counter's
    /// observations.
    pub(crate) fn counted(&mut self, counter: &mut Counter, most: i64) -> Result<bool, Refused> {
        let decision = self.decision((counter.q >> 8) as u64)?;
        counter.learn(decision, most);
        Ok(decision)
    }

    /// Reads a number of `bits` direct bits.
    pub(crate) fn direct(&mut self, bits: usize) -> Result<i128, Refused> {
        let (mut value, mut left) = (0, bits);
        while left > 0 {
            let k = left.min(16);
            left -= k;
            let step = self.range >> k;
            let last = (1 << k) - 1;
            let i = (self.code / step).min(last);
            self.narrow(i * step, if i == last { self.range - i * step } else { step })?;
            value = value << k | i128::from(i);
        }
        Ok(value)
    }

    /// Reads a tree of `bits` bits.
    pub(crate) fn tree(
        &mut self,
        counters: &mut [Counter],
        bits: usize,
        most: i64,
    ) -> Result<i128, Refused> {
        let mut node = 1;
        for _ in 0..bits {
            node = 2 * node + usize::from(self.counted(&mut counters[node], most)?);
        }
        Ok((node - (1 << bits)) as i128)
    }

    pub(crate) fn end(&self) -> Result<(), Refused> {
        let window = self.window();
        let low = window.wrapping_sub(self.code) % (1 << 32);
        let of_zeros = |zeros: &u32| low.next_multiple_of(1 << zeros);
        let zeros = (0..=32).rev().find(|zeros| of_zeros(zeros) < low + self.range);
        let Some(zeros) = zeros else { return refuse("there is always one") };
        if window != of_zeros(&zeros) % (1 << 32) {
            return refuse("not the form of an end");
        }
        let left = self.bits.len().checked_sub(self.at + (32 - zeros as usize));
        match left {
            None => refuse("the end is cut"),
            Some(8..) => refuse("bytes after the last"),
            Some(_) => Ok(()),
        }
    }
}
