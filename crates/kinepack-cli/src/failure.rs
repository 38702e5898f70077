//! The name that the files of [`anim`](crate::anim) use.

pub(crate) use crate::anim::error::AnimError as Failure;
