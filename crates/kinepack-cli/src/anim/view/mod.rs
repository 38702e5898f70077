//! `kinepack anim view`: shows raw and compressed clips on top of each other in the browser, or
//! compiled clips alone. The page requests the list, then a clip, its poses and the curve of a
//! track. The program computes each answer on request, and does not store it.

mod buffers;
mod describe;
mod server;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use command_kit::interrupt::Interrupt;
use command_kit::page::PageError;
use command_kit::{OutputError, page, say};
use kinepack_anim::measure::{ErrorOptions, ErrorReport, measure};
use kinepack_anim::{AnyClip, RawClip};

use super::compiled::{self, SkeletonArguments};
use super::file_types;
use super::import_options::ImportArguments;
use super::scheme::SchemeArguments;
use super::skipped::Skipped;
use super::sources::{self, BuiltFiles};
use crate::anim::error::AnimError;

pub(crate) use server::SCENE;

/// The default port of the page.
const PORT: u16 = 4651;

/// Show raw and compressed clips on top of each other in the browser, or compiled clips alone.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Animations, which are compressed and shown together with the result: .glb, .gltf, .vrm,
    /// .vrma, .bvh, .bvh.zst, .clip or, with the feature fbx, .fbx. Or clips that `anim build`
    /// wrote, which are shown as they are: .kpa, .kpd, or FILE.kpb#CLIP of a database.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    view: ViewOptions,
    #[command(flatten)]
    skeleton: SkeletonArguments,
    #[command(flatten)]
    scheme: SchemeArguments,
    #[command(flatten)]
    import: ImportArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), AnimError> {
    let scheme = &arguments.scheme;
    let mut skipped = Skipped::default();
    let (compiled, animations) = file_types::split(&arguments.files, &mut skipped);
    let compiled: Vec<Shown> = compiled
        .iter()
        .filter_map(|file| {
            let shown = Shown::compiled(file, &arguments.skeleton);
            shown.map_err(|failure| skipped.add(failure)).ok()
        })
        .collect();
    let BuiltFiles { sources, built, notes, skipped: of_animations } =
        sources::read_and_build(&animations, &arguments.import, scheme)?;
    skipped.append(of_animations);
    if sources.is_empty() && compiled.is_empty() {
        return skipped.refuse();
    }
    skipped.lines().iter().for_each(|line| say(format_args!("skipped: {line}")));
    notes.iter().for_each(say);
    let clips = sources.into_iter().zip(built).map(|(source, built)| Shown {
        error: scheme.error(&source.raw),
        raw: source.raw,
        clip: built.built.clip,
        report: built.built.errors,
        scheme: scheme.name().to_owned(),
        precision_cm: scheme.precision_cm(),
        is_compiled: false,
    });
    show(clips.chain(compiled).collect(), &arguments.view)?;
    skipped.finish()
}

/// The options for serving the page.
#[derive(Args, Clone, Debug, Default)]
struct ViewOptions {
    /// Address and port of the page. Port 0 takes any free port. Everybody who can reach the
    /// address can see the clips [default: 127.0.0.1:4651, or another port if that is taken]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
    /// Do not open the browser.
    #[arg(long)]
    pub(crate) no_open: bool,
}

/// A clip that the page shows.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) raw: RawClip,
    /// The compressed clip, with as many joints and samples as the raw clip.
    pub(crate) clip: AnyClip,
    pub(crate) report: ErrorReport,
    /// The name of the clip's scheme.
    pub(crate) scheme: String,
    /// The precision that the clip was built for.
    pub(crate) precision_cm: f64,
    /// The options with which the report was measured.
    pub(crate) error: ErrorOptions,
    /// Whether there is no raw clip. In that case `raw` contains the clip's own samples, and the
    /// errors have no meaning.
    pub(crate) is_compiled: bool,
}

impl Shown {
    /// Returns a compiled clip, with its skeleton.
    fn compiled(path: &Path, skeleton: &SkeletonArguments) -> Result<Self, AnimError> {
        let compiled = compiled::read(path, skeleton)?;
        let raw = compiled.raw(path)?;
        let clip = compiled.clip;
        let error = ErrorOptions::default();
        let report = measure(&raw, &clip, &error);
        let scheme = if clip.as_block().is_some() { "block" } else { "keyed" }.to_owned();
        Ok(Self { raw, clip, report, scheme, precision_cm: 0.0, error, is_compiled: true })
    }
}

/// Shows clips until Ctrl-C.
fn show(clips: Vec<Shown>, options: &ViewOptions) -> Result<(), AnimError> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let listener = page::listen(options.listen, PORT, "see the clips")?;
    let url = page::url(&listener)?;
    let what = if clips.len() == 1 {
        "the clip is".to_owned()
    } else {
        format!("{} clips are", clips.len())
    };
    say(format_args!("{what} at {url} (Ctrl-C ends this)"));
    if !options.no_open {
        page::open(&url);
    }
    page::serve_until(listener, server::router(clips), &interrupt)
        .map_err(|error| PageError::Page { error }.into())
}
