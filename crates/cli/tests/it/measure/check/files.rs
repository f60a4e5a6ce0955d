//! Where `lock` writes, and what it overwrites.

use super::{folder, locked, run, tools, write};

#[test]
fn the_same_tools_are_the_same_bytes() {
    let path = locked("bytes", &[]);
    let first = std::fs::read(path.join("toolfold.lock")).unwrap();
    for _ in 0..2 {
        assert_eq!(run(&path, &["lock", "--tools", "tools.json"]).0, 0);
        assert_eq!(std::fs::read(path.join("toolfold.lock")).unwrap(), first);
    }
    let (_, out, _) = run(&path, &["lock", "--tools", "tools.json", "--out", "-"]);
    assert_eq!(out.as_bytes(), first);
    let (_, out, _) = run(&path, &["lock", "--tools", "tools.json", "--out", "/dev/stdout"]);
    assert_eq!(out.as_bytes(), first);
    let files: Vec<_> = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files.len(), 3, "nothing is left lying about: {files:?}");
}

#[test]
fn a_file_that_is_not_a_lock_is_not_overwritten() {
    let path = folder("other_file");
    write(&path, "tools.json", &tools(0));
    std::fs::write(path.join("notes.txt"), "mine").unwrap();
    let (code, _, err) = run(&path, &["lock", "--tools", "tools.json", "--out", "notes.txt"]);
    assert!(code == 1 && err.contains("is not a lock"), "{err}");
    assert_eq!(std::fs::read_to_string(path.join("notes.txt")).unwrap(), "mine");
    let (code, _, err) = run(&path, &["lock", "--tools", "tools.json", "--out", "no/such/folder"]);
    assert!(code == 1 && err.contains("cannot be written"), "{err}");
    std::fs::create_dir(path.join("folder")).unwrap();
    let (code, _, err) = run(&path, &["lock", "--tools", "tools.json", "--out", "folder"]);
    assert!(code == 1 && err.contains("it is a folder"), "{err}");
    std::fs::write(path.join("empty"), "").unwrap();
    assert_eq!(run(&path, &["lock", "--tools", "tools.json", "--out", "empty"]).0, 0);
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_devices_stay_devices() {
    use std::os::unix::fs::{FileTypeExt, symlink};

    let path = folder("links");
    write(&path, "tools.json", &tools(0));
    std::fs::create_dir(path.join("deep")).unwrap();
    symlink("deep/real.lock", path.join("link.lock")).unwrap();
    symlink("link.lock", path.join("link2.lock")).unwrap();
    symlink("/dev/null", path.join("null.lock")).unwrap();
    symlink("loop.lock", path.join("loop.lock")).unwrap();
    let lock = |out: &str| run(&path, &["lock", "--tools", "tools.json", "--out", out]);
    // First the target does not exist, then it does.
    for out in ["link2.lock", "link.lock"] {
        assert_eq!(lock(out).0, 0);
        assert!(path.join("link.lock").is_symlink() && path.join("link2.lock").is_symlink());
        assert!(std::fs::read_to_string(path.join("deep/real.lock")).unwrap().starts_with("# toolfold.lock"));
    }
    for out in ["/dev/null", "null.lock"] {
        assert_eq!(lock(out).0, 0);
        assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }
    assert!(path.join("null.lock").is_symlink());
    let (code, _, err) = lock("loop.lock");
    assert!(code == 1 && err.contains("more than 32 links"), "{err}");
}

#[cfg(unix)]
#[test]
fn a_redirected_standard_output_is_written_once() {
    let path = folder("redirected");
    write(&path, "tools.json", &tools(0));
    let out = std::fs::File::create(path.join("out.lock")).unwrap();
    let mut command = std::process::Command::new(toolfold_testing::started(env!("CARGO_BIN_EXE_toolfold")));
    command.current_dir(&path).args(["lock", "--tools", "tools.json", "--out", "/dev/stdout"]).env("HOME", &path);
    assert!(command.stdout(out).status().unwrap().success());
    let (_, expected, _) = run(&path, &["lock", "--tools", "tools.json", "--out", "-"]);
    assert_eq!(std::fs::read_to_string(path.join("out.lock")).unwrap(), expected);
}

/// The lock belongs to the configuration that was found, and annotations to the repository.
#[test]
fn the_lock_is_beside_the_configuration_and_annotations_name_files_of_the_repository() {
    let path = folder("beside");
    std::fs::create_dir_all(path.join(".git")).unwrap();
    std::fs::create_dir_all(path.join("sub/deeper")).unwrap();
    std::fs::write(path.join("toolfold.toml"), "[tools]\nfile = \"sub/tools.json\"\n").unwrap();
    write(&path, "sub/tools.json", &tools(0));
    let below = path.join("sub/deeper");
    assert_eq!(run(&below, &["lock"]).0, 0);
    assert!(path.join("toolfold.lock").is_file() && !below.join("toolfold.lock").exists());
    write(&path, "sub/tools.json", &tools(20));
    for (from, more) in [(&below, &[][..]), (&path, &[]), (&below, &["--tools", "../tools.json"])] {
        let (code, out, err) = run(from, &[&["check", "--output", "github"], more].concat());
        assert_eq!(code, 1, "{err}");
        assert!(out.lines().all(|line| line.starts_with("::error file=sub/tools.json,line=")), "{out}");
    }
    assert_eq!(run(&below, &["diff", "--exit-code"]).0, 1);
}
