//! Events whose meaning lies outside of the protocol.

use serde_json::Value;

use super::base::event;

event! {
    /// An event of another system, passed on.
    attributable Raw = "RAW" {
        required {
            /// The event.
            event: Value = "event",
        }
        optional {
            /// The system.
            source: String = "source",
        }
    }
}

event! {
    /// An event of the application's own. Names without a prefix are reserved.
    attributable Custom = "CUSTOM" {
        required {
            /// What it is.
            name: String = "name",
            /// What it says: any JSON, null included.
            value: Value = "value",
        }
    }
}
