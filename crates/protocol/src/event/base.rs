//! What every event may carry, and how event types are declared.

use serde::ser::SerializeMap;
use serde_json::Value;

use crate::Metadata;
use crate::wire::{Object, Reader, Reading};

/// What every event may carry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Base {
    /// Milliseconds since 1970 by convention. Never used for ordering.
    pub timestamp: Option<i64>,
    /// The event of another system that this one was made from; anything but null.
    pub raw_event: Option<Value>,
    /// Application data. The key `ag-ui` is reserved.
    pub metadata: Option<Metadata>,
}

impl Base {
    pub(crate) fn take(object: &mut Object, reader: &mut Reader) -> Reading<Self> {
        Ok(Self {
            timestamp: reader.optional(object, "timestamp", "timestamp")?,
            raw_event: reader.optional(object, "rawEvent", "raw_event")?,
            metadata: reader.optional(object, "metadata", "metadata")?,
        })
    }

    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if let Some(timestamp) = self.timestamp {
            map.serialize_entry("timestamp", &timestamp)?;
        }
        if let Some(raw_event) = &self.raw_event
            && !raw_event.is_null()
        {
            map.serialize_entry("rawEvent", raw_event)?;
        }
        if let Some(metadata) = &self.metadata {
            map.serialize_entry("metadata", metadata)?;
        }
        Ok(())
    }
}

/// What all event structs have in common.
pub(super) trait Payload {
    fn base(&self) -> &Base;
    fn base_mut(&mut self) -> &mut Base;
    fn subagent_run_id(&self) -> Option<&str>;
}

/// Declares an event: its object with `type` and [`Base`]. `attributable` adds the tag of the
/// subagent run it belongs to.
macro_rules! event {
    (
        $(#[$meta:meta])*
        attributable $name:ident = $type:literal {
            $(constants { $($constants:tt)* })?
            $(required { $($required:tt)* })?
            $(optional { $($optional:tt)* })?
        }
    ) => {
        $crate::wire::object::object! {
            $(#[$meta])*
            pub struct $name {
                constants { "type" = $type Required, $($($constants)*)? }
                $(required { $($required)* })?
                optional {
                    $($($optional)*)?
                    /// The subagent run that it belongs to.
                    subagent_run_id: String = "subagentRunId",
                }
                base { base }
            }
        }

        $crate::event::base::payload!($name, |event| event.subagent_run_id.as_deref());
    };
    (
        $(#[$meta:meta])*
        $name:ident = $type:literal {
            $(required { $($required:tt)* })?
            $(optional { $($optional:tt)* })?
        }
        $(owned by $owner:ident)?
    ) => {
        $crate::wire::object::object! {
            $(#[$meta])*
            pub struct $name {
                constants { "type" = $type Required, }
                $(required { $($required)* })?
                $(optional { $($optional)* })?
                base { base }
            }
        }

        $crate::event::base::payload!($name, |_event| None $(.or(Some(_event.$owner.as_str())))?);
    };
}

macro_rules! payload {
    ($name:ident, |$event:ident| $owner:expr) => {
        impl $crate::event::base::Payload for $name {
            fn base(&self) -> &$crate::event::Base {
                &self.base
            }

            fn base_mut(&mut self) -> &mut $crate::event::Base {
                &mut self.base
            }

            fn subagent_run_id(&self) -> Option<&str> {
                let $event = self;
                $owner
            }
        }
    };
}

pub(super) use {event, payload};
