//! Rows of tools that projects use, with the uses that an allow for the program covers, and the
//! uses that it does not: options that load code, write elsewhere or run a command.

use super::real_work::check;

/// A launcher that watches files: what it runs is judged as itself.
#[test]
fn watchers_run_commands_that_are_judged_as_themselves() {
    check(
        &["allow Bash(watchexec:*)", "allow Bash(cargo watch:*)", "allow Bash(cargo test:*)", "allow Bash(make)"],
        &[
            ("watchexec -- \"make && cargo test\"", "allow"),
            ("watchexec -e rs -c -- cargo test --lib", "allow"),
            ("watchexec -- \"make; rm -rf x\"", "ask"),
            ("watchexec -- \"make\" '; rm x'", "ask"),
            ("watchexec -- find '#' -delete", "ask"),
            ("watchexec -n -- make", "ask"),
            ("watchexec --shell='sh -c id' -- make", "ask"),
            ("watchexec -E PATH=. -- make", "ask"),
            ("watchexec --workdir /tmp/x -- make", "ask"),
            ("watchexec -j 'x' -- make", "ask"),
            ("watchexec --log-file=../x -- make", "ask"),
            ("watchexec -- \"$X\"", "ask"),
            ("cargo watch -x test", "allow"),
            ("cargo watch -q -x 'test --lib' -s make", "allow"),
            ("cargo watch -- cargo test", "allow"),
            ("cargo watch -x 'install evil'", "ask"),
            ("cargo watch -x 'test; rm x'", "ask"),
            ("cargo watch -s 'rm x'", "ask"),
            ("cargo watch -- rm x", "ask"),
            ("cargo watch -x test -- rm x", "ask"),
            ("cargo watch --use-shell=./x -s make", "ask"),
            ("cargo watch -C /tmp/x -x test", "ask"),
            ("cargo watch -x $X", "ask"),
        ],
    );
    // With -x the words are no line for a shell.
    check(
        &["allow Bash(watch:*)", "allow Bash(find:*)", "allow Bash(ls:*)"],
        &[("watch -x find '#' -delete", "ask"), ("watch -n1 ls -l src", "allow"), ("watch -x find x '; id'", "ask")],
    );
    check(
        &["allow Bash(*)", "deny Bash(rm:*)"],
        &[("watchexec -- 'make; rm x'", "deny"), ("cargo watch -s 'rm x'", "deny"), ("watchexec -- rm 'a b'", "deny")],
    );
}

/// A channel or a version, and no other toolchain, which may be a folder.
#[test]
fn toolchains_are_channels_and_versions() {
    check(
        &["allow Bash(rustup:*)", "allow Bash(cargo test:*)"],
        &[
            ("rustup default 1.75.0", "allow"),
            ("rustup default nightly-2025-06-01", "allow"),
            ("rustup update 1.60.0 --no-self-update && rustup default 1.60.0", "allow"),
            ("rustup toolchain install stable-x86_64-unknown-linux-gnu --profile minimal", "allow"),
            ("rustup toolchain add nightly --component miri", "allow"),
            ("rustup default mine", "ask"),
            ("rustup default /tmp/x", "ask"),
            ("rustup default ./x", "ask"),
            ("rustup default $X", "ask"),
            ("rustup default --force-non-host stable", "ask"),
            ("rustup toolchain link mine /tmp/x", "ask"),
            ("rustup toolchain uninstall stable", "ask"),
            ("rustup self uninstall", "ask"),
            ("rustup run stable cargo test --verbose", "allow"),
            ("rustup run mine cargo test", "ask"),
            ("rustup run /tmp/x cargo test", "ask"),
            ("rustup run stable rm x", "ask"),
            ("rustup run --install stable cargo test", "ask"),
            ("rustup run $X cargo test", "ask"),
            ("rustup -v run stable nightly", "ask"),
            ("rustup +stable run stable cargo test", "ask"),
            ("rustup run stable $X", "ask"),
        ],
    );
    check(&["allow Bash(*)", "deny Bash(rm:*)"], &[("rustup run stable rm x", "deny")]);
    check(&["allow Bash(rustup run mine:*)", "allow Bash(cargo test:*)"], &[("rustup run mine cargo test", "allow")]);
    // The command needs its own allow.
    check(&["allow Bash(rustup run:*)"], &[("rustup run stable cargo test", "ask")]);
}

#[test]
fn tools_for_rust() {
    check(
        &[
            "allow Bash(mdbook:*)",
            "allow Bash(maturin:*)",
            "allow Bash(cargo deadlinks:*)",
            "allow Bash(cargo-no-std-check:*)",
            "allow Bash(cargo udeps:*)",
            "allow Bash(cargo tarpaulin:*)",
            "allow Bash(cargo careful:*)",
            "allow Bash(cargo update:*)",
            "allow Bash(cargo check:*)",
            "allow Edit(dist/**)",
        ],
        &[
            ("mdbook build docs", "allow"),
            ("mdbook test -L ./target/debug/deps/", "allow"),
            ("mdbook build /tmp/evil", "ask"),
            ("mdbook build ..", "ask"),
            ("mdbook test -L /tmp/evil", "ask"),
            ("mdbook build --open", "ask"),
            ("mdbook serve --hostname 0.0.0.0", "ask"),
            ("maturin init --bindings pyo3", "allow"),
            ("maturin build --release --out dist/wheels", "allow"),
            ("maturin init /tmp/x", "ask"),
            ("maturin build -i ./evil", "ask"),
            ("maturin build --config build.rustc-wrapper='\"./x\"'", "ask"),
            ("maturin develop -m /tmp/evil/Cargo.toml", "ask"),
            ("maturin build -- -C linker=./x", "ask"),
            ("maturin publish", "ask"),
            ("maturin upload dist/x.whl", "ask"),
            ("cargo deadlinks --ignore-fragments -- --all", "allow"),
            ("cargo deadlinks --check-http", "ask"),
            ("cargo deadlinks --cargo-dir /tmp/x", "ask"),
            ("cargo deadlinks -- --config build.rustdoc=./x", "ask"),
            ("cargo-no-std-check --no-default-features", "allow"),
            ("cargo-no-std-check --manifest-path /tmp/x/Cargo.toml", "ask"),
            ("cargo-no-std-check --config x.toml", "ask"),
            ("cargo-no-std-check --target x.json", "ask"),
            ("cargo udeps --all-targets", "allow"),
            ("cargo udeps --manifest-path /tmp/x/Cargo.toml", "ask"),
            ("cargo udeps --config x.toml", "ask"),
            ("cargo udeps --target ./x.json", "ask"),
            ("cargo tarpaulin --out Xml", "allow"),
            ("cargo tarpaulin --coveralls KEY", "ask"),
            ("cargo tarpaulin --root /tmp/x", "ask"),
            ("cargo tarpaulin --rustflags='-C linker=./x'", "ask"),
            ("cargo careful test --all-features", "allow"),
            ("cargo careful run --manifest-path /tmp/x/Cargo.toml", "ask"),
            ("cargo careful test --config x.toml", "ask"),
            ("cargo careful setup", "ask"),
            ("cargo update -Zminimal-versions", "allow"),
            ("cargo update -Zdirect-minimal-versions", "allow"),
            ("cargo check -Zbuild-std", "allow"),
            ("cargo update -Zunstable-options", "ask"),
            ("cargo check -Zscript", "ask"),
            ("cargo check -Zbuild-std=/tmp/x", "ask"),
        ],
    );
}

#[test]
fn tools_that_check_and_report() {
    check(
        &[
            "allow Bash(tslint:*)",
            "allow Bash(licensee:*)",
            "allow Bash(istanbul:*)",
            "allow Bash(jsonschema-cli:*)",
            "allow Bash(zizmor:*)",
            "allow Bash(gcov:*)",
            "allow Bash(genhtml:*)",
            "allow Bash(bind:*)",
            "allow Bash(reset:*)",
            "allow Bash(dot:*)",
            "allow Bash(ctest:*)",
        ],
        &[
            ("tslint --type-check --project tsconfig.json 'src/**/*.ts'", "allow"),
            ("tslint -r ./evil src/a.ts", "ask"),
            ("tslint -c evil.js src/a.ts", "ask"),
            ("tslint -s ./evil -t x src/a.ts", "ask"),
            ("tslint -o ../out src/a.ts", "ask"),
            ("tslint --fix src/a.ts", "ask"),
            ("licensee --production --errors-only", "allow"),
            ("licensee --init", "ask"),
            ("licensee /tmp/x", "ask"),
            ("licensee --config=x.js", "ask"),
            ("istanbul cover --report html node_modules/.bin/_mocha tests -- -u exports -R spec", "allow"),
            ("istanbul cover --post-require-hook ./x.js a.js", "ask"),
            ("istanbul cover --config x.js a.js", "ask"),
            ("istanbul cover --root /tmp/x a.js", "ask"),
            ("istanbul instrument src", "ask"),
            ("istanbul test", "ask"),
            ("jsonschema-cli validate schema.json -i instance.json", "allow"),
            ("jsonschema-cli validate --insecure schema.json", "ask"),
            ("jsonschema-cli validate --cacert x schema.json", "ask"),
            ("jsonschema-cli bundle schema.json -o x", "ask"),
            ("zizmor --format sarif .", "allow"),
            ("zizmor --fix .", "ask"),
            ("zizmor --gh-token=x .", "ask"),
            ("zizmor --gh-hostname evil.example .", "ask"),
            ("gcov -b a.c", "allow"),
            ("gcov -X a.c", "ask"),
            ("gcov --output-file=../x a.c", "ask"),
            ("gcov @options", "ask"),
            ("bind -p", "allow"),
            ("bind -x '\"\\C-l\": id'", "ask"),
            ("bind '\"\\C-l\": \"id\\n\"'", "ask"),
            ("bind -f ./keys", "ask"),
            ("reset", "allow"),
            ("reset -m x", "ask"),
            ("reset ./x", "ask"),
            ("reset -P", "ask"),
            ("dot -Tsvg a.dot", "allow"),
            ("dot -l./evil.so -Tsvg a.dot", "ask"),
            ("dot -Tsvg -O a.dot", "ask"),
            ("dot -c", "ask"),
            ("ctest --test-dir build", "allow"),
            ("ctest --test-dir /tmp/x", "ask"),
            ("ctest -S evil.cmake", "ask"),
            ("ctest --build-and-test a b --test-command id", "ask"),
        ],
    );
    check(
        &[
            "allow Bash(genhtml:*)",
            "allow Edit(**)",
            "allow Bash(go test:*)",
            "allow Bash(gcc:*)",
            "deny Edit(**/.env)",
        ],
        &[
            ("genhtml a.info --output-directory html", "allow"),
            ("genhtml a.info -o html", "allow"),
            ("genhtml a.info -o /etc/x", "ask"),
            ("genhtml --version-script=./x a.info", "ask"),
            ("genhtml --rc genhtml_annotate_script=./x a.info", "ask"),
            ("go test -coverprofile=c.out ./...", "allow"),
            ("go test -coverprofile=.env ./...", "deny"),
            ("go test -coverprofile=../c.out ./...", "ask"),
            ("go test -exec ./x ./...", "ask"),
            ("gcc -Wall -O2 -std=c11 -o a a.c", "allow"),
            ("gcc -o .env a.c", "deny"),
            ("gcc -o ../a a.c", "ask"),
            ("gcc -B. a.c", "ask"),
            ("gcc -wrapper ./x a.c", "ask"),
            ("gcc -specs=x a.c", "ask"),
            ("gcc -fplugin=./x.so a.c", "ask"),
            ("gcc @options", "ask"),
            ("gcc -Xlinker --plugin=./x.so a.c", "ask"),
            ("gcc -Wl,-plugin,./x.so a.c", "ask"),
        ],
    );
}

/// A glob of source files names no folder by convention, so a formatter writes nothing below one.
#[test]
fn formatters_change_the_files_of_a_glob() {
    check(
        &[
            "allow Bash(black:*)",
            "allow Bash(clang-format -i:*)",
            "allow Bash(gofmt -w:*)",
            "allow Bash(yapf -i:*)",
            "allow Bash(cd:*)",
            "allow Edit(**)",
            "deny Edit(**/.env)",
            "deny Edit(keys/**)",
        ],
        &[
            ("black src/*.py tests/*.py", "allow"),
            ("clang-format -i src/*.c", "allow"),
            ("black src/*", "ask"),
            ("black src/*.d", "ask"),
            ("black $X.py", "ask"),
            ("black keys/*.py", "deny"),
            ("black */*.py", "ask"),
            ("gofmt -w .", "allow"),
            ("gofmt -w cmd/a.go", "allow"),
            ("gofmt -w ../a.go", "ask"),
            ("gofmt -w ..", "ask"),
            ("cd /etc && gofmt -w .", "ask"),
            ("gofmt -w .env", "deny"),
            ("yapf -i -r src", "allow"),
            ("yapf -i ../a.py", "ask"),
            ("yapf -i /etc/a.py", "ask"),
            ("yapf -i keys/a.py", "deny"),
        ],
    );
}

/// Flags before a target are none of its own.
#[test]
fn harmless_flags_may_be_before_a_target() {
    check(
        &["allow Bash(mvn verify:*)", "allow Bash(make)", "allow Bash(make test*)", "deny Bash(mvn deploy:*)"],
        &[
            ("mvn -B verify", "allow"),
            ("make -j8", "allow"),
            ("make -k -j4 test-unit", "allow"),
            ("mvn -B deploy", "deny"),
            ("mvn -f /tmp/x verify", "ask"),
            ("mvn -s evil.xml verify", "ask"),
            ("make -f evil.mk", "ask"),
            ("make -C /tmp/x test", "ask"),
            ("make -j8 install", "ask"),
            ("make --eval=x:=1 test", "ask"),
        ],
    );
}
