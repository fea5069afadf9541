//! Key paths such as `agents.recipe.state.predict[0]`.

use std::fmt;

/// One step from a value to a value inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    /// A key of a mapping.
    Key(String),
    /// An element of a list, from 0.
    Index(usize),
}

/// Where a value stands in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KeyPath(Vec<Segment>);

impl KeyPath {
    /// The path of a value in the mapping at this path.
    #[must_use]
    pub(crate) fn key(&self, key: impl Into<String>) -> Self {
        self.child(Segment::Key(key.into()))
    }

    /// The path of a value in the list at this path.
    #[must_use]
    pub(crate) fn index(&self, index: usize) -> Self {
        self.child(Segment::Index(index))
    }

    fn child(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }

    /// From the outermost step to the innermost.
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Whether it is the whole file.
    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Vec<Segment>> for KeyPath {
    fn from(segments: Vec<Segment>) -> Self {
        Self(segments)
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) if place == 0 => f.write_str(key)?,
                Segment::Key(key) => write!(f, ".{key}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_as_people_write_it() {
        let path = KeyPath::default()
            .key("agents")
            .key("recipe")
            .key("tools")
            .index(2)
            .key("name");
        assert_eq!(path.to_string(), "agents.recipe.tools[2].name");
    }
}
