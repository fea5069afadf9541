//! The struct behind a tool's arguments: what is read from a call, and where the schema comes from.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::parameters::Parameters;

/// The struct `__Arguments`; nothing where there are no arguments. `derives` is what it can do.
pub(crate) fn declare(parameters: &Parameters, derives: &Derives) -> TokenStream {
    let fields = parameters.arguments().map(|argument| {
        let (name, ty, attributes) = (&argument.name, &argument.ty, &argument.attributes);
        quote_spanned!(ty.span()=> #(#attributes)* #name: #ty)
    });
    if parameters.arguments().next().is_none() {
        return TokenStream::new();
    }
    let deserialize = match derives {
        Derives::Both => quote! {
            #[derive(::antiphon::__private::serde::Deserialize)]
            #[serde(crate = "::antiphon::__private::serde")]
        },
        Derives::Schema => quote!(#[allow(dead_code)]),
    };
    quote! {
        #deserialize
        #[derive(::antiphon::__private::schemars::JsonSchema)]
        #[schemars(crate = "::antiphon::__private::schemars")]
        struct __Arguments { #(#fields),* }
    }
}

/// What the struct is for.
pub(crate) enum Derives {
    /// Its schema, and values read from calls.
    Both,
    /// Its schema alone.
    Schema,
}

/// `.parameters(..)`, where there are arguments.
pub(crate) fn schema(parameters: &Parameters) -> Option<TokenStream> {
    parameters.arguments().next()?;
    Some(quote!(.parameters(::antiphon::__private::schema::<__Arguments>())))
}
