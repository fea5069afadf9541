//! Durations as people write them: `500ms`, `30s`, `15m`, `7d`, and `0`.

use std::{fmt, time::Duration};

use serde::{
    Deserializer,
    de::{Error, Visitor},
};

pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    deserializer.deserialize_any(DurationVisitor)
}

struct DurationVisitor;

impl Visitor<'_> for DurationVisitor {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as 20ms, 2s or 0")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Duration, E> {
        parse(text.trim()).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Duration, E> {
        // A bare number has no unit; nothing is nothing in all of them.
        if number == 0 {
            Ok(Duration::ZERO)
        } else {
            Err(E::invalid_value(
                serde::de::Unexpected::Unsigned(number),
                &self,
            ))
        }
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Duration, E> {
        if number == 0 {
            Ok(Duration::ZERO)
        } else {
            Err(E::invalid_value(
                serde::de::Unexpected::Signed(number),
                &self,
            ))
        }
    }
}

fn parse(text: &str) -> Option<Duration> {
    let digits = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    let seconds = match unit {
        "ms" => return Some(Duration::from_millis(number)),
        "" if number == 0 => 0,
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return None,
    };
    Some(Duration::from_secs(number.checked_mul(seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_and_bare_numbers_are_not() {
        assert_eq!(parse("20ms"), Some(Duration::from_millis(20)));
        assert_eq!(parse("2s"), Some(Duration::from_secs(2)));
        assert_eq!(parse("15m"), Some(Duration::from_secs(900)));
        assert_eq!(parse("7d"), Some(Duration::from_secs(604_800)));
        assert_eq!(parse("0"), Some(Duration::ZERO));
        for wrong in [
            "20",
            "ms",
            "-1s",
            "1w",
            "99999999999999999999s",
            "18446744073709551615d",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
