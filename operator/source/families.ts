/** Finds the IP families of the source cluster. Its pods cannot use a gateway address of another family. */
import { isIP } from 'node:net';
import { backoffMs, RECONNECT_BACKOFF, sleep } from '../kube/backoff.ts';
import type { KubeClient } from '../kube/client.ts';
import { describe, isForbidden, isNotFound } from '../kube/errors.ts';
import { type IpFamily, type Service, SERVICES } from '../kube/objects.ts';
import type { Logger } from '../runtime/logger.ts';

/**
 * Returns the IP families of the source cluster. They are those of the operator's own pod, if its addresses are known.
 * Otherwise, they are those of the API server's Service, which is read again until the API server answers. If that
 * Service does not exist, may not be read or names no family, the family is that of the address by which a pod reaches
 * the API server, or IPv4 if that is not an IP address.
 * @param env `POD_IPS` holds the IP addresses of the pod, separated by commas; `KUBERNETES_SERVICE_HOST` is set in a
 *   pod
 */
export async function sourceFamilies(
  client: KubeClient,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
  log: Logger,
): Promise<ReadonlySet<IpFamily>> {
  const { POD_IPS: podIPs = '', KUBERNETES_SERVICE_HOST: host = '' } = env;
  if (podIPs !== '') return familiesOfIPs(podIPs.split(','));
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      const service = await client.read<Service>(SERVICES, 'default', 'kubernetes', signal);
      const families = familiesOfService(service);
      if (families.size > 0) return families;
      break;
    } catch (error) {
      log.debug({ error: describe(error) }, 'Service default/kubernetes cannot be read');
      if (isForbidden(error) || isNotFound(error)) break;
      // The result is used for as long as the process leads, so it is worth waiting for.
      await sleep(backoffMs(attempt, RECONNECT_BACKOFF, Math.random), signal);
    }
  }
  return new Set([isIP(host) === 0 ? 'IPv4' : familyOf(host)]);
}

/** Returns the families of IP addresses. */
export const familiesOfIPs = (ips: readonly string[]): ReadonlySet<IpFamily> => new Set(ips.map(familyOf));

/** Returns the IP families of a Service; an empty set if its spec names none. */
export const familiesOfService = ({ spec }: Service): ReadonlySet<IpFamily> =>
  new Set((spec?.ipFamilies ?? []).filter((each) => each === 'IPv4' || each === 'IPv6'));

const familyOf = (ip: string): IpFamily => (ip.includes(':') ? 'IPv6' : 'IPv4');
