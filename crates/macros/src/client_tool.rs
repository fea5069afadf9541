//! `#[client_tool]`: a tool that the page runs.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Error, ReturnType, Token};

use crate::arguments::{self, Derives};
use crate::attributes::Attributes;
use crate::declaration::Declaration;
use crate::description;
use crate::item::Item;
use crate::options::Options;
use crate::parameters::Parameters;

const OPTIONS: [&str; 3] = ["name", "approval", "timeout"];

pub(crate) fn expand(options: TokenStream, function: TokenStream) -> syn::Result<TokenStream> {
    let mut options = Options::parse(options, "`#[client_tool]`", &OPTIONS)?;
    let Declaration {
        attributes,
        visibility,
        mut signature,
        rest,
    } = syn::parse2(function)?;
    if syn::parse2::<Token![;]>(rest.clone()).is_err() {
        let message = "the page does the work: end the declaration with `;` instead of a body";
        return Err(Error::new(rest.span(), message));
    }
    if let Some(asyncness) = &signature.asyncness {
        let message = "the page does the work: there is nothing to await here";
        return Err(Error::new(asyncness.span(), message));
    }
    let mut attributes = Attributes::sort(attributes);
    // There is no function for them to stay with.
    attributes.docs.append(&mut attributes.others);
    let parameters = Parameters::take(&mut signature)?;
    if let Some(offered) = parameters.offered() {
        let message = "the page does the work: all its arguments come from the model";
        return Err(Error::new(offered, message));
    }
    let ident = &signature.ident;
    let name = options.name(ident)?;
    let description = description::of(&attributes.docs, "a client tool", ident)?;
    let approval = options
        .approval(&parameters)?
        .map(|it| quote!(.approval(#it)));
    let timeout = options.duration("timeout")?.map(|it| quote!(.timeout(#it)));
    let schema = arguments::schema(&parameters);
    let result = match &signature.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some(quote!(.result(::antiphon::__private::schema::<#ty>()))),
    };
    Ok(Item {
        visibility: &visibility,
        ident,
        attributes: &attributes,
        name: &name,
        tool: quote! {
            ::antiphon::__private::Tool::client(#name)
                .description(#description) #schema #result #approval #timeout
        },
        has_arguments: schema.is_some(),
        more: arguments::declare(&parameters, &Derives::Schema),
    }
    .expand())
}
