//! The routes, and the inventory of them.

mod agents;
mod answers;
mod cancel;
mod copilotkit;
mod events;
mod extract;
mod follow;
mod health;
mod metrics;
mod openapi;
mod responses;
mod run;
mod sessions;
mod waits;

use std::sync::Arc;

use axum::Router;
use axum::routing::{delete, get, patch, post};
use http::StatusCode;

use crate::app::App;
use crate::error::ApiError;

/// A route that the server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Route {
    /// The method, in upper case.
    pub method: &'static str,
    /// The path; `{name}` stands for one segment.
    pub path: &'static str,
    /// Who sees what there.
    pub scope: Scope,
}

/// Who sees what a route shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Everybody, also without a token.
    Open,
    /// Every user the same.
    Shared,
    /// Each user only their own; what is another's is answered as if it did not exist.
    Owned,
    /// Services.
    Service,
}

macro_rules! routes {
    ($($method:ident $path:literal $scope:ident $handler:path;)*) => {
        /// Every route of the server, so that a test can hold each of them to its scope.
        pub const ROUTES: &[Route] = &[
            $(Route { method: method_name(stringify!($method)), path: $path, scope: Scope::$scope },)*
        ];

        pub(crate) fn router() -> Router<Arc<App>> {
            Router::new()
                $(.route($path, $method($handler)))*
                .fallback(no_such_path)
                .method_not_allowed_fallback(no_such_method)
        }
    };
}

routes! {
    post "/" Owned run::start_default;
    post "/agui" Owned run::start_default;
    get "/agents" Shared agents::list;
    get "/agents/{name}" Shared agents::describe;
    post "/agents/{name}" Owned run::start_named;
    get "/runs/{runId}/events" Owned events::join;
    post "/runs/{runId}/cancel" Owned cancel::cancel;
    get "/sessions" Owned sessions::list;
    post "/sessions" Owned sessions::create;
    get "/sessions/{id}" Owned sessions::show;
    patch "/sessions/{id}" Owned sessions::change;
    delete "/sessions/{id}" Owned sessions::remove;
    get "/sessions/{id}/messages" Owned sessions::messages;
    get "/sessions/{id}/interactions" Owned sessions::interactions;
    post "/responses" Owned responses::create;
    get "/responses/{id}" Owned responses::show;
    post "/approvals/{id}" Owned answers::approve;
    post "/client-tools/{id}" Owned answers::client_tool;
    post "/external-waits/{id}/complete" Service waits::complete;
    post "/external-waits/{id}/fail" Service waits::fail;
    post "/copilotkit" Owned copilotkit::single;
    get "/copilotkit/info" Shared copilotkit::info;
    post "/copilotkit/agent/{id}/run" Owned copilotkit::start;
    post "/copilotkit/agent/{id}/connect" Owned copilotkit::connect;
    post "/copilotkit/agent/{id}/stop/{threadId}" Owned copilotkit::stop;
    get "/copilotkit/threads" Owned copilotkit::list;
    patch "/copilotkit/threads/{id}" Owned copilotkit::rename;
    delete "/copilotkit/threads/{id}" Owned copilotkit::remove;
    get "/copilotkit/threads/{id}/messages" Owned copilotkit::messages;
    get "/copilotkit/threads/{id}/state" Owned copilotkit::state;
    get "/copilotkit/threads/{id}/events" Owned copilotkit::events;
    get "/healthz" Open health::alive;
    get "/readyz" Open health::ready;
    get "/metrics" Open metrics::show;
    get "/openapi.json" Open openapi::document;
    get "/docs" Open openapi::page;
}

const fn method_name(function: &'static str) -> &'static str {
    match function.as_bytes() {
        b"get" => "GET",
        b"post" => "POST",
        b"patch" => "PATCH",
        _ => "DELETE",
    }
}

/// Whether posting to this path starts a run. The path may have a prefix, where the server is part of
/// a larger application.
pub(crate) fn starts_runs(path: &str) -> bool {
    const ENDS: [&str; 3] = ["/agui", "/agents/{name}", "/copilotkit/agent/{id}/run"];
    path == "/" || ENDS.iter().any(|end| path.ends_with(end))
}

async fn no_such_path() -> ApiError {
    ApiError::not_found("path")
}

async fn no_such_method() -> ApiError {
    let message = "the path does not take this method; `Allow` lists those that it takes";
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        message,
    )
}

#[cfg(test)]
mod tests {
    use super::{ROUTES, starts_runs};

    #[test]
    fn the_inventory_names_each_route_once() {
        for (index, route) in ROUTES.iter().enumerate() {
            let first = ROUTES
                .iter()
                .position(|other| (other.method, other.path) == (route.method, route.path));
            assert_eq!(first, Some(index), "{route:?}");
        }
    }

    #[test]
    fn the_routes_that_start_runs_are_known() {
        let starting: Vec<&str> = ROUTES
            .iter()
            .filter(|route| route.method == "POST" && starts_runs(route.path))
            .map(|route| route.path)
            .collect();
        let run = "/copilotkit/agent/{id}/run";
        assert_eq!(starting, ["/", "/agui", "/agents/{name}", run]);
    }
}
