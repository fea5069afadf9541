//! Activities: progress shown to the person.

use antiphon_state::Patch;
use serde_json::{Map, Value};

use super::base::event;

event! {
    /// The whole content of an activity.
    attributable ActivitySnapshot = "ACTIVITY_SNAPSHOT" {
        required {
            /// The activity message.
            message_id: String = "messageId",
            /// What kind of progress, which decides how it is shown.
            activity_type: String = "activityType",
            /// What is shown.
            content: Map<String, Value> = "content",
        }
        optional {
            /// `false` leaves a message that is there as it is; absent stands for `true`.
            replace: bool = "replace",
        }
    }
}

event! {
    /// A change of an activity's content.
    attributable ActivityDelta = "ACTIVITY_DELTA" {
        required {
            /// The activity message.
            message_id: String = "messageId",
            /// What kind of progress.
            activity_type: String = "activityType",
            /// What changes in the content.
            patch: Patch = "patch",
        }
    }
}
