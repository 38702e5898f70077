//! Budgets as options: a number, `auto` or `unlimited`.

use kinepack_net::{Budget, Hub, ReceiverId};

/// What the link carries, at most 100 Mbit/s.
pub const AUTO_BUDGET: Budget = Budget::Auto { at_most: 12_500_000 };
/// The bytes per second of 1 kbit/s.
const BYTES_PER_KBIT: u32 = 125;

/// Parses a budget in bytes per second, `auto` or `unlimited`.
pub fn parse_budget(text: &str) -> Result<Budget, String> {
    parse(text, 256, u32::MAX, 1, "bytes a second")
}

/// Parses a budget in kbit/s, `auto` or `unlimited`.
pub fn parse_budget_kbps(text: &str) -> Result<Budget, String> {
    parse(text, 3, 1_000_000, BYTES_PER_KBIT, "kbit/s")
}

fn parse(text: &str, least: u32, most: u32, unit_bytes: u32, unit: &str) -> Result<Budget, String> {
    match text {
        "auto" => return Ok(AUTO_BUDGET),
        "unlimited" => return Ok(Budget::Unlimited),
        _ => {}
    }
    let number: Option<u32> = text.parse().ok().filter(|number| (least..=most).contains(number));
    let number =
        number.ok_or_else(|| format!("give {least} to {most} {unit}, auto or unlimited"))?;
    Ok(Budget::Fixed { bytes_per_s: number.saturating_mul(unit_bytes) })
}

/// Returns a budget as [`parse_budget`] takes it.
pub fn budget_name(budget: Budget) -> String {
    name(budget, 1)
}

/// Returns a budget as [`parse_budget_kbps`] takes it.
pub fn budget_kbps_name(budget: Budget) -> String {
    name(budget, BYTES_PER_KBIT)
}

fn name(budget: Budget, unit_bytes: u32) -> String {
    match budget {
        Budget::Unlimited => "unlimited".to_owned(),
        Budget::Fixed { bytes_per_s } => (bytes_per_s / unit_bytes).to_string(),
        Budget::Auto { .. } => "auto".to_owned(),
    }
}

/// Returns the bytes per second that a receiver with this budget may get now. Returns `None` if
/// there is no limit.
pub fn budget_now(hub: &Hub, receiver: ReceiverId, budget: Budget) -> Option<u32> {
    match budget {
        Budget::Unlimited => None,
        Budget::Fixed { bytes_per_s } => Some(bytes_per_s),
        Budget::Auto { .. } => Some(hub.status(receiver)?.link?.bytes_per_s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_number_in_its_range_or_a_word() {
        assert_eq!(parse_budget("8000"), Ok(Budget::Fixed { bytes_per_s: 8_000 }));
        assert_eq!(parse_budget_kbps("64"), Ok(Budget::Fixed { bytes_per_s: 8_000 }));
        for (text, parse, name) in [
            ("auto", parse_budget as fn(&str) -> _, budget_name as fn(_) -> _),
            ("256", parse_budget, budget_name),
            ("auto", parse_budget_kbps, budget_kbps_name),
            ("unlimited", parse_budget, budget_name),
            ("1000000", parse_budget_kbps, budget_kbps_name),
        ] {
            assert_eq!(parse(text).map(name).as_deref(), Ok(text));
        }
        for bad in ["255", "-1", "", "much", "4294967296"] {
            let error = parse_budget(bad).unwrap_err();
            assert_eq!(
                error, "give 256 to 4294967295 bytes a second, auto or unlimited",
                "{bad:?}"
            );
        }
        assert!(
            parse_budget_kbps("2").unwrap_err().contains("3 to 1000000 kbit/s, auto or unlimited")
        );
    }
}
