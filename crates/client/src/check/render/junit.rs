//! For CI: a JUnit report, a test case for every rule.

use std::fmt::Write as _;

use crate::check::{Finding, Level, Report, Verdict};

impl Report {
    /// Returns the report as JUnit XML: a broken rule that must be kept is a failure, one that
    /// should be is a skipped case with a message.
    #[must_use]
    pub fn to_junit(&self) -> String {
        let failures = self.broken().filter(|finding| finding.level == Level::Must);
        let skipped = self.findings.iter().filter(|finding| is_skipped(finding));
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        // Writing into a String cannot fail.
        writeln!(
            xml,
            "<testsuites>\n  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">",
            escaped(&self.url),
            self.findings.len(),
            failures.count(),
            skipped.count(),
        )
        .ok();
        for finding in &self.findings {
            write_case(&mut xml, finding);
        }
        xml.push_str("  </testsuite>\n</testsuites>\n");
        xml
    }
}

fn is_skipped(finding: &Finding) -> bool {
    match finding.verdict {
        Verdict::Kept { .. } => false,
        Verdict::Broken { .. } => finding.level == Level::Should,
        Verdict::Unseen => true,
    }
}

fn write_case(xml: &mut String, finding: &Finding) {
    let level = match finding.level {
        Level::Must => "must",
        Level::Should => "should",
    };
    let (rule, name) = (escaped(finding.rule), escaped(finding.says));
    let opening = format!("    <testcase classname=\"{level}.{rule}\" name=\"{name}\"");
    let inside = match &finding.verdict {
        Verdict::Kept { .. } => {
            writeln!(xml, "{opening}/>").ok();
            return;
        }
        Verdict::Unseen => "<skipped message=\"not seen\"/>".to_owned(),
        Verdict::Broken { seen, .. } => {
            let lines = seen
                .iter()
                .map(|seen| format!("{}: {}", seen.place, seen.what));
            let lines: Vec<_> = lines.collect();
            let message = escaped(lines.first().map_or("", String::as_str));
            let body = escaped(&lines.join("\n"));
            match finding.level {
                Level::Must => format!("<failure message=\"{message}\">{body}</failure>"),
                Level::Should => format!("<skipped message=\"{message}\"/>"),
            }
        }
    };
    writeln!(xml, "{opening}>{inside}</testcase>").ok();
}

/// Escapes text for XML, and drops what XML cannot hold at all.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push('\n'),
            '\u{fffe}' | '\u{ffff}' => {}
            char if char.is_control() => {}
            char => out.push(char),
        }
    }
    out
}
