//! Counts in messages.

/// `1 clip`, `2 clips`.
pub(crate) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn only_one_has_no_s() {
        assert_eq!([0, 1, 2].map(|n| count(n, "joint")), ["0 joints", "1 joint", "2 joints"]);
    }
}
