//! The page, embedded: `GET /` and its assets.
//!
//! It runs under a policy that lets it load only its own files and speak only to this server, and that
//! takes no markup from strings.

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use rust_embed::{EmbeddedFile, RustEmbed};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The built page. The sources are in `web/`; a test keeps the two in step.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
struct Built;

/// The page's routes.
pub(crate) fn router() -> Router {
    Router::new()
        .route("/", get(index))
        .route("/assets/{file}", get(asset))
}

async fn index() -> Response {
    match Built::get("index.html") {
        Some(file) => answer("index.html", file, "no-cache"),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// An asset's name changes with its content, so it may be kept for good.
async fn asset(Path(file): Path<String>) -> Response {
    match Built::get(&format!("assets/{file}")) {
        Some(found) => answer(&file, found, "public, max-age=31536000, immutable"),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn answer(name: &str, file: EmbeddedFile, cache: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind(name)),
        (header::CACHE_CONTROL, cache),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ]
    .map(|(name, value)| (name, HeaderValue::from_static(value)));
    (headers, file.data).into_response()
}

fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, end)| end) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_only_files_that_are_there() {
        let index = Built::get("index.html").expect("the page is built");
        let index = String::from_utf8(index.data.into_owned()).expect("the page is text");
        let named: Vec<&str> = index
            .split(['"', '\''])
            .filter_map(|part| part.strip_prefix("./"))
            .collect();
        assert!(named.len() >= 2, "{index}");
        for file in named {
            assert!(Built::get(file).is_some(), "{file}");
            assert_ne!(kind(file), "application/octet-stream", "{file}");
        }
    }
}
