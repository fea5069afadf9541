//! HTTP calls as handlers of tools.

use antiphon::{Handler, PrivateHandler, PrivateValue, RunContext, ToolError, ToolOutput};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::call::{self, Answer, Marks};
use super::template::{Template, wipe};

/// A tool that is an HTTP call.
#[derive(Debug)]
pub(crate) struct HttpTool {
    name: String,
    template: Template,
}

impl HttpTool {
    /// The tool with this name.
    pub(crate) fn new(name: &str, template: Template) -> Self {
        Self {
            name: name.to_owned(),
            template,
        }
    }
}

impl Handler for HttpTool {
    fn call<'a>(
        &'a self,
        arguments: Value,
        run: RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        async move {
            let rendered = self.template.render(&arguments).map_err(ToolError::new)?;
            let marks = Marks::of(run);
            let answer = call::call(&self.name, rendered, &marks).await;
            answer.map(|answer| output(&answer)).map_err(ToolError::new)
        }
        .boxed()
    }
}

/// JSON where the answer says so, else text.
fn output(answer: &Answer) -> ToolOutput {
    let json = answer
        .is_json
        .then(|| serde_json::from_slice(&answer.body).ok());
    let value = json.flatten().unwrap_or_else(|| {
        let text = String::from_utf8_lossy(&answer.body);
        Value::String(text.into_owned())
    });
    ToolOutput::new(value)
}

/// Takes private values to their place.
#[derive(Debug)]
pub(crate) struct PrivateDelivery {
    name: String,
    template: Template,
}

impl PrivateDelivery {
    /// The delivery of the tool with this name.
    pub(crate) fn new(name: &str, template: Template) -> Self {
        Self {
            name: name.to_owned(),
            template,
        }
    }
}

impl PrivateHandler for PrivateDelivery {
    fn deliver<'a>(
        &'a self,
        value: PrivateValue,
        run: RunContext<'a>,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        let mut value = value.expose();
        let rendered = self.template.render(&value);
        wipe(&mut value);
        async move {
            let rendered = rendered.map_err(|_| ToolError::new("the value does not fit"))?;
            let marks = Marks::of(run);
            let delivered = call::deliver(&self.name, rendered, &marks).await;
            delivered.map_err(ToolError::new)
        }
        .boxed()
    }
}
