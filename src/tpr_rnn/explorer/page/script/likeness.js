// What a vector of the memory is most like (`Likeness` of the trace).

/** Whether it is a node, not only a little like one: more than half of it is of that direction. */
export const isNode = ({ node, cosine }) => node !== null && Math.abs(cosine) >= Math.SQRT1_2;
