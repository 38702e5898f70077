//! Splits the lines of a CSV file into fields. Source: RFC 4180, but a field in quotes ends with
//! its line.

use std::borrow::Cow;

/// The ends of lines. Both together are one end.
pub(super) const LINE_ENDS: [char; 2] = ['\r', '\n'];

/// Returns the lines of a text with their numbers, from 1, without line ends and empty lines. The
/// mark of byte order at the beginning is left out.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = Some(text.strip_prefix('\u{feff}').unwrap_or(text));
    let lines = std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.find(LINE_ENDS) else {
            rest = None;
            return Some(text);
        };
        let (line, after) = text.split_at(end);
        rest = after.strip_prefix("\r\n").or_else(|| after.get(1..));
        Some(line)
    });
    (1..).zip(lines).filter(|(_, line)| !line.trim().is_empty())
}

/// Returns the fields of a line, without quotes and outer spaces.
pub(super) fn fields(line: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest?;
        let (field, after) = field(line);
        rest = after;
        Some(field)
    })
}

/// Returns the first field of a line, and what follows its comma.
fn field(line: &str) -> (Cow<'_, str>, Option<&str>) {
    let Some(mut quoted) = line.trim_start().strip_prefix('"') else {
        return match line.split_once(',') {
            Some((field, rest)) => (field.trim().into(), Some(rest)),
            None => (line.trim().into(), None),
        };
    };
    let mut field = Cow::Borrowed("");
    loop {
        let Some((part, after)) = quoted.split_once('"') else {
            field += quoted;
            return (field, None);
        };
        field += part;
        match after.strip_prefix('"') {
            // Two quotes stand for one.
            Some(more) => {
                field += "\"";
                quoted = more;
            }
            None => return (field, after.split_once(',').map(|(_, rest)| rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_may_have_quotes() {
        for (line, expected) in [
            ("a,b", &["a", "b"][..]),
            ("", &[""]),
            (",", &["", ""]),
            (" a , b ", &["a", "b"]),
            (r#""a,b",c"#, &["a,b", "c"]),
            (r#""a ""b""","c""#, &[r#"a "b""#, "c"]),
            (r#""a"#, &["a"]),
            (r#""a"x,b"#, &["a", "b"]),
        ] {
            assert_eq!(fields(line).collect::<Vec<_>>(), expected, "{line}");
        }
    }

    #[test]
    fn lines_end_in_any_way() {
        let found: Vec<_> = lines("\u{feff}a\r\nb\n\n c\r\n").collect();
        assert_eq!(found, [(1, "a"), (2, "b"), (4, " c")]);
        let found: Vec<_> = lines("a\rb\r\r c\n\rd").collect();
        assert_eq!(found, [(1, "a"), (2, "b"), (4, " c"), (6, "d")]);
    }
}
