//! Checks that the spawn fields of an entity are the same in consecutive frames, as a hub does for
//! its ticks.
//!
//! Values are compared after quantization, because a sender may compute them anew in each tick. The
//! cost is a quantization of the spawn fields. For schemas without spawn fields, the check costs
//! nothing.

use kinepack::schema::Field;
use kinepack::{EntityId, Schema};

/// The spawn fields of a stream.
#[derive(Default)]
pub(super) struct SpawnFields {
    kinds: Vec<KindSpawn>,
}

/// The spawn fields of one kind.
struct KindSpawn {
    /// The number of columns of an entity, including its id.
    columns: usize,
    /// Each field, with its name and the column of its first lane.
    fields: Vec<(Field, String, usize)>,
    /// The entities of the last frame and of the current one: each entity's id, then its lanes.
    last: Vec<u32>,
    now: Vec<u32>,
    /// Scratch memory for the words of a field.
    words: Vec<u64>,
}

impl SpawnFields {
    pub(super) fn new(schema: &Schema) -> Self {
        let kinds = schema.kinds().iter().map(|kind| {
            let (first_lane, fields) = (kind.lanes().start, &schema.fields()[kind.fields()]);
            let fields = fields.iter().filter(|field| field.is_spawn).map(|field| {
                let lane = field.lanes().start;
                (field.clone(), schema.lane_name(lane), 1 + lane - first_lane)
            });
            KindSpawn {
                columns: kind.lanes().len() + 1,
                fields: fields.collect(),
                last: Vec::new(),
                now: Vec::new(),
                words: Vec::new(),
            }
        });
        let kinds: Vec<KindSpawn> = kinds.collect();
        if kinds.iter().all(|kind| kind.fields.is_empty()) {
            return Self::default();
        }
        Self { kinds }
    }

    /// Finds an entity with a spawn field that changed since the last frame, and returns its id and
    /// the name of the field. If no field changed, the current frame becomes the last one.
    ///
    /// `words` holds the words of the frame. If `are_lanes` is true, they are quantized, column by
    /// column. Otherwise they are raw words, entity by entity.
    pub(super) fn find_changed(
        &mut self,
        words: &[u64],
        entities: usize,
        are_lanes: bool,
    ) -> Option<(EntityId, &str)> {
        let (counts, mut rest) = match self.kinds.len() {
            0 => return None,
            1 => (&[entities as u64][..], words),
            kinds => words.split_at_checked(kinds)?,
        };
        for (kind, count) in self.kinds.iter_mut().zip(counts) {
            let count = *count as usize;
            let (rows, after) = rest.split_at_checked(count * kind.columns)?;
            rest = after;
            kind.take(rows, count, are_lanes);
        }
        let changed = self.kinds.iter().enumerate().find_map(|(index, kind)| {
            let (id, field) = kind.changed()?;
            Some((index, id, field))
        });
        if let Some((kind, id, field)) = changed {
            return Some((EntityId(id), &self.kinds[kind].fields[field].1));
        }
        self.kinds.iter_mut().for_each(|kind| std::mem::swap(&mut kind.last, &mut kind.now));
        None
    }
}

impl KindSpawn {
    /// The number of lanes of all spawn fields.
    fn lanes(&self) -> usize {
        self.fields.iter().map(|(field, ..)| field.lanes().len()).sum()
    }

    fn take(&mut self, rows: &[u64], count: usize, are_lanes: bool) {
        self.now.clear();
        if self.fields.is_empty() {
            return;
        }
        for row in 0..count {
            let word = |column: usize| match are_lanes {
                true => rows[column * count + row],
                false => rows[row * self.columns + column],
            };
            self.now.push(word(0) as u32);
            for (field, _, first) in &self.fields {
                self.words.clear();
                self.words.extend((*first..first + field.lanes().len()).map(word));
                let begin = self.now.len();
                self.now.extend(self.words.iter().map(|word| *word as u32));
                // Readers of the file refuse values that are not numbers, so zeros are good enough
                // here.
                if !are_lanes && field.quantize_raw(&self.words, &mut self.now[begin..]).is_err() {
                    self.now[begin..].fill(0);
                }
            }
        }
    }

    /// Returns the id of an entity that differs from the last frame, and the index of the field.
    fn changed(&self) -> Option<(u32, usize)> {
        let width = 1 + self.lanes();
        let mut last = self.last.chunks_exact(width).peekable();
        self.now.chunks_exact(width).find_map(|now| {
            while last.next_if(|last| last[0] < now[0]).is_some() {}
            let last = last.next_if(|last| last[0] == now[0])?;
            let differs = (1..width).find(|lane| last[*lane] != now[*lane])?;
            let mut end = 1;
            let is_before = |(field, ..): &&(Field, String, usize)| {
                end += field.lanes().len();
                end <= differs
            };
            Some((now[0], self.fields.iter().take_while(is_before).count()))
        })
    }
}
