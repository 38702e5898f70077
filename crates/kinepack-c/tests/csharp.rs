//! Generates the declarations of the C# package from what cbindgen reads for the C header.
//!
//! The C type determines the declaration of a parameter:
//!
//! - A handle becomes a number, because all supported platforms pass a struct of one number like the
//!   number itself.
//! - A text from the caller becomes a `byte[]`.
//! - A pointer remains a pointer if a count follows, or if it points to constant numbers. So does a
//!   pointer that "may be null" according to the function's comment.
//! - Any other pointer is for one value: `out` if the function writes the value, `ref` if the
//!   function reads it. (`in` would be right too, but Mono's compiler ignores it.)
//! - A function of the caller becomes an `IntPtr`.

use cbindgen::Bindings;
use cbindgen::ir::{
    Documentation, Enum, Function, FunctionArgument, IntKind, ItemContainer, Literal,
    PrimitiveType, Struct, Type,
};

/// Structs that users of the package see and only read. Their properties are in other files.
const READ_BY_USERS: [&str; 21] = [
    "KpAnmInfo",
    "KpClipInfo",
    "KpCorrection",
    "KpEvent",
    "KpHubStatus",
    "KpInputClockStatus",
    "KpLinkStatus",
    "KpPart",
    "KpPiece",
    "KpPlace",
    "KpPlayback",
    "KpPredictStats",
    "KpReceiverStatus",
    "KpRecord",
    "KpReplayInfo",
    "KpReplaySummary",
    "KpSeen",
    "KpShownClip",
    "KpStreamReceiverStatus",
    "KpTrack",
    "KpViewerStatus",
];

/// Structs that users of the package see and fill. Their properties are in other files.
const FILLED_BY_USERS: [&str; 4] = ["KpClipPlay", "KpComponent", "KpMagnitude", "KpValue"];

/// Enums that only the package uses.
const HIDDEN_ENUMS: [&str; 3] = ["KpBudgetKind", "KpMagnitudeForm", "KpValueKind"];

const NUMBERS: [(&str, &str); 13] = [
    ("void", "void"),
    ("char", "byte"),
    ("float", "float"),
    ("double", "double"),
    ("size_t", "UIntPtr"),
    ("int8_t", "sbyte"),
    ("uint8_t", "byte"),
    ("int16_t", "short"),
    ("uint16_t", "ushort"),
    ("int32_t", "int"),
    ("uint32_t", "uint"),
    ("int64_t", "long"),
    ("uint64_t", "ulong"),
];

const KEYWORDS: [&str; 3] = ["base", "object", "out"];

const WIDTH: usize = 100;

/// The text of `Native.cs`.
pub(crate) fn declarations(bindings: &Bindings) -> String {
    let mut types = Writer { bindings, text: String::new(), indent: 4 };
    let mut native = Writer { bindings, text: String::new(), indent: 8 };
    for item in &bindings.items {
        match item {
            ItemContainer::Enum(of) => types.enumeration(of),
            ItemContainer::Struct(of) if is_handle(of) => {}
            ItemContainer::Struct(of) if is_seen_by_users(&of.export_name) => types.structure(of),
            ItemContainer::Struct(of) => native.structure(of),
            other => panic!("a declaration for {}", other.deref().export_name()),
        }
    }
    for function in &bindings.functions {
        native.function(function);
    }
    include_str!("csharp/template.cs")
        .replace("%ABI%", abi(bindings))
        .replace("%TYPES%", types.text.trim_end())
        .replace("%NATIVE%", native.text.trim_end())
}

/// The value of `KP_ABI`.
fn abi(bindings: &Bindings) -> &str {
    let abi = bindings.constants.iter().find(|constant| constant.export_name == "KP_ABI");
    number(&abi.unwrap().value)
}

fn number(literal: &Literal) -> &str {
    match literal {
        Literal::Expr(number) => number,
        other => panic!("a number, not {other:?}"),
    }
}

fn is_handle(of: &Struct) -> bool {
    matches!(&of.fields[..], [only] if only.name == "id")
}

fn is_seen_by_users(name: &str) -> bool {
    READ_BY_USERS.contains(&name) || FILLED_BY_USERS.contains(&name)
}

/// Writes declarations at an indentation.
struct Writer<'a> {
    bindings: &'a Bindings,
    text: String,
    indent: usize,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(format!("{:1$}{line}", "", self.indent).trim_end());
        self.text.push('\n');
    }

    fn enumeration(&mut self, of: &Enum) {
        self.summary(&of.documentation);
        let is_hidden = HIDDEN_ENUMS.contains(&&*of.export_name);
        let visibility = if is_hidden { "internal" } else { "public" };
        self.line(&format!("{visibility} enum {}", self.name_of(&of.export_name)));
        self.block(|writer| {
            for (nth, variant) in of.variants.iter().enumerate() {
                writer.gap(nth);
                writer.summary(&variant.documentation);
                let name = variant_name(&of.export_name, &variant.export_name);
                let value = number(variant.discriminant.as_ref().unwrap());
                writer.line(&format!("{name} = {value},"));
            }
        });
    }

    fn structure(&mut self, of: &Struct) {
        self.summary(&of.documentation);
        self.line("[StructLayout(LayoutKind.Sequential)]");
        let is_read = READ_BY_USERS.contains(&&*of.export_name);
        let kind = match is_seen_by_users(&of.export_name) {
            true if is_read => "public readonly partial",
            true => "public partial",
            false => "internal",
        };
        self.line(&format!("{kind} struct {}", self.name_of(&of.export_name)));
        let access = if is_read { "internal readonly" } else { "internal" };
        self.block(|writer| {
            for (nth, field) in of.fields.iter().enumerate() {
                writer.gap(nth);
                writer.summary(&field.documentation);
                let name = escaped(&field.name);
                match &field.ty {
                    // C# has no arrays of structs within structs.
                    Type::Array(item, count) => {
                        let item = writer.type_of(item);
                        for nth in 0..count.as_str().parse::<usize>().unwrap() {
                            writer.line(&format!("{access} {item} {name}_{nth};"));
                        }
                    }
                    one => {
                        let of_field = writer.type_of(one);
                        writer.line(&format!("{access} {of_field} {name};"));
                    }
                }
            }
        });
    }

    fn function(&mut self, of: &Function) {
        self.summary(&of.documentation);
        self.line("[DllImport(Name, CallingConvention = Convention)]");
        let parameters: Vec<String> =
            (0..of.args.len()).map(|nth| self.parameter(of, nth)).collect();
        let begin = format!("internal static extern {} {}(", self.type_of(&of.ret), of.path.name());
        let list = parameters.join(", ");
        if self.indent + begin.len() + list.len() + 2 <= WIDTH {
            self.line(&format!("{begin}{list});"));
        } else if self.indent + 4 + list.len() + 2 <= WIDTH {
            self.line(&begin);
            self.line(&format!("    {list});"));
        } else {
            self.line(&begin);
            self.line(&format!("    {});", parameters.join(",\n            ")));
        }
        self.line("");
    }

    fn parameter(&self, of: &Function, nth: usize) -> String {
        let FunctionArgument { name, ty, .. } = &of.args[nth];
        let name = name.as_deref().unwrap();
        let Type::Ptr { ty: pointee, is_const, .. } = ty else {
            return format!("{} {}", self.type_of(ty), escaped(name));
        };
        let is_number = matches!(**pointee, Type::Primitive(_));
        let comment = text_of(&of.documentation);
        let stays = of.args.get(nth + 1).is_some_and(|next| is_count(&next.ty))
            || (*is_const && is_number)
            || comment.contains(&format!("`{name}` may be null"));
        let item = self.type_of(pointee);
        let declared = match **pointee {
            Type::Primitive(PrimitiveType::Char) if *is_const => "byte[]".to_owned(),
            _ if stays => format!("{item}*"),
            _ if *is_const => format!("ref {item}"),
            _ => format!("out {item}"),
        };
        format!("{declared} {}", escaped(name))
    }

    /// The name in C# of a type: of a member, of a result, or of what a pointer points to.
    fn type_of(&self, ty: &Type) -> String {
        match ty {
            Type::Ptr { ty, .. } => format!("{}*", self.type_of(ty)),
            // A delegate's pointer, which `Marshal` makes.
            Type::FuncPtr { .. } => "IntPtr".to_owned(),
            Type::Path(path) => self.name_of(path.export_name()),
            Type::Primitive(number) => csharp_number(number.to_repr_c(&self.bindings.config))
                .unwrap_or_else(|| panic!("a C# type for {number:?}"))
                .to_owned(),
            other => panic!("a C# type for {other:?}"),
        }
    }

    /// The C# name of a C type. Enums and the structs that users see lose the prefix of C.
    fn name_of(&self, name: &str) -> String {
        let item = self.bindings.items.iter().find(|item| item.deref().export_name() == name);
        match item {
            Some(ItemContainer::Struct(of)) if is_handle(of) => "ulong".to_owned(),
            Some(ItemContainer::Struct(_)) if name == "KpComponent" => "Axis".to_owned(),
            Some(ItemContainer::Struct(_)) if !is_seen_by_users(name) => name.to_owned(),
            _ => name.trim_start_matches("Kp").to_owned(),
        }
    }

    /// A comment as XML documentation, wrapped.
    fn summary(&mut self, documentation: &Documentation) {
        let text = xml(&text_of(documentation));
        let one_line = format!("/// <summary>{text}</summary>");
        if self.indent + one_line.len() <= WIDTH {
            return self.line(&one_line);
        }
        self.line("/// <summary>");
        let mut line = "///".to_owned();
        for word in text.split(' ') {
            if self.indent + line.len() + 1 + word.len() > WIDTH {
                self.line(&line);
                "///".clone_into(&mut line);
            }
            line.push(' ');
            line.push_str(word);
        }
        self.line(&line);
        self.line("/// </summary>");
    }

    fn block(&mut self, body: impl FnOnce(&mut Self)) {
        self.line("{");
        self.indent += 4;
        body(self);
        self.indent -= 4;
        self.line("}");
        self.line("");
    }

    /// An empty line before each member but the first.
    fn gap(&mut self, nth: usize) {
        if nth > 0 {
            self.line("");
        }
    }
}

fn is_count(ty: &Type) -> bool {
    matches!(ty, Type::Primitive(PrimitiveType::Integer { kind: IntKind::Size, .. }))
}

fn csharp_number(c: &str) -> Option<&'static str> {
    NUMBERS.iter().find(|(name, _)| *name == c).map(|(_, csharp)| *csharp)
}

/// The C# name of a variant: `ToHub` for `KP_DATAGRAM_KIND_TO_HUB` of `KpDatagramKind`.
fn variant_name(of: &str, c: &str) -> String {
    let words = of.chars().filter(char::is_ascii_uppercase).count();
    let after_prefix = c.split('_').skip(words);
    after_prefix.map(|word| word[..1].to_owned() + &word[1..].to_lowercase()).collect()
}

fn escaped(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("@{name}") } else { name.to_owned() }
}

/// A comment as one line.
fn text_of(documentation: &Documentation) -> String {
    let text = documentation.doc_comment.join(" ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A comment's text as XML, with the C# names of numbers.
fn xml(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let parts = text.split('`').enumerate().map(|(nth, part)| match nth % 2 {
        0 => part.to_owned(),
        _ => format!("<c>{}</c>", csharp_number(part).unwrap_or(part)),
    });
    parts.collect()
}
