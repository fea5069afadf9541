//! A growing document against `serde_json`.

use antiphon_state::{GrowingJson, Growth, Place};
use serde_json::Value;

use super::source::Source;

/// However a text is cut, a growing document accepts it exactly if `serde_json` does, with the
/// same result; what is shown only grows; and what is told adds up to what is shown.
pub(crate) fn growing_equals_parsing(bytes: &[u8]) {
    let mut source = Source::new(bytes);
    let kind = source.byte() % 4;
    let cuts: Vec<u8> = (0..4).map(|_| source.byte()).collect();
    let text = match kind {
        0 => source.rest().to_vec(),
        1 => {
            let value = source.value(5);
            source.written(&value).into_bytes()
        }
        _ => {
            let value = source.value(4);
            let mut text = source.written(&value).into_bytes();
            damage(&mut source, &mut text);
            text
        }
    };
    // A key that serde_json keeps for itself.
    if text.windows(10).any(|window| window == b"serde_json") {
        return;
    }
    let cuts: Vec<u8> = cuts.iter().copied().cycle().take(text.len() + 1).collect();
    check(&text, &Source::new(&cuts).cut(&text));
}

fn damage(source: &mut Source<'_>, text: &mut Vec<u8>) {
    const BYTES: &[u8] = b"\"\\{}[],:0-1.e \n\tu\x00\xe6tx}";
    for _ in 0..=source.below(3) {
        let at = (usize::from(source.byte()) << 8 | usize::from(source.byte())) % (text.len() + 1);
        let byte = BYTES[source.below(BYTES.len())];
        match source.byte() % 3 {
            0 if at < text.len() => {
                text.remove(at);
            }
            1 if at < text.len() => text[at] = byte,
            _ => text.insert(at, byte),
        }
    }
}

fn check(text: &[u8], fragments: &[&[u8]]) {
    let expected = serde_json::from_slice::<Value>(text);
    let mut json = GrowingJson::new();
    let mut told = Told::default();
    let mut last: Option<Value> = None;
    for fragment in fragments {
        let result = json.push_with(fragment, &mut |growth| told.hear(growth));
        assert_eq!(told.root.as_ref(), json.value(), "told {told:?}");
        if let (Some(last), Some(now), false) = (&last, json.value(), told.again) {
            assert!(grows(last, now), "{last} became {now}");
        }
        last = json.value().cloned();
        if let Err(error) = result {
            assert!(
                expected.is_err(),
                "{error}: {}",
                String::from_utf8_lossy(text)
            );
            assert!(error.offset <= text.len());
            assert_eq!(json.push("0"), Err(error.clone()));
            assert_eq!(json.value(), last.as_ref());
            assert_eq!(json.finish(), Err(error));
            return;
        }
    }
    match (expected, json.finish()) {
        (Ok(expected), Ok(value)) => {
            assert_eq!(expected.to_string(), value.to_string());
            assert_eq!(expected, value);
            if let (Some(last), false) = (last, told.again) {
                assert!(grows(&last, &value), "{last} became {value}");
            }
        }
        (Err(_), Err(_)) => {}
        (expected, found) => panic!(
            "{expected:?} but {found:?}: {}",
            String::from_utf8_lossy(text)
        ),
    }
}

/// Says whether `new` is `old` with more children or longer strings at the end, and nothing else.
pub(super) fn grows(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::String(old), Value::String(new)) => new.starts_with(old.as_str()),
        (Value::Array(old), Value::Array(new)) => {
            old.len() <= new.len() && old.iter().zip(new).all(|(old, new)| grows(old, new))
        }
        (Value::Object(old), Value::Object(new)) => {
            old.len() <= new.len()
                && old
                    .iter()
                    .zip(new)
                    .all(|((key, old), (new_key, new))| key == new_key && grows(old, new))
        }
        (old, new) => old == new,
    }
}

/// A tree made from nothing but what was told.
#[derive(Debug, Default)]
struct Told {
    root: Option<Value>,
    /// The way to the innermost open value.
    open: Vec<Step>,
    again: bool,
}

#[derive(Clone, Debug)]
enum Step {
    Root,
    Member(String),
    Element(usize),
}

impl Told {
    fn hear(&mut self, growth: Growth<'_>) {
        match growth {
            Growth::Begun {
                place,
                value,
                again,
            } => self.begin(place, value, again),
            Growth::Grown(suffix) => {
                assert!(!suffix.is_empty());
                let Some(Value::String(text)) = self.innermost() else {
                    panic!("only strings grow");
                };
                text.push_str(suffix);
            }
            Growth::Ended => {
                assert!(self.open.pop().is_some());
            }
            other => panic!("{other:?} is not known"),
        }
    }

    fn begin(&mut self, place: Place<'_>, value: &Value, again: bool) {
        self.again |= again;
        let step = match (place, self.innermost()) {
            (Place::Root, None) => {
                self.root = Some(value.clone());
                Step::Root
            }
            (Place::Member(key), Some(Value::Object(members))) => {
                assert_eq!(
                    members.insert(key.to_owned(), value.clone()).is_some(),
                    again
                );
                Step::Member(key.to_owned())
            }
            (Place::Element(index), Some(Value::Array(elements))) => {
                assert_eq!(elements.len(), index);
                elements.push(value.clone());
                Step::Element(index)
            }
            (place, parent) => panic!("{place:?} in {parent:?}"),
        };
        match value {
            Value::Array(_) | Value::Object(_) | Value::String(_) => self.open.push(step),
            _ => {}
        }
    }

    fn innermost(&mut self) -> Option<&mut Value> {
        let mut value = self.root.as_mut()?;
        for step in &self.open {
            value = match step {
                Step::Root => value,
                Step::Member(key) => value.get_mut(key)?,
                Step::Element(index) => value.get_mut(*index)?,
            };
        }
        Some(value)
    }
}
