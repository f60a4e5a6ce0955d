//! Facts about programs that several modules need.

use crate::policy::argv::{Word, base_name};

/// Programs that run the code they receive.
pub(crate) const INTERPRETERS: &[&str] = &[
    "python",
    "python2",
    "python3",
    "pypy",
    "pypy3",
    "node",
    "nodejs",
    "deno",
    "bun",
    "ruby",
    "irb",
    "perl",
    "php",
    "lua",
    "luajit",
    "osascript",
    "pwsh",
    "powershell",
    "tclsh",
    "wish",
    "expect",
    "Rscript",
    "R",
    "julia",
    "ghci",
    "runghc",
    "scala",
    "groovy",
    "jshell",
    "elixir",
    "iex",
    "erl",
    "swift",
    "guile",
    "racket",
    "ocaml",
    "gdb",
    "lldb",
    "sqlite3",
    "psql",
    "mysql",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "jq",
    "tsx",
    "ts-node",
    "ipython",
    "ipython3",
    "raku",
    "clojure",
    "clj",
    "bb",
    "janet",
    "octave",
    "ghc",
    "kotlin",
    "sbcl",
    "crystal",
];

/// Shells.
pub(crate) const SHELLS: &[&str] = &[
    "sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "yash", "nu", "elvish", "xonsh",
    "cmd",
];

/// Programs that may start another program, although none of their arguments names it. Those whose arguments do are in
/// the table of launchers.
pub(crate) const LAUNCHERS: &[&str] = &[
    "uv", "docker", "podman", "kubectl", "make", "gmake", "just", "task", "find", "fd", "vim", "vi", "nvim", "emacs",
    "ed", "ex", "less", "more", "man", "crontab", "open", "xdg-open", "start", "rundll32",
];

/// Whether a program is an interpreter, with or without a version: `python3.12`.
pub(crate) fn is_interpreter(base: &str) -> bool {
    let bare = base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&base) || INTERPRETERS.contains(&bare)
}

/// Whether a program is a shell.
pub(crate) fn is_shell(base: &str) -> bool {
    SHELLS.contains(&base)
}

/// Options before git's subcommand that take the next word as their value.
const GIT_VALUES: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--config-env",
    "--exec-path",
    "--attr-source",
    "--config",
];

/// The position of the subcommand, for programs that have one and take options before it.
pub(crate) fn subcommand(words: &[Word]) -> Option<usize> {
    let base = base_name(words.first()?.get()?);
    let values: &[&str] = match base {
        "git" => GIT_VALUES,
        "docker" | "podman" => &["-H", "--host", "-c", "--context", "--config", "-l", "--log-level"],
        "kubectl" => &["-n", "--namespace", "--context", "--kubeconfig", "-s", "--server", "--cluster", "--user"],
        "npm" | "pnpm" | "yarn" => &[
            "--prefix",
            "-C",
            "--dir",
            "--cwd",
            "-w",
            "--workspace",
            "--filter",
            "-F",
            "--registry",
            "--userconfig",
            "--cache",
            "--loglevel",
            "--otp",
            "--tag",
        ],
        "cargo" => &["-C", "-Z", "--config", "--color", "--manifest-path", "--target-dir"],
        "gh" | "glab" => &["-R", "--repo", "--hostname"],
        "helm" => &["-n", "--namespace", "--kube-context", "--kubeconfig", "--registry-config", "--repository-config"],
        "terraform" | "tofu" | "terragrunt" => &["-chdir"],
        "systemctl" | "journalctl" => {
            &["-H", "--host", "-M", "--machine", "-t", "--type", "-p", "-n", "-o", "-s", "--root"]
        }
        "apt" | "apt-get" => &["-o", "-c", "-t", "--option", "--config-file", "--target-release"],
        "pip" | "pip3" => &["--proxy", "--log", "--cache-dir", "--python", "--timeout", "--retries", "--cert"],
        "aws" => &[
            "--profile",
            "--region",
            "--output",
            "--endpoint-url",
            "--query",
            "--color",
            "--ca-bundle",
            "--cli-read-timeout",
        ],
        "gcloud" | "gsutil" | "bq" => {
            &["--project", "--account", "--configuration", "--format", "--verbosity", "-o", "-h"]
        }
        "az" => &["--subscription", "-o", "--output", "--query"],
        "fly" | "flyctl" | "heroku" => &["-a", "--app", "-c", "--config", "-r", "--remote"],
        "uv" | "poetry" | "bundle" => &["-C", "--directory", "--project", "--config-file", "-P", "--gemfile"],
        _ => return None,
    };
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match word.get() {
            Some(option) if values.contains(&option) => at += 2,
            Some(option) if option.starts_with('-') && option.len() > 1 => at += 1,
            Some(option) if option.starts_with('+') && base == "cargo" => at += 1,
            _ => return Some(at),
        }
    }
    None
}

/// Environment variables that make a program run or load something else.
#[cfg(feature = "shell")]
pub(crate) fn is_dangerous_variable(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "PATH",
        "IFS",
        "ENV",
        "BASH_ENV",
        "SHELLOPTS",
        "BASHOPTS",
        "PS4",
        "PS0",
        "PROMPT_COMMAND",
        "CDPATH",
        "PAGER",
        "MANPAGER",
        "EDITOR",
        "VISUAL",
        "BROWSER",
        "LESSOPEN",
        "LESSCLOSE",
        "SHELL",
        "HOME",
        "XDG_CONFIG_HOME",
        "NODE_OPTIONS",
        "NODE_PATH",
        "PERL5OPT",
        "PERL5LIB",
        "PERLLIB",
        "RUBYOPT",
        "RUBYLIB",
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "RUSTC_WRAPPER",
        "RUSTC",
        "RUSTFLAGS",
        "CC",
        "CXX",
        "LD",
        "AR",
        "MAKEFLAGS",
        "MAKEFILES",
        "GNUMAKEFLAGS",
        "CARGO",
        "TAR_OPTIONS",
        "GREP_OPTIONS",
        "RIPGREP_CONFIG_PATH",
        "FZF_DEFAULT_COMMAND",
        "PYTHONSTARTUP",
        "PYTHONPATH",
        "PYTHONHOME",
        "PYTHONINSPECT",
        "BASH_FUNC_",
        "HISTFILE",
        "GLOBIGNORE",
        "EXECIGNORE",
        "SUDO_ASKPASS",
        "SSH_ASKPASS",
        "TMPDIR",
        "LD_PRELOAD",
        "ZDOTDIR",
        "OPENSSL_CONF",
        "GCONV_PATH",
        "LOCPATH",
        "HOSTALIASES",
        "POSIXLY_CORRECT",
        "BASH_CMDS",
        "BASH_ALIASES",
        "BASH_ARGV0",
        "FPATH",
    ];
    const STARTS: &[&str] =
        &["LD_", "DYLD_", "GIT_", "BASH_", "npm_config_", "NPM_CONFIG_", "CARGO_", "PIP_", "DOCKER_", "GCC_", "PYTHON"];
    const ENDS: &[&str] =
        &["_PAGER", "_EDITOR", "_RSH", "_SSH", "_ASKPASS", "_BROWSER", "_WRAPPER", "_SHELL", "_PRELOAD", "_LINKER"];
    NAMES.contains(&name) || STARTS.iter().any(|s| name.starts_with(s)) || ENDS.iter().any(|end| name.ends_with(end))
}
