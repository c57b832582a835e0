/**
 * Which pods of one headless Service have an endpoint mirror, if there are more than it may have (rule E10): those that
 * have one, then the first by hostname. Pure.
 */

/**
 * Returns the hostnames that are within the limit.
 * @param hostnames of all pods
 */
export function podsWithin<T extends Pick<ReadonlyMap<string, unknown>, 'has' | 'keys' | 'size'>>(
  hostnames: T,
  isMirrored: (hostname: string) => boolean,
  most: number,
): T | ReadonlySet<string> {
  if (hostnames.size <= most) return hostnames;
  const { mirrored = [], others = [] } = Object.groupBy(hostnames.keys(), (hostname) =>
    isMirrored(hostname) ? 'mirrored' : 'others',
  );
  const room = Math.max(0, most - mirrored.length);
  return new Set([...mirrored, ...others.sort().slice(0, room)]);
}
