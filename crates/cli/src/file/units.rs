//! Durations, sizes and secrets as people write them in a file.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use secrecy::SecretString;
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

/// A length of time: `500ms`, `30s`, `15m`, `2h` or `7d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Time(pub(crate) Duration);

/// A number of bytes: a bare number, or `64KiB`, `4MiB`, `1GiB`, `500kB`, `2MB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) usize);

/// Text that is in no debug output.
#[derive(Debug, Clone)]
pub(crate) struct Secret(pub(crate) SecretString);

impl From<Time> for Duration {
    fn from(time: Time) -> Self {
        time.0
    }
}

impl Time {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (number, unit) = split(text)?;
        let seconds = match unit {
            "ms" => return Some(Self(Duration::from_millis(number))),
            "s" => 1,
            "m" => 60,
            "h" => 60 * 60,
            "d" => 24 * 60 * 60,
            _ => return None,
        };
        // Clocks of the store count in milliseconds of 64 bits.
        let seconds = number.checked_mul(seconds).filter(|s| *s < 1 << 40)?;
        Some(Self(Duration::from_secs(seconds)))
    }
}

impl Size {
    fn parse(text: &str) -> Option<Self> {
        let (number, unit) = split(text)?;
        let bytes = match unit {
            "" | "B" => 1,
            "kB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => return None,
        };
        usize::try_from(number.checked_mul(bytes)?).ok().map(Self)
    }
}

/// A whole number and what follows it.
fn split(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let digits = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    Some((number.parse().ok()?, unit.trim_start()))
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TimeVisitor;
        impl Visitor<'_> for TimeVisitor {
            type Value = Time;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a duration above 0 such as 500ms, 30s, 15m, 2h or 7d")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Time, E> {
                let time = Time::parse(text).filter(|time| !time.0.is_zero());
                time.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(TimeVisitor)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SizeVisitor;
        impl Visitor<'_> for SizeVisitor {
            type Value = Size;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as 64KiB, 4MiB or 1048576, at least 1 byte")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Size, E> {
                let size = usize::try_from(number).ok().filter(|size| *size > 0);
                size.map(Size)
                    .ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Size, E> {
                let size = Size::parse(text).filter(|size| size.0 > 0);
                size.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(SizeVisitor)
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(text.into()))
    }
}

impl JsonSchema for Time {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A length of time: 500ms, 30s, 15m, 2h or 7d.",
            "pattern": r"^\s*[0-9]+\s*(ms|s|m|h|d)$|\$\{",
            "examples": ["30s", "15m"],
        })
    }
}

impl JsonSchema for Size {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["integer", "string"],
            "minimum": 1,
            "description": "A number of bytes: 1048576, 64KiB, 4MiB, 500kB.",
            "pattern": r"^\s*0*[1-9][0-9]*\s*(B|kB|MB|GB|KiB|MiB|GiB)?$|\$\{",
            "examples": ["4MiB"],
        })
    }
}

impl JsonSchema for Secret {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        let seconds = |text| Time::parse(text).map(|time| time.0.as_secs_f64());
        assert_eq!(seconds("500ms"), Some(0.5));
        assert_eq!(seconds("30s"), Some(30.0));
        assert_eq!(seconds("15m"), Some(900.0));
        assert_eq!(seconds("2h"), Some(7200.0));
        assert_eq!(seconds(" 7 d"), Some(604_800.0));
        for wrong in [
            "",
            "30",
            "s",
            "-1s",
            "1.5s",
            "1w",
            "1s2",
            "99999999999999999d",
        ] {
            assert_eq!(Time::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sizes_are_bytes_unless_they_say_otherwise() {
        let bytes = |text| Size::parse(text).map(|size| size.0);
        assert_eq!(bytes("4MiB"), Some(4 << 20));
        assert_eq!(bytes("64 KiB"), Some(64 << 10));
        assert_eq!(bytes("500kB"), Some(500_000));
        assert_eq!(bytes("12"), Some(12));
        for wrong in ["", "MiB", "4mib", "-1", "1.5MiB", "99999999999GiB"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_secret_is_not_printed() {
        let secret = Secret("very secret".to_owned().into());
        assert!(!format!("{secret:?}").contains("very"));
    }
}
