// Finds the fields of a body in a schema, as the program does: a position, a rotation, and the flag of
// bodies that something touched.

function partsOf({ fields }) {
  const first = (test) => fields.find(test)?.name;
  const isVector = ({ what, size }) => what === "floats" && size <= 3;
  return {
    position: first((field) => isVector(field) && field.role === "body")
      ?? first((field) => isVector(field) && field.role !== "velocity"),
    orientation: first(({ what }) => what === "rotation"),
    interacting: first(({ role }) => role === "touched"),
  };
}

/** Returns a function that gives the columns of a frame's bodies, kind by kind. */
export function fieldsOf({ kinds }) {
  const parts = kinds.map(partsOf);
  return (frame) => frame.kinds.map(({ count, fields }, kind) => {
    const columns = Object.entries(parts[kind]).map(([part, name]) => [part, fields[name]]);
    return { count, fields: Object.fromEntries(columns) };
  });
}
