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
