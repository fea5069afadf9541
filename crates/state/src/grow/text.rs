//! Decodes the contents of a JSON string that arrive in fragments.

use std::mem;

use super::error::GrowReason;
use super::scan::plain_len;

/// The decoded contents of a string that have not been handed on, and what is held back of it.
#[derive(Debug, Default)]
pub(super) struct Text {
    fresh: String,
    escape: Escape,
    /// The first half of a surrogate pair whose second half must follow.
    high: Option<u16>,
}

/// How much of an escape has been read.
#[derive(Debug, Default)]
enum Escape {
    #[default]
    Outside,
    /// The backslash.
    Begun,
    /// `\u` and these hexadecimal digits.
    Unit { digits: u8, unit: u16 },
}

impl Text {
    /// Takes contents up to the closing quote or the end, and returns the number of bytes and
    /// whether the string is closed.
    pub(super) fn take(&mut self, text: &str) -> Result<(usize, bool), GrowReason> {
        let mut rest = text;
        loop {
            if matches!(self.escape, Escape::Outside) && self.high.is_none() {
                // A special byte is ASCII, so the run ends between characters.
                let (run, behind) = rest.split_at(plain_len(rest.as_bytes()));
                self.fresh.push_str(run);
                rest = behind;
            }
            let Some(&byte) = rest.as_bytes().first() else {
                return Ok((text.len(), false));
            };
            let closed = self.take_special(byte)?;
            // Every byte that take_special lets pass is ASCII.
            rest = rest.get(1..).unwrap_or_default();
            if closed {
                return Ok((text.len() - rest.len(), true));
            }
        }
    }

    /// Returns what has been decoded since the last [`clear`](Self::clear).
    pub(super) fn fresh(&self) -> &str {
        &self.fresh
    }

    pub(super) fn clear(&mut self) {
        self.fresh.clear();
    }

    /// Takes what has been decoded away.
    pub(super) fn drain(&mut self) -> String {
        mem::take(&mut self.fresh)
    }

    /// Takes a byte that does not stand for itself and says whether it closes the string.
    fn take_special(&mut self, byte: u8) -> Result<bool, GrowReason> {
        match (&mut self.escape, byte) {
            (Escape::Outside, b'\\') => self.escape = Escape::Begun,
            (Escape::Outside, _) if self.high.is_some() => return Err(GrowReason::LoneSurrogate),
            (Escape::Outside, b'"') => return Ok(true),
            (Escape::Outside, _) => return Err(GrowReason::ControlCharacter),
            (Escape::Begun, b'u') => self.escape = Escape::Unit { digits: 0, unit: 0 },
            (Escape::Begun, _) if self.high.is_some() => return Err(GrowReason::LoneSurrogate),
            (Escape::Begun, _) => {
                self.fresh
                    .push(short_escape(byte).ok_or(GrowReason::Escape)?);
                self.escape = Escape::Outside;
            }
            (Escape::Unit { digits, unit }, _) => {
                *unit = (*unit << 4) | hex(byte).ok_or(GrowReason::Escape)?;
                *digits += 1;
                if *digits == 4 {
                    let unit = *unit;
                    self.escape = Escape::Outside;
                    self.take_unit(unit)?;
                }
            }
        }
        Ok(false)
    }

    /// Takes a UTF-16 code unit.
    fn take_unit(&mut self, unit: u16) -> Result<(), GrowReason> {
        let high = self.high.take();
        if high.is_none() && (0xD800..0xDC00).contains(&unit) {
            self.high = Some(unit);
            return Ok(());
        }
        for decoded in char::decode_utf16(high.into_iter().chain([unit])) {
            self.fresh
                .push(decoded.map_err(|_| GrowReason::LoneSurrogate)?);
        }
        Ok(())
    }
}

const fn short_escape(byte: u8) -> Option<char> {
    Some(match byte {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        _ => return None,
    })
}

fn hex(byte: u8) -> Option<u16> {
    let digit = char::from(byte).to_digit(16)?;
    u16::try_from(digit).ok()
}
