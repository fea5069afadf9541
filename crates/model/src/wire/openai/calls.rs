//! Which call a fragment belongs to.
//!
//! By the documentation a fragment names its call by `index`, and only the first one has an id and a name. In the
//! field, two calls share index 0 and differ in their ids; ids and names are repeated, empty, late or missing; the
//! index is missing; whole calls come again with the finish. The rules are in [`Calls::find`].

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{
    chunk::{CallDelta, some},
    origin::Origin,
};
use crate::{Error, ErrorKind, wire::Turn};

/// The calls of one turn, as the provider tells them apart.
#[derive(Debug, Default)]
pub(super) struct Calls {
    slots: Vec<Slot>,
    /// The finish has been read: known calls gain nothing any more.
    closed: bool,
}

#[derive(Debug)]
struct Slot {
    /// The provider's index.
    key: Option<u64>,
    /// The provider's id; empty while it has sent none.
    id: String,
    name: String,
    /// The call's index in the turn, from when its name is known.
    begun: Option<usize>,
    /// Arguments that came before the name.
    early: String,
}

enum Found {
    Known(usize),
    New,
    /// A repetition of what is known.
    Repeat,
}

impl Calls {
    /// Reads one fragment.
    pub(super) fn push(
        &mut self,
        delta: &CallDelta<'_>,
        turn: &mut Turn,
        origin: &mut Origin,
    ) -> Result<(), Error> {
        let found = self.find(delta, turn);
        let position = match found {
            Found::Known(position) => position,
            Found::New => self.open(delta, turn)?,
            Found::Repeat => return Ok(()),
        };
        let Some(slot) = self.slots.get_mut(position) else {
            return Ok(());
        };
        if slot.id.is_empty()
            && let Some(id) = some(&delta.id)
        {
            slot.id = id.to_owned();
        }
        let function = delta.function.as_ref();
        if slot.name.is_empty()
            && let Some(name) = function.and_then(|function| some(&function.name))
        {
            slot.name = name.to_owned();
        }
        if let Some(arguments) = function.and_then(|function| function.arguments) {
            slot.early.push_str(&text_of(arguments)?);
        }
        slot.pass_on(turn);
        if let (Some(extra), Some(id)) = (
            delta.extra_content,
            slot.begun.and_then(|index| turn.id(index)),
        ) {
            origin.keep_extra_content(id, extra);
        }
        Ok(())
    }

    /// The provider says that the turn is over: all calls are complete.
    pub(super) fn close(&mut self, turn: &mut Turn) -> Result<(), Error> {
        self.closed = true;
        for slot in &self.slots {
            slot.end(turn)?;
        }
        Ok(())
    }

    fn find(&self, delta: &CallDelta<'_>, turn: &Turn) -> Found {
        let id = some(&delta.id);
        let function = delta.function.as_ref();
        let name = function.and_then(|function| some(&function.name));
        let known = match (delta.index, id) {
            (Some(index), _) => self.slots.iter().rposition(|slot| slot.key == Some(index)),
            (None, Some(id)) => self.slots.iter().rposition(|slot| slot.id == id),
            (None, None) => self.slots.len().checked_sub(1),
        };
        let slot = known.and_then(|position| Some((position, self.slots.get(position)?)));
        let Some((position, slot)) = slot else {
            return if self.closed && id.is_none() {
                Found::Repeat
            } else {
                Found::New
            };
        };
        let whole = slot.begun.is_some_and(|index| turn.is_whole(index));
        let says_nothing = function.is_none_or(|function| function.arguments.is_none_or(is_empty));
        match (id, name) {
            // A different id begins another call at the same index, unless a server numbers every fragment anew.
            (Some(id), name) if !slot.id.is_empty() && slot.id != id => {
                if let Some(earlier) = self.slots.iter().rposition(|slot| slot.id == id) {
                    if self.closed {
                        Found::Repeat
                    } else {
                        Found::Known(earlier)
                    }
                } else if name.is_some() || whole {
                    Found::New
                } else {
                    Found::Known(position)
                }
            }
            _ if self.closed => Found::Repeat,
            // A name after whole arguments begins another call, unless it only repeats what is known.
            (_, Some(name)) if whole && slot.name != name => Found::New,
            (None, Some(_)) if whole && !says_nothing => Found::New,
            (_, Some(_)) if whole => Found::Repeat,
            _ => Found::Known(position),
        }
    }

    /// Opens a slot. What it takes the place of is complete, and so are calls whose arguments are whole.
    fn open(&mut self, delta: &CallDelta<'_>, turn: &mut Turn) -> Result<usize, Error> {
        for slot in &self.slots {
            let replaced = delta.index.is_none() || slot.key == delta.index;
            if replaced || slot.begun.is_some_and(|index| turn.is_whole(index)) {
                slot.end(turn)?;
            }
        }
        self.slots.push(Slot {
            key: delta.index,
            id: some(&delta.id).unwrap_or_default().to_owned(),
            name: String::new(),
            begun: None,
            early: String::new(),
        });
        Ok(self.slots.len() - 1)
    }
}

impl Slot {
    /// Begins the call once its name is known and hands on its arguments.
    fn pass_on(&mut self, turn: &mut Turn) {
        if self.begun.is_none() && !self.name.is_empty() {
            self.begun = Some(turn.begin(Some(&self.id), &self.name));
        }
        if let Some(index) = self.begun {
            turn.arguments(index, std::mem::take(&mut self.early));
        }
    }

    fn end(&self, turn: &mut Turn) -> Result<(), Error> {
        match self.begun {
            Some(index) => {
                turn.end(index);
                Ok(())
            }
            None => Err(Error::of(ErrorKind::Malformed).with_detail("a tool call without a name")),
        }
    }
}

fn is_empty(arguments: &RawValue) -> bool {
    matches!(arguments.get(), "\"\"" | "null")
}

/// Argument text: what the string holds, or the JSON that came in its place.
fn text_of(arguments: &RawValue) -> Result<Cow<'_, str>, Error> {
    let json = arguments.get();
    if json == "null" {
        return Ok(Cow::Borrowed(""));
    }
    if !json.starts_with('"') {
        return Ok(Cow::Borrowed(json));
    }
    let text = serde_json::from_str::<super::chunk::Text<'_>>(json);
    text.map(|text| text.0)
        .map_err(|error| Error::of(ErrorKind::Malformed).with_detail(error.to_string()))
}
