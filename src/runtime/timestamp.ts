/** RFC 3339 in UTC with whole seconds, as `metav1.Time` is written. */
export const timestamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** RFC 3339 in UTC with six decimals, as `metav1.MicroTime` is written. */
export const microTimestamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 23)}000Z`;
