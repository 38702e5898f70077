//! Writes a packet in one of its two forms: packed bits or predicted values.

use alloc::vec::Vec;

use super::{Chosen, Encoder};
use crate::EncodeError;
use crate::bits::{BitSink, BitWriter};
use crate::snapshot::adaptive::{Adaptive, Packet};
use crate::snapshot::baselines::Baselines;
use crate::snapshot::changed::find_changed;
use crate::snapshot::codec::{Codec, Tables};
use crate::snapshot::packed::Contents;
use crate::snapshot::precision::differs;
use crate::snapshot::store::Snapshot;

/// The bits `11` that begin the packed form at levels that predict.
const PACKED_FORM_BITS: u64 = 2;

impl Encoder {
    /// Writes a snapshot in the form of the level. The baselines must be lined up with the
    /// snapshot, and its values must already be coarse.
    pub(super) fn write_packet(
        &mut self,
        codec: &Codec,
        baselines: &Baselines<'_>,
        snapshot: &Snapshot,
        chosen: Chosen<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let (tables, baseline) = (codec.tables(), baselines.baseline);
        self.find_changed(tables, [baseline, snapshot], chosen.indices());
        self.unsent.clear();
        match &tables.adaptive {
            Some(adaptive) => {
                self.write_adaptive(codec, adaptive, baselines, snapshot, chosen, out)
            }
            None => {
                let mut writer = BitWriter::append(out);
                self.write_packed(&mut writer, tables, [baseline, snapshot], chosen);
                writer.finish().map(drop)
            }
        }
    }

    /// Finds the entities to send: those that differ from the baseline, or those at `indices`. Both
    /// forms of the packet use this list.
    fn find_changed(
        &mut self,
        tables: &Tables,
        [baseline, snapshot]: [&Snapshot; 2],
        indices: Option<&[u32]>,
    ) {
        let Self { changed, lineup, .. } = self;
        changed.clear();
        match indices {
            Some(indices) => {
                changed.extend_from_slice(indices);
                if tables.precision.is_some() {
                    // An unchanged entity must not be sent, because its values may be finer than a
                    // packet can code.
                    changed.retain(|index| {
                        let (kind, row) = snapshot.entities.place(*index as usize);
                        let [base, new] = [baseline, snapshot]
                            .map(|state| &state.columns[snapshot.kinds.list[kind].lanes()]);
                        differs(base, new, row)
                    });
                }
            }
            None if tables.adaptive.is_some() || tables.changed_coding().is_some() => {
                let [base, new] = [lineup.base(baseline), &snapshot.columns];
                find_changed(&snapshot.kinds, &snapshot.entities, base, new, changed);
            }
            None => {}
        }
    }

    /// Writes a packet by the stages that pack bits.
    fn write_packed(
        &mut self,
        writer: &mut BitWriter<'_>,
        tables: &Tables,
        [baseline, snapshot]: [&Snapshot; 2],
        chosen: Chosen<'_>,
    ) {
        let chosen_coding = chosen.indices().and_then(|_| tables.changed_coding());
        let contents = Contents {
            tables,
            lineup: &self.lineup,
            baseline,
            snapshot,
            changed: &self.changed,
            chosen_coding,
        };
        self.packer.write(writer, &contents, &mut self.spent);
    }

    /// Writes a packet at a level that predicts. The packet falls back to packed bits if these are
    /// shorter, or if only they have room for all entities. The first bits of the packet select the
    /// form.
    fn write_adaptive(
        &mut self,
        codec: &Codec,
        adaptive: &Adaptive,
        baselines: &Baselines<'_>,
        snapshot: &Snapshot,
        chosen: Chosen<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let (tables, baseline) = (codec.tables(), baselines.baseline);
        let limit_bytes = match chosen {
            Chosen::All => usize::MAX,
            Chosen::Some { limit_bytes, .. } => limit_bytes,
        };
        // Learned state from another codec is ignored.
        let learned = baselines.learned.filter(|learned| learned.is_from_codec(codec.hash()));
        // `keep_learned` keeps the memory of the last packet's learned state, if no view took that
        // state.
        self.spare.keep_learned(self.learned.take());
        let mut packed = core::mem::take(&mut self.packed);
        packed.clear();
        let mut writer = BitWriter::append(&mut packed);
        writer.write(0b11, PACKED_FORM_BITS as u32);
        self.write_packed(&mut writer, tables, [baseline, snapshot], chosen);
        writer.finish()?;
        let begin = out.len();
        let mut writer = BitWriter::append(out);
        writer.write_bool(self.lineup.is_aligned());
        if self.lineup.is_aligned() {
            writer.write_bool(false);
        }
        self.lineup.write_entities(&mut writer, baseline, &tables.entities);
        let max_bits = (limit_bytes as u64).saturating_mul(8).saturating_sub(writer.len_bits());
        if let Some(state) = &mut self.adaptive {
            let (baselines, entities, lineup) = (*baselines, &snapshot.entities, &self.lineup);
            let packet = Packet { baselines, entities, lineup, learned, max_bits };
            adaptive.encode(state, &packet, &snapshot.columns, &self.changed, &mut writer);
            self.unsent.extend_from_slice(state.unsent());
            self.unsent.sort_unstable();
        }
        let bits = writer.len_bits();
        writer.finish()?;
        let has_room = !self.unsent.is_empty() && packed.len() <= limit_bytes;
        if has_room || out.len() - begin > packed.len() {
            self.unsent.clear();
            out.truncate(begin);
            out.extend_from_slice(&packed);
            self.spent.size.sets_bits += PACKED_FORM_BITS;
            self.learned = learned.cloned();
        } else if let Some(state) = &mut self.adaptive {
            self.spent.size.changed_entities -= self.unsent.len();
            self.learned = adaptive.learned(state, codec.hash(), self.spare.learned());
            // The end of the code may take fewer bits than its decisions cost, so the parts must
            // not exceed the whole.
            self.spent.tally.replace(state.entities_spent(), bits);
            self.spent.tally.replace_lanes(&state.lanes_spent);
            let mut remaining_bits = bits;
            for (field_bits, spent) in self.spent.size.fields_bits.iter_mut().zip(&state.spent) {
                *field_bits = (spent >> 8).min(remaining_bits);
                remaining_bits -= *field_bits;
            }
            self.spent.size.sets_bits = remaining_bits;
        }
        self.packed = packed;
        Ok(())
    }
}
