//! The parameters of an annotated function: what the model writes, and what the run has to offer.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, FnArg, GenericArgument, Ident, Pat, PatType, PathArguments, Signature, Type,
};

use crate::attributes::take_field;

/// A parameter of the function.
pub(crate) enum Parameter {
    /// The model writes it.
    Argument(Argument),
    /// The run has it.
    Offered {
        /// The expression that takes it from the run.
        taken: TokenStream,
        /// Where its type is written.
        span: Span,
    },
}

/// A parameter that the model writes.
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) ty: Box<Type>,
    /// The attributes that describe it.
    pub(crate) attributes: Vec<Attribute>,
}

/// The parameters of a function, in order.
pub(crate) struct Parameters(Vec<Parameter>);

impl Parameters {
    /// Reads a signature and takes out of it the attributes that only describe arguments.
    pub(crate) fn take(signature: &mut Signature) -> syn::Result<Self> {
        check_function(signature)?;
        let mut parameters = Vec::new();
        let mut errors: Option<Error> = None;
        for input in &mut signature.inputs {
            match parameter(input) {
                Ok(parameter) => parameters.push(parameter),
                Err(error) => match &mut errors {
                    Some(errors) => errors.combine(error),
                    None => errors = Some(error),
                },
            }
        }
        errors.map_or(Ok(Self(parameters)), Err)
    }

    /// What the model writes.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.0.iter().filter_map(|parameter| match parameter {
            Parameter::Argument(argument) => Some(argument),
            Parameter::Offered { .. } => None,
        })
    }

    /// Where the first parameter stands that the run offers, if there is one.
    pub(crate) fn offered(&self) -> Option<Span> {
        self.0.iter().find_map(|parameter| match parameter {
            Parameter::Offered { span, .. } => Some(*span),
            Parameter::Argument(_) => None,
        })
    }

    /// Whether the model may write an argument of this name. An argument that serde knows under
    /// another name, or that is flattened, is beyond what can be said here.
    pub(crate) fn may_have(&self, name: &str) -> bool {
        self.arguments().any(|argument| {
            argument.name == name
                || argument.name == format_ident!("r#{name}")
                || argument
                    .attributes
                    .iter()
                    .any(|a| a.path().is_ident("serde"))
        })
    }

    /// The expressions to call the function with: `argument` says how to come by each argument.
    pub(crate) fn values(
        &self,
        argument: impl Fn(&Argument) -> TokenStream,
    ) -> impl Iterator<Item = TokenStream> {
        self.0.iter().map(move |parameter| match parameter {
            Parameter::Argument(it) => argument(it),
            Parameter::Offered { taken, .. } => taken.clone(),
        })
    }
}

fn check_function(signature: &Signature) -> syn::Result<()> {
    let generics = &signature.generics;
    if !generics.params.is_empty() {
        let message =
            "a tool can't be generic: its arguments have one schema; for lifetimes write `'_`";
        return Err(Error::new_spanned(generics, message));
    }
    if let Some(unsafety) = &signature.unsafety {
        let message = "a tool can't be unsafe: a model calls it";
        return Err(Error::new_spanned(unsafety, message));
    }
    if let Some(constness) = &signature.constness {
        return Err(Error::new_spanned(constness, "a tool can't be const"));
    }
    if let Some(abi) = &signature.abi {
        let message = "a tool has no foreign calling convention";
        return Err(Error::new_spanned(abi, message));
    }
    if let Some(variadic) = &signature.variadic {
        let message = "a tool has a fixed list of arguments";
        return Err(Error::new_spanned(variadic, message));
    }
    Ok(())
}

fn parameter(input: &mut FnArg) -> syn::Result<Parameter> {
    let typed = match input {
        FnArg::Typed(typed) => typed,
        FnArg::Receiver(receiver) => {
            let message = "a tool is a free function; what it needs comes as `Resource<T>`";
            return Err(Error::new_spanned(receiver, message));
        }
    };
    if let Some(taken) = offered(&typed.ty) {
        let span = typed.ty.span();
        return Ok(Parameter::Offered { taken, span });
    }
    if let Type::Reference(reference) = &*typed.ty {
        return Err(Error::new_spanned(
            reference,
            owned_instead(&reference.elem),
        ));
    }
    Ok(Parameter::Argument(Argument {
        name: name_of(typed)?,
        ty: typed.ty.clone(),
        attributes: take_field(&mut typed.attrs),
    }))
}

fn name_of(typed: &PatType) -> syn::Result<Ident> {
    match &*typed.pat {
        Pat::Ident(pattern) if pattern.subpat.is_none() => Ok(pattern.ident.clone()),
        other => Err(Error::new(other.span(), "give this argument a plain name")),
    }
}

fn owned_instead(referred: &Type) -> String {
    let owned = match referred {
        Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
        Type::Slice(slice) => {
            let item = &slice.elem;
            format!("Vec<{}>", quote!(#item))
        }
        other => quote!(#other)
            .to_string()
            .replace(" < ", "<")
            .replace(" >", ">"),
    };
    format!("a tool owns its arguments; take `{owned}`")
}

/// How to take a value of this type from the run, if it is one of those that a run offers.
fn offered(ty: &Type) -> Option<TokenStream> {
    let Type::Path(path) = ty else { return None };
    let segment = path.path.segments.last()?;
    let has_type = match &segment.arguments {
        PathArguments::AngleBracketed(given) => given
            .args
            .iter()
            .any(|argument| matches!(argument, GenericArgument::Type(_))),
        PathArguments::None | PathArguments::Parenthesized(_) => false,
    };
    // Without a type parameter the names are too common to be ours.
    match segment.ident.to_string().as_str() {
        "RunContext" => Some(quote!(__run)),
        "State" if has_type => Some(quote_spanned!(ty.span()=> __run.state())),
        "Resource" if has_type => Some(quote_spanned!(ty.span()=> __run.resource()?)),
        _ => None,
    }
}
