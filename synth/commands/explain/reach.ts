/** From a mirror to the addresses that its clients reach. Pure. */
import type { LinkSettings } from '../../../crds/link/settings.ts';
import { Label } from '../../../crds/wire.ts';
import { cut } from '../../../operator/kube/errors.ts';
import type { Service } from '../../../operator/kube/objects.ts';
import type { Facts } from './facts.ts';
import { readSlices } from '../../../operator/mirror/target-endpoints.ts';
import { byKubectl, operatorLog } from '../common/remedies.ts';
import { ok, type Step, stop, unknown, warning } from './step.ts';

export interface Reached {
  readonly steps: readonly Step[];
  /** Ready addresses; none if nothing is reached. */
  readonly addresses: readonly string[];
}

/** What is behind a mirror. */
export const reach = (facts: Facts, settings: LinkSettings, mirror: Service): Reached => {
  if (mirror.metadata.labels?.[Label.remoteDiscovery] !== undefined) return flat(facts);
  const steps = [...targetSteps(facts), ...gatewaySteps(facts, settings)];
  if (steps.some(({ state }) => state === 'stop')) return { steps, addresses: [] };
  return mirror.spec?.clusterIP === 'None' ? headless(facts, steps, mirror) : single(facts, steps, mirror);
};

/** Whether anything behind the Service is ready, as far as the target is read. */
const targetSteps = (facts: Facts): readonly Step[] => {
  const { target, ref } = facts;
  if (target?.service === undefined) return [];
  const { context, service, slices } = target;
  const endpoints = readSlices(service, slices);
  if (endpoints.anyReady) return [ok('pods', `the Service has ready endpoints in ${context}`)];
  const none = endpoints.any ? '' : ': it has no endpoints';
  const remedy = `see its selector and pods: ${byKubectl(target, '-n', ref.namespace, 'describe', 'service', ref.name)}`;
  return [stop('pods', `nothing behind the Service is ready in ${context}${none}`, remedy)];
};

const gatewaySteps = ({ report, unserved }: Facts, { gateway, probe }: LinkSettings): readonly Step[] => {
  if (gateway === undefined) {
    const remedy = 'set spec.gatewayAddress of the Link, or export the Service as remote-discovery';
    return [stop('gateway', `Link ${report.name} has no gateway`, remedy)];
  }
  const { gatewayAddresses, gatewayAlive, conditions } = report;
  const why = (type: string): string => {
    const found = conditions.find((each) => each.type === type);
    return found === undefined || found.message === '' ? '' : `: ${found.message}`;
  };
  if (gatewayAddresses.length === 0) {
    const message = `the gateway's address is not resolved${why('GatewayResolved')}`;
    return [stop('gateway', message, 'see spec.gatewayAddress of the Link, and DNS')];
  }
  if (gatewayAlive === false) {
    const remedy = "see whether the gateway runs in the target, and can be reached from the source's nodes";
    return [stop('gateway', `the gateway is down${why('GatewayAlive')}`, remedy)];
  }
  const addresses = gatewayAddresses.join(', ');
  if (unserved !== undefined) {
    return [unknown('gateway', `the gateway, ${addresses}, is not known to be alive: nobody is known to probe it`)];
  }
  if (gatewayAlive === true && probe !== undefined) return [ok('gateway', `the gateway, ${addresses}, is alive`)];
  return probe === undefined
    ? [warning('gateway', `the gateway, ${addresses}, is not known to be alive: the Link has no probe`)]
    : [unknown('gateway', `the gateway, ${addresses}, is not probed yet`, 'wait a moment')];
};

/** Clients discover the pods in the target: no address of the source is in between. */
const flat = (facts: Facts): Reached => {
  const steps = targetSteps(facts);
  const isStopped = steps.some(({ state }) => state === 'stop');
  const addresses = (facts.target?.slices ?? [])
    .flatMap(({ endpoints }) => endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready ?? true)
    .flatMap((endpoint) => endpoint.addresses)
    .map((address) => cut(address));
  if (facts.target !== undefined) return { steps, addresses: isStopped ? [] : addresses };
  const message = "Linkerd's proxies discover the pods in the target: the source does not know them";
  const { away } = facts;
  return away === undefined
    ? { steps: [stop('pods', message, 'name the target with --to-context')], addresses: [] }
    : { steps: [unknown('pods', `${message}, and ${away.context} cannot be read`)], addresses: [] };
};

/** The ready addresses that a Service of ours has, by v1 Endpoints or slices. */
const addressesOf = ({ owned }: Facts, service: string): readonly string[] => {
  const endpoints = owned.endpoints
    .filter(({ metadata }) => metadata.name === service)
    .flatMap(({ subsets }) => subsets ?? [])
    .flatMap(({ addresses }) => addresses ?? [])
    .map(({ ip }) => ip);
  const slices = owned.slices
    .filter(({ metadata }) => metadata.labels?.[Label.serviceName] === service)
    .flatMap((slice) => slice.endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready ?? true)
    .flatMap(({ addresses }) => addresses);
  return [...new Set([...endpoints, ...slices])].map((address) => cut(address));
};

const single = (facts: Facts, steps: readonly Step[], { metadata: { name } }: Service): Reached => {
  const addresses = addressesOf(facts, name);
  return { steps: [...steps, endpointsStep(facts, name, addresses)], addresses };
};

const endpointsStep = ({ source, ref }: Facts, name: string, addresses: readonly string[]): Step =>
  addresses.length > 0
    ? ok('endpoints', `${name} has the ready addresses ${addresses.join(', ')}`)
    : stop(
        'endpoints',
        `${name} has no ready address`,
        `see them: ${byKubectl(source, '-n', ref.namespace, 'describe', 'endpoints', name)}; and ${operatorLog(source)}`,
      );

/** Each pod has an endpoint mirror, whose ClusterIP the headless mirror lists. */
const headless = (facts: Facts, before: readonly Step[], { metadata: { name } }: Service): Reached => {
  const listed = new Set(addressesOf(facts, name));
  const mirrors = facts.owned.services.filter(
    ({ metadata }) => metadata.labels?.[Label.headlessMirrorSvcName] === name,
  );
  const pods = mirrors.map((mirror): { readonly step: Step; readonly addresses: readonly string[] } => {
    const { metadata, spec } = mirror;
    const addresses = addressesOf(facts, metadata.name);
    const ip = spec?.clusterIP ?? '';
    const pod = `${metadata.name}, ${cut(ip)},`;
    if (listed.has(ip) && addresses.length > 0) {
      return { step: ok('pod', `${pod} leads to ${addresses.join(', ')}`), addresses };
    }
    const lacks = listed.has(ip)
      ? 'has no ready address'
      : `is not among the addresses of ${name}: its pod is not ready`;
    return { step: warning('pod', `${pod} ${lacks}`, 'see whether the pod is ready in the target'), addresses: [] };
  });
  const addresses = [...new Set(pods.flatMap((pod) => pod.addresses))];
  const steps = [...before, ...pods.map(({ step }) => step)];
  return addresses.length > 0 ? { steps, addresses } : { steps: [...steps, endpointsStep(facts, name, [])], addresses };
};
