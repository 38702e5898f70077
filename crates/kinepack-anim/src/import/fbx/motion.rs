//! The properties that the animation stacks of a scene animate.

use ufbx::{
    AllocatorOpts, Anim, AnimCurve, AnimLayer, AnimOpts, AnimProp, AnimRoot, AnimStack,
    BlendChannel, Element, ElementType, Interpolation, ListOpt, Prop, PropFlags, PropType, Scene,
};

use super::left_out::Collector;
use super::scene::bad;
use super::{ImportError, JointNodes, LeftOutKind};
use crate::import::Skipped;
use crate::import::budget::Budget;

/// The maximum number of layers in a stack. Evaluating a joint at a sample visits all of them.
const MAX_LAYERS: usize = 64;
/// The maximum number of animated properties of all stacks together. Stacks may share layers.
const MAX_PARTS: usize = 1 << 22;
/// The memory that ufbx may take for a stack's list of layers that are not muted, in bytes.
const ANIM_BYTES: u64 = 1 << 16;

/// The properties that define the transform of a node.
const OF_TRANSFORM: [&str; 10] = [
    "Lcl Translation",
    "Lcl Rotation",
    "Lcl Scaling",
    "PreRotation",
    "PostRotation",
    "RotationOrder",
    "RotationOffset",
    "RotationPivot",
    "ScalingOffset",
    "ScalingPivot",
];
/// The name of the property that is the weight of a blend shape, in percent.
const WEIGHT: &str = "DeformPercent";

/// Two numbers count as equal if their difference is at most this share of the larger one, or of 1
/// if both are smaller. Keys are stored as `f32`.
const SAME: f64 = 1e-5;

/// A stack and the properties that it animates.
pub(super) struct Motion<'a> {
    pub(super) stack: &'a AnimStack,
    /// The animation without the muted layers. The value is `None` if no layer is muted.
    audible: Option<AnimRoot>,
    pub(super) parts: Vec<Part<'a>>,
}

/// An animated property. `keys` is the interval from its first key to its last.
pub(super) enum Part<'a> {
    /// A property of a node's transform. `moves` is true if the animation differs from the node's
    /// own value.
    Transform { node: usize, moves: bool, keys: Span },
    /// The weight of a blend shape.
    Weight { channel: usize, keys: Span },
    /// A user-defined number of a node. `moves` is true if the animation differs from the node's
    /// own value.
    Custom { node: usize, name: &'a str, moves: bool, keys: Span },
    /// Any other property that changes.
    Other { element: &'a Element, name: &'a str },
}

/// An interval from a time to a later time, in seconds.
pub(super) type Span = (f64, f64);

impl Motion<'_> {
    /// Returns the animation without muted layers, for ufbx to evaluate.
    pub(super) fn anim(&self) -> &Anim {
        self.audible.as_deref().unwrap_or(&self.stack.anim)
    }
}

impl<'a> Motion<'a> {
    /// Lists the parts that no clip represents.
    pub(super) fn left_out(
        &self,
        joint_nodes: Option<&JointNodes>,
        channels: &Channels<'a>,
        left_out: &mut Collector<'a>,
        budget: &mut Budget,
    ) -> Result<(), ImportError> {
        let is_joint =
            |node| joint_nodes.is_some_and(|joint_nodes| joint_nodes.joint_of(node).is_some());
        for layer in self.stack.layers.iter().filter(|layer| is_muted(layer)) {
            left_out.add(LeftOutKind::MutedLayer, &layer.element.name, "", budget)?;
        }
        let scene = channels.scene;
        for part in &self.parts {
            match *part {
                Part::Transform { node, moves: true, .. } if !is_joint(node) => {
                    let name = &scene.nodes[node].element.name;
                    left_out.add(LeftOutKind::OtherNode, name, "", budget)?;
                }
                Part::Custom { node, name, moves: true, .. } if !is_joint(node) => {
                    let node = &scene.nodes[node].element.name;
                    left_out.add(LeftOutKind::Property, node, name, budget)?;
                }
                Part::Weight { channel, .. } if channels.node_of(channel).is_none() => {
                    let channel = &scene.blend_channels[channel].element.name;
                    left_out.add(LeftOutKind::Property, channel, WEIGHT, budget)?;
                }
                Part::Other { element, name } => {
                    left_out.add(LeftOutKind::Property, label(element), name, budget)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns the name of an element or, if it is empty, the name of the first node that uses the
/// element.
fn label(element: &Element) -> &str {
    match element.instances.first() {
        Some(node) if element.name.is_empty() => &node.element.name,
        _ => &element.name,
    }
}

/// Returns the stacks of a scene. Skips stacks with too many layers.
pub(super) fn all<'a>(
    file: &str,
    scene: &'a Scene,
    skipped: &mut Vec<Skipped>,
    budget: &mut Budget,
) -> Result<Vec<Motion<'a>>, ImportError> {
    let stacks: Vec<&AnimStack> = fit_stacks(file, scene, skipped, budget)?;
    let audible = |stack: &'a AnimStack| stack.layers.iter().filter(|layer| !is_muted(layer));
    let parts = stacks.iter().flat_map(|stack| audible(stack).map(|layer| layer.anim_props.len()));
    let count = parts.fold(0usize, usize::saturating_add);
    if count > MAX_PARTS {
        return Err(bad(file, format!("its stacks animate {count} properties")));
    }
    budget.take((count * size_of::<Part<'_>>()) as u64)?;
    budget.take((stacks.len() * size_of::<Motion<'_>>()) as u64)?;
    budget.take((scene.anim_curves.len() * size_of::<Option<f64>>()) as u64)?;
    let constants: Vec<Option<f64>> =
        scene.anim_curves.iter().map(|curve| constant(curve)).collect();
    let mut motions = Vec::with_capacity(stacks.len());
    for stack in stacks {
        let layers: Vec<&AnimLayer> = audible(stack).map(AsRef::as_ref).collect();
        let mut parts = Vec::with_capacity(layers.iter().map(|layer| layer.anim_props.len()).sum());
        for prop in layers.iter().flat_map(|layer| layer.anim_props.iter()) {
            // If there are several layers, a constant may be added to another layer's value.
            let moves = layers.len() > 1 || !is_held(prop, &constants);
            parts.extend(part(prop, moves));
        }
        let audible =
            (layers.len() < stack.layers.len()).then(|| without_muted(scene, &layers, budget));
        motions.push(Motion { stack, audible: audible.transpose()?, parts });
    }
    Ok(motions)
}

/// Returns the stacks that do not have too many layers. The function skips the others.
fn fit_stacks<'a>(
    file: &str,
    scene: &'a Scene,
    skipped: &mut Vec<Skipped>,
    budget: &mut Budget,
) -> Result<Vec<&'a AnimStack>, ImportError> {
    budget.take((scene.anim_stacks.len() * size_of::<&AnimStack>()) as u64)?;
    let mut fit = Vec::with_capacity(scene.anim_stacks.len());
    for stack in &scene.anim_stacks {
        let layers = stack.layers.len();
        if layers <= MAX_LAYERS {
            fit.push(stack);
            continue;
        }
        let error = ImportError::BadStack { file: file.to_owned(), layers, limit: MAX_LAYERS };
        let animation = stack.element.name.to_string();
        Skipped { animation, channel: None, error }.add_to(skipped, budget)?;
    }
    Ok(fit)
}

fn without_muted(
    scene: &Scene,
    layers: &[&AnimLayer],
    budget: &mut Budget,
) -> Result<AnimRoot, ImportError> {
    budget.take(ANIM_BYTES)?;
    let ids = layers.iter().map(|layer| layer.element.typed_id).collect();
    let limit = ANIM_BYTES as usize;
    let options = AnimOpts {
        layer_ids: ListOpt::Owned(ids),
        result_allocator: AllocatorOpts { memory_limit: limit, ..AllocatorOpts::default() },
        ..AnimOpts::default()
    };
    ufbx::create_anim(scene, options).map_err(|_| budget.too_much(ANIM_BYTES))
}

fn is_muted(layer: &AnimLayer) -> bool {
    ufbx::find_prop(&layer.element.props, "Mute").is_some_and(|mute| mute.value_int != 0)
}

/// Returns the part for an animated property, or `None` if the property does not change what its
/// element shows.
fn part(prop: &AnimProp, moves: bool) -> Option<Part<'_>> {
    let (element, name): (&Element, &str) = (&prop.element, &prop.prop_name);
    let index = element.typed_id as usize;
    let keys = keys(prop);
    match element.type_ {
        // ufbx applies the weights of layers itself.
        ElementType::AnimLayer if name == "Weight" => None,
        ElementType::Node if OF_TRANSFORM.contains(&name) => {
            Some(Part::Transform { node: index, moves, keys })
        }
        ElementType::Node if is_custom(element, name) => {
            Some(Part::Custom { node: index, name, moves, keys })
        }
        ElementType::BlendChannel if name == WEIGHT => Some(Part::Weight { channel: index, keys }),
        _ => moves.then_some(Part::Other { element, name }),
    }
}

/// Returns whether a property is a single user-defined number.
fn is_custom(element: &Element, name: &str) -> bool {
    let is_number = |prop: &Prop| {
        use PropType::{Boolean, Distance, Integer, Number};
        prop.flags.has_any(PropFlags::USER_DEFINED)
            && matches!(prop.type_, Boolean | Distance | Integer | Number)
    };
    ufbx::find_prop(&element.props, name).is_some_and(is_number)
}

fn curves(prop: &AnimProp) -> impl Iterator<Item = &AnimCurve> {
    prop.anim_value.curves.iter().flatten().map(AsRef::as_ref)
}

/// Returns the times of the property's first and last key.
fn keys(prop: &AnimProp) -> Span {
    let spans = curves(prop).filter(|curve| !curve.keyframes.is_empty());
    spans.fold((f64::INFINITY, f64::NEG_INFINITY), |(begin_s, end_s), curve| {
        (begin_s.min(curve.min_time), end_s.max(curve.max_time))
    })
}

/// Returns whether the animation of `prop` equals the property's own value at all times.
fn is_held(prop: &AnimProp, constants: &[Option<f64>]) -> bool {
    let Some(own) = ufbx::find_prop(&prop.element.props, &prop.prop_name) else { return false };
    let own = [own.value_vec4.x, own.value_vec4.y, own.value_vec4.z];
    let value = &prop.anim_value;
    let default = [value.default_value.x, value.default_value.y, value.default_value.z];
    (0..3).all(|axis| {
        let animated = match &value.curves[axis] {
            Some(curve) => constants.get(curve.element.typed_id as usize).copied().flatten(),
            None => Some(default[axis]),
        };
        animated.is_some_and(|value| is_same(value, own[axis]))
    })
}

fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME * a.abs().max(b.abs()).max(1.0)
}

/// Returns the value of a curve that never changes, or `None` if the curve changes.
fn constant(curve: &AnimCurve) -> Option<f64> {
    let first = curve.keyframes.first()?.value;
    let is_flat = |key: &ufbx::Keyframe| {
        is_same(key.value, first)
            && (key.interpolation != Interpolation::Cubic
                || (key.left.dy == 0.0 && key.right.dy == 0.0))
    };
    curve.keyframes.iter().all(is_flat).then_some(first)
}

/// The channels of blend shapes, and the nodes whose meshes use them.
pub(super) struct Channels<'a> {
    scene: &'a Scene,
    /// The first node whose mesh uses the channel, for each channel.
    nodes: Vec<Option<usize>>,
}

impl<'a> Channels<'a> {
    pub(super) fn new(scene: &'a Scene, budget: &mut Budget) -> Result<Self, ImportError> {
        budget.take((scene.blend_channels.len() * size_of::<Option<usize>>()) as u64)?;
        let mut nodes = vec![None; scene.blend_channels.len()];
        for mesh in &scene.meshes {
            let Some(node) = mesh.element.instances.first() else { continue };
            for channel in mesh.blend_deformers.iter().flat_map(|deformer| deformer.channels.iter())
            {
                nodes[channel.element.typed_id as usize]
                    .get_or_insert(node.element.typed_id as usize);
            }
        }
        Ok(Self { scene, nodes })
    }

    /// Returns the node whose mesh uses a channel.
    pub(super) fn node_of(&self, channel: usize) -> Option<usize> {
        self.nodes.get(channel).copied().flatten()
    }

    /// Returns a channel, with its name or, if the channel has no name, the name of its shape.
    pub(super) fn get(&self, channel: usize) -> (&'a BlendChannel, Option<&'a str>) {
        let channel = &self.scene.blend_channels[channel];
        let shape = channel.target_shape.as_ref().map(|shape| &*shape.element.name);
        let names = [Some(&*channel.element.name), shape];
        (channel, names.into_iter().flatten().find(|name| !name.is_empty()))
    }
}
