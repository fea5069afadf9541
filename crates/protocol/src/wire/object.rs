//! The macros that declare wire types.

/// Declares a wire object: its struct, `new` with what is required, and how it is written and
/// read. `constants` are written first and have no field; `lists` are left out when empty.
macro_rules! object {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(constants { $($constant_key:literal = $constant:literal $presence:ident,)* })?
            $(required { $($(#[$required_meta:meta])* $required:ident: $required_type:ty = $required_key:literal,)* })?
            $(optional { $($(#[$optional_meta:meta])* $optional:ident: $optional_type:ty = $optional_key:literal,)* })?
            $(lists { $($(#[$list_meta:meta])* $list:ident: $list_type:ty = $list_key:literal,)* })?
            $(base { $base:ident })?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $($($(#[$required_meta])* pub $required: $required_type,)*)?
            $($($(#[$optional_meta])* pub $optional: Option<$optional_type>,)*)?
            $($($(#[$list_meta])* pub $list: Vec<$list_type>,)*)?
            $(
                /// What every event may carry.
                pub $base: $crate::event::Base,
            )?
        }

        impl $name {
            /// Returns one with what is required and nothing else.
            #[must_use]
            pub fn new($($($required: impl Into<$required_type>),*)?) -> Self {
                Self {
                    $($($required: $required.into(),)*)?
                    $($($optional: None,)*)?
                    $($($list: Vec::new(),)*)?
                    $($base: $crate::event::Base::default(),)?
                }
            }

            pub(crate) fn from_object(
                mut object: $crate::wire::Object,
                reader: &mut $crate::wire::Reader,
            ) -> $crate::wire::Reading<Self> {
                let from = &mut object;
                $($(reader.constant(from, $constant_key, $constant, $crate::wire::Presence::$presence)?;)*)?
                let value = Self {
                    $($($required: reader.required(from, $required_key, stringify!($required))?,)*)?
                    $($($optional: reader.optional(from, $optional_key, stringify!($optional))?,)*)?
                    $($($list: reader.list(from, $list_key, stringify!($list))?,)*)?
                    $($base: $crate::event::Base::take(from, reader)?,)?
                };
                reader.finish(object);
                Ok(value)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                #[allow(unused_mut, reason = "an object may have no member at all")]
                let mut map = serializer.serialize_map(None)?;
                $($(map.serialize_entry($constant_key, $constant)?;)*)?
                $($(map.serialize_entry($required_key, &self.$required)?;)*)?
                $($(
                    if let Some(value) = &self.$optional
                        && !$crate::wire::Wire::is_null(value)
                    {
                        map.serialize_entry($optional_key, value)?;
                    }
                )*)?
                $($(
                    if !self.$list.is_empty() {
                        map.serialize_entry($list_key, &self.$list)?;
                    }
                )*)?
                $(self.$base.write(&mut map)?;)?
                map.end()
            }
        }

        $crate::wire::object::readable!($name);

        impl $crate::wire::Wire for $name {
            fn from_wire(
                value: serde_json::Value,
                reader: &mut $crate::wire::Reader,
            ) -> $crate::wire::Reading<Self> {
                let object = reader.object(value)?;
                Self::from_object(object, reader)
            }
        }
    };
}

/// Lets a wire type be deserialized by serde, warnings dropped.
macro_rules! readable {
    ($name:ident) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::wire::deserialize(deserializer)
            }
        }
    };
}

/// Declares a union of objects that a member tells apart. A kind that is not listed is unknown
/// material.
macro_rules! union {
    (
        $(#[$meta:meta])*
        pub enum $name:ident by $key:literal {
            $($(#[$variant_meta:meta])* $variant:ident($payload:ident) = $tag:literal,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub enum $name {
            $($(#[$variant_meta])* $variant($payload),)*
        }

        $(
            impl From<$payload> for $name {
                fn from(payload: $payload) -> Self {
                    Self::$variant(payload)
                }
            }
        )*

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(payload) => payload.serialize(serializer),)*
                }
            }
        }

        impl $name {
            pub(crate) fn from_object(
                object: $crate::wire::Object,
                reader: &mut $crate::wire::Reader,
            ) -> $crate::wire::Reading<Self> {
                let tag = reader.discriminator(&object, $key)?;
                match tag.as_str() {
                    $($tag => $payload::from_object(object, reader).map(Self::$variant),)*
                    _ => Err(reader.unknown(format!(
                        concat!("has an unknown ", $key, " {:?} and is dropped"),
                        tag.chars().take(64).collect::<String>(),
                    ))),
                }
            }
        }

        $crate::wire::object::readable!($name);
    };
}

/// Declares a closed set of strings.
macro_rules! names {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)*
        }

        impl $name {
            /// Returns the name on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// Returns what the wire name stands for.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl $crate::wire::Wire for $name {
            fn from_wire(
                value: serde_json::Value,
                reader: &mut $crate::wire::Reader,
            ) -> $crate::wire::Reading<Self> {
                value.as_str().and_then(Self::from_name).ok_or_else(|| {
                    let names: &[&str] = &[$($text),*];
                    reader.malformed(format!("must be one of {}", names.join(", ")))
                })
            }
        }

        $crate::wire::object::readable!($name);
    };
}

pub(crate) use {names, object, readable, union};
