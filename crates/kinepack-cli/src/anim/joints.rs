//! Selects joints by name on the command line.

use kinepack_anim::{RawClip, Skeleton};

/// A length for the joints whose names match a pattern.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JointLength {
    pub(crate) pattern: String,
    pub(crate) cm: f64,
}

/// Parses `NAME=CM`. The library checks the range of the number.
pub(crate) fn parse_length(text: &str) -> Result<JointLength, String> {
    let parsed = text.rsplit_once('=').and_then(|(pattern, cm)| Some((pattern, cm.parse().ok()?)));
    let (pattern, cm) = parsed.ok_or_else(|| format!("{text} is not NAME=CM, like *hand=0.05"))?;
    Ok(JointLength { pattern: pattern.to_owned(), cm })
}

/// Returns the indices of the joints whose names match a pattern.
pub(crate) fn named(patterns: &[String], raw: &RawClip) -> Vec<usize> {
    let patterns: Vec<_> = patterns.iter().map(|pattern| pattern.to_lowercase()).collect();
    let is_named = |joint: &usize| {
        let name = joint_name(raw.skeleton(), *joint).to_lowercase();
        patterns.iter().any(|pattern| matches(pattern, &name))
    };
    (0..raw.joints()).filter(is_named).collect()
}

/// Returns the first joints whose names contain `name`, or `None` if a joint has this name.
pub(crate) fn similar(name: &str, raw: &RawClip) -> Option<Vec<String>> {
    const MOST: usize = 3;
    let name = name.trim_matches('*');
    let joints = named(&[format!("*{name}*")], raw).into_iter().take(MOST);
    let names: Vec<_> = joints.map(|joint| joint_name(raw.skeleton(), joint)).collect();
    (!name.is_empty() && !names.is_empty()).then_some(names)
}

/// Returns the name of a joint, or its number if it has no name.
pub(crate) fn joint_name(skeleton: &Skeleton, joint: usize) -> String {
    match skeleton.joints()[joint].name.as_str() {
        "" => format!("joint {joint}"),
        name => name.to_owned(),
    }
}

/// Each joint that matches a pattern, with its length.
pub(crate) fn lengths(all: &[JointLength], raw: &RawClip) -> Vec<(usize, f64)> {
    let of = |length: &JointLength| {
        let cm = length.cm;
        named(std::slice::from_ref(&length.pattern), raw).into_iter().map(move |joint| (joint, cm))
    };
    all.iter().flat_map(of).collect()
}

/// Returns whether a name matches a pattern, in which * matches any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_names() {
        for (pattern, name, is_match) in [
            ("foot", "foot", true),
            ("foot", "foot.l", false),
            ("foot*", "foot.l", true),
            ("*foot*", "leftfoot", true),
            ("l*o*t", "lfoot", true),
            ("*foot", "feet", false),
            ("a*a", "a", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, name), is_match, "{pattern} {name}");
        }
    }

    #[test]
    fn lengths_of_joints() {
        let length = |pattern: &str, cm| Ok(JointLength { pattern: pattern.to_owned(), cm });
        assert_eq!(parse_length("Hand=0.5"), length("Hand", 0.5));
        assert_eq!(parse_length("a=b*=-1"), length("a=b*", -1.0));
        for text in ["", "hand", "hand=", "hand=cm", "=", "0.5"] {
            assert!(parse_length(text).is_err(), "{text}");
        }
    }
}
