/** What the names of our EndpointSlices end with. */
export type Family = 'IPv4' | 'IPv6';

/**
 * Returns what the name of a slice ends with, after a dash.
 * @param index which subset it is of, among those with addresses of the family
 * @param bits those of the part of the subset that it has
 */
export const sliceSuffix = (family: Family, index: number, bits: string): string =>
  [family.toLowerCase(), ...(index === 0 ? [] : [index + 1]), ...(bits === '' ? [] : [`b${bits}`])].join('-');

/** Returns the name of a slice without the dash and the {@link sliceSuffix}, if it has one. */
export const withoutSuffix = (slice: string): string => slice.replace(/-ipv[46](-[0-9]+)?(-b[01]+)?$/, '');

/**
 * Returns what the names of all slices of one cluster have in common that lead from a Service: with the copies of a
 * cluster's own slices, which have a name of their own behind a second dot, and with those that have a {@link sliceSuffix}.
 */
export function clusterPartOf(slice: string): string {
  const [service, cluster, ...copied] = slice.split('.');
  return copied.length > 0 ? `${service}.${cluster}` : withoutSuffix(slice);
}
