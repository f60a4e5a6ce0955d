//! The environment variables that a server needs from the gateway, as far as its command tells: the
//! variables that the command mentions, and those that its program usually reads.

use std::collections::BTreeSet;

/// The variables that programs read, with the names of the programs and packages.
struct Usual {
    words: &'static [&'static str],
    variables: &'static [&'static str],
}

/// Each entry has its source, read on 2026-11-27.
const USUAL: [Usual; 9] = [
    // kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig
    Usual { words: &["kubectl", "kubernetes", "k8s", "helm"], variables: &["KUBECONFIG"] },
    // docs.aws.amazon.com/cli/latest/userguide/cli-configure-envvars.html
    Usual {
        words: &["aws", "awslabs"],
        variables: &[
            "AWS_ACCESS_KEY_ID",
            "AWS_CONFIG_FILE",
            "AWS_DEFAULT_REGION",
            "AWS_PROFILE",
            "AWS_REGION",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "AWS_SHARED_CREDENTIALS_FILE",
        ],
    },
    // docs.docker.com/reference/cli/docker, "Environment variables"
    Usual {
        words: &["docker"],
        variables: &["DOCKER_CERT_PATH", "DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_HOST", "DOCKER_TLS_VERIFY"],
    },
    // nodejs.org/api/cli.html, "Environment variables"
    Usual { words: &["node", "npx", "npm", "pnpm", "yarn"], variables: &["NODE_EXTRA_CA_CERTS"] },
    // docs.openssl.org, SSL_CTX_load_verify_locations; requests.readthedocs.io, "Advanced Usage"
    Usual {
        words: &["python", "python3", "uv", "uvx", "pipx"],
        variables: &["REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE"],
    },
    // ssh-agent(1)
    Usual { words: &["git", "ssh"], variables: &["SSH_AUTH_SOCK"] },
    // cloud.google.com/docs/authentication/application-default-credentials
    Usual { words: &["gcloud", "gcp"], variables: &["GOOGLE_APPLICATION_CREDENTIALS"] },
    // learn.microsoft.com/azure/developer: EnvironmentCredential
    Usual { words: &["az", "azure"], variables: &["AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID"] },
    // X(7), wayland.freedesktop.org
    Usual { words: &["playwright", "puppeteer"], variables: &["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"] },
];

/// Programs whose first argument that is no option is the program or package that they run.
const LAUNCHERS: [&str; 13] =
    ["bun", "bunx", "deno", "node", "npm", "npx", "pipx", "pnpm", "python", "python3", "uv", "uvx", "yarn"];

/// Subcommands of launchers, which precede the package.
const SUBCOMMANDS: [&str; 6] = ["dlx", "exec", "run", "tool", "x", "start"];

/// Variables that a command mentions as `$NAME`, which its own shell or program replaces; `${NAME}`
/// is replaced by the gateway.
#[must_use]
pub fn mentioned(command: &str, args: &[String]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for text in std::iter::once(command).chain(args.iter().map(String::as_str)) {
        for rest in text.split('$').skip(1) {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            let name = rest.get(..end).unwrap_or_default();
            // `$1` and `$0` are arguments of a shell.
            if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
                found.insert(name.to_owned());
            }
        }
    }
    // `docker run -e NAME` passes the variable of docker's own environment on.
    let is_docker = base(command) == "docker";
    for pair in args.windows(2).filter(|_| is_docker) {
        if let [option, name] = pair
            && ["-e", "--env"].contains(&option.as_str())
            && !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            found.insert(name.clone());
        }
    }
    found
}

/// Variables that the program of a command usually reads. The program is the command, or what a
/// launcher such as `npx` runs; its arguments, such as folders, do not count.
#[must_use]
pub fn usual(command: &str, args: &[String]) -> BTreeSet<String> {
    let program = base(command);
    let mut names = vec![program.to_ascii_lowercase()];
    if LAUNCHERS.contains(&program) {
        let runs = args.iter().find(|arg| !arg.starts_with('-') && !SUBCOMMANDS.contains(&arg.as_str()));
        let path = runs.map(|arg| if arg.starts_with('@') { arg.as_str() } else { base(arg) });
        names.extend(path.map(str::to_ascii_lowercase));
    }
    let words: BTreeSet<&str> =
        names.iter().flat_map(|name| name.split(|c: char| !c.is_ascii_alphanumeric())).collect();
    let fitting = USUAL.iter().filter(|own| own.words.iter().any(|word| words.contains(word)));
    fitting.flat_map(|own| own.variables.iter().map(|name| (*name).to_owned())).collect()
}

/// The last part of a path, without the end of a Windows program.
fn base(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.strip_suffix(".exe").or_else(|| name.strip_suffix(".cmd")).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> (String, Vec<String>) {
        let mut words = text.split(' ').map(str::to_owned);
        (words.next().unwrap(), words.collect())
    }

    #[test]
    fn variables_follow_from_the_program() {
        for (line, expected) in [
            ("kubectl mcp", "KUBECONFIG"),
            ("/usr/bin/docker run -i image", "DOCKER_HOST"),
            ("npx -y @modelcontextprotocol/server-everything", "NODE_EXTRA_CA_CERTS"),
            ("npx -y kubernetes-mcp-server@latest", "KUBECONFIG"),
            ("npx.cmd -y x", "NODE_EXTRA_CA_CERTS"),
            ("uvx awslabs.core-mcp-server@latest", "AWS_PROFILE"),
            ("uv tool run mcp-server-git --repository /x", "SSH_AUTH_SOCK"),
        ] {
            let (command, args) = words(line);
            assert!(usual(&command, &args).contains(expected), "{line}: {:?}", usual(&command, &args));
        }
        // A folder named after a program gives no server the program's secrets.
        for (line, missing) in [
            ("npx -y server-filesystem /home/me/aws", "AWS_PROFILE"),
            ("uvx mcp-server-github", "SSH_AUTH_SOCK"),
            ("files /srv/docker", "DOCKER_HOST"),
        ] {
            let (command, args) = words(line);
            assert!(!usual(&command, &args).contains(missing), "{line}");
        }
    }

    #[test]
    fn variables_are_mentioned_with_a_dollar_sign() {
        let names = |line: &str| {
            let (command, args) = words(line);
            mentioned(&command, &args).into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("sh -c exec server --root=$ROOT/x:$B $1 $$ $"), "B ROOT");
        assert_eq!(names("server ${TOKEN} %NAME%"), "");
        assert_eq!(names("docker run -e GITHUB_TOKEN -e A=1 --env B image"), "B GITHUB_TOKEN");
        assert_eq!(names("server -e NAME"), "");
    }
}
