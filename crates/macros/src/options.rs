//! The options of the attributes, each given at most once.

use std::time::Duration;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, Ident, Lit, LitStr, Meta, Token};

use crate::parameters::Parameters;

/// Options that were given and not yet taken.
pub(crate) struct Options {
    given: Vec<Meta>,
}

impl Options {
    /// Reads `a, b = "c", d(..)`. `whose` has the options `known` and no others.
    pub(crate) fn parse(tokens: TokenStream, whose: &str, known: &[&str]) -> syn::Result<Self> {
        let given = Punctuated::<Meta, Token![,]>::parse_terminated.parse2(tokens)?;
        let mut names: Vec<String> = Vec::new();
        for option in &given {
            let name = name_of(option);
            if !known.contains(&name.as_str()) {
                let message = format!(
                    "{whose} has no option `{name}`; it has {}",
                    known.join(", ")
                );
                return Err(Error::new(option.path().span(), message));
            }
            if names.contains(&name) {
                let message = format!("`{name}` is given twice");
                return Err(Error::new(option.path().span(), message));
            }
            names.push(name);
        }
        Ok(Self {
            given: given.into_iter().collect(),
        })
    }

    fn take(&mut self, name: &str) -> Option<Meta> {
        let index = self
            .given
            .iter()
            .position(|option| name_of(option) == name)?;
        Some(self.given.swap_remove(index))
    }

    /// An option without a value.
    pub(crate) fn flag(&mut self, name: &str) -> syn::Result<bool> {
        match self.take(name) {
            None => Ok(false),
            Some(Meta::Path(_)) => Ok(true),
            Some(other) => Err(Error::new(
                other.span(),
                format!("`{name}` stands alone, without a value"),
            )),
        }
    }

    /// An option whose value is any expression.
    pub(crate) fn value(&mut self, name: &str) -> syn::Result<Option<Expr>> {
        match self.take(name) {
            None => Ok(None),
            Some(Meta::NameValue(pair)) => Ok(Some(pair.value)),
            Some(other) => Err(needs_text(name, other.span())),
        }
    }

    /// An option whose value is a string literal.
    pub(crate) fn text(&mut self, name: &str) -> syn::Result<Option<LitStr>> {
        match self.value(name)? {
            None => Ok(None),
            Some(Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            })) => Ok(Some(text)),
            Some(other) => Err(needs_text(name, other.span())),
        }
    }

    /// An option whose value is a duration, as an expression for it.
    pub(crate) fn duration(&mut self, name: &str) -> syn::Result<Option<TokenStream>> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let Some(duration) = duration(&text.value()) else {
            let message =
                "a duration is a number and a unit: \"500ms\", \"30s\", \"15m\", \"2h\" or \"7d\"";
            return Err(Error::new(text.span(), message));
        };
        let (seconds, nanoseconds) = (duration.as_secs(), duration.subsec_nanos());
        Ok(Some(
            quote!(::core::time::Duration::new(#seconds, #nanoseconds)),
        ))
    }

    /// The tool's name: the option `name`, or the function's own.
    pub(crate) fn name(&mut self, function: &Ident) -> syn::Result<LitStr> {
        let given = self.text("name")?;
        let own = || {
            let name = function.to_string();
            LitStr::new(name.trim_start_matches("r#"), function.span())
        };
        let name = given.unwrap_or_else(own);
        let text = name.value();
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        if text.is_empty() || text.len() > 64 || !text.chars().all(is_plain) {
            let message = "providers take names of 1 to 64 ASCII letters, digits, `_` and `-`";
            return Err(Error::new(name.span(), message));
        }
        Ok(name)
    }

    /// The option `approval`, alone or with options of its own, as an expression for an `Approval`.
    pub(crate) fn approval(&mut self, arguments: &Parameters) -> syn::Result<Option<TokenStream>> {
        let options = match self.take("approval") {
            None => return Ok(None),
            Some(Meta::Path(_)) => TokenStream::new(),
            Some(Meta::List(list)) => list.tokens,
            Some(Meta::NameValue(pair)) => {
                let message = "write `approval`, or `approval(message = \"...\", ...)`";
                return Err(Error::new(pair.span(), message));
            }
        };
        let mut options = Self::parse(options, "`approval`", &["message", "timeout", "edits"])?;
        let message = options.text("message")?;
        if let Some(message) = &message {
            check_template(message, arguments)?;
        }
        let message = message.map(|text| quote!(.message(#text)));
        let timeout = options
            .duration("timeout")?
            .map(|limit| quote!(.timeout(#limit)));
        let edits = options.flag("edits")?.then(|| quote!(.edits(true)));
        Ok(Some(quote! {
            <::antiphon::__private::Approval as ::core::default::Default>::default() #message #timeout #edits
        }))
    }
}

fn name_of(option: &Meta) -> String {
    let path = option.path();
    path.get_ident()
        .map_or_else(|| quote!(#path).to_string(), Ident::to_string)
}

fn needs_text(name: &str, span: Span) -> Error {
    Error::new(span, format!("write `{name} = \"...\"`"))
}

/// Checks that what stands in braces in a message are arguments.
fn check_template(template: &LitStr, arguments: &Parameters) -> syn::Result<()> {
    let text = template.value();
    for named in text
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}'))
    {
        let name = named.0;
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if is_name && !arguments.may_have(name) {
            let message = format!("the message names `{{{name}}}`, and there is no such argument");
            return Err(Error::new(template.span(), message));
        }
    }
    Ok(())
}

/// Reads `500ms`, `30s`, `15m`, `2h` or `7d`; nothing takes no time, so zero is none of them.
fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok().filter(|&number| number > 0)?;
    let seconds = match unit {
        "ms" => return Some(Duration::from_millis(number)),
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
    use super::duration;
    use std::time::Duration;

    #[test]
    fn durations_have_a_number_and_a_unit() {
        assert_eq!(duration("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(duration("15m"), Some(Duration::from_secs(900)));
        assert_eq!(duration("7d"), Some(Duration::from_secs(604_800)));
        for wrong in [
            "",
            "30",
            "s",
            "1w",
            "0s",
            "-1s",
            "1.5s",
            "18446744073709551615d",
        ] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }
}
