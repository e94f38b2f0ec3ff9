//! No command line makes it panic: random words, words of its options with random values, and the corpus.

use std::fs;
use std::path::Path;

use plimsoll_sysbench::compat::Compat;
use plimsoll_sysbench::fuzz_entry::command_line;
use plimsoll_sysbench::options::declared;
use proptest::prelude::*;

fn words() -> impl Strategy<Value = String> {
    let specs = declared::all(Compat::V11);
    let names: Vec<String> = specs.into_iter().map(|spec| spec.name).collect();
    let value = prop_oneof![
        "",
        "-?[0-9]{1,20}[KMGT%]?",
        "on|off|all|special",
        "[0-9.,%-]{0,12}",
        ".{0,8}"
    ];
    prop_oneof![
        (prop::sample::select(names), value).prop_map(|(name, value)| format!("--{name}={value}")),
        "(--)?[-_=a-z0-9,.%KMG é]{0,12}",
    ]
}

proptest! {
    #[test]
    fn no_words_are_a_panic(words in prop::collection::vec(words(), 0..8)) {
        command_line(words.join("\n").as_bytes());
    }

    #[test]
    fn no_bytes_are_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        command_line(&bytes);
    }
}

#[test]
fn the_corpus_is_taken_or_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/command_line");
    let files: Vec<_> = fs::read_dir(corpus).unwrap().collect();
    assert!(!files.is_empty());
    for file in files {
        command_line(&fs::read(file.unwrap().path()).unwrap());
    }
}
