//! Tests properties on random values, which are the same in every run.
//!
//! `PROPTEST_CASES` makes a run longer: it is the minimum number of values that each property is
//! tried on. A long run starts with the values of a short run.

use std::fmt::Debug;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Tries a property on `cases` values, or on the number in `PROPTEST_CASES` if that is larger.
pub(crate) fn for_all<S: Strategy>(cases: u32, strategy: S, property: impl Fn(S::Value))
where
    S::Value: Debug,
{
    let wanted = std::env::var("PROPTEST_CASES")
        .ok()
        .map_or(0, |wanted| wanted.parse().expect("PROPTEST_CASES is a number"));
    let config =
        Config { cases: cases.max(wanted), failure_persistence: None, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcome = runner.run(&strategy, |value| {
        property(value);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
