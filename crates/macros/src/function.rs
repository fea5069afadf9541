//! The annotated function, and how a handler calls it.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Ident, ReturnType, Signature, Visibility};

/// The function itself, under the value's name as `call`.
pub(crate) fn call(
    visibility: &Visibility,
    ident: &Ident,
    attributes: &[Attribute],
    mut signature: Signature,
    body: &syn::Block,
    used: impl Iterator<Item = Ident>,
) -> TokenStream {
    signature.ident = Ident::new("call", ident.span());
    let statements = &body.stmts;
    let used: Vec<Ident> = used.collect();
    // An argument may be there for the model and the page alone.
    let used = (!used.is_empty()).then(|| quote!(let _ = (#(&#used,)*);));
    quote! {
        impl #ident {
            /// Calls the function itself.
            #(#attributes)*
            #[allow(clippy::unused_async, clippy::needless_pass_by_value)]
            #visibility #signature {
                #used
                #(#statements)*
            }
        }
    }
}

/// What a handler has to know about the function's end.
pub(crate) struct Returns {
    is_async: bool,
    /// Where the return type is written, or the function's name.
    pub(crate) span: Span,
}

impl Returns {
    pub(crate) fn of(signature: &Signature) -> Self {
        Self {
            is_async: signature.asyncness.is_some(),
            span: match &signature.output {
                ReturnType::Default => signature.ident.span(),
                ReturnType::Type(_, ty) => ty.span(),
            },
        }
    }

    /// The statement that calls the function; then `__returned` is what it returned.
    pub(crate) fn returned(
        &self,
        ident: &Ident,
        values: impl Iterator<Item = TokenStream>,
    ) -> TokenStream {
        let wait = self.is_async.then(|| quote!(.await));
        quote!(let __returned = <#ident>::call(#(#values),*) #wait;)
    }
}

/// The future that a handler returns.
pub(crate) fn future(ident: &Ident, statements: &TokenStream) -> TokenStream {
    // A future that can't change its thread is an error at the function's name.
    quote_spanned! {ident.span()=>
        ::std::boxed::Box::pin(async move {
            #[allow(unused_imports)]
            use ::antiphon::__private::Plain as _;
            #statements
        })
    }
}
