/** The IP families of the source cluster: a gateway address of another family is of no use to its pods. */
import type { KubeClient } from '../kube/client.ts';
import { describe } from '../kube/errors.ts';
import { type IpFamily, type Service, SERVICES } from '../kube/objects.ts';
import type { Logger } from '../runtime/logger.ts';

/**
 * The families of the operator's own pod if they are known, else those of the API server's Service, else IPv4.
 * @param env `POD_IPS` holds the IP addresses of the pod, separated by commas
 */
export async function sourceFamilies(
  client: KubeClient,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
  log: Logger,
): Promise<ReadonlySet<IpFamily>> {
  const podIPs = env['POD_IPS'];
  if (podIPs !== undefined && podIPs !== '') {
    return new Set(podIPs.split(',').map((ip) => (ip.includes(':') ? 'IPv6' : 'IPv4')));
  }
  try {
    const service = await client.read<Service>(SERVICES, 'default', 'kubernetes', signal);
    const families = (service.spec?.ipFamilies ?? []).filter((each) => each === 'IPv4' || each === 'IPv6');
    if (families.length > 0) return new Set(families);
  } catch (error) {
    log.debug({ error: describe(error) }, 'Service default/kubernetes cannot be read; IPv4 is assumed');
  }
  return new Set(['IPv4']);
}
