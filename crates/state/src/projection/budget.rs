//! How many bytes of patches a tool call may cost, and which of them are due when.
//!
//! Every byte of arguments earns a few bytes for patches. A patch goes out as soon as it can be
//! paid. While a document is small that is nearly at once; a string that is replaced whole for
//! every patch costs more each time, so its patches come at lengths that grow geometrically.

/// What there is to spend before the first byte, so that the first content shows at once.
const START: usize = 300;

/// The number of first bytes that earn [`EARLY_RATE`]: about one short paragraph.
const EARLY: usize = 200;

/// Bytes earned by each of the first bytes: a patch for every few of them.
const EARLY_RATE: usize = 9;

/// Bytes earned by two later bytes. With the last patch, which is sent even when it cannot be
/// paid and is never longer than the arguments, the sum stays below four times the arguments.
const TWICE_LATER_RATE: usize = 5;

/// Bytes earned besides by each byte of a string that is most of the document. Nothing but
/// replacing it can show such a string grow, and readers should not wait for a page of text.
const TEXT_RATE: usize = 10;

/// The length from which a string can count as long.
const LONG_TEXT: usize = 256;

/// The bytes of an event besides its patch: its type, its frame and the id of its place in the
/// stream.
const ENVELOPE: usize = 100;

/// What must be left over for a patch that shows a part of a value, since the rest of the value
/// then takes operations of its own. Values that are complete soon are worth waiting for.
const RESERVE: usize = 300;

/// What has been earned and spent.
#[derive(Debug, Default)]
pub(super) struct Budget {
    bytes: usize,
    text_bytes: usize,
    spent: usize,
}

impl Budget {
    /// Takes note of bytes of arguments that have arrived, at a time when `text` bytes of the
    /// `written` ones are those of the string that is open.
    pub(super) const fn earn(&mut self, bytes: usize, text: usize, written: usize) {
        self.bytes += bytes;
        if text >= LONG_TEXT && 2 * text >= written {
            self.text_bytes += bytes;
        }
    }

    /// Says whether a patch of so many bytes can be paid now, which shows only a part of a value
    /// if it `cuts` one.
    pub(super) fn affords(&self, patch: usize, cuts: bool) -> bool {
        let early = self.bytes.min(EARLY);
        let earned = START
            + early * EARLY_RATE
            + (self.bytes - early) * TWICE_LATER_RATE / 2
            + self.text_bytes * TEXT_RATE;
        let reserve = if cuts && self.bytes > EARLY {
            RESERVE
        } else {
            0
        };
        self.spent + patch + ENVELOPE + reserve <= earned
    }

    /// Pays for a patch.
    pub(super) const fn spend(&mut self, patch: usize) {
        self.spent += patch + ENVELOPE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_patch_is_paid_before_anything_arrives() {
        let mut budget = Budget::default();
        assert!(budget.affords(100, true));
        budget.spend(100);
        assert!(!budget.affords(100, true));
    }

    #[test]
    fn what_is_earned_does_not_depend_on_how_the_bytes_arrive() {
        let (mut one, mut many) = (Budget::default(), Budget::default());
        one.earn(1001, 0, 1001);
        for written in 1..=1001 {
            many.earn(1, 0, written);
        }
        let most = START + EARLY * EARLY_RATE + 801 * TWICE_LATER_RATE / 2 - ENVELOPE;
        for budget in [one, many] {
            assert!(budget.affords(most, false));
            assert!(!budget.affords(most + 1, false));
        }
    }

    #[test]
    fn a_part_of_a_value_waits_for_a_reserve() {
        let mut budget = Budget::default();
        budget.earn(EARLY + 1, 0, EARLY + 1);
        let most = START + EARLY * EARLY_RATE + 2 - ENVELOPE;
        assert!(budget.affords(most, false));
        assert!(!budget.affords(most, true));
        assert!(budget.affords(most - RESERVE, true));
    }

    #[test]
    fn a_long_string_earns_more_while_it_is_most_of_the_document() {
        let earned = |text, written| {
            let mut budget = Budget::default();
            budget.earn(1000, text, written);
            budget.affords(START + EARLY * EARLY_RATE + 2001, false)
        };
        assert!(earned(1000, 1900));
        assert!(!earned(1000, 2100));
        assert!(!earned(200, 300));
    }
}
