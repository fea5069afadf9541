//! Which web pages may call: the server's own, and those of listed origins.
//!
//! Browsers say where a request comes from, with `Origin` and `Sec-Fetch-Site`; other programs send
//! neither. A page that is not listed is refused before anything happens, so it can't even cause an
//! effect whose answer it may not read.

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};

use crate::error::{ApiError, Error};

const METHODS: &str = "GET, POST, PATCH, DELETE";
const HEADERS: &str = "accept, authorization, content-type, last-event-id";
const EXPOSED: &str = "retry-after";

/// The origins whose pages may call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins(Vec<HeaderValue>);

/// Where a request that may pass comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Site {
    /// A program, or a page of the server itself.
    Own,
    /// A page of a listed origin.
    Listed(HeaderValue),
}

impl Site {
    /// The listed origin.
    pub(crate) fn allowed(self) -> Option<HeaderValue> {
        match self {
            Self::Own => None,
            Self::Listed(origin) => Some(origin),
        }
    }
}

impl Origins {
    /// Reads origins, such as `http://localhost:3000`.
    pub(crate) fn read(origins: &[String]) -> Result<Self, Error> {
        let read = |origin: &String| {
            origin_value(origin).map_err(|why| Error::Origin {
                origin: origin.clone(),
                why,
            })
        };
        Ok(Self(origins.iter().map(read).collect::<Result<_, _>>()?))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Lets a request pass or refuses it. `called` is the host and port that it was sent to.
    pub(crate) fn check(
        &self,
        method: &Method,
        called: Option<&str>,
        headers: &HeaderMap,
    ) -> Result<Site, ApiError> {
        let origin = headers.get(header::ORIGIN);
        let fetch_site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        if fetch_site == Some(b"same-origin") {
            return Ok(Site::Own);
        }
        match origin {
            Some(origin) if self.0.contains(origin) => Ok(Site::Listed(origin.clone())),
            Some(origin) if is_own(origin, called) => Ok(Site::Own),
            Some(_) => Err(refused()),
            None => match fetch_site {
                // `none` is the person at the address bar, who sends no POST.
                None => Ok(Site::Own),
                Some(b"none") if method.is_safe() => Ok(Site::Own),
                Some(_) => Err(refused()),
            },
        }
    }
}

/// The answer to a browser that asks before it sends.
pub(crate) fn preflight(site: &Site) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let Site::Listed(_) = site {
        let headers = response.headers_mut();
        let mut put =
            |name, value: &'static str| headers.insert(name, HeaderValue::from_static(value));
        put(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        put(header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
        put(header::ACCESS_CONTROL_MAX_AGE, "600");
    }
    response
}

/// Lets a page of this origin read the answer.
pub(crate) fn expose(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(EXPOSED),
    );
}

fn refused() -> ApiError {
    let message = "a page of another site may not call this server; list its origin under `cors`";
    ApiError::new(StatusCode::FORBIDDEN, "cross_site", message)
}

/// Whether a page was served under the name and port that it calls.
fn is_own(origin: &HeaderValue, called: Option<&str>) -> bool {
    let (Ok(origin), Some(called)) = (origin.to_str(), called) else {
        return false;
    };
    let authority = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(called))
}

fn origin_value(origin: &str) -> Result<HeaderValue, &'static str> {
    if origin == "*" {
        return Err("list each origin by itself, every page of the web would be too many");
    }
    let uri: Uri = origin.parse().map_err(|_| "it is not a URL")?;
    if uri.scheme().is_none() || uri.authority().is_none() {
        return Err("it needs a scheme and a host, as in http://localhost:3000");
    }
    let has_user = uri
        .authority()
        .is_some_and(|authority| authority.as_str().contains('@'));
    // A parsed URL without a path has the path "/".
    if has_user || origin.ends_with('/') || uri.path() != "/" || uri.query().is_some() {
        return Err("an origin is scheme, host and port, without a path");
    }
    let value = origin.to_ascii_lowercase();
    HeaderValue::from_str(&value).map_err(|_| "it is not a URL")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(listed: &[&str], method: &Method, headers: &[(&str, &str)]) -> Option<Site> {
        let listed: Vec<String> = listed.iter().map(ToString::to_string).collect();
        let origins = Origins::read(&listed).unwrap();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(
                header::HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        origins.check(method, Some("localhost:8888"), &map).ok()
    }

    #[test]
    fn programs_and_own_pages_pass() {
        for headers in [
            &[][..],
            &[("origin", "http://localhost:8888")],
            &[("origin", "https://localhost:8888")],
            &[
                ("sec-fetch-site", "same-origin"),
                ("origin", "https://behind.a.proxy"),
            ],
        ] {
            assert_eq!(
                judge(&[], &Method::POST, headers),
                Some(Site::Own),
                "{headers:?}"
            );
        }
        assert_eq!(
            judge(&[], &Method::GET, &[("sec-fetch-site", "none")]),
            Some(Site::Own)
        );
    }

    #[test]
    fn other_pages_do_not_pass() {
        for headers in [
            &[("origin", "https://evil.example")][..],
            &[("origin", "null")],
            &[("origin", "http://localhost:3000")],
            &[
                ("origin", "http://localhost:3000"),
                ("sec-fetch-site", "same-site"),
            ],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
            &[("sec-fetch-site", "none")],
        ] {
            assert_eq!(judge(&[], &Method::POST, headers), None, "{headers:?}");
        }
    }

    #[test]
    fn a_listed_origin_passes_exactly() {
        let listed = ["http://localhost:3000"];
        let judge = |origin| {
            judge(
                &listed,
                &Method::POST,
                &[("origin", origin), ("sec-fetch-site", "cross-site")],
            )
        };
        assert!(matches!(
            judge("http://localhost:3000"),
            Some(Site::Listed(_))
        ));
        for origin in [
            "http://localhost:30001",
            "http://localhost",
            "https://localhost:3000",
            "http://localhost:3000.evil.example",
        ] {
            assert_eq!(judge(origin), None, "{origin}");
        }
    }

    #[test]
    fn what_is_no_origin_is_refused_when_the_server_is_built() {
        for origin in [
            "*",
            "",
            "localhost:3000",
            "http://a/",
            "http://a/b",
            "http://a?b",
            "http://u@a",
            "null",
        ] {
            assert!(Origins::read(&[origin.to_owned()]).is_err(), "{origin}");
        }
    }
}
