//! Further options of tables, as users write them after the engine.

/// What is wrong with them, with the place where they were written: they must leave the comment and the engine alone.
pub fn options_fault(path: &str, options: &str) -> Option<String> {
    let options = options.to_ascii_uppercase();
    (options.contains("COMMENT") || options.contains("ENGINE") || options.contains(';')).then(|| {
        format!(
            "{path}: must not hold COMMENT, where Plimsoll marks its tables, nor ENGINE, which is storage_engine, nor \
             a semicolon"
        )
    })
}
