//! Prints the report of `analyze` in the terminal.

use std::io::{self, Write};

use command_kit::counted;
use command_kit::table::{table, write_text};
use kinepack_capture::analysis::{
    Analysis, ComponentAnalysis, FieldAnalysis, KindAnalysis, any_element,
};

use super::Report;
use crate::captured::Pace;

/// The maximum number of pairs of fields that are listed.
const PAIRS: usize = 5;
/// The maximum number of fields, or kinds of entities, that have a column in the table of levels.
const COLUMNS: usize = 6;

pub(super) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    for stream in &report.streams {
        write_stream(&report.file, &stream.name, &stream.analysis, out)?;
    }
    Ok(())
}

fn write_stream(
    file: &str,
    name: &str,
    analysis: &Analysis,
    out: &mut impl Write,
) -> io::Result<()> {
    let Analysis { frames, lag, entities, changed_per_frame, bits_per_entity, .. } = analysis;
    let Analysis { rate_hz, frames_per_s, .. } = *analysis;
    let pace = Pace { rate_hz, frames_per_s };
    let before = match pace.is_even() {
        true => format!("from {} before", counted(lag, "frame")),
        false => format!("from the newest frame that is {lag} ticks older or more"),
    };
    write_text(out, "", &format!("{file}: {name}"))?;
    let title = format!(
        "{} at {pace}, {:.1} entities of {}{}; {changed_per_frame:.1} of them differ {before}",
        counted(frames, "frame"),
        entities[0],
        if analysis.kinds.len() > 1 { "up to " } else { "" },
        counted(bits_per_entity, "bit"),
    );
    write_text(out, "", &title)?;
    write_title(
        out,
        "What to change first. Each change alone, on a sample of the frames, at level packed with \
         word lengths trained for it",
    )?;
    write_advice(analysis, out)?;
    write_title(out, "What each level takes, without headers; sets and fields in bits")?;
    write_levels(analysis, out)?;
    write_kinds(analysis, out)?;
    write_title(
        out,
        "Fields. Entropy is the least bits a frame if each difference from the baseline is coded \
         alone; given previous, if the size of the difference before it is known",
    )?;
    write_fields(&analysis.fields, out)?;
    write_title(
        out,
        "Their components. Of the differences that are not zero, half and 99 % have at most these \
         steps. The last four columns are bits a frame",
    )?;
    write_components(analysis, out)?;
    write_title(out, "By the age of the baseline, kbit/s without headers")?;
    let lags = analysis.lags.iter().map(|cost| {
        [
            cost.lag.to_string(),
            format!("{:.1}", cost.packed_kbps),
            format!("{:.1}", cost.adaptive_kbps),
        ]
    });
    writeln!(out, "{}", table(["ticks", "packed", "adaptive"], 0, lags).trim_fmt())?;
    if !analysis.together.is_empty() {
        write_title(out, "Fields that change together")?;
        let pairs = analysis.together.iter().take(PAIRS);
        let pairs = pairs.map(|pair| {
            [pair.fields.join(" and "), percent(pair.both_share), pair.either.to_string()]
        });
        writeln!(
            out,
            "{}",
            table(["fields", "both change", "changes of one or both"], 1, pairs).trim_fmt()
        )?;
    }
    write_title(out, "The entities that take most, packed")?;
    let entities = analysis.entities_by_cost.iter();
    let entities = entities
        .map(|cost| [cost.id.to_string(), format!("{:.2}", cost.kbps), percent(cost.share)]);
    writeln!(out, "{}", table(["id", "kbit/s", "share"], 0, entities).trim_fmt())
}

/// Writes a title after an empty line.
fn write_title(out: &mut impl Write, title: &str) -> io::Result<()> {
    writeln!(out)?;
    write_text(out, "", title)
}

fn write_advice(analysis: &Analysis, out: &mut impl Write) -> io::Result<()> {
    if analysis.advice.is_empty() {
        return writeln!(out, "no change would save half a percent");
    }
    for advice in &analysis.advice {
        let field = advice.field.as_ref().map_or_else(String::new, |field| format!("{field}: "));
        let saves = if advice.saves_kbps > 0.0 {
            format!("−{:.1} kbit/s", advice.saves_kbps)
        } else {
            String::new()
        };
        write_text(out, &format!("{saves:>14}  "), &format!("{field}{}", advice.change))?;
        write_text(out, &" ".repeat(16), &advice.because)?;
    }
    Ok(())
}

fn write_levels(analysis: &Analysis, out: &mut impl Write) -> io::Result<()> {
    let of_kind = |kind: &KindAnalysis| (kind.name.clone(), kind.level_bits_per_frame.clone());
    let mut fields: Vec<(String, Vec<f64>)> = analysis.kinds.iter().map(of_kind).collect();
    for field in analysis.fields.iter().filter(|_| analysis.kinds.is_empty()) {
        let (name, bits) = (any_element(&field.name), &field.level_bits_per_frame);
        match fields.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => sum.iter_mut().zip(bits).for_each(|(sum, bits)| *sum += bits),
            None => fields.push((name, bits.clone())),
        }
    }
    // More columns than this would be hard to read.
    fields.truncate(COLUMNS);
    let rows = analysis.levels.iter().enumerate().map(|(index, level)| {
        let cells = [
            level.row.to_string(),
            level.level.clone(),
            format!("{:.1}", level.bytes_per_frame),
            format!("{:.1}", level.kbps),
            format!("{:.0}", level.sets_bits_per_frame),
            format!("{:.0}", level.added_bits_per_frame),
        ];
        let of_fields =
            fields.iter().map(|(_, bits)| format!("{:.0}", bits[index])).collect::<Vec<_>>();
        cells.into_iter().chain(of_fields)
    });
    let names = fields.iter().map(|(name, _)| name.as_str());
    let header = ["", "level", "bytes a frame", "kbit/s", "bits: sets", "added"];
    let header = header.into_iter().chain(names);
    writeln!(out, "{}", table(header, 2, rows).trim_fmt())
}

/// Writes the kinds of entities, if there are several.
fn write_kinds(analysis: &Analysis, out: &mut impl Write) -> io::Result<()> {
    if analysis.kinds.is_empty() {
        return Ok(());
    }
    write_title(
        out,
        "Kinds of entities: how many a frame has, and how many of them differ from the baseline, \
         are not in it, or are only in it",
    )?;
    let number = |number: f64| format!("{number:.1}");
    let rows = analysis.kinds.iter().map(|kind| {
        [
            kind.name.clone(),
            kind.bits_per_entity.to_string(),
            number(kind.entities[0]),
            format!("{:.0}", kind.entities[1]),
            number(kind.changed_per_frame),
            number(kind.added_per_frame),
            number(kind.removed_per_frame),
        ]
    });
    let header = ["kind", "bits", "entities", "at most", "differ", "added", "removed"];
    writeln!(out, "{}", table(header, 1, rows).trim_fmt())
}

fn write_fields(fields: &[FieldAnalysis], out: &mut impl Write) -> io::Result<()> {
    let rows = fields.iter().map(|field| {
        let of =
            |bits: fn(&ComponentAnalysis) -> f64| field.components.iter().map(bits).sum::<f64>();
        let odd = match (field.out_of_range, field.not_a_number) {
            (0, 0) => String::new(),
            (out, nan) => format!("{out} out of range, {nan} no numbers"),
        };
        [
            field.name.clone(),
            field.kind.clone(),
            field.bits.to_string(),
            percent(field.unchanged_share),
            format!("{:.0}", of(|component| component.entropy_bits_per_frame)),
            format!("{:.0}", of(|component| component.entropy_given_previous_bits_per_frame)),
            odd,
        ]
    });
    let header = ["field", "", "bits", "unchanged", "entropy", "given previous", ""];
    writeln!(out, "{}", table(header, 2, rows).trim_fmt())
}

fn write_components(analysis: &Analysis, out: &mut impl Write) -> io::Result<()> {
    let level = |name: &str| analysis.levels.iter().position(|level| level.level == name);
    let levels = [level("packed"), level("adaptive")];
    let all = analysis
        .fields
        .iter()
        .flat_map(|field| field.components.iter().map(move |component| (field, component)));
    let number = |number: Option<f64>| {
        number.map_or_else(String::new, |number| match number.abs() {
            // Degrees have steps that six digits would show as 0.
            size if size > 0.0 && size < 1e-5 => format!("{number:e}"),
            _ => format!("{number:.6}").trim_end_matches('0').trim_end_matches('.').to_owned(),
        })
    };
    let range = |range: Option<[f64; 2]>| {
        range.map_or_else(String::new, |[low, high]| {
            let digits = if high - low < 0.01 { 7 } else { 3 };
            format!("{low:.digits$} … {high:.digits$}")
        })
    };
    let bits = |level: Option<usize>, component: &ComponentAnalysis| {
        level.map_or_else(String::new, |level| {
            format!("{:.0}", component.level_bits_per_frame[level])
        })
    };
    // In most captures, all recorded numbers have the resolution of floats.
    let has_multiples = all.clone().any(|(_, component)| component.carried_step.is_some());
    let kept = |cells: [String; 12]| -> Vec<String> {
        let cells = cells.into_iter().enumerate();
        cells.filter(|(index, _)| has_multiples || *index != 4).map(|(_, cell)| cell).collect()
    };
    let rows = all.map(|(field, component)| {
        [
            format!("{}.{}", field.name, component.name),
            range(component.limits),
            range(component.seen),
            number(component.step),
            number(component.carried_step),
            percent(component.unchanged_share),
            component.difference_p50.to_string(),
            component.difference_p99.to_string(),
            bits(levels[0], component),
            bits(levels[1], component),
            format!("{:.0}", component.entropy_bits_per_frame),
            format!("{:.0}", component.entropy_given_previous_bits_per_frame),
        ]
    });
    let header = [
        "component",
        "allowed",
        "seen",
        "step",
        "all multiples of",
        "unchanged",
        "steps: half",
        "\t99 %",
        "packed",
        "adaptive",
        "entropy",
        "given previous",
    ];
    writeln!(out, "{}", table(kept(header.map(str::to_owned)), 1, rows.map(kept)).trim_fmt())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
