//! What was said and decided in a session.

use std::sync::Arc;

use antiphon_agent::store::{Interaction, StoredMessage, ThreadKey};
use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::cursor::Cursor;
use super::{Page, find};
use crate::app::App;
use crate::auth::Caller;
use crate::error::ApiError;
use crate::routes::extract::{Params, Segment};

/// `GET /sessions/{id}/messages`: the messages as AG-UI has them, oldest first.
pub(crate) async fn messages(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Segment(id): Segment,
    Params(page): Params<Page>,
) -> Result<Json<Value>, ApiError> {
    let limit = page.limit()?;
    let scope = format!("messages/{user}/{id}");
    let after = Cursor::read(page.cursor.as_deref(), &scope)?;
    let after = after.and_then(|cursor| cursor.after.as_i64());
    let thread = find(&app, &ThreadKey::new(user, id)).await?;
    let rest = thread
        .messages
        .iter()
        .filter(|message| after.is_none_or(|place| message.place > place));
    let shown: Vec<&StoredMessage> = rest.clone().take(limit).collect();
    let next = shown
        .last()
        .filter(|_| rest.count() > limit)
        .map(|last| Cursor::after(&scope, json!(last.place)));
    let messages: Vec<_> = shown.iter().map(|message| &message.message).collect();
    Ok(Json(json!({
        "sessionId": thread.key.thread,
        "userId": thread.key.user,
        "messages": messages,
        "nextCursor": next,
    })))
}

/// `GET /sessions/{id}/interactions`: what is open, and every decision with who took it and when.
pub(crate) async fn interactions(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Segment(id): Segment,
) -> Result<Json<Value>, ApiError> {
    let key = ThreadKey::new(user, id);
    let thread = find(&app, &key).await?.at(app.runtime.clock().now());
    let decisions = app.runtime.store().audit(&key).await?;
    let open: Vec<Value> = thread.interactions.iter().map(open_one).collect();
    Ok(Json(json!({
        "sessionId": key.thread,
        "open": open,
        "decisions": decisions,
    })))
}

fn open_one(interaction: &Interaction) -> Value {
    let request = &interaction.request;
    let mut shown = json!({
        "id": interaction.id,
        "kind": interaction.kind,
        "runId": interaction.run_id,
        "responseId": interaction.response_id,
        "toolCallId": interaction.call_id,
        "openedAt": interaction.opened_at,
    });
    if let Some(at) = interaction.expires_at {
        shown["expiresAt"] = json!(at);
    }
    for (member, name) in [
        ("name", "tool"),
        ("arguments", "arguments"),
        ("message", "message"),
    ] {
        if let Some(value) = request.get(member) {
            shown[name] = value.clone();
        }
    }
    shown
}
