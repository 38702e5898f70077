//! Writes a report as a self-contained HTML file. The file contains the numbers as JSON, a script
//! that shows them, and the style of the program's pages.

use std::io;

use serde::Serialize;

use crate::output::{OutputError, Target};

const TEMPLATE: &str = include_str!("web/template.html");
const LOOK: &str = include_str!("../page/web/shared/base.css");
const STYLE: &str = include_str!("web/report.css");
const CHARTS: &str = include_str!("web/charts.js");

/// Writes the file. The JavaScript in `script` reads the variable `report` and fills the element
/// `main`.
pub fn write(
    target: &Target,
    title: &str,
    script: &str,
    report: &impl Serialize,
) -> Result<(), OutputError> {
    let page = page(title, script, report).map_err(|error| target.failed(error))?;
    target.write(page.as_bytes())
}

fn page(title: &str, script: &str, report: &impl Serialize) -> io::Result<String> {
    // In a script element, only the end tag has a meaning, so `<` is escaped.
    let numbers = serde_json::to_string(report)?.replace('<', "\\u003c");
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    let mut page = String::new();
    let mut rest = TEMPLATE;
    for (mark, text) in [
        ("{title}", title.as_str()),
        ("{look}", LOOK),
        ("{style}", STYLE),
        ("{title}", title.as_str()),
        ("{numbers}", numbers.as_str()),
        ("{charts}", CHARTS),
        ("{script}", script),
    ] {
        let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
        page.push_str(before);
        page.push_str(text);
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_complete_and_no_text_ends_its_script() {
        let page = page("a & b <c>", "show();", &["</script><b>", "{script}"]).unwrap();
        assert!(page.contains("a &amp; b &lt;c>"));
        assert!(page.contains(r#"["\u003c/script>\u003cb>","{script}"]"#));
        assert!(page.contains("show();") && page.trim_end().ends_with("</html>"));
        assert!(
            !page.contains("http://")
                || page.matches("http://").count() == page.matches("http://www.w3.org/").count()
        );
    }
}
