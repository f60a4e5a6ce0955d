//! Scripts of a project that a program runs by their names.

use toolfold::policy::{Effect, compact};

use super::real_work::check;

/// `yarn NAME` and `bun NAME` are `run NAME` unless the program has a subcommand of that name.
#[test]
fn names_of_scripts_are_run() {
    check(
        &["allow Bash(yarn:*)", "allow Bash(bun:*)", "allow Bash(pnpm:*)", "allow Bash(rustup:*)"],
        &[
            ("yarn run-rollup", "allow"),
            ("yarn run-rollup --cwd x", "ask"),
            ("bun bd test a.test.ts -t 'name'", "allow"),
            ("bun bd --preload ./x.ts", "ask"),
            ("bun x.ts", "ask"),
            ("bun ./x", "ask"),
            ("yarn dlx x", "ask"),
            ("yarn plugin import x", "ask"),
            ("bun upgrade", "ask"),
            // It runs any program where there is no script of that name.
            ("pnpm run-rollup", "ask"),
            ("rustup default nightly", "allow"),
            ("rustup default mine", "ask"),
        ],
    );
    check(&["allow Bash(yarn test:*)"], &[("yarn lint", "ask"), ("yarn run-rollup", "ask")]);
    check(&["allow Bash(*)", "deny Bash(yarn publish:*)"], &[("yarn publish", "deny")]);
    // A deny or an ask about one spelling is about the other.
    check(
        &["allow Bash(yarn:*)", "allow Bash(bun:*)", "deny Bash(yarn run deploy*)", "ask Bash(bun release:*)"],
        &[
            ("yarn deploy", "deny"),
            ("yarn --silent deploy:prod now", "deny"),
            ("yarn run --silent deploy", "deny"),
            ("bun run release", "ask"),
            ("bun release x", "ask"),
            ("yarn run build", "allow"),
        ],
    );
    let spellings = |rule: &str| compact(Effect::Deny, rule, |_| None).unwrap().other_spellings();
    assert!(spellings("Bash(yarn run deploy:*)").contains(&"yarn deploy".to_owned()));
    assert!(spellings("Bash(bun deploy:*)").contains(&"bun run deploy".to_owned()));
    check(
        &["allow Bash(yarn:*)", "deny Bash(yarn deploy)", "ask Bash(bun run:*)", "allow Bash(bun:*)"],
        &[("yarn run deploy", "deny"), ("yarn run deploys", "allow"), ("bun bd", "ask"), ("bun test", "allow")],
    );
}

/// npm has short forms of four scripts, and pnpm runs each script without `run` unless it has a
/// command of that name.
#[test]
fn short_forms_of_npm_and_pnpm() {
    let every_form = [
        "npm test",
        "npm t",
        "npm tst",
        "npm run test",
        "npm run-script test",
        "npm run --silent test",
        "npm --prefix sub test -- -u",
        "pnpm test",
        "pnpm t",
        "pnpm run test",
        "pnpm -r test",
    ];
    for rule in ["test", "t", "run test"] {
        let denies = ["npm", "pnpm"].map(|program| format!("deny Bash({program} {rule}:*)"));
        let rules = ["allow Bash(*)", denies[0].as_str(), denies[1].as_str()];
        check(&rules, &every_form.map(|command| (command, "deny")));
        check(&rules, &[("npm run tests", "allow"), ("npm run build", "allow")]);
    }
    check(
        &["allow Bash(*)", "deny Bash(npm start)", "deny Bash(npm deploy)", "deny Bash(pnpm run release:*)"],
        &[
            ("npm run start", "deny"),
            ("npm run stop", "allow"),
            // npm has no short form of this one.
            ("npm run deploy", "allow"),
            ("pnpm release --prod", "deny"),
            ("pnpm --filter app release", "deny"),
            ("pnpm released", "allow"),
        ],
    );
    // `pnpm deploy` is a command of pnpm, and no script.
    check(
        &["allow Bash(*)", "deny Bash(pnpm deploy:*)", "ask Bash(pnpm run:*)"],
        &[("pnpm run deploy", "ask"), ("pnpm build", "ask"), ("pnpm install", "allow"), ("pnpm deploy x", "deny")],
    );
    // No allow is wider than it is written.
    check(&["allow Bash(npm test)", "allow Bash(pnpm run build)"], &[("npm run test", "ask"), ("pnpm build", "ask")]);
    let spellings = |rule: &str| compact(Effect::Deny, rule, |_| None).unwrap().other_spellings();
    assert!(spellings("Bash(npm run test:*)").starts_with(&["npm test".to_owned(), "npm t".to_owned()]));
    assert!(spellings("Bash(pnpm lint)").contains(&"pnpm run lint".to_owned()));
}
