//! How text looks.

/// How text looks. The default is plain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) dim: bool,
    pub(crate) underlined: bool,
    pub(crate) colour: Colour,
}

/// A colour of the terminal's own palette, which fits light and dark ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Colour {
    /// The terminal's usual one.
    #[default]
    Usual,
    Red,
    Green,
    Yellow,
    Blue,
    Cyan,
}

impl Style {
    pub(crate) const PLAIN: Self = Self {
        bold: false,
        italic: false,
        dim: false,
        underlined: false,
        colour: Colour::Usual,
    };
    /// What is of less interest.
    pub(crate) const DIM: Self = Self {
        dim: true,
        ..Self::PLAIN
    };
    pub(crate) const BOLD: Self = Self {
        bold: true,
        ..Self::PLAIN
    };
    pub(crate) const CODE: Self = Self::coloured(Colour::Cyan);
    pub(crate) const LINK: Self = Self {
        underlined: true,
        ..Self::coloured(Colour::Blue)
    };
    /// What went wrong.
    pub(crate) const BAD: Self = Self::coloured(Colour::Red);
    pub(crate) const GOOD: Self = Self::coloured(Colour::Green);
    /// What a person has to look at.
    pub(crate) const ASKING: Self = Self {
        bold: true,
        ..Self::coloured(Colour::Yellow)
    };

    const fn coloured(colour: Colour) -> Self {
        Self {
            colour,
            ..Self::PLAIN
        }
    }

    /// Returns the sequence that turns the style on, empty for plain text. `\x1b[0m` turns it off.
    pub(crate) fn sequence(self) -> String {
        let colour = match self.colour {
            Colour::Usual => "",
            Colour::Red => "31",
            Colour::Green => "32",
            Colour::Yellow => "33",
            Colour::Blue => "34",
            Colour::Cyan => "36",
        };
        let codes = [
            if self.bold { "1" } else { "" },
            if self.dim { "2" } else { "" },
            if self.italic { "3" } else { "" },
            if self.underlined { "4" } else { "" },
            colour,
        ];
        let codes: Vec<&str> = codes.into_iter().filter(|code| !code.is_empty()).collect();
        if codes.is_empty() {
            return String::new();
        }
        format!("\x1b[{}m", codes.join(";"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_are_sequences_of_the_terminal() {
        assert_eq!(Style::PLAIN.sequence(), "");
        assert_eq!(Style::DIM.sequence(), "\x1b[2m");
        assert_eq!(Style::ASKING.sequence(), "\x1b[1;33m");
    }
}
