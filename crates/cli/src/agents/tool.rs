//! The tool that an entry describes.

use antiphon::{Approval, Tool};
use serde_json::Value;

use crate::file::tool::{ApprovalEntry, HttpEntry, ToolEntry};
use crate::http_tool::{HttpTool, PrivateDelivery, Template, Wrong};

/// What the model is told after a private input, unless the file says otherwise.
const DELIVERED: &str = "Done.";

/// Makes the tool of an entry, in which exactly one key names the worker.
///
/// # Errors
/// An HTTP call that can't be made as it is described, with the keys that lead to it.
pub(super) fn tool(entry: &ToolEntry) -> Result<Tool, Wrong> {
    let (mut tool, inner_timeout) = worker(entry)?;
    if let Some(description) = &entry.description {
        tool = tool.description(description);
    }
    if let Some(parameters) = &entry.parameters {
        tool = tool.parameters(Value::Object(parameters.clone()));
    }
    if let Some(timeout) = inner_timeout.or(entry.timeout) {
        tool = tool.timeout(timeout.into());
    }
    if let Some(approval) = approval(entry.approval.as_ref()) {
        tool = tool.approval(approval);
    }
    Ok(tool.idempotent(entry.idempotent))
}

/// The tool with its work, and how long that work may take if it says so itself.
fn worker(entry: &ToolEntry) -> Result<(Tool, Option<crate::file::units::Time>), Wrong> {
    let name = entry.name.as_str();
    if let Some(http) = &entry.http {
        let template = template(http, &["http"])?;
        return Ok((Tool::server(name, HttpTool::new(name, template)), None));
    }
    if let Some(client) = &entry.client {
        let tool = Tool::client(name);
        let tool = match &client.result {
            Some(result) => tool.result(Value::Object(result.clone())),
            None => tool,
        };
        return Ok((tool, client.timeout));
    }
    if let Some(private) = &entry.private_input {
        let template = template(&private.deliver.http, &["private_input", "deliver", "http"])?;
        let handler = PrivateDelivery::new(name, template);
        let form = Value::Object(private.schema.clone());
        let response = private.response.clone().unwrap_or_else(|| DELIVERED.into());
        return Ok((
            Tool::private_input(name, form, handler, response),
            private.timeout,
        ));
    }
    if let Some(external) = &entry.external_wait {
        let template = template(&external.start.http, &["external_wait", "start", "http"])?;
        let start = HttpTool::new(name, template);
        return Ok((
            Tool::external_wait(name, &external.capability, start),
            external.timeout,
        ));
    }
    if let Some(message) = &entry.fails {
        return Ok((Tool::failing(name, message), None));
    }
    let result = entry.returns.clone().unwrap_or_default();
    Ok((Tool::fixed(name, result), None))
}

fn template(http: &HttpEntry, keys: &[&str]) -> Result<Template, Wrong> {
    Template::new(http).map_err(|wrong| {
        let outer = keys.iter().map(|key| (*key).to_owned());
        Wrong {
            keys: outer.chain(wrong.keys).collect(),
            what: wrong.what,
        }
    })
}

fn approval(entry: Option<&ApprovalEntry>) -> Option<Approval> {
    match entry? {
        ApprovalEntry::Plain(false) => None,
        ApprovalEntry::Plain(true) => Some(Approval::default()),
        ApprovalEntry::Asked(terms) => {
            let mut approval = Approval::default().edits(terms.edits);
            if let Some(message) = &terms.message {
                approval = approval.message(message);
            }
            if let Some(timeout) = terms.timeout {
                approval = approval.timeout(timeout.into());
            }
            Some(approval)
        }
    }
}
