//! Doc comments as text for a model.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Error, Expr, ExprLit, Ident, Lit, Meta};

/// An expression for the text of a doc comment.
///
/// A comment that is all literal is tidied here; one with `#[doc = include_str!(..)]` in it is put
/// together by the compiler.
pub(crate) fn of(docs: &[Attribute], what: &str, name: &Ident) -> syn::Result<TokenStream> {
    let parts: Vec<&Expr> = docs.iter().filter_map(value).collect();
    let texts: Option<Vec<String>> = parts.iter().copied().map(literal).collect();
    let described = match texts {
        Some(texts) => {
            let text = tidy(&texts.join("\n"));
            (!text.is_empty()).then(|| quote!(#text))
        }
        None => Some(quote!(::core::concat!(#(#parts, "\n"),*).trim())),
    };
    described.ok_or_else(|| {
        let message = format!("{what} needs a doc comment: it is what the model reads about it");
        Error::new(name.span(), message)
    })
}

fn value(attribute: &Attribute) -> Option<&Expr> {
    match &attribute.meta {
        Meta::NameValue(pair) => Some(&pair.value),
        Meta::Path(_) | Meta::List(_) => None,
    }
}

fn literal(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    }
}

/// Takes away the indentation that all lines share, and blank lines around the text.
fn tidy(text: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let written = text.lines().filter(|line| !line.trim().is_empty());
    let shared = written.map(indent).min().unwrap_or(0);
    let lines: Vec<&str> = text
        .lines()
        .map(|line| line.get(shared..).unwrap_or_default().trim_end())
        .collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::tidy;

    #[test]
    fn shared_indentation_goes_and_inner_indentation_stays() {
        assert_eq!(
            tidy(" Write it.\n\n - all\n   of it "),
            "Write it.\n\n- all\n  of it"
        );
    }

    #[test]
    fn a_blank_comment_is_no_text() {
        assert_eq!(tidy("  \n \n"), "");
    }
}
