//! Stores thousands of clips of one skeleton in three ways: a file for each clip, a clip database
//! that is read, and a database that is mapped into memory. Measures sizes and load times.
//!
//! `cargo run --release -p comparisons --example clip_files -- --help`
//!
//! All files are in the system's page cache when they are read.

#[path = "../../../crates/kinepack-anim/examples/walks/mod.rs"]
mod walks;

use std::error::Error;
use std::fs::{self, File};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use allocation_counter::measure;
use clap::Parser;
use kinepack_anim::database::{ClipDatabase, DatabaseWriter};
use kinepack_anim::import::{ImportOptions, read};
use kinepack_anim::offline::{BlockOptions, BuildOptions, RigTrainer, Scheme, build};
use kinepack_anim::{Clip, RawClip, Rig, Sampler, Skeleton, Transform, disk};
use memmap2::Mmap;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The number of rounds. Each reported time is the shortest of all rounds.
const ROUNDS: usize = 5;
/// The number of variants of each of the six generated clips.
const VARIANTS: usize = 20;

/// Sizes and load times of clips in files and in clip databases.
#[derive(Debug, Parser)]
struct Arguments {
    /// Files with the clips, all of one skeleton. Without files, 120 clips are generated.
    files: Vec<PathBuf>,
    /// Repeats the clips under other names until there are this many.
    #[arg(long, value_name = "N", default_value_t = 6000)]
    clips: usize,
    /// The largest error in cm.
    #[arg(long, value_name = "CM", default_value_t = 0.01)]
    precision: f64,
}

/// The built clips of a table.
struct Clips {
    skeleton: Arc<Skeleton>,
    rig: Option<Arc<Rig>>,
    /// The name and the file of each clip. This list has the memory form, and the next one the disk
    /// form.
    memory: Vec<(String, Arc<[u8]>)>,
    disk: Vec<(String, Arc<[u8]>)>,
}

/// The measurements of one way to store clips.
struct Row {
    name: String,
    files: usize,
    bytes: u64,
    open_ms: f64,
    /// The heap in use after opening, in bytes.
    open_heap: i64,
    /// The time to open, load one clip, and sample its first pose.
    first_pose_ms: f64,
    load_ms: f64,
    /// The heap in use once all clips are loaded, with a sampler for each, in bytes.
    load_heap: i64,
    /// The time to sample a pose of each clip, in random order, in ns.
    pose_ns: f64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let count = arguments.clips.max(1);
    let raw = match &arguments.files[..] {
        [] => walks::clips(VARIANTS)?,
        files => read_all(files)?,
    };
    let directory = tempfile::tempdir()?;
    let mut tables = Vec::new();
    for has_rig in [false, true] {
        let clips = Clips::build(&raw, has_rig, &arguments)?;
        tables.push((has_rig, rows(&clips, &directory.path().join(has_rig.to_string()))?));
    }
    let seconds: f32 = raw.iter().map(RawClip::duration_s).sum();
    let hours = f64::from(seconds) / 3600.0 * count as f64 / raw.len() as f64;
    let joints = raw[0].joints();
    println!("{count} clips of {joints} joints, {hours:.1} h; {} different", raw.len());
    for (has_rig, rows) in &tables {
        println!("\n{}", if *has_rig { "with a rig" } else { "without a rig" });
        println!(
            "{:<34}{:>7}{:>11}{:>9}{:>10}{:>14}{:>9}{:>13}{:>9}",
            "",
            "files",
            "MB",
            "open ms",
            "heap kB",
            "1st pose ms",
            "all ms",
            "heap B/clip",
            "ns/pose"
        );
        rows.iter().for_each(|row| row.print(count));
    }
    println!("\nheap B/clip: bytes on the heap for a loaded clip and its sampler");
    println!("ns/pose: a pose of each clip in random order");
    Ok(())
}

/// Reads clips from files. All must have the skeleton of the first clip.
fn read_all(files: &[PathBuf]) -> Result<Vec<RawClip>> {
    let mut clips: Vec<RawClip> = Vec::new();
    for file in files {
        clips.extend(read(file, &ImportOptions::default())?.complete()?.clips);
    }
    let first = clips.first().ok_or("no clip is in these files")?.skeleton().hash();
    match clips.iter().find(|clip| clip.skeleton().hash() != first) {
        Some(other) => Err(format!("{} has another skeleton", other.name()).into()),
        None => Ok(clips),
    }
}

impl Clips {
    fn build(raw: &[RawClip], has_rig: bool, arguments: &Arguments) -> Result<Self> {
        let skeleton = Arc::clone(raw[0].skeleton());
        let mut options =
            BuildOptions { precision_cm: arguments.precision, ..BuildOptions::default() };
        let mut rig = None;
        if has_rig {
            let mut trainer = RigTrainer::new(&skeleton);
            raw.iter().try_for_each(|raw| trainer.add(raw, &options))?;
            rig = Some(Arc::new(trainer.finish()));
        }
        let block = BlockOptions { rig: rig.clone(), ..BlockOptions::default() };
        options.scheme = Scheme::Block(block);
        let mut forms = Vec::new();
        for raw in raw {
            let built = build(raw, &options)?.clip;
            let clip = built.as_block().ok_or("the options ask for block clips")?;
            let [memory, disk] = [clip.as_bytes(), &disk::pack(clip)?].map(Arc::<[u8]>::from);
            forms.push((raw.name(), memory, disk));
        }
        let all = || forms.iter().cycle().take(arguments.clips.max(1)).enumerate();
        let name = |index: usize, name: &str| format!("{name}/{index:05}");
        let memory = all().map(|(index, (of, memory, _))| (name(index, of), Arc::clone(memory)));
        let disk = all().map(|(index, (of, _, disk))| (name(index, of), Arc::clone(disk)));
        Ok(Self { memory: memory.collect(), disk: disk.collect(), skeleton, rig })
    }

    /// Makes a database with the clips of `files`.
    fn database(&self, files: &[(String, Arc<[u8]>)]) -> Result<Vec<u8>> {
        let mut writer = match &self.rig {
            Some(rig) => DatabaseWriter::with_rig(&self.skeleton, rig)?,
            None => DatabaseWriter::new(&self.skeleton),
        };
        for (name, file) in files {
            writer.add(&**name, &**file)?;
        }
        Ok(writer.to_bytes())
    }
}

/// Writes the clips into a directory in each way, and measures each way.
fn rows(clips: &Clips, directory: &Path) -> Result<Vec<Row>> {
    let (memory, disk) = (directory.join("memory.kpb"), directory.join("disk.kpb"));
    fs::create_dir_all(directory.join("clips"))?;
    fs::write(&memory, clips.database(&clips.memory)?)?;
    fs::write(&disk, clips.database(&clips.disk)?)?;
    let mapped = |path: &Path| -> Result<Mmap> {
        // SAFETY: only this program uses the temporary directory, and it writes each file only
        // once.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(&File::open(path)?) }?;
        Ok(map)
    };
    Ok(vec![
        measure_files(clips, &directory.join("clips"))?,
        measure_database("a database, read", &memory, |path| Ok(fs::read(path)?))?,
        measure_database("a database, mapped", &memory, mapped)?,
        measure_database("a database of disk files, mapped", &disk, mapped)?,
    ])
}

/// Measures separate files for each clip, for the skeleton and for the rig.
fn measure_files(clips: &Clips, directory: &Path) -> Result<Row> {
    let skeleton_path = directory.join("all.kps");
    let rig_path = directory.join("all.kpr");
    fs::write(&skeleton_path, clips.skeleton.to_bytes())?;
    let mut bytes = fs::metadata(&skeleton_path)?.len();
    if let Some(rig) = &clips.rig {
        fs::write(&rig_path, rig.to_bytes())?;
        bytes += fs::metadata(&rig_path)?.len();
    }
    let mut paths = Vec::new();
    for (name, file) in &clips.memory {
        let path = directory.join(format!("{}.kpa", name.replace('/', "-")));
        fs::write(&path, &**file)?;
        bytes += file.len() as u64;
        paths.push(path);
    }
    let open = || -> Result<(Skeleton, Option<Arc<Rig>>)> {
        let rig = clips.rig.is_some().then(|| Ok::<_, Box<dyn Error>>(fs::read(&rig_path)?));
        let rig = rig.transpose()?.map(|rig| Rig::from_bytes(&rig)).transpose()?;
        Ok((Skeleton::from_bytes(&fs::read(&skeleton_path)?)?, rig.map(Arc::new)))
    };
    let load = |(skeleton, rig): &(Skeleton, Option<Arc<Rig>>), index: usize| {
        let file = fs::read(&paths[index])?;
        let clip = match rig {
            Some(rig) => Clip::with_rig(file, rig)?,
            None => Clip::from_bytes(file)?,
        };
        Ok(Sampler::new(clip, skeleton)?)
    };
    let files = paths.len() + 1 + usize::from(clips.rig.is_some());
    Row::new(("a file for each clip", files, bytes), paths.len(), open, load)
}

/// Measures one file with all clips, which `read` returns.
fn measure_database<B: AsRef<[u8]>>(
    name: &str,
    path: &Path,
    read: impl Fn(&Path) -> Result<B>,
) -> Result<Row> {
    let open = || Ok(ClipDatabase::from_bytes(read(path)?)?);
    let load = |database: &ClipDatabase<B>, index: usize| {
        Ok(Sampler::new(database.clip(index)?, database.skeleton())?)
    };
    Row::new((name, 1, fs::metadata(path)?.len()), open()?.len(), open, load)
}

impl Row {
    /// Measures a way to store `count` clips. `open` reads the parts that all clips need, and
    /// `load` reads a clip.
    fn new<O, B: AsRef<[u8]>>(
        (name, files, bytes): (&str, usize, u64),
        count: usize,
        open: impl Fn() -> Result<O>,
        load: impl Fn(&O, usize) -> Result<Sampler<B>>,
    ) -> Result<Self> {
        let open_ms = best_ms(|| open().map(drop))?;
        let first_pose_ms = best_ms(|| {
            let sampler = load(&open()?, count / 2)?;
            let mut pose = vec![Transform::IDENTITY; sampler.joints()];
            sampler.sample(0.5 * sampler.clip().duration_s(), &mut pose);
            black_box(&pose);
            Ok(())
        })?;
        let mut opened = None;
        let open_heap = measure(|| opened = Some(open())).bytes_current;
        let opened = opened.ok_or("nothing was opened")??;
        let load_all = || (0..count).map(|index| load(&opened, index)).collect::<Result<Vec<_>>>();
        let load_ms = best_ms(|| load_all().map(|all| drop(black_box(all))))?;
        let mut samplers = None;
        let load_heap = measure(|| samplers = Some(load_all())).bytes_current;
        let samplers = samplers.ok_or("clips were not loaded")??;
        let pose_ns = 1e6 * random_poses_ms(&samplers)? / count as f64;
        let name = name.to_owned();
        Ok(Self {
            name,
            files,
            bytes,
            open_ms,
            open_heap,
            first_pose_ms,
            load_ms,
            load_heap,
            pose_ns,
        })
    }

    fn print(&self, clips: usize) {
        let Self { name, files, open_ms, first_pose_ms, load_ms, pose_ns, .. } = self;
        let (mb, heap_kb) = (self.bytes as f64 / 1e6, self.open_heap as f64 / 1e3);
        let heap = self.load_heap / clips as i64;
        println!(
            "{name:<34}{files:>7}{mb:>11.3}{open_ms:>9.3}{heap_kb:>10.1}{first_pose_ms:>14.3}\
             {load_ms:>9.1}{heap:>13}{pose_ns:>9.0}"
        );
    }
}

/// Returns the time to sample a pose of each clip, in random order and at random times.
fn random_poses_ms<B: AsRef<[u8]>>(samplers: &[Sampler<B>]) -> Result<f64> {
    let mut random = walks::Random(7);
    let mut order: Vec<_> = samplers
        .iter()
        .map(|sampler| (sampler, random.between(0.0, sampler.clip().duration_s())))
        .collect();
    for last in (1..order.len()).rev() {
        order.swap(last, random.between(0.0, last as f32) as usize);
    }
    let joints = samplers.first().map_or(0, Sampler::joints);
    let mut pose = vec![Transform::IDENTITY; joints];
    best_ms(|| {
        for (sampler, time_s) in &order {
            sampler.sample(*time_s, &mut pose);
            black_box(&pose);
        }
        Ok(())
    })
}

/// Runs `act` several times, and returns the shortest time.
fn best_ms(mut act: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        act()?;
        best = best.min(1e3 * begun.elapsed().as_secs_f64());
    }
    Ok(best)
}
