//! What the YAML reader finds wrong, in the words of a person who writes an agent file.

use serde_saphyr::Error;
use serde_saphyr::budget::BudgetBreach;

use super::tree::MAX_DEPTH;

/// Sentences of the parser about signs, and what to do about them.
const SIGNS: [(&str, &str); 10] = [
    (
        "tabs disallowed",
        "a tab stands where lines are indented; indent with spaces",
    ),
    (
        "mapping values are not allowed",
        "a second \": \" stands in this line, or the line is indented too far; put text with \": \" in quotes",
    ),
    (
        "illegal placement of ':'",
        "a \":\" stands where none may; is a bracket open, or a quote missing?",
    ),
    ("unclosed bracket", "a bracket is not closed"),
    (
        "misplaced bracket",
        "a bracket closes what is not open; put text with brackets in quotes",
    ),
    ("unclosed quote", "a quote is not closed"),
    (
        "unexpected character",
        "this sign can't begin a value; put the text in quotes",
    ),
    (
        "did not find expected ',' or",
        "a comma or the closing bracket is missing before this",
    ),
    (
        "did not find expected <document start>",
        "this is no key of the mapping above; is it indented as its neighbours?",
    ),
    (
        "recursion limit",
        "collections stand too deep inside each other",
    ),
];

/// What is wrong, and what to do about it. It names no types and options of the reader.
pub(super) fn sentence(error: &Error) -> String {
    let what = what(error.without_snippet());
    format!("not readable as YAML: {what}")
}

fn what(error: &Error) -> String {
    let words = match error {
        Error::Message { msg, .. } => return msg.clone(),
        Error::ExternalMessage { msg, .. } => return about_signs(msg),
        Error::AliasError { error, .. } => return what(error),
        Error::Budget { breach, .. } => return too_much(breach),
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            return format!("the key {key:?} is there twice; leave one of them out");
        }
        Error::DuplicateMappingKey { .. } => "a key is there twice; leave one of them out",
        Error::Eof { .. } => "it ends too early",
        Error::MultipleDocuments { .. } => {
            "a second document begins here; a file holds one, so leave out the line \"---\" and what follows"
        }
        Error::NullIntoString { .. } => {
            "a key is missing or null; name it, or put the word in quotes"
        }
        Error::Unexpected { .. }
        | Error::UnexpectedContainerEndWhileReadingKeyNode { .. }
        | Error::TaggedScalarCannotDeserializeIntoString { .. } => "a key must be text",
        Error::UnknownAnchor { .. } => {
            "no \"&\" before this names what \"*\" stands for; put text that begins with \"*\" in quotes"
        }
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            "a value can't hold itself; write it without \"*\""
        }
        Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            "\"*\" repeats too much; write the values out"
        }
        Error::MergeValueNotMapOrSeqOfMaps { .. } => {
            "\"<<\" takes in a mapping, or a list of mappings"
        }
        Error::NonFiniteFloat { .. } => "a number must be finite; put a text in quotes",
        Error::InvalidBooleanStrict { .. } => "expected true or false",
        Error::InvalidScalar { .. } => "the value is not of the type that its \"!!\" names",
        Error::InvalidBinaryBase64 { .. }
        | Error::BinaryNotUtf8 { .. }
        | Error::BytesNotSupportedMissingBinaryTag { .. }
        | Error::SerdeInvalidType { .. } => "bytes can't stand here; write the text itself",
        Error::UnsupportedTag { .. } => {
            "this \"!\" is not known; leave it out, or put it in quotes"
        }
        Error::FoldedBlockScalarMustIndentContent { .. } => {
            "the text below \"|\" or \">\" must be indented"
        }
        _ => "the text is not built as YAML is",
    };
    words.to_owned()
}

fn about_signs(sentence: &str) -> String {
    let known = SIGNS.iter().find(|(start, _)| sentence.contains(start));
    known.map_or_else(
        || sentence.trim_end_matches('.').to_owned(),
        |(_, words)| (*words).to_owned(),
    )
}

/// Which bound of a file is passed.
fn too_much(breach: &BudgetBreach) -> String {
    match breach {
        BudgetBreach::Depth { .. } => {
            format!("collections stand more than {MAX_DEPTH} deep inside each other; make it flatter")
        }
        BudgetBreach::Aliases { .. }
        | BudgetBreach::Anchors { .. }
        | BudgetBreach::AliasAnchorRatio { .. }
        | BudgetBreach::MergeKeys { .. } => {
            "\"&\", \"*\" and \"<<\" are used too often; write the values out".to_owned()
        }
        _ => "the file holds too many values; make it smaller, or move scripts into files of their own"
            .to_owned(),
    }
}
