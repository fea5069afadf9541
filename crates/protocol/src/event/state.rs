//! Shared state and message snapshots.

use antiphon_state::Patch;
use serde_json::Value;

use super::base::event;
use crate::Message;

event! {
    /// The whole shared state.
    attributable StateSnapshot = "STATE_SNAPSHOT" {
        required {
            /// The state: any JSON, null included.
            snapshot: Value = "snapshot",
        }
    }
}

event! {
    /// A change of the shared state.
    attributable StateDelta = "STATE_DELTA" {
        required {
            /// What changes.
            delta: Patch = "delta",
        }
    }
}

event! {
    /// All messages of the thread.
    MessagesSnapshot = "MESSAGES_SNAPSHOT" {
        required {
            /// The messages, in order.
            messages: Vec<Message> = "messages",
        }
    }
}
