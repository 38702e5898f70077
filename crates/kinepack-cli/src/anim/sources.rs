//! Reads clips from many files, and processes each clip on all cores.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use kinepack_anim::import::{self, Import, ImportOptions};
use kinepack_anim::offline::{BuildError, BuildOptions, Built, build};
use kinepack_anim::{RawClip, disk, exchange};

use super::compiled::{self, SkeletonArguments};
use super::file_types::{self, CLIPS, RAW_CLIP, SOURCES, ends_in};
use super::import_options::ImportArguments;
use super::left_out::LeftOutReport;
use super::names::Names;
use super::scheme::SchemeArguments;
use super::skipped::Skipped;
use crate::anim::error::AnimError;

/// A clip and the file from which it was read.
pub(crate) struct Source {
    pub(crate) file: PathBuf,
    pub(crate) raw: RawClip,
}

impl Source {
    pub(crate) fn not_built(&self, error: BuildError) -> AnimError {
        AnimError::Build { file: self.file.clone(), clip: self.raw.name().to_owned(), error }
    }
}

/// All clips of several files.
#[derive(Default)]
pub(crate) struct Sources {
    pub(crate) sources: Vec<Source>,
    /// The decisions that the import made.
    pub(crate) notes: Vec<String>,
    /// The parts of the files that the import omitted.
    pub(crate) left_out: Vec<LeftOutReport>,
    /// The files, animations and channels that cannot be read.
    pub(crate) skipped: Skipped,
}

impl Sources {
    /// Splits the sources into the clips, notes that also list the omitted parts, and the skipped
    /// parts.
    pub(crate) fn into_parts(mut self) -> (Vec<Source>, Vec<String>, Skipped) {
        self.notes.extend(self.left_out.iter().map(LeftOutReport::line));
        (self.sources, self.notes, self.skipped)
    }
}

/// Reads all clips of animations or `.clip` files. Skips files that cannot be read.
pub(crate) fn read(files: &[PathBuf], options: &ImportOptions) -> Result<Sources, AnimError> {
    let bar = progress(files.len() as u64, "read");
    // A bad option is refused before any file is blamed for it.
    options.validate()?;
    let Sources { mut sources, mut notes, mut left_out, mut skipped } = Sources::default();
    let mut names = Names::default();
    for file in files {
        match read_file(file, SOURCES, options) {
            Ok(import) => {
                notes.extend(import.notes.iter().map(ToString::to_string));
                left_out.extend(LeftOutReport::of_file(file, &import.left_out));
                skipped.extend(import.skipped.into_iter().map(Box::new).map(AnimError::Part));
                for raw in import.clips {
                    let (raw, note) = names.take(raw, file);
                    notes.extend(note);
                    sources.push(Source { file: file.clone(), raw });
                }
            }
            Err(failure) => skipped.add(failure),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(Sources { sources, notes, left_out, skipped })
}

/// Reads a file in the format that its extension selects.
pub(crate) fn read_file(
    file: &Path,
    takes: &'static [&'static str],
    options: &ImportOptions,
) -> Result<Import, AnimError> {
    file_types::check(file, takes)?;
    if ends_in(file, &[RAW_CLIP]) {
        return Ok(Import { clips: vec![read_clip_file(file)?], ..Import::default() });
    }
    Ok(import::read(file, options)?)
}

/// Reads the clips of any file with motion, also of a compressed one, which has one clip.
pub(crate) fn read_played(path: &Path, options: &ImportOptions) -> Result<Import, AnimError> {
    options.validate()?;
    if ends_in(&file_types::of_database(path).0, CLIPS) {
        let clip = compiled::read(path, &SkeletonArguments::default())?.raw(path)?;
        return Ok(Import { clips: vec![clip], ..Import::default() });
    }
    read_file(path, SOURCES, options)
}

fn read_clip_file(path: &Path) -> Result<RawClip, AnimError> {
    let bytes = std::fs::read(path)
        .map_err(|error| AnimError::ClipFile { path: path.to_owned(), error })?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    exchange::read(name, &bytes)
        .map_err(|error| AnimError::BadClip { path: path.to_owned(), reason: error.to_string() })
}

/// A built clip, and the time that the build took on its thread.
pub(crate) struct BuiltClip {
    pub(crate) built: Built,
    pub(crate) build_ms: f64,
    packed: OnceLock<Option<Vec<u8>>>,
}

impl BuiltClip {
    /// Returns the clip as a disk file, if its scheme has that form.
    pub(crate) fn packed(&self) -> Option<&[u8]> {
        let pack = || self.built.clip.as_block().and_then(|clip| disk::pack(clip).ok());
        self.packed.get_or_init(pack).as_deref()
    }
}

/// All clips of several files, both as read and as built, with notes about decisions of the import.
pub(crate) struct BuiltFiles {
    pub(crate) sources: Vec<Source>,
    pub(crate) built: Vec<BuiltClip>,
    pub(crate) notes: Vec<String>,
    pub(crate) skipped: Skipped,
}

/// Reads all clips of several files, and builds them with the options of the command line. Files
/// without any clip count as skipped.
pub(crate) fn read_and_build(
    files: &[PathBuf],
    import: &ImportArguments,
    scheme: &SchemeArguments,
) -> Result<BuiltFiles, AnimError> {
    let read = read(files, &import.options())?;
    let of_none = match read.sources.is_empty() && read.skipped.is_empty() {
        true => refuse_empty(files, &read.left_out),
        false => Ok(()),
    };
    let (mut sources, notes, mut skipped) = read.into_parts();
    skipped.extend(of_none.err());
    if !sources.is_empty() {
        scheme.check(sources.iter().map(|source| &source.raw))?;
    }
    let results = build_each(&sources, |raw| scheme.options(raw), "built", None)?;
    let (is_built, built) = split_built(results, &mut skipped);
    keep(&mut sources, &is_built);
    Ok(BuiltFiles { sources, built, notes, skipped })
}

/// Splits the results into the built clips and, for each source, whether it was built. Failures go
/// to `skipped`.
pub(crate) fn split_built(
    results: Vec<Result<BuiltClip, AnimError>>,
    skipped: &mut Skipped,
) -> (Vec<bool>, Vec<BuiltClip>) {
    let is_built = results.iter().map(Result::is_ok).collect();
    let built = results.into_iter().filter_map(|result| match result {
        Ok(built) => Some(built),
        Err(failure) => {
            skipped.add(failure);
            None
        }
    });
    (is_built, built.collect())
}

/// Keeps the items whose flag in `is_kept` is true.
pub(crate) fn keep<T>(items: &mut Vec<T>, is_kept: &[bool]) {
    let mut is_kept = is_kept.iter().copied();
    items.retain(|_| is_kept.next().unwrap_or_default());
}

/// Reads all clips of several files, and checks that the options fit them.
pub(crate) fn read_checked(
    files: &[PathBuf],
    import: &ImportArguments,
    scheme: &SchemeArguments,
) -> Result<Sources, AnimError> {
    let read = read_some(files, import)?;
    if !read.sources.is_empty() {
        scheme.check(read.sources.iter().map(|source| &source.raw))?;
    }
    Ok(read)
}

/// Reads all clips of several files. Refuses the files if none of them has a clip.
pub(crate) fn read_some(files: &[PathBuf], import: &ImportArguments) -> Result<Sources, AnimError> {
    let read = read(files, &import.options())?;
    if read.sources.is_empty() {
        read.skipped.refuse()?;
        refuse_empty(files, &read.left_out)?;
        return Ok(Sources::default());
    }
    Ok(read)
}

/// Refuses files that contain no clip.
pub(crate) fn refuse_empty(files: &[PathBuf], left_out: &[LeftOutReport]) -> Result<(), AnimError> {
    /// The maximum number of parts that the refusal lists.
    const LISTED: usize = 5;
    let Some(file) = files.first() else { return Ok(()) };
    let others = if files.len() > 1 { ", and the other files have none either" } else { "" };
    let has_animations = left_out.iter().any(LeftOutReport::is_empty_animation);
    let parts = left_out.iter().filter(|part| !part.is_empty_animation()).take(LISTED);
    let parts: Vec<String> = parts.map(LeftOutReport::part).collect();
    let advice = match (has_animations, parts.is_empty()) {
        (false, _) => "export the file with its animations, or give one that has some".to_owned(),
        (true, true) => "its animations have no channels; give a file that has some".to_owned(),
        (true, false) => format!("its animations change other things: {}", parts.join(", ")),
    };
    let reason = format!("no animation of joints or nodes{others}: {advice}");
    Err(AnimError::BadClip { path: file.clone(), reason })
}

/// Builds all clips. Stops at the first clip that cannot be built.
pub(crate) fn build_all(
    sources: &[Source],
    options: impl Fn(&RawClip) -> BuildOptions + Sync,
    what: &str,
    jobs: Option<NonZeroUsize>,
) -> Result<Vec<BuiltClip>, AnimError> {
    build_each(sources, options, what, jobs)?.into_iter().collect()
}

/// Builds each clip with its own options and on one thread. `jobs` is the number of clips that are
/// built at the same time, by default the number of cores. If a clip has numbers that cannot be
/// built, the clip's result is an error. Any other failure stops all work, because the options
/// caused it.
pub(crate) fn build_each(
    sources: &[Source],
    options: impl Fn(&RawClip) -> BuildOptions + Sync,
    what: &str,
    jobs: Option<NonZeroUsize>,
) -> Result<Vec<Result<BuiltClip, AnimError>>, AnimError> {
    let build_one = |source: &Source| {
        let begun = Instant::now();
        let built = match build(&source.raw, &options(&source.raw)) {
            Ok(built) => built,
            Err(error @ BuildError::Clip(_)) => return Ok(Err(source.not_built(error))),
            Err(error) => return Err(source.not_built(error)),
        };
        let build_ms = 1e3 * begun.elapsed().as_secs_f64();
        Ok(Ok(BuiltClip { built, build_ms, packed: OnceLock::new() }))
    };
    let mut all = Vec::with_capacity(sources.len());
    take_from_all_cores(sources, what, jobs, build_one, |built| all.push(built))?;
    Ok(all)
}

/// Calls `act` for each item, and returns the results in order. Stops at the first failure.
pub(crate) fn on_all_cores<T: Sync, R: Send>(
    items: &[T],
    what: &str,
    act: impl Fn(&T) -> Result<R, AnimError> + Sync,
) -> Result<Vec<R>, AnimError> {
    let mut all = Vec::with_capacity(items.len());
    take_from_all_cores(items, what, None, act, |result| all.push(result))?;
    Ok(all)
}

/// Calls `act` for each item, and hands the results to `take` in order, each as soon as all earlier
/// results are ready. `jobs` is the number of threads, by default one per core. Stops at the first
/// failure.
pub(crate) fn take_from_all_cores<T: Sync, R: Send>(
    items: &[T],
    what: &str,
    jobs: Option<NonZeroUsize>,
    act: impl Fn(&T) -> Result<R, AnimError> + Sync,
    take: impl FnMut(R) + Send,
) -> Result<(), AnimError> {
    let bar = progress(items.len() as u64, what);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(InOrder { taken: 0, waiting: BTreeMap::new(), take });
    let failed = Mutex::new(None);
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = jobs.map_or_else(cores, usize::from).min(items.len().max(1));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((index, item)) = Some(next.fetch_add(1, Ordering::Relaxed))
                    .and_then(|at| Some((at, items.get(at)?)))
                {
                    match act(item) {
                        Ok(result) => lock(&results).add(index, result),
                        Err(failure) => {
                            lock(&failed).get_or_insert(failure);
                            next.store(items.len(), Ordering::Relaxed);
                        }
                    }
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
    if let Some(failure) = lock(&failed).take() {
        return Err(failure);
    }
    Ok(())
}

/// Takes results in any order, and passes them on in the order of the items.
struct InOrder<R, F> {
    taken: usize,
    waiting: BTreeMap<usize, R>,
    take: F,
}

impl<R, F: FnMut(R)> InOrder<R, F> {
    fn add(&mut self, index: usize, result: R) {
        self.waiting.insert(index, result);
        while let Some(result) = self.waiting.remove(&self.taken) {
            (self.take)(result);
            self.taken += 1;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Returns a progress bar, which is shown in terminals only.
pub(crate) fn progress(len: u64, what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}, {eta} left");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(len).with_style(style).with_message(what.to_owned())
}
