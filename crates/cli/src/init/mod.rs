//! `antiphon init`: a small project that runs at once.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::args::Init;
use crate::failure::{Ended, Failure};

/// The files of the project.
const FILES: [(&str, &str); 3] = [
    ("antiphon.yaml", include_str!("antiphon.yaml")),
    (".env.example", include_str!("env.example")),
    ("README.md", include_str!("README.md")),
];

/// Writes the project, all of it or, where one of its files is there already, nothing.
///
/// # Errors
/// A file is there already or can't be written.
pub(crate) fn init(args: &Init) -> Result<Ended, Failure> {
    let folder = &args.folder;
    for (name, _) in FILES {
        let path = folder.join(name);
        // A link that leads nowhere is there, too.
        if path.symlink_metadata().is_ok() {
            return Err(is_there(&path));
        }
    }
    fs::create_dir_all(folder).map_err(|error| {
        Failure::failed(format!(
            "{}: {error}; choose another folder",
            folder.display()
        ))
    })?;
    for (name, text) in FILES {
        write(&folder.join(name), text)?;
    }
    let go_there = if folder.as_os_str() == "." {
        String::new()
    } else {
        format!("cd {} && ", folder.display())
    };
    let says =
        format!("wrote antiphon.yaml, .env.example and README.md; now: {go_there}antiphon serve\n");
    // The files are written, whether or not that can be said.
    let _ = io::stderr().write_all(says.as_bytes());
    Ok(Ended::Well)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    made.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => is_there(path),
            _ => Failure::failed(format!(
                "{}: {error}; choose another folder",
                path.display()
            )),
        })
}

fn is_there(path: &Path) -> Failure {
    let path = path.display();
    Failure::failed(format!(
        "{path} is there already, and init never overwrites: choose another folder, or move it away"
    ))
}
