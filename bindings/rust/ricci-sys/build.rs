//! Finds the library by pkg-config: in RICCI_LIB_DIR (the `lib` folder of a prefix), else where pkg-config looks.
use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for variable in ["RICCI_LIB_DIR", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR", "PKG_CONFIG_SYSROOT_DIR"] {
        println!("cargo:rerun-if-env-changed={}", variable);
    }
    if env::var_os("CARGO_FEATURE_PLUGIN").is_some() {
        return;
    }
    let cpu = env::var_os("CARGO_FEATURE_CPU").is_some();
    let mut folders = Vec::new();
    for word in flags(if cpu { "ricci-cpu" } else { "ricci" }).split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={}", folder);
            folders.push(folder.to_string());
        } else if let Some(library) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={}", library);
            watch(&folders, library);
        }
    }
}

/// A library that was built again is linked again.
fn watch(folders: &[String], library: &str) {
    for folder in folders {
        for name in [format!("lib{}.a", library), format!("lib{}.so", library)] {
            let path = std::path::Path::new(folder).join(name);
            if path.exists() {
                println!("cargo:rerun-if-changed={}", path.display());
            }
        }
    }
}

fn flags(package: &str) -> String {
    let mut command = Command::new("pkg-config");
    command.args(["--libs", package]);
    if let Some(folder) = env::var_os("RICCI_LIB_DIR") {
        let path = std::path::Path::new(&folder).join("pkgconfig");
        if !path.join(format!("{}.pc", package)).exists() {
            panic!("RICCI_LIB_DIR: no {}.pc in {}; it is the `lib` folder of an installed Ricci", package, path.display());
        }
        // Another library in that folder needs other flags.
        println!("cargo:rerun-if-changed={}", path.join(format!("{}.pc", package)).display());
        command.env("PKG_CONFIG_PATH", path);
    }
    let found = command.output().unwrap_or_else(|e| panic!("pkg-config cannot be run: {}", e));
    if !found.status.success() {
        panic!(
            "pkg-config does not find {}: set RICCI_LIB_DIR to the `lib` folder of an installed Ricci\n{}",
            package,
            String::from_utf8_lossy(&found.stderr)
        );
    }
    String::from_utf8_lossy(&found.stdout).into_owned()
}
