//! Formats numbers in sentences.

use std::fmt::Display;

/// Returns a number with the noun that it counts, in the plural of regular nouns: "1 frame", "2
/// frames".
pub fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    if count == "1" { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_all_others_are_plural() {
        assert_eq!(counted(1, "frame"), "1 frame");
        assert_eq!(
            [0, 2, 11].map(|count| counted(count, "frame")),
            ["0 frames", "2 frames", "11 frames"]
        );
    }
}
