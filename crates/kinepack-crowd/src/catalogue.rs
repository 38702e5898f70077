//! The catalogue of a broadcast: its tiers, and the way in which each tier is coded and carried.
//! See `spec/CROWD.md`, section 2.

use kinepack::schema::{Field, Role, TimePrecision};
use kinepack::{Codec, Level, Profile, Schema};

use crate::CrowdError;

/// The name of the track with the catalogue.
pub const CATALOGUE: &str = "catalogue";

const MAGIC: [u8; 4] = *b"KPCT";
const VERSION: u8 = 2;
/// The end of the name of a track of key snapshots, which follows the tier's name.
const KEYS: &str = ".keys";
/// The maximum size of a catalogue, in bytes.
const MAX_BYTES: usize = 1 << 20;
const MAX_TIERS: usize = 64;
/// The default memory limit of a viewer, in bytes.
pub(crate) const MAX_MEMORY_BYTES: usize = 256 << 20;
const MAX_NAME_BYTES: usize = 64;
/// The maximum number of snapshots in an object.
pub(crate) const MAX_FRAMES: u8 = 16;
/// The number of objects per second of the tier `full`. More objects would take more bytes for
/// headers, and fewer would increase the delay.
const OBJECTS_HZ: u16 = 15;
/// The number of snapshots in an object of the tier `coarse`.
const COARSE_FRAMES: u8 = 2;
/// The time precision of the tier `coarse`, in ticks: a body may be off by the distance that it
/// moves in this time. For a field of three lanes, the maximum is 0.288 ticks.
const COARSE_TICKS: f64 = 0.25;
/// The maximum number of ticks in a group of datagrams.
const MAX_DATAGRAM_TICKS: u16 = 127;

/// The way in which a tier is carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carry {
    /// The tier is carried in groups. Each snapshot is coded against the previous one, and takes
    /// the fewest bits. A lost packet then delays the viewer.
    Groups,
    /// The tier is carried in datagrams, each coded against the group's first snapshot, its *head*.
    /// A lost datagram then costs one snapshot, but no delay.
    Datagrams,
}

/// One way to code and carry the world, or a part of the world. All viewers of a tier share the
/// same bytes.
///
/// ```
/// use kinepack::{Codec, Level, Pack, Profile, Schema};
/// use kinepack_crowd::{Carry, Catalogue, Tier};
///
/// #[derive(Pack)]
/// struct Ship {
///     #[pack(range = -512.0..512.0, precision = 0.01)] // metres
///     position: [f32; 3],
/// }
///
/// let schema = Schema::of::<Ship>();
/// let codec = Codec::new(schema.clone(), Level::LEARNING, Profile::untrained(&schema))?;
/// // At 60 ticks per second, one tier has every snapshot, and one for phones has one in three.
/// let full = Tier::new("full", &codec, 60);
/// let third = Tier { ticks_per_frame: 3, ..Tier::new("third", &codec, 60) };
/// let catalogue = Catalogue::new(60, vec![full, third])?;
/// let read = Catalogue::from_bytes(&catalogue.to_bytes())?;
/// assert_eq!(read.tiers()[1].name, "third");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tier {
    /// The name of the tier's track: lower-case letters, digits, `-`, `.` and `_`.
    pub name: String,
    /// The way in which the tier is carried.
    pub carry: Carry,
    /// The number of ticks from one snapshot to the next.
    pub ticks_per_frame: u16,
    /// The maximum number of ticks in a group. A viewer joins at the beginning of a group.
    pub ticks_per_group: u16,
    /// The number of snapshots in an object, at most 16. Each object takes about 50 bytes for
    /// headers, and its first snapshot waits for its last.
    pub frames_per_object: u8,
    /// The codec of the tier's snapshots.
    pub codec: Codec,
}

impl Tier {
    /// Makes a tier with one snapshot per object, in groups of `ticks_per_group` ticks.
    pub fn new(name: &str, codec: &Codec, ticks_per_group: u16) -> Self {
        Self {
            name: name.to_owned(),
            carry: Carry::Groups,
            ticks_per_frame: 1,
            ticks_per_group,
            frames_per_object: 1,
            codec: codec.clone(),
        }
    }

    /// The number of ticks from one object or datagram to the next.
    pub fn ticks_per_object(&self) -> u32 {
        u32::from(self.ticks_per_frame) * u32::from(self.frames_per_object)
    }

    fn check(&self) -> Result<(), &'static str> {
        let is_letter = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_');
        let most = if self.carry == Carry::Datagrams { MAX_DATAGRAM_TICKS } else { u16::MAX };
        if !(1..=MAX_NAME_BYTES).contains(&self.name.len()) || !self.name.bytes().all(is_letter) {
            Err("a name has 1 to 64 lower-case letters, digits, '-', '.' or '_'")
        } else if self.name == CATALOGUE || self.name.ends_with(KEYS) {
            Err("another track has this name")
        } else if !(1..=self.ticks_per_group).contains(&self.ticks_per_frame) {
            Err("from one snapshot to the next it is 1 tick up to those of a group")
        } else if self.ticks_per_group > most {
            Err("a group of datagrams has at most 127 ticks")
        } else if !(1..=MAX_FRAMES).contains(&self.frames_per_object) {
            Err("an object has 1 to 16 snapshots")
        } else if self.carry == Carry::Datagrams && self.frames_per_object > 1 {
            Err("a datagram has one snapshot")
        } else {
            Ok(())
        }
    }
}

fn check_counts(tick_hz: u16, tiers: usize) -> Result<(), &'static str> {
    if tick_hz == 0 {
        Err("there are no ticks")
    } else if !(1..=MAX_TIERS).contains(&tiers) {
        Err("it has 1 to 64 tiers")
    } else {
        Ok(())
    }
}

/// Checks a tier against the tiers listed before it.
fn check(before: &[Tier], tier: &Tier) -> Result<(), CrowdError> {
    let hash = |tier: &Tier| tier.codec.schema().hash();
    let reason = if let Err(reason) = tier.check() {
        reason
    } else if before.iter().any(|other| other.name == tier.name) {
        "another tier has this name"
    } else if before.first().is_some_and(|first| hash(first) != hash(tier)) {
        "its schema is not that of the first tier"
    } else {
        return Ok(());
    };
    Err(CrowdError::Tier { name: tier.name.clone(), reason })
}

/// Makes the codec with a time precision for its bodies. Returns `None` if the schema has no
/// bodies.
fn coarse(tick_hz: u16, codec: &Codec) -> Result<Option<Codec>, CrowdError> {
    let ticks_per_s = f64::from(tick_hz.max(1));
    let precision = TimePrecision::new(1e3 * COARSE_TICKS / ticks_per_s, ticks_per_s);
    let can = |field: &Field| {
        field.role == Role::Body && field.condition.is_none() && field.takes_time_precision()
    };
    if !codec.schema().fields().iter().any(can) {
        return Ok(None);
    }
    let schema = codec.schema().clone().with_time_precision(|field| {
        if can(field) { Some(precision) } else { field.time_precision }
    });
    Ok(Some(Codec::new(schema, *codec.level(), codec.profile().clone())?))
}

/// A track of the transport, which carries groups of objects and datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Track {
    /// The track of the snapshots of the tier with this number.
    Snapshots(usize),
    /// The track of the tier's key snapshots, which viewers need to join.
    Keys(usize),
}

impl Track {
    /// The number of the track's tier.
    pub fn tier(self) -> usize {
        match self {
            Self::Snapshots(tier) | Self::Keys(tier) => tier,
        }
    }
}

/// The tiers of a broadcast. [`Tier`] has an example.
#[derive(Clone, Debug)]
pub struct Catalogue {
    tick_hz: u16,
    tiers: Vec<Tier>,
}

impl Catalogue {
    /// Makes a catalogue for a simulation with `tick_hz` ticks per second.
    ///
    /// # Errors
    /// [`CrowdError::Tier`] if the format cannot express a tier, two tiers have the same name, or
    /// codecs have different schemas. [`CrowdError::Catalogue`] if there are no ticks, no tiers or
    /// too many tiers, or if the catalogue would exceed one MiB.
    pub fn new(tick_hz: u16, tiers: Vec<Tier>) -> Result<Self, CrowdError> {
        let wrong = |reason| CrowdError::Catalogue { reason };
        check_counts(tick_hz, tiers.len()).map_err(wrong)?;
        for (nth, tier) in tiers.iter().enumerate() {
            check(&tiers[..nth], tier)?;
        }
        let catalogue = Self { tick_hz, tiers };
        if catalogue.to_bytes().len() > MAX_BYTES {
            return Err(wrong("it has more than a MiB"));
        }
        Ok(catalogue)
    }

    /// Makes the tiers that suit most broadcasts of a codec. The groups of these tiers last a
    /// second. `full` has all snapshots in the fewest bits, in 15 objects per second. `third` has
    /// one snapshot in three, and `eighth` one in eight, for phones. `fast` has all snapshots in
    /// datagrams, with the least delay. `coarse` has one snapshot in three, in which a moving body
    /// may be off by the distance that it moves in a quarter of a tick. If the schema has no
    /// [bodies](kinepack::schema::Role::Body), there is no tier `coarse`.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn standard(tick_hz: u16, codec: &Codec) -> Result<Self, CrowdError> {
        let new = |name| Tier::new(name, codec, tick_hz.max(8));
        let frames_per_object = (tick_hz / OBJECTS_HZ).clamp(1, MAX_FRAMES.into()) as u8;
        let fast_ticks = (tick_hz / 2).clamp(1, MAX_DATAGRAM_TICKS);
        let mut tiers = vec![
            Tier { frames_per_object, ..new("full") },
            Tier { ticks_per_frame: 3, ..new("third") },
            Tier { ticks_per_frame: 8, ..new("eighth") },
            Tier { carry: Carry::Datagrams, ..Tier::new("fast", codec, fast_ticks) },
        ];
        if let Some(codec) = coarse(tick_hz, codec)? {
            let frames_per_object = COARSE_FRAMES;
            let new = Tier::new("coarse", &codec, tick_hz.max(8));
            tiers.push(Tier { ticks_per_frame: 3, frames_per_object, ..new });
        }
        Self::new(tick_hz, tiers)
    }

    /// The number of ticks per second.
    pub fn tick_hz(&self) -> u16 {
        self.tick_hz
    }

    /// The tiers, in the order of their numbers.
    pub fn tiers(&self) -> &[Tier] {
        &self.tiers
    }

    /// Returns the number of the tier with this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.tiers.iter().position(|tier| tier.name == name)
    }

    /// Iterates over the tracks of all tiers.
    pub fn tracks(&self) -> impl Iterator<Item = Track> {
        (0..self.tiers.len()).flat_map(|tier| [Track::Snapshots(tier), Track::Keys(tier)])
    }

    /// Returns the name of a track. Returns `None` if there is no such tier.
    pub fn name_of(&self, track: Track) -> Option<String> {
        let Tier { name, .. } = self.tiers.get(track.tier())?;
        Some(match track {
            Track::Snapshots(_) => name.clone(),
            Track::Keys(_) => format!("{name}{KEYS}"),
        })
    }

    /// Returns the bytes of the track [`CATALOGUE`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let of = |file: fn(&Codec) -> Vec<u8>| -> (Vec<Vec<u8>>, Vec<u8>) {
            let (mut files, mut indices) = (Vec::<Vec<u8>>::new(), Vec::new());
            for tier in &self.tiers {
                let bytes = file(&tier.codec);
                let place = files.iter().position(|other| *other == bytes);
                indices.push(place.unwrap_or(files.len()) as u8);
                if place.is_none() {
                    files.push(bytes);
                }
            }
            (files, indices)
        };
        let (schemas, schema_of) = of(|codec| codec.schema().to_bytes());
        let (profiles, profile_of) = of(|codec| codec.profile().to_bytes());
        let mut bytes = MAGIC.to_vec();
        bytes.push(VERSION);
        bytes.extend(self.tick_hz.to_le_bytes());
        for files in [&schemas, &profiles] {
            bytes.push(files.len() as u8);
            for file in files {
                bytes.extend((file.len() as u32).to_le_bytes());
                bytes.extend(file);
            }
        }
        bytes.push(self.tiers.len() as u8);
        for (nth, tier) in self.tiers.iter().enumerate() {
            let level = tier.codec.level().name();
            bytes.push(tier.name.len() as u8);
            bytes.extend(tier.name.as_bytes());
            bytes.push(u8::from(tier.carry == Carry::Datagrams));
            bytes.extend(tier.ticks_per_frame.to_le_bytes());
            bytes.extend(tier.ticks_per_group.to_le_bytes());
            bytes.push(tier.frames_per_object);
            bytes.push(level.len() as u8);
            bytes.extend(level.as_bytes());
            bytes.extend([schema_of[nth], profile_of[nth]]);
        }
        bytes
    }

    /// The size of the codecs on the heap, in bytes. Tiers with equal codecs share them.
    pub fn memory_bytes(&self) -> usize {
        let mut codecs: Vec<(u64, usize)> =
            self.tiers.iter().map(|tier| (tier.codec.hash(), tier.codec.memory_bytes())).collect();
        codecs.sort_unstable();
        codecs.dedup();
        codecs.into_iter().map(|(_, bytes)| bytes).sum()
    }

    /// Reads a catalogue, from untrusted bytes. The codecs may take as much memory as a viewer has
    /// by default, 256 MiB.
    ///
    /// # Errors
    /// The errors of [`from_bytes_within`](Self::from_bytes_within).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CrowdError> {
        Self::from_bytes_within(bytes, MAX_MEMORY_BYTES)
    }

    /// Reads a catalogue, from untrusted bytes. `max_memory_bytes` limits the
    /// [memory](Self::memory_bytes) of all codecs. During the call, the memory of one schema and
    /// one profile is also needed.
    ///
    /// # Errors
    /// [`CrowdError`] if the bytes are not a valid catalogue. It contains
    /// [`SetupError::CodecTooLarge`](kinepack::SetupError) if the codecs exceed the limit.
    pub fn from_bytes_within(bytes: &[u8], max_memory_bytes: usize) -> Result<Self, CrowdError> {
        let wrong = |reason| CrowdError::Catalogue { reason };
        if bytes.len() > MAX_BYTES {
            return Err(wrong("it has more than a MiB"));
        }
        let mut reader = Reader(bytes);
        if reader.array()? != MAGIC {
            return Err(wrong("it does not begin with KPCT"));
        }
        if reader.byte()? != VERSION {
            return Err(wrong("it has another version"));
        }
        let tick_hz = reader.number()?;
        // This parses the whole file before it builds any codec, so that a malformed file costs
        // little.
        let (schemas, profiles) = (reader.files()?, reader.files()?);
        let count = usize::from(reader.byte()?);
        check_counts(tick_hz, count).map_err(wrong)?;
        if schemas.len().max(profiles.len()) > count {
            return Err(wrong("it has more schemas or profiles than tiers"));
        }
        let entries: Vec<Entry<'_>> =
            (0..count).map(|_| reader.entry(&schemas, &profiles)).collect::<Result<_, _>>()?;
        if !reader.0.is_empty() {
            return Err(wrong("bytes follow it"));
        }
        // Each schema is read together with the first codec that uses it, because that codec's
        // memory includes the schema's.
        let mut read: Vec<(&[u8], Schema)> = Vec::new();
        let mut tiers: Vec<Tier> = Vec::new();
        let mut left_bytes = max_memory_bytes;
        for (nth, entry) in entries.iter().enumerate() {
            let shared = entries[..nth].iter().position(|other| other.codec() == entry.codec());
            let codec = match shared {
                Some(other) => tiers[other].codec.clone(),
                None => {
                    let found = read.iter().find(|(bytes, _)| *bytes == entry.schema);
                    let schema = match found {
                        Some((_, schema)) => schema.clone(),
                        None => {
                            let schema = Schema::from_bytes(entry.schema)?;
                            read.push((entry.schema, schema.clone()));
                            schema
                        }
                    };
                    let profile = Profile::from_bytes(entry.profile, &schema)?;
                    let codec = Codec::within(schema, entry.level, profile, left_bytes)?;
                    left_bytes -= codec.memory_bytes();
                    codec
                }
            };
            let tier = Tier {
                name: entry.name.to_owned(),
                carry: entry.carry,
                ticks_per_frame: entry.ticks_per_frame,
                ticks_per_group: entry.ticks_per_group,
                frames_per_object: entry.frames_per_object,
                codec,
            };
            check(&tiers, &tier)?;
            tiers.push(tier);
        }
        for bytes in schemas.iter().filter(|bytes| read.iter().all(|(known, _)| known != *bytes)) {
            Schema::from_bytes(bytes)?;
        }
        Ok(Self { tick_hz, tiers })
    }
}

/// A tier in the form in which a catalogue stores it.
struct Entry<'a> {
    name: &'a str,
    carry: Carry,
    ticks_per_frame: u16,
    ticks_per_group: u16,
    frames_per_object: u8,
    level: Level,
    /// The bytes of the tier's schema and of its profile.
    schema: &'a [u8],
    profile: &'a [u8],
}

impl Entry<'_> {
    /// The parts that determine the tier's codec.
    fn codec(&self) -> (&[u8], &[u8], Level) {
        (self.schema, self.profile, self.level)
    }
}

/// A cursor over the bytes of a catalogue.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], CrowdError> {
        let (array, rest) = self.0.split_first_chunk().ok_or(ENDS)?;
        self.0 = rest;
        Ok(*array)
    }

    fn bytes(&mut self, length: usize) -> Result<&'a [u8], CrowdError> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(ENDS)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn byte(&mut self) -> Result<u8, CrowdError> {
        Ok(self.array::<1>()?[0])
    }

    fn number(&mut self) -> Result<u16, CrowdError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn text(&mut self) -> Result<&'a str, CrowdError> {
        let length = self.byte()?.into();
        let reason = "a name is not UTF-8";
        str::from_utf8(self.bytes(length)?).map_err(|_| CrowdError::Catalogue { reason })
    }

    fn entry(
        &mut self,
        schemas: &[&'a [u8]],
        profiles: &[&'a [u8]],
    ) -> Result<Entry<'a>, CrowdError> {
        let wrong = |reason| CrowdError::Catalogue { reason };
        Ok(Entry {
            name: self.text()?,
            carry: match self.byte()? {
                0 => Carry::Groups,
                1 => Carry::Datagrams,
                _ => return Err(wrong("a tier is carried in an unknown way")),
            },
            ticks_per_frame: self.number()?,
            ticks_per_group: self.number()?,
            frames_per_object: self.byte()?,
            level: Level::named(self.text()?).ok_or(wrong("a level has no known name"))?,
            schema: schemas
                .get(usize::from(self.byte()?))
                .copied()
                .ok_or(wrong("there is no such schema"))?,
            profile: profiles
                .get(usize::from(self.byte()?))
                .copied()
                .ok_or(wrong("there is no such profile"))?,
        })
    }

    fn files(&mut self) -> Result<Vec<&'a [u8]>, CrowdError> {
        let count = self.byte()?;
        let file = |_| {
            let length = u32::from_le_bytes(self.array()?);
            self.bytes(length as usize)
        };
        (0..count).map(file).collect()
    }
}

const ENDS: CrowdError = CrowdError::Catalogue { reason: "it ends too early" };
