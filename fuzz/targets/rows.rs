//! Any bytes as the rows of a study: a summary, or an error; and a file that is opened to go on is sound from then on.

use std::fs;
use std::sync::LazyLock;

use gpusched::experiments::study::{ResultFile, Shard, Study, StudySummary};

static STUDY: LazyLock<Study> = LazyLock::new(|| {
    let text = include_str!("../../studies/rtns2020-parameters.json");
    Study::from_json("study.json", text, &|name| fs::read(name)).expect("it is a study")
});

/// What a results file of this study begins with.
static HEADER: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("gpusched-fuzz-header-{}", std::process::id()));
    drop(ResultFile::claim(&STUDY, Shard::WHOLE, &folder).expect("it can be begun"));
    let header = fs::read(folder.join(Shard::WHOLE.file_name())).expect("it is there");
    fs::remove_dir_all(folder).expect("it is ours");
    header
});

pub(crate) fn run(bytes: &[u8]) {
    let folder = std::env::temp_dir().join(format!("gpusched-fuzz-rows-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("there is room");
    let path = folder.join(Shard::WHOLE.file_name());
    // Every other time behind a header as it should be, where rows are looked for.
    let content = match bytes.split_first() {
        Some((first, rest)) if first % 2 == 0 => [&HEADER, rest].concat(),
        _ => bytes.to_vec(),
    };
    fs::write(&path, content).expect("there is room");
    if let Err(error) = StudySummary::read(&STUDY, &path) {
        assert!(!error.to_string().is_empty());
    }
    if let Ok(file) = ResultFile::claim(&STUDY, Shard::WHOLE, &folder) {
        let rows = file.rows();
        drop(file);
        let again = ResultFile::claim(&STUDY, Shard::WHOLE, &folder).expect("it was opened before");
        assert_eq!((again.rows(), again.dropped()), (rows, 0));
    }
}
