/** The IP families of the source cluster: a gateway address of another family is of no use to its pods. */
import { isIP } from 'node:net';
import { backoffMs, RECONNECT_BACKOFF, sleep } from '../kube/backoff.ts';
import type { KubeClient } from '../kube/client.ts';
import { describe, isForbidden, isNotFound } from '../kube/errors.ts';
import { type IpFamily, type Service, SERVICES } from '../kube/objects.ts';
import type { Logger } from '../runtime/logger.ts';

/**
 * The families of the operator's own pod if they are known, else those of the API server's Service, which is read until
 * there is an answer; if it may not be read, that of the address by which a pod reaches it, else IPv4.
 * @param env `POD_IPS` holds the IP addresses of the pod, separated by commas; `KUBERNETES_SERVICE_HOST` is set in a pod
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
      // What is assumed now is assumed for as long as the process leads.
      await sleep(backoffMs(attempt, RECONNECT_BACKOFF, Math.random), signal);
    }
  }
  return new Set([isIP(host) === 0 ? 'IPv4' : familyOf(host)]);
}

/** The families of IP addresses. */
export const familiesOfIPs = (ips: readonly string[]): ReadonlySet<IpFamily> => new Set(ips.map(familyOf));

/** The families of a Service; none if it does not say. */
export const familiesOfService = ({ spec }: Service): ReadonlySet<IpFamily> =>
  new Set((spec?.ipFamilies ?? []).filter((each) => each === 'IPv4' || each === 'IPv6'));

const familyOf = (ip: string): IpFamily => (ip.includes(':') ? 'IPv6' : 'IPv4');
