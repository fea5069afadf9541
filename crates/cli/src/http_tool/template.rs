//! An HTTP call as the file describes it, and the request that it becomes.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Url;
use secrecy::ExposeSecret;
use serde_json::{Map, Value};
use zeroize::{Zeroize, Zeroizing};

use super::placeholder::{Piece, names_in, pieces};
use crate::file::tool::{HttpEntry, Method};

/// Everything but the unreserved characters of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
/// Headers that are not the file's to set.
const OWN_HEADERS: [&str; 6] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "idempotency-key",
    "expect",
];

/// A checked description of a call.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    method: http::Method,
    url: Vec<Piece>,
    /// Those that are the same in each call.
    headers: HeaderMap,
    /// Those that arguments are part of.
    filled_headers: Vec<FilledHeader>,
    body: Body,
}

/// A header that arguments are part of.
#[derive(Clone)]
struct FilledHeader {
    /// Its name as the file writes it.
    key: String,
    name: HeaderName,
    value: Vec<Piece>,
}

#[derive(Debug, Clone)]
enum Body {
    None,
    Arguments,
    Filled(Value),
}

/// What is wrong with a description, with the keys that lead to it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// From the `http` entry inwards.
    pub(crate) keys: Vec<String>,
    /// What is wrong.
    pub(crate) what: String,
}

/// A request, ready to be sent.
#[derive(Debug)]
pub(super) struct Rendered {
    pub(super) method: http::Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Bytes>,
}

impl Template {
    /// Checks a description.
    ///
    /// # Errors
    /// A URL that arguments could turn to another host, or a header that can't be sent.
    pub(crate) fn new(entry: &HttpEntry) -> Result<Self, Wrong> {
        let url = checked_url(&entry.url).map_err(|what| wrong(["url"], what))?;
        let (method, sends) = match entry.method {
            Method::Get => (http::Method::GET, false),
            Method::Post => (http::Method::POST, true),
            Method::Put => (http::Method::PUT, true),
            Method::Patch => (http::Method::PATCH, true),
            Method::Delete => (http::Method::DELETE, true),
        };
        let body = match &entry.body {
            Some(Value::Null) => Body::None,
            Some(body) => Body::Filled(body.clone()),
            None if sends => Body::Arguments,
            None => Body::None,
        };
        let (headers, filled_headers) = headers(entry, &body)?;
        Ok(Self {
            method,
            url,
            headers,
            filled_headers,
            body,
        })
    }

    /// Whether arguments are part of the URL.
    pub(crate) fn has_url_placeholders(&self) -> bool {
        names(&self.url).next().is_some()
    }

    /// Each placeholder with the keys that lead to where it stands.
    pub(crate) fn placeholders(&self) -> Vec<(Vec<&str>, &str)> {
        let mut found = Vec::new();
        found.extend(names(&self.url).map(|name| (vec!["url"], name)));
        for header in &self.filled_headers {
            let keys = || vec!["headers", header.key.as_str()];
            found.extend(names(&header.value).map(|name| (keys(), name)));
        }
        if let Body::Filled(body) = &self.body {
            names_of(body, &mut |name| found.push((vec!["body"], name)));
        }
        found
    }

    /// Fills in arguments.
    ///
    /// # Errors
    /// What an argument lacks, for the model.
    pub(super) fn render(&self, arguments: &Value) -> Result<Rendered, String> {
        let none = Map::new();
        let named = arguments.as_object().unwrap_or(&none);
        Ok(Rendered {
            method: self.method.clone(),
            url: self.render_url(named)?,
            headers: self.render_headers(named)?,
            body: match &self.body {
                Body::None => None,
                Body::Arguments => Some(wiped(arguments)),
                Body::Filled(template) => Some(match fill(template, named)? {
                    Some(Value::String(text)) => {
                        Bytes::from_owner(Zeroizing::new(text.into_bytes()))
                    }
                    Some(mut value) => {
                        let json = wiped(&value);
                        wipe(&mut value);
                        json
                    }
                    None => Bytes::new(),
                }),
            },
        })
    }

    fn render_headers(&self, arguments: &Map<String, Value>) -> Result<HeaderMap, String> {
        let mut headers = self.headers.clone();
        for header in &self.filled_headers {
            let value = match header.value.as_slice() {
                [Piece::Name(name)] if matches!(arguments.get(name), None | Some(Value::Null)) => {
                    continue;
                }
                pieces => Zeroizing::new(text(pieces, arguments)?.into_bytes()),
            };
            let value = Bytes::from_owner(value);
            let mut value = HeaderValue::from_maybe_shared(value).map_err(|_| {
                format!(
                    "the header {:?} can't be sent: an argument holds a line break or another control character",
                    header.key
                )
            })?;
            value.set_sensitive(true);
            headers.insert(header.name.clone(), value);
        }
        Ok(headers)
    }

    fn render_url(&self, arguments: &Map<String, Value>) -> Result<Url, String> {
        let mut url = String::new();
        for piece in &self.url {
            match piece {
                Piece::Text(text) => url.push_str(text),
                Piece::Name(name) => {
                    let value = text_of(arguments, name)?;
                    if value.is_empty() && !url.contains('?') {
                        return Err(format!("argument {name:?} is empty"));
                    }
                    url.extend(utf8_percent_encode(&value, ENCODED));
                }
            }
        }
        let path = url.split(['?', '#']).next().unwrap_or_default();
        if self.has_url_placeholders() && path.split('/').any(is_dots) {
            return Err("an argument would lead to another path".to_owned());
        }
        Url::parse(&url).map_err(|_| "the arguments make no URL".to_owned())
    }
}

/// `.` and `..`, also where they are encoded: URLs resolve both.
fn is_dots(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".");
    matches!(plain.as_str(), "." | "..")
}

fn wrong<const N: usize>(keys: [&str; N], what: impl Into<String>) -> Wrong {
    Wrong {
        keys: keys.map(str::to_owned).to_vec(),
        what: what.into(),
    }
}

fn checked_url(text: &str) -> Result<Vec<Piece>, &'static str> {
    let pieces = pieces(text);
    let example: String = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Name(_) => "x",
        })
        .collect();
    let url = Url::parse(&example).map_err(|_| "expected an http or https URL")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("expected an http or https URL");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("credentials belong into headers, not into the URL");
    }
    let host_is_fixed = |text: &str| {
        text.split_once("://")
            .is_some_and(|(_, rest)| rest.contains(['/', '?']))
    };
    match pieces.as_slice() {
        [] | [Piece::Text(_)] => Ok(pieces),
        [Piece::Text(first), ..] if host_is_fixed(first) => Ok(pieces),
        _ => Err("arguments may stand after the host only, as in https://example.com/{name}"),
    }
}

/// The headers that are the same in each call, and those that arguments are part of.
fn headers(entry: &HttpEntry, body: &Body) -> Result<(HeaderMap, Vec<FilledHeader>), Wrong> {
    let (mut headers, mut filled) = (HeaderMap::new(), Vec::new());
    headers.insert(
        ACCEPT,
        HeaderValue::from_static("application/json, text/plain;q=0.9, */*;q=0.5"),
    );
    let kind = match body {
        Body::None => None,
        Body::Filled(Value::String(_)) => Some("text/plain; charset=utf-8"),
        Body::Filled(_) | Body::Arguments => Some("application/json"),
    };
    if let Some(kind) = kind {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    for (name, value) in &entry.headers.0 {
        let header = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| wrong(["headers", name], "this is no header name"))?;
        if OWN_HEADERS.contains(&header.as_str()) {
            return Err(wrong(
                ["headers", name],
                "this header is set with each call",
            ));
        }
        let text = value.0.expose_secret();
        let mut value = HeaderValue::from_str(text)
            .map_err(|_| wrong(["headers", name], "this value can't be sent in a header"))?;
        value.set_sensitive(true);
        let pieces = pieces(text);
        if names(&pieces).next().is_some() {
            filled.push(FilledHeader {
                key: name.clone(),
                name: header,
                value: pieces,
            });
        } else {
            headers.insert(header, value);
        }
    }
    Ok((headers, filled))
}

impl std::fmt::Debug for FilledHeader {
    /// The text around the arguments may be a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("FilledHeader").field(&self.name).finish()
    }
}

/// The names of arguments among the pieces of a text.
fn names(pieces: &[Piece]) -> impl Iterator<Item = &str> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Name(name) => Some(name.as_str()),
        Piece::Text(_) => None,
    })
}

/// A text with its arguments.
fn text(pieces: &[Piece], arguments: &Map<String, Value>) -> Result<String, String> {
    let part = |piece: &Piece| match piece {
        Piece::Text(text) => Ok(text.clone()),
        Piece::Name(name) => text_of(arguments, name),
    };
    pieces.iter().map(part).collect()
}

/// An argument as text: strings as they are, numbers and truth values as JSON writes them.
fn text_of(arguments: &Map<String, Value>, name: &str) -> Result<String, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Err(format!("argument {name:?} is missing")),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(value @ (Value::Bool(_) | Value::Number(_))) => Ok(value.to_string()),
        Some(Value::Array(_) | Value::Object(_)) => Err(format!(
            "argument {name:?} must be text, a number or a truth value here"
        )),
    }
}

/// A body with its placeholders filled; a member or element that is only a missing argument is left out.
fn fill(template: &Value, arguments: &Map<String, Value>) -> Result<Option<Value>, String> {
    Ok(Some(match template {
        Value::String(text) => match pieces(text).as_slice() {
            [Piece::Name(name)] => return Ok(arguments.get(name).cloned()),
            pieces => Value::String(self::text(pieces, arguments)?),
        },
        Value::Array(items) => {
            let filled = items
                .iter()
                .filter_map(|item| fill(item, arguments).transpose());
            Value::Array(filled.collect::<Result<_, _>>()?)
        }
        Value::Object(members) => {
            let mut filled = Map::new();
            for (name, member) in members {
                if let Some(value) = fill(member, arguments)? {
                    filled.insert(name.clone(), value);
                }
            }
            Value::Object(filled)
        }
        other => other.clone(),
    }))
}

fn names_of<'a>(template: &'a Value, found: &mut impl FnMut(&'a str)) {
    match template {
        Value::String(text) => names_in(text).into_iter().for_each(found),
        Value::Array(items) => items.iter().for_each(|item| names_of(item, found)),
        Value::Object(members) => members.values().for_each(|member| names_of(member, found)),
        _ => {}
    }
}

/// Overwrites every string of a value.
pub(super) fn wipe(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(items) => items.iter_mut().for_each(wipe),
        Value::Object(members) => members.values_mut().for_each(wipe),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// JSON bytes whose memory is overwritten once the request is gone.
fn wiped(value: &Value) -> Bytes {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    // A buffer that grows leaves copies behind, so the size is counted first.
    let mut count = Count(0);
    let mut json = match serde_json::to_writer(&mut count, value) {
        Ok(()) => Zeroizing::new(Vec::with_capacity(count.0)),
        Err(_) => Zeroizing::default(),
    };
    match serde_json::to_writer(&mut *json, value) {
        Ok(()) => Bytes::from_owner(json),
        Err(_) => Bytes::new(),
    }
}
