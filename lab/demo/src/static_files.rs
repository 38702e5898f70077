//! Writes a page as a folder of static files, for any web host.

use std::collections::btree_map::{BTreeMap, Entry};
use std::path::Path;

use command_kit::output::{Batch, Outputs};
use command_kit::page::{File, SHARED};
use command_kit::{OutputError, counted, say};

/// Writes all files or none. They are the generated files, the page's own files, and those that all
/// pages share. Names are paths within the folder.
pub fn write(
    directory: &Path,
    outputs: &Outputs,
    made: impl IntoIterator<Item = (&'static str, Vec<u8>)>,
    fixed: impl IntoIterator<Item = &'static File>,
) -> Result<(), OutputError> {
    let fixed = fixed.into_iter().chain(SHARED).map(|(name, bytes)| (*name, bytes.to_vec()));
    let mut batches = BTreeMap::new();
    let mut total = 0;
    for (name, bytes) in made.into_iter().chain(fixed) {
        let (folder, file) = match name.rsplit_once('/') {
            Some((folder, file)) => (directory.join(folder), file),
            None => (directory.to_owned(), name),
        };
        let batch = match batches.entry(folder.clone()) {
            Entry::Occupied(batch) => batch.into_mut(),
            Entry::Vacant(place) => place.insert(Batch::in_directory(&folder)?),
        };
        batch.write(&outputs.target_in(&folder, file)?, &bytes)?;
        total += bytes.len();
    }
    batches.into_values().try_for_each(Batch::commit)?;
    say(format_args!(
        "{}: {}; put the folder on any web host, or try it with `python3 -m http.server -d {0}`",
        directory.display(),
        counted(total as u64, "byte"),
    ));
    Ok(())
}
