//! `#[tool]`: a tool that the server runs.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Ident, ItemFn};

use crate::arguments::{self, Derives};
use crate::attributes::Attributes;
use crate::description;
use crate::function::{Returns, call, future};
use crate::item::Item;
use crate::options::Options;
use crate::parameters::Parameters;

const OPTIONS: [&str; 4] = ["name", "approval", "timeout", "idempotent"];

pub(crate) fn expand(options: TokenStream, function: TokenStream) -> syn::Result<TokenStream> {
    let mut options = Options::parse(options, "`#[tool]`", &OPTIONS)?;
    let ItemFn {
        attrs,
        vis,
        mut sig,
        block,
    } = syn::parse2(function)?;
    let ident = sig.ident.clone();
    let attributes = Attributes::sort(attrs);
    let parameters = Parameters::take(&mut sig)?;
    let name = options.name(&ident)?;
    let description = description::of(&attributes.docs, "a tool", &ident)?;
    let approval = options
        .approval(&parameters)?
        .map(|it| quote!(.approval(#it)));
    let timeout = options.duration("timeout")?.map(|it| quote!(.timeout(#it)));
    let idempotent = options
        .flag("idempotent")?
        .then(|| quote!(.idempotent(true)));
    let schema = arguments::schema(&parameters);

    let declared = arguments::declare(&parameters, &Derives::Both);
    let handler = handler(&ident, &parameters, &Returns::of(&sig));
    let used = parameters.arguments().map(|argument| argument.name.clone());
    let function = call(&vis, &ident, &attributes.others, sig, &block, used);
    Ok(Item {
        visibility: &vis,
        ident: &ident,
        attributes: &attributes,
        name: &name,
        tool: quote! {
            ::antiphon::__private::Tool::server(#name, *self)
                .description(#description) #schema #approval #timeout #idempotent
        },
        has_arguments: schema.is_some(),
        more: quote!(#declared #function #handler),
    }
    .expand())
}

fn handler(ident: &Ident, parameters: &Parameters, returns: &Returns) -> TokenStream {
    let has_arguments = parameters.arguments().next().is_some();
    let read = has_arguments
        .then(|| quote!(let __arguments: __Arguments = ::antiphon::__private::read(__arguments)?;));
    let values = parameters.values(|argument| {
        let name = &argument.name;
        quote!(__arguments.#name)
    });
    let returned = returns.returned(ident, values);
    let finish = quote_spanned! {returns.span=>
        ::antiphon::__private::output(::antiphon::__private::Returned(__returned).outcome()?)
    };
    let future = future(ident, &quote!(#read #returned #finish));
    quote! {
        impl ::antiphon::__private::Handler for #ident {
            fn call<'a>(
                &'a self,
                __arguments: ::antiphon::__private::serde_json::Value,
                __run: ::antiphon::__private::RunContext<'a>,
            ) -> ::antiphon::__private::BoxFuture<
                'a,
                ::core::result::Result<
                    ::antiphon::__private::ToolOutput,
                    ::antiphon::__private::ToolError,
                >,
            > {
                #future
            }
        }
    }
}
