//! The description as a page: made here, without a script, so that nothing has to be allowed to run.

use std::fmt::{self, Write as _};
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::describe;

const STYLE: &str = include_str!("page.css");
/// The order in which the parts of the server stand on the page.
const TAGS: [&str; 5] = ["AG-UI", "Responses", "Sessions", "CopilotKit", "Operation"];

/// The page and the policy that it is sent with.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) html: Bytes,
    /// Allows the page's own style and nothing else.
    pub(crate) policy: String,
}

/// The page, made once.
pub(crate) fn page() -> &'static Page {
    static PAGE: LazyLock<Page> = LazyLock::new(|| {
        let style = STANDARD.encode(Sha256::digest(STYLE));
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'; require-trusted-types-for 'script'"
        );
        Page {
            html: render(&describe()).into(),
            policy,
        }
    });
    &PAGE
}

fn render(document: &Value) -> String {
    let mut html = String::with_capacity(128 << 10);
    // A string takes whatever is written to it.
    let _ = write_page(&mut html, document);
    html
}

fn write_page(html: &mut String, document: &Value) -> fmt::Result {
    let info = &document["info"];
    write!(
        html,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<p>Version {version}. {says} \
         For programs: <a href=\"openapi.json\"><code>openapi.json</code></a>.</p>\n",
        title = Escaped(info["title"].as_str().unwrap_or_default()),
        version = Escaped(info["version"].as_str().unwrap_or_default()),
        says = Prose(info["description"].as_str().unwrap_or_default()),
    )?;
    for tag in TAGS {
        writeln!(html, "<h2>{tag}</h2>")?;
        for (path, methods) in members(&document["paths"]) {
            for (method, operation) in members(methods) {
                if operation["tags"][0] == tag {
                    write_operation(html, path, method, operation)?;
                }
            }
        }
    }
    writeln!(html, "<h2>Shapes</h2>")?;
    for (name, schema) in members(&document["components"]["schemas"]) {
        writeln!(
            html,
            "<details id=\"{name}\"><summary><code>{name}</code></summary>\n<pre>{schema}</pre>\n</details>",
            name = Escaped(name),
            schema = Pretty(schema),
        )?;
    }
    html.push_str("</body>\n</html>\n");
    Ok(())
}

fn write_operation(html: &mut String, path: &str, method: &str, operation: &Value) -> fmt::Result {
    let method = method.to_ascii_uppercase();
    let summary = Escaped(operation["summary"].as_str().unwrap_or_default());
    let path = Escaped(path);
    writeln!(
        html,
        "<details><summary><code>{method} {path}</code> {summary}</summary>"
    )?;
    writeln!(html, "<p>{}</p>", who(&operation["security"]))?;
    write_parameters(
        html,
        operation["parameters"]
            .as_array()
            .map_or(&[], Vec::as_slice),
    )?;
    if let Some(body) = operation.get("requestBody") {
        html.push_str("<p>Takes ");
        write_content(html, &body["content"])?;
        html.push_str("</p>\n");
    }
    html.push_str("<p>Answers</p>\n<dl>\n");
    for (status, answer) in members(&operation["responses"]) {
        let says = Prose(answer["description"].as_str().unwrap_or_default());
        write!(html, "<dt>{}</dt><dd>{says} ", Escaped(status))?;
        write_content(html, &answer["content"])?;
        html.push_str("</dd>\n");
    }
    html.push_str("</dl>\n</details>\n");
    Ok(())
}

fn write_parameters(html: &mut String, parameters: &[Value]) -> fmt::Result {
    if parameters.is_empty() {
        return Ok(());
    }
    html.push_str("<p>Parameters</p>\n<dl>\n");
    for parameter in parameters {
        let text = |member: &str| parameter[member].as_str().unwrap_or_default();
        let needed = match parameter["required"] == true {
            true => "required",
            false => "optional",
        };
        let (name, place) = (Escaped(text("name")), Escaped(text("in")));
        let says = Prose(text("description"));
        writeln!(
            html,
            "<dt>{name}</dt><dd>in the {place}, {needed}. {says}</dd>"
        )?;
    }
    html.push_str("</dl>\n");
    Ok(())
}

/// Media types, with links to the shapes.
fn write_content(html: &mut String, content: &Value) -> fmt::Result {
    for (index, (media, body)) in members(content).enumerate() {
        let before = if index == 0 { "" } else { ", " };
        write!(html, "{before}<code>{}</code>", Escaped(media))?;
        let reference = body["schema"]["$ref"].as_str().unwrap_or_default();
        if let Some(name) = reference.rsplit('/').next().filter(|name| !name.is_empty()) {
            let name = Escaped(name);
            write!(html, " <a href=\"#{name}\">{name}</a>")?;
        }
    }
    Ok(())
}

fn who(security: &Value) -> &'static str {
    match security[0]
        .as_object()
        .and_then(|schemes| schemes.keys().next())
    {
        None => "For everybody.",
        Some(scheme) if scheme == "service" => "For services.",
        Some(_) => "For users.",
    }
}

fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members = value.as_object().into_iter().flat_map(Map::iter);
    members.map(|(name, value)| (name.as_str(), value))
}

/// Text that is to be read as text.
#[derive(Clone, Copy)]
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|char| match char {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&#39;"),
            other => f.write_char(other),
        })
    }
}

/// Text with code between backticks.
struct Prose<'a>(&'a str);

impl fmt::Display for Prose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = self.0.split('`');
        while let Some(words) = parts.next() {
            write!(f, "{}", Escaped(words))?;
            if let Some(code) = parts.next() {
                write!(f, "<code>{}</code>", Escaped(code))?;
            }
        }
        Ok(())
    }
}

/// JSON in lines.
struct Pretty<'a>(&'a Value);

impl fmt::Display for Pretty<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Escaped(&format!("{:#}", self.0)).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::routes::ROUTES;

    #[test]
    fn every_route_is_on_the_page() {
        let html = str::from_utf8(&page().html).unwrap();
        for route in ROUTES {
            let line = format!("<code>{} {}</code>", route.method, route.path);
            assert!(html.contains(&line), "{line}");
        }
    }

    #[test]
    fn what_is_described_is_text_and_never_markup() {
        let document = json!({
            "info": { "title": "<b>", "version": "1", "description": "a & `'b'`" },
            "paths": {},
            "components": { "schemas": { "X": { "description": "</pre><script>" } } },
        });
        let html = render(&document);
        assert!(html.contains("&lt;b&gt;") && html.contains("a &amp; <code>&#39;b&#39;</code>"));
        assert!(!html.contains("<script") && !html.contains("<b>"), "{html}");
    }

    #[test]
    fn the_page_needs_nothing_from_elsewhere() {
        let html = str::from_utf8(&page().html).unwrap();
        for outside in [
            "<script", "<link", "<img", "src=", "http:", "https:", " style=",
        ] {
            assert!(!html.contains(outside), "{outside}");
        }
    }
}
