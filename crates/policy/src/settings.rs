//! Files of a project that programs load settings from, and run code by.

/// Folders and files whose content other programs run or obey. Sources: the manuals of the
/// programs: git-config(1) and githooks(5), direnv(1), the settings of the editors and agents that
/// name commands or servers, and the files that continuous integration and package managers run.
const SETTINGS: &str = "\
    .agents .circleci .claude .codeium .codex .continue .copilot .cursor .devcontainer .direnv .envrc .factory \
    .gemini .git .github .gitlab-ci.yml .gitmodules .goose .hg .husky .idea .junie .kiro .mcp.json .npmrc .opencode \
    .pre-commit-config.yaml .qwen .roo .svn .toolfold .vscode .windsurf .yarnrc.yml";

/// Every setting of the table.
pub(crate) fn all_settings() -> std::str::SplitWhitespace<'static> {
    SETTINGS.split_whitespace()
}

/// The setting that a segment of a path is, in the spelling of the table: file systems may ignore
/// case.
pub(crate) fn setting(segment: &str) -> Option<&'static str> {
    // Each begins with a dot, which few segments do.
    let mut all = if segment.starts_with('.') { all_settings() } else { "".split_whitespace() };
    all.find(|own| own.eq_ignore_ascii_case(segment))
}
