//! Thread stores in SQL.
