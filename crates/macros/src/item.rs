//! The value that stands for a tool, whatever kind of tool it is.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Ident, LitStr, Visibility};

use crate::attributes::Attributes;
use crate::declaration::Declaration;

/// What all kinds of tools have in common.
pub(crate) struct Item<'a> {
    pub(crate) visibility: &'a Visibility,
    /// The function's name, and the value's.
    pub(crate) ident: &'a Ident,
    pub(crate) attributes: &'a Attributes,
    /// What the model calls it.
    pub(crate) name: &'a LitStr,
    /// An expression for the `Tool`.
    pub(crate) tool: TokenStream,
    /// Whether there are arguments to name.
    pub(crate) has_arguments: bool,
    /// Further items: the function, its handler.
    pub(crate) more: TokenStream,
}

impl Item<'_> {
    pub(crate) fn expand(self) -> TokenStream {
        let Self {
            visibility,
            ident,
            attributes,
            tool,
            more,
            ..
        } = &self;
        let Attributes {
            docs, conditions, ..
        } = attributes;
        let argument = self.has_arguments.then(|| self.argument());
        quote! {
            #(#conditions)*
            #(#docs)*
            #[allow(non_camel_case_types)]
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
            #visibility struct #ident;

            #(#conditions)*
            const _: () = {
                impl #ident {
                    /// The tool, as an agent takes it.
                    #[must_use]
                    #visibility fn tool(&self) -> ::antiphon::__private::Tool {
                        #tool
                    }

                    #argument
                }

                impl ::antiphon::__private::IntoTools for #ident {
                    fn into_tools(self) -> ::std::vec::Vec<::antiphon::__private::Tool> {
                        ::std::vec::Vec::from([self.tool()])
                    }
                }

                #more
            };
        }
    }

    fn argument(&self) -> TokenStream {
        let (visibility, name) = (self.visibility, self.name);
        quote! {
            /// Names one of its arguments, for state mappings; `*` means all of them.
            #[must_use]
            #[allow(dead_code)]
            #visibility fn argument(
                &self,
                name: impl ::core::convert::Into<::std::string::String>,
            ) -> ::antiphon::__private::Argument {
                ::antiphon::__private::Argument {
                    tool: ::std::string::String::from(#name),
                    argument: name.into(),
                }
            }
        }
    }
}

/// Stands in for a tool that could not be made, so that its uses are no further errors.
pub(crate) fn placeholder(function: TokenStream) -> syn::Result<TokenStream> {
    let declaration: Declaration = syn::parse2(function)?;
    if declaration.signature.receiver().is_some() {
        // Items of the placeholder's kind can't stand where a method does.
        return Ok(TokenStream::new());
    }
    let mut attributes = Attributes::sort(declaration.attributes);
    attributes.docs.clear();
    let ident = &declaration.signature.ident;
    Ok(Item {
        visibility: &declaration.visibility,
        ident,
        attributes: &attributes,
        name: &LitStr::new("", ident.span()),
        tool: quote!(::core::unreachable!()),
        has_arguments: true,
        more: TokenStream::new(),
    }
    .expand())
}
