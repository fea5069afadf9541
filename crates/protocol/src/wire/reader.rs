//! The tolerant reader: unknown material is dropped with a warning, malformed known material
//! is refused with its place.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::Wire;

/// How many warnings one document can cause; a hostile one must not cost memory.
const MAX_WARNINGS: usize = 64;

/// A value that was read, and what was dropped or mended on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Read<T> {
    /// The value.
    pub value: T,
    /// What the sender should know. At most 64; more are not kept.
    pub warnings: Vec<Warning>,
}

/// Something that was dropped or mended. The rest was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Where, such as `messages[2].content[0]`; empty for the whole.
    pub path: String,
    /// What, as a clause without a full stop.
    pub message: String,
}

/// A known member is missing or malformed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// Where, such as `messages[2].content`; empty for the whole.
    pub path: String,
    /// What is wrong with it, as a predicate: `is required`, `must be a string`.
    pub message: String,
}

impl std::fmt::Display for FieldError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write_placed(f, &self.path, &self.message)
    }
}

impl std::error::Error for FieldError {}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write_placed(f, &self.path, &self.message)
    }
}

fn write_placed(f: &mut std::fmt::Formatter<'_>, path: &str, message: &str) -> std::fmt::Result {
    match path {
        "" => write!(f, "the document {message}"),
        _ => write!(f, "{path} {message}"),
    }
}

/// Why a value was not read.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It is of a kind this version does not know (the warning is recorded). An optional slot
    /// becomes empty, a list loses the element, a required slot takes its container with it.
    Unknown,
    Malformed(FieldError),
}

pub(crate) type Reading<T> = Result<T, Fault>;

/// Whom we listen to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manners {
    /// An agent's events: camelCase, null for an optional member is malformed.
    Event,
    /// A client's request: snake_case too, null for an optional member is absent.
    Input,
}

/// Whether a constant member has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    Optional,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Key(&'static str),
    Index(usize),
}

/// An object whose members are taken one by one; what is left at the end is unknown.
#[derive(Debug)]
pub(crate) struct Object(pub(crate) Map<String, Value>);

/// Keeps the place and the warnings while a document is read.
#[derive(Debug)]
pub(crate) struct Reader {
    manners: Manners,
    path: Vec<Step>,
    pub(crate) warnings: Vec<Warning>,
}

impl Reader {
    pub(crate) const fn new(manners: Manners) -> Self {
        Self {
            manners,
            path: Vec::new(),
            warnings: Vec::new(),
        }
    }

    pub(crate) const fn manners(&self) -> Manners {
        self.manners
    }

    pub(crate) fn warn(&mut self, message: impl Into<String>) {
        if self.warnings.len() < MAX_WARNINGS {
            let warning = Warning {
                path: self.place(),
                message: message.into(),
            };
            self.warnings.push(warning);
        }
    }

    /// The value at this place is malformed.
    pub(crate) fn malformed(&self, message: impl Into<String>) -> Fault {
        Fault::Malformed(FieldError {
            path: self.place(),
            message: message.into(),
        })
    }

    /// The value at this place is of an unknown kind.
    pub(crate) fn unknown(&mut self, message: impl Into<String>) -> Fault {
        self.warn(message);
        Fault::Unknown
    }

    pub(crate) fn at_key<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Self) -> Reading<T>,
    ) -> Reading<T> {
        self.within(Step::Key(key), read)
    }

    pub(crate) fn at_index<T>(
        &mut self,
        index: usize,
        read: impl FnOnce(&mut Self) -> Reading<T>,
    ) -> Reading<T> {
        self.within(Step::Index(index), read)
    }

    fn within<T>(&mut self, step: Step, read: impl FnOnce(&mut Self) -> Reading<T>) -> Reading<T> {
        self.path.push(step);
        let result = read(self);
        self.path.pop();
        result
    }

    fn place(&self) -> String {
        let mut place = String::new();
        for step in &self.path {
            match step {
                Step::Key(key) => {
                    if !place.is_empty() {
                        place.push('.');
                    }
                    place.push_str(key);
                }
                // Writing into a String cannot fail.
                Step::Index(index) => drop(write!(place, "[{index}]")),
            }
        }
        place
    }

    pub(crate) fn object(&self, value: Value) -> Reading<Object> {
        match value {
            Value::Object(map) => Ok(Object(map)),
            _ => Err(self.malformed("must be an object")),
        }
    }

    /// Takes a member by its wire name, from a client also by its snake_case name.
    pub(crate) fn take(
        &self,
        object: &mut Object,
        key: &'static str,
        snake: &'static str,
    ) -> Reading<Option<Value>> {
        let value = object.0.swap_remove(key);
        if self.manners == Manners::Event || key == snake {
            return Ok(value);
        }
        match (value, object.0.swap_remove(snake)) {
            (Some(camel), Some(other)) if camel != other => {
                let message = format!("and {snake} are both given and differ");
                let mut place = self.place();
                if !place.is_empty() {
                    place.push('.');
                }
                place.push_str(key);
                Err(Fault::Malformed(FieldError {
                    path: place,
                    message,
                }))
            }
            (value, other) => Ok(value.or(other)),
        }
    }

    pub(crate) fn required<T: Wire>(
        &mut self,
        object: &mut Object,
        key: &'static str,
        snake: &'static str,
    ) -> Reading<T> {
        let value = self.take(object, key, snake)?;
        self.at_key(key, |reader| match value {
            Some(value) => T::from_wire(value, reader),
            None => Err(reader.malformed("is required")),
        })
    }

    pub(crate) fn optional<T: Wire>(
        &mut self,
        object: &mut Object,
        key: &'static str,
        snake: &'static str,
    ) -> Reading<Option<T>> {
        let Some(value) = self.take(object, key, snake)? else {
            return Ok(None);
        };
        self.at_key(key, |reader| {
            if value.is_null() {
                // Pre-1.0 agents serialise an absent parent as null.
                return reader.null(T::NULL_IS_ABSENT || key == "parentMessageId");
            }
            match T::from_wire(value, reader) {
                Ok(value) => Ok(Some(value)),
                Err(Fault::Unknown) => Ok(None),
                Err(malformed) => Err(malformed),
            }
        })
    }

    fn null<T>(&mut self, tolerated: bool) -> Reading<Option<T>> {
        if !tolerated && self.manners == Manners::Event {
            return Err(self.malformed("must not be null"));
        }
        self.warn("is null and read as absent");
        Ok(None)
    }

    /// A list that is empty if absent.
    pub(crate) fn list<T: Wire>(
        &mut self,
        object: &mut Object,
        key: &'static str,
        snake: &'static str,
    ) -> Reading<Vec<T>> {
        self.optional(object, key, snake)
            .map(Option::unwrap_or_default)
    }

    /// A member that has one possible value.
    pub(crate) fn constant(
        &mut self,
        object: &mut Object,
        key: &'static str,
        expected: &'static str,
        presence: Presence,
    ) -> Reading<()> {
        let value = object.0.swap_remove(key);
        self.at_key(key, |reader| match value {
            Some(Value::String(given)) if given == expected => Ok(()),
            None if presence == Presence::Optional || reader.manners == Manners::Input => Ok(()),
            None => Err(reader.malformed("is required")),
            Some(_) => Err(reader.malformed(format!("must be {expected:?}"))),
        })
    }

    /// Reads the member that tells a union's kinds apart, and leaves it.
    pub(crate) fn discriminator(&mut self, object: &Object, key: &'static str) -> Reading<String> {
        let value = object.0.get(key);
        self.at_key(key, |reader| match value {
            Some(Value::String(kind)) => Ok(kind.clone()),
            Some(_) => Err(reader.malformed("must be a string")),
            None => Err(reader.malformed("is required")),
        })
    }

    /// Drops what no reader took.
    pub(crate) fn finish(&mut self, object: Object) {
        for key in object.0.into_iter().map(|(key, _)| key).take(MAX_WARNINGS) {
            let shown: String = key.chars().take(64).collect();
            self.warn(format!("has an unknown member {shown:?}, which is dropped"));
        }
    }
}
