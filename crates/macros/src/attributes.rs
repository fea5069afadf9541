//! Attributes, sorted by the part of the expansion that they belong to.

use syn::Attribute;

/// The attributes of an annotated function.
pub(crate) struct Attributes {
    /// What describes it: goes to the value that stands for the tool.
    pub(crate) docs: Vec<Attribute>,
    /// Conditions: go to everything that the macro makes.
    pub(crate) conditions: Vec<Attribute>,
    /// All others: stay with the function.
    pub(crate) others: Vec<Attribute>,
}

impl Attributes {
    pub(crate) fn sort(attributes: Vec<Attribute>) -> Self {
        let mut sorted = Self {
            docs: Vec::new(),
            conditions: Vec::new(),
            others: Vec::new(),
        };
        for attribute in attributes {
            let path = attribute.path();
            let place = if path.is_ident("doc") {
                &mut sorted.docs
            } else if path.is_ident("cfg") {
                &mut sorted.conditions
            } else {
                &mut sorted.others
            };
            place.push(attribute);
        }
        sorted
    }
}

/// Takes out of an argument's attributes those that describe a field.
pub(crate) fn take_field(attributes: &mut Vec<Attribute>) -> Vec<Attribute> {
    const OF_FIELDS: [&str; 5] = ["doc", "serde", "schemars", "validate", "garde"];
    let is_of_field =
        |attribute: &Attribute| OF_FIELDS.iter().any(|name| attribute.path().is_ident(name));
    let (field, others) = attributes.drain(..).partition(is_of_field);
    *attributes = others;
    field
}
