//! `kinepack anim view`: raw clips and what was made of them in a page of the browser, on top of
//! each other. The page asks for what it shows: the list, then a clip, its poses and the curve of
//! one track. Nothing of that is computed before, or kept after.

mod buffers;
mod describe;
mod server;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use command_kit::interrupt::Interrupt;
use command_kit::page::PageError;
use command_kit::{OutputError, page};
use kinepack_anim::measure::{ErrorOptions, ErrorReport};
use kinepack_anim::{AnyClip, RawClip};

use super::import_options::ImportArguments;
use super::scheme::SchemeArguments;
use super::sources::{self, BuiltFiles};
use crate::failure::Failure;

/// Where the page is, where nothing else is asked for.
const PORT: u16 = 4651;
/// How often it is seen that somebody wants an end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Show raw clips and the compressed ones on top of each other in the browser.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Animations: .glb, .gltf, .bvh, .bvh.zst or .clip.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    view: ViewOptions,
    #[command(flatten)]
    scheme: SchemeArguments,
    #[command(flatten)]
    import: ImportArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let scheme = &arguments.scheme;
    let BuiltFiles { sources, built, notes } =
        sources::read_and_build(&arguments.files, &arguments.import, scheme)?;
    notes.iter().for_each(|note| eprintln!("{note}"));
    let clips = sources.into_iter().zip(built).map(|(source, built)| Shown {
        error: scheme.error(&source.raw),
        raw: source.raw,
        clip: built.built.clip,
        report: built.built.errors,
        scheme: scheme.name().to_owned(),
        precision_cm: scheme.precision_cm(),
    });
    show(clips.collect(), &arguments.view)
}

/// Where the page is served.
#[derive(Args, Clone, Debug, Default)]
struct ViewOptions {
    /// Address and port of the page; port 0 takes any that is free. Whoever reaches the address can
    /// see the clips [default: 127.0.0.1:4651, or another port where that is taken]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
    /// Do not open the browser.
    #[arg(long)]
    pub(crate) no_open: bool,
}

/// A clip of the page.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) raw: RawClip,
    /// Made of the raw one: of as many joints and samples.
    pub(crate) clip: AnyClip,
    pub(crate) report: ErrorReport,
    /// How it was made, in a few words.
    pub(crate) scheme: String,
    /// The largest error that it was made for.
    pub(crate) precision_cm: f64,
    /// As the report was measured.
    pub(crate) error: ErrorOptions,
}

/// Shows clips until Ctrl-C.
fn show(clips: Vec<Shown>, options: &ViewOptions) -> Result<(), Failure> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let listener = page::listen(options.listen, PORT, "see the clips")?;
    let url = page::url(&listener)?;
    let what = if clips.len() == 1 {
        "the clip is".to_owned()
    } else {
        format!("{} clips are", clips.len())
    };
    eprintln!("{what} at {url} (Ctrl-C ends this)");
    if !options.no_open {
        page::open(&url);
    }
    serve(listener, clips.into(), &interrupt).map_err(|error| PageError::Page { error }.into())
}

fn serve(listener: TcpListener, clips: Arc<[Shown]>, interrupt: &Interrupt) -> io::Result<()> {
    let ended = async {
        while !interrupt.is_raised() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    page::serve(listener, server::router(clips), ended)
}
