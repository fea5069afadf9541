//! For people.

use std::fmt;

use crate::check::{Finding, Level, Report, Verdict};

impl fmt::Display for Report {
    /// Writes the broken rules with what was seen and where, then how many were kept.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.url)?;
        for finding in self.broken() {
            write_broken(f, finding)?;
        }
        let count = |of: fn(&Verdict) -> bool| {
            let findings = self.findings.iter();
            findings.filter(|finding| of(&finding.verdict)).count()
        };
        let kept = count(|verdict| matches!(verdict, Verdict::Kept { .. }));
        let unseen = count(|verdict| matches!(verdict, Verdict::Unseen));
        let musts = self.broken().filter(|finding| finding.level == Level::Must);
        let musts = musts.count();
        let shoulds = self.broken().count() - musts;
        write!(f, "{kept} rules kept, {musts} broken that must be kept, ")?;
        writeln!(f, "{shoulds} that should be, {unseen} not seen")
    }
}

fn write_broken(f: &mut fmt::Formatter<'_>, finding: &Finding) -> fmt::Result {
    let Verdict::Broken { times, seen } = &finding.verdict else {
        return Ok(());
    };
    let level = match finding.level {
        Level::Must => "must",
        Level::Should => "should",
    };
    writeln!(f, "{level} {}: {}", finding.rule, finding.says)?;
    for seen in seen {
        writeln!(f, "    {}: {}", seen.place, seen.what)?;
    }
    let more = (*times as usize).saturating_sub(seen.len());
    if more > 0 {
        writeln!(f, "    and {more} more")?;
    }
    Ok(())
}
