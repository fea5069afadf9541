//! `#[private_input]`: a form whose value only one function sees.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Error, Ident, ItemFn, Type};

use crate::attributes::Attributes;
use crate::description;
use crate::function::{Returns, call, future};
use crate::item::Item;
use crate::options::Options;
use crate::parameters::Parameters;

const OPTIONS: [&str; 4] = ["response", "name", "approval", "timeout"];

pub(crate) fn expand(options: TokenStream, function: TokenStream) -> syn::Result<TokenStream> {
    let mut options = Options::parse(options, "`#[private_input]`", &OPTIONS)?;
    let ItemFn {
        attrs,
        vis,
        mut sig,
        block,
    } = syn::parse2(function)?;
    let ident = sig.ident.clone();
    let attributes = Attributes::sort(attrs);
    let parameters = Parameters::take(&mut sig)?;
    let form = form(&parameters, ident.span())?;
    let name = options.name(&ident)?;
    let description = description::of(&attributes.docs, "a private input", &ident)?;
    let Some(response) = options.value("response")? else {
        let message = "a private input needs `response = \"...\"`: what the model is told";
        return Err(Error::new(Span::call_site(), message));
    };
    let approval = options
        .approval(&parameters)?
        .map(|it| quote!(.approval(#it)));
    let timeout = options.duration("timeout")?.map(|it| quote!(.timeout(#it)));

    let handler = handler(&ident, &parameters, &Returns::of(&sig));
    let used = parameters.arguments().map(|argument| argument.name.clone());
    let function = call(&vis, &ident, &attributes.others, sig, &block, used);
    Ok(Item {
        visibility: &vis,
        ident: &ident,
        attributes: &attributes,
        name: &name,
        tool: quote! {
            ::antiphon::__private::Tool::private_input(
                #name,
                ::antiphon::__private::schema::<#form>(),
                *self,
                ::antiphon::__private::serde_json::Value::from(#response),
            )
            .description(#description) #approval #timeout
        },
        has_arguments: false,
        more: quote!(#function #handler),
    }
    .expand())
}

/// The type of the one argument.
fn form(parameters: &Parameters, span: Span) -> syn::Result<&Type> {
    let mut arguments = parameters.arguments();
    let Some(form) = arguments.next() else {
        let message = "a private input needs an argument: the form that the person fills in";
        return Err(Error::new(span, message));
    };
    if let Some(second) = arguments.next() {
        let message = "a private input has one argument, the form; put this into its type";
        return Err(Error::new_spanned(&second.ty, message));
    }
    if let Some(attribute) = form.attributes.first() {
        let message = "the form is described by its type; put this there";
        return Err(Error::new_spanned(attribute, message));
    }
    Ok(&form.ty)
}

fn handler(ident: &Ident, parameters: &Parameters, returns: &Returns) -> TokenStream {
    let values = parameters.values(|_| quote!(__form));
    let returned = returns.returned(ident, values);
    let finish = quote_spanned! {returns.span=>
        ::antiphon::__private::nothing(::antiphon::__private::Returned(__returned).outcome()?);
        ::core::result::Result::Ok(())
    };
    let future = future(
        ident,
        &quote! {
            let __form = ::antiphon::__private::read_form(__value)?;
            #returned
            #finish
        },
    );
    quote! {
        impl ::antiphon::__private::PrivateHandler for #ident {
            fn deliver<'a>(
                &'a self,
                __value: ::antiphon::__private::PrivateValue,
                __run: ::antiphon::__private::RunContext<'a>,
            ) -> ::antiphon::__private::BoxFuture<
                'a,
                ::core::result::Result<(), ::antiphon::__private::ToolError>,
            > {
                #future
            }
        }
    }
}
