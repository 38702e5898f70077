//! Finds a figure's fields in a kind of entities that has other fields too.

use kinepack::Schema;

use super::Figure;

impl Figure {
    /// Returns the first of the figure's lanes among those of a kind, for
    /// [`set_first_lane`](Self::set_first_lane). `None` if the kind, given by its index, does not
    /// have the figure's fields one after another with the same limits.
    ///
    /// It compares names and limits, and allocates. So call it once for a schema.
    ///
    /// ```
    /// use kinepack::Schema;
    /// use kinepack::schema::{Field, FieldKind};
    /// use kinepack_anim::figure::{Figure, FigureOptions};
    /// use kinepack_anim::{Joint, Skeleton, Transform};
    ///
    /// let hips = Joint { name: "hips".into(), parent: None, bind: Transform::IDENTITY };
    /// let mut body = Figure::new(&Skeleton::new(vec![hips])?, &FigureOptions::default())?;
    ///
    /// // A kind with a flag before the body's fields.
    /// let mut fields = vec![Field::new("is_crouching", FieldKind::Bool)];
    /// fields.extend(body.fields());
    /// let schema = Schema::builder().kind_of_fields("player", fields).build()?;
    ///
    /// let first = body.find(&schema, 0).ok_or("the schema has no such body")?;
    /// assert_eq!(first, 1);
    /// body.set_first_lane(first);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find(&self, schema: &Schema, kind: usize) -> Option<usize> {
        let kind = schema.kinds().get(kind)?;
        let theirs = &schema.fields()[kind.fields()];
        let ours = self.fields();
        // A figure that sends nothing is in every kind.
        let Some(first) = ours.first() else { return Some(0) };
        // The first field's name has the digest, so no other figure's field has the same name.
        let start = theirs.iter().position(|field| field.name == first.name)?;
        let theirs = theirs[start..].get(..ours.len())?;
        let is_same = ours.iter().zip(theirs).all(|(ours, theirs)| {
            ours.name == theirs.name
                && ours.kind == theirs.kind
                && ours.condition == theirs.condition
        });
        is_same.then(|| theirs[0].lanes().start - kind.lanes().start)
    }

    /// Sets the lane of an entity at which [`write`](Self::write),
    /// [`interpolate`](Self::interpolate) and [`is_present`](Self::is_present) read the figure's
    /// lanes: 0 at first, and what [`find`](Self::find) returns for a kind with other fields too.
    pub fn set_first_lane(&mut self, lane: usize) {
        self.first_lane = lane;
    }
}
