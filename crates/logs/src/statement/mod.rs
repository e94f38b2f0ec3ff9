//! A statement becomes a template with `?` in the place of literals, the literals, and what kind of statement it is.
//!
//! This is a lexer and no parser: it knows quotes, comments, numbers and words, lists and rows, and takes any bytes.

mod fold;
pub mod kind;
mod lexer;
pub mod literal;
mod words;

#[cfg(test)]
mod tests;

pub use kind::StatementKind;
pub use lexer::Lexer;
