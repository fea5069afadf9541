//! The head of a function: everything before its body.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Signature, Visibility};

/// A function of which only the head was read.
pub(crate) struct Declaration {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    /// Its body, or `;`.
    pub(crate) rest: TokenStream,
}

impl Parse for Declaration {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self {
            attributes: input.call(Attribute::parse_outer)?,
            visibility: input.parse()?,
            signature: input.parse()?,
            rest: input.parse()?,
        })
    }
}
