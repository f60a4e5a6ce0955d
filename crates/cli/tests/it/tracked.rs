//! A checkout, and what git prints, are decided by what git tracks in the repository of the working
//! folder.

use std::path::PathBuf;
use std::process::Command;

use crate::commands::run;

/// A repository with a file on `main`, and `.env` also on the branch `secret`.
struct Repository(PathBuf);

impl Repository {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("toolfold-tracked-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        let own = Self(folder.canonicalize().unwrap());
        own.git(&["init", "-q", "-b", "main"]);
        std::fs::write(own.0.join("sub/a.rs"), "a").unwrap();
        own.commit("a");
        own.git(&["checkout", "-q", "-b", "secret"]);
        std::fs::write(own.0.join("sub/.env"), "KEY=1").unwrap();
        own.commit("b");
        own.git(&["checkout", "-q", "main"]);
        // Not tracked here: no checkout of `main` writes it.
        std::fs::write(own.0.join(".env"), "KEY=2").unwrap();
        own
    }

    fn git(&self, args: &[&str]) {
        let names = [
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.com",
            "-c",
            "commit.gpgsign=false",
            "-c",
            "advice.addEmbeddedRepo=false",
        ];
        let status = Command::new("git").args(names).args(args).current_dir(&self.0).status().unwrap();
        assert!(status.success(), "git {args:?}");
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// The first word of the explanation of a command.
    fn decision(&self, command: &str) -> String {
        let policy = self.0.with_extension("toml");
        std::fs::write(&policy, "allow = [\"Bash(*)\"]\ndeny = [\"Edit(**/.env)\", \"Read(**/.env)\"]\n").unwrap();
        let cwd = self.0.to_str().unwrap();
        let ran = run(&["policy", "explain", policy.to_str().unwrap(), "Bash", command, "--cwd", cwd]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out.lines().next().unwrap().to_owned()
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
        drop(std::fs::remove_file(self.0.with_extension("toml")));
    }
}

/// An answer that comes too late asks, so an allow may take several attempts on a busy machine.
#[track_caller]
fn runs(repository: &Repository, command: &str) {
    let decided = (0..50).any(|_| repository.decision(command) == "allow, audited");
    assert!(decided, "{command}: {}", repository.decision(command));
}

#[test]
fn a_checkout_is_decided_by_what_git_tracks() {
    let repository = Repository::new();
    for command in ["git checkout main", "git restore .", "git checkout sub/a.rs", "git checkout HEAD~0 -- sub"] {
        runs(&repository, command);
    }
    for command in ["git checkout secret", "git restore --source=secret .", "git pull", "git checkout unknown"] {
        assert_eq!(repository.decision(command), "confirm", "{command}");
    }
    // The file on the disk is not tracked, and git does not print it.
    for command in ["git log -p", "git log -p main -- '*.rs'", "git show HEAD -- '*.e*'", "git grep K -- 'sub/*'"] {
        runs(&repository, command);
    }
    // It was in a commit, is in one of the revisions, or was never asked about.
    for command in ["git log -p secret", "git log -p --all", "git log -p main..secret", "git log -p unknown"] {
        assert_eq!(repository.decision(command), "confirm", "{command}");
    }
    // Of a range, git prints files of both ends.
    for command in
        ["git diff secret..main -- '*.e*'", "git diff main...secret -- '*.e*'", "git diff main ^secret -- '*.e*'"]
    {
        assert_eq!(repository.decision(command), "confirm", "{command}");
    }
    runs(&repository, "git diff main..HEAD -- '*.e*'");
    repository.git(&["merge", "-q", "-s", "ours", "secret", "-m", "m"]);
    assert_eq!(repository.decision("git log -p"), "confirm");
    runs(&repository, "git checkout main");
    // A submodule may contain anything.
    let module = repository.0.join("module");
    std::fs::create_dir(&module).unwrap();
    let inner = Repository(module);
    inner.git(&["init", "-q"]);
    std::fs::write(inner.0.join("f"), "f").unwrap();
    inner.commit("f");
    repository.git(&["add", "module"]);
    assert_eq!(repository.decision("git restore ."), "confirm");
    runs(&repository, "git restore sub");
}

#[test]
fn what_is_no_repository_asks() {
    let folder = std::env::temp_dir().join(format!("toolfold-untracked-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let place = Repository(folder.canonicalize().unwrap());
    assert_eq!(place.decision("git checkout main"), "confirm");
}
