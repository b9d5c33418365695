//! What the README and the guides show on a console is what comes out.

#[test]
fn console_blocks_of_readme_and_docs_are_what_the_command_prints() {
    trycmd::TestCases::new().case("README.md").case("docs/*.md");
}
