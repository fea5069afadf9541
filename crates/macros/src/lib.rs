//! The attribute macros of `antiphon`: [`macro@tool`], [`macro@client_tool`] and
//! [`macro@private_input`].
//!
//! Each turns a function into a value of the same name that goes into `Agent::tools`. What the model
//! reads comes from the code itself: the name, the doc comment, and the types of the arguments. Use
//! them through the `antiphon` crate; the code they make names its paths.

mod arguments;
mod attributes;
mod client_tool;
mod declaration;
mod description;
mod function;
mod item;
mod options;
mod parameters;
mod private_input;
mod server_tool;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as TokenStream2;

/// Makes a function a tool that the server runs.
///
/// ```
/// use antiphon::prelude::*;
///
/// /// Look up how much of a product is in stock.
/// #[tool]
/// async fn stock(
///     /// The product's number.
///     product: u32,
///     warehouse: Resource<Warehouse>,
/// ) -> Result<u64, OutOfReach> {
///     warehouse.count(product).await
/// }
/// # struct Warehouse;
/// # impl Warehouse { async fn count(&self, _: u32) -> Result<u64, OutOfReach> { Ok(3) } }
/// # #[derive(Debug, thiserror::Error)] #[error("the warehouse does not answer")] pub struct OutOfReach;
///
/// let agent = Agent::new("shop").resource(Warehouse).tools(stock);
/// # assert_eq!(stock.tool().name(), "stock");
/// # let _ = agent;
/// ```
///
/// - The doc comment is required: it is what the model reads about the tool. Doc comments of
///   arguments become the descriptions of the parameters.
/// - **Arguments** are owned values whose types are `Deserialize` and `JsonSchema`. An `Option` may
///   be left out. `#[serde(...)]` and `#[schemars(...)]` work on them as on the fields of a struct.
/// - **What the run has to offer** is asked for by type, in any place, and is not shown to the model:
///   `RunContext<'_>`, `State<'_, T>` and `Resource<T>`.
/// - **The result** is any `Serialize` value, a `ToolOutput`, or a `Result` of either whose error is
///   `Display`. The error's text goes to the model and the page, and the run goes on.
///
/// A plain `fn` works too, if it does not block.
///
/// The function itself stays within reach, for tests and other tools: it is now called
/// `stock::call(..)`. The value has two methods: `stock.tool()`, the tool itself, and
/// `stock.argument("product")`, the name of an argument for state mappings.
///
/// # Options
/// | option | meaning |
/// |---|---|
/// | `name = "..."` | what the model calls it, if not the function's name |
/// | `approval` | a person is asked before it runs |
/// | `approval(message = "Delete {id}?", timeout = "15m", edits)` | the same: what the person reads, how long the question stays open, whether they may change the arguments |
/// | `timeout = "30s"` | how long it may take; 60 s unless set |
/// | `idempotent` | it may run again when a crash cut it in the middle |
///
/// Durations are written as `500ms`, `30s`, `15m`, `2h` or `7d`.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    expand(server_tool::expand, options, function)
}

/// Makes a function's signature a tool that the page runs.
///
/// ```
/// use antiphon::prelude::*;
///
/// /// What the page has done.
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct Painted {
///     color: String,
/// }
///
/// /// Change the page's background.
/// #[client_tool(timeout = "30s")]
/// fn change_background(
///     /// A CSS color.
///     color: String,
/// ) -> Painted;
///
/// let agent = Agent::new("painter").tools(change_background);
/// # assert_eq!(change_background.tool().spec().description, "Change the page's background.");
/// # let _ = agent;
/// ```
///
/// The run ends when the model calls it, and goes on with the page's result. The doc comment is what
/// the model reads, the arguments are the parameters, and the result that the page sends must fit the
/// return type; without one, any result does.
///
/// # Options
/// | option | meaning |
/// |---|---|
/// | `name = "..."` | what the model calls it, if not the function's name |
/// | `approval`, `approval(...)` | a person is asked before the page is, as in [`macro@tool`] |
/// | `timeout = "30s"` | how long the page may take; 5 minutes unless set |
#[proc_macro_attribute]
pub fn client_tool(options: TokenStream, function: TokenStream) -> TokenStream {
    expand(client_tool::expand, options, function)
}

/// Makes a function the only reader of a value that the model asks a person for.
///
/// ```
/// use antiphon::prelude::*;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct TokenForm {
///     /// The access token.
///     token: Secret,
/// }
///
/// /// Ask the person for an access token.
/// #[private_input(response = "Token stored.")]
/// async fn provide_token(form: TokenForm, vault: Resource<Vault>) -> Result<(), VaultError> {
///     vault.put(form.token.expose()).await
/// }
/// # struct Vault;
/// # impl Vault { async fn put(&self, _: &str) -> Result<(), VaultError> { Ok(()) } }
/// # #[derive(Debug, thiserror::Error)] #[error("the vault is closed")] pub struct VaultError;
///
/// let agent = Agent::new("keeper").resource(Vault).tools(provide_token);
/// # let _ = agent;
/// ```
///
/// The function has one argument, the form: a type that is `Deserialize` and `JsonSchema`. Beside it
/// it may ask for what the run has to offer, as in [`macro@tool`]. It returns nothing, or a `Result`
/// of nothing: the model is told `response` and no more, and of an error only that there was one.
///
/// # Options
/// | option | meaning |
/// |---|---|
/// | `response = "..."` | required: what the model is told once the value was delivered; text or a JSON value |
/// | `name = "..."` | what the model calls it, if not the function's name |
/// | `approval`, `approval(...)` | a person is asked first, as in [`macro@tool`] |
/// | `timeout = "10m"` | how long the form stays open; 5 minutes unless set |
#[proc_macro_attribute]
pub fn private_input(options: TokenStream, function: TokenStream) -> TokenStream {
    expand(private_input::expand, options, function)
}

type Expand = fn(TokenStream2, TokenStream2) -> syn::Result<TokenStream2>;

fn expand(by: Expand, options: TokenStream, function: TokenStream) -> TokenStream {
    let function = TokenStream2::from(function);
    let expanded = by(options.into(), function.clone()).unwrap_or_else(|error| {
        let mut expanded = error.into_compile_error();
        expanded.extend(item::placeholder(function));
        expanded
    });
    expanded.into()
}
