/**
 * What users and Kubernetes do in a target: Services come, change their kind and their export, and go; pods come, get
 * ready, and go; slices are made by hand.
 */
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { HistoryCluster } from './cluster.ts';
import { fateOf } from './hostile.ts';
import { type Command, type Export, type OfSource, type PodState, PORTS } from './command.ts';
import { all, SERVICE_EXPORT } from './import-objects.ts';
import { membershipOf } from './members.ts';

export const EXPORT_LABEL = 'mirror.linkerd.io/exported';

type Of<T extends Command['do']> = Omit<Extract<Command, { do: T }>, 'do' | 'link'>;

type Labels = Record<string, string>;

/** @param command with `selector` false, it has none, whatever its kind */
export function putService(target: HistoryCluster, command: Of<'put service'> & { readonly selector?: false }): void {
  const { namespace, name, kind, exported, ports, tag, publishNotReady } = command;
  const clusterIP = kind === 'headless' ? { clusterIP: 'None' } : {};
  const there = target.get('v1', 'Service', namespace, name);
  // A Service's clusterIP is for life: another kind is another Service.
  if (there !== undefined && kindOf(there) !== kind) target.remove('v1', 'Service', namespace, name);
  const live = target.get('v1', 'Service', namespace, name)?.spec as { clusterIP?: string } | undefined;
  target.put({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name,
      namespace,
      labels: {
        ...membershipOf(there),
        ...exportLabels(exported),
        'example.com/tag': tag,
        'app.kubernetes.io/managed-by': 'Helm',
      },
      annotations: { 'example.com/note': tag, 'config.linkerd.io/opaque-ports': '9000', 'excluded.io/note': tag },
    },
    spec: {
      ...(live?.clusterIP === undefined ? {} : { clusterIP: live.clusterIP }),
      ...clusterIP,
      ...(kind === 'external' ? { type: 'ExternalName', externalName: 'example.com' } : { ports: PORTS[ports] }),
      ...(kind === 'selectorless' || kind === 'external' || command.selector === false
        ? {}
        : { selector: { app: name } }),
      ...(publishNotReady ? { publishNotReadyAddresses: true } : {}),
    },
  });
}

/** Changes a Service's export label, and nothing else. */
export function setExport(target: HistoryCluster, { namespace, name, exported }: Of<'export'>): void {
  const there = target.get('v1', 'Service', namespace, name);
  if (there === undefined) return;
  const { [EXPORT_LABEL]: _, ...labels } = there.metadata.labels ?? {};
  target.put({
    ...there,
    metadata: { ...there.metadata, labels: { ...labels, ...exportLabels(exported) } },
  });
}

/** The pods behind a Service become these: others go, as a StatefulSet is scaled. */
export function setPods(target: HistoryCluster, { namespace, name, pods }: Of<'set pods'>): void {
  const wanted = new Map(named(pods).map((pod, index) => [`${name.slice(0, 20)}.${pod.hostname || index}`, pod]));
  for (const { metadata } of target.list('v1', 'Pod')) {
    const isBehind = metadata.namespace === namespace && metadata.labels?.['app'] === name;
    if (isBehind && !wanted.has(metadata.name)) target.remove('v1', 'Pod', namespace, metadata.name);
  }
  for (const [index, [pod, { hostname, ready }]] of [...wanted].entries()) {
    target.put({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: pod, namespace, labels: { app: name } },
      spec: {
        containers: [{ name: 'main', image: 'main' }],
        nodeName: 'node',
        ...(hostname === '' ? {} : { hostname, subdomain: name }),
      },
      status: {
        phase: 'Running',
        podIP: addressOf(index),
        podIPs: [{ ip: addressOf(index) }],
        conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      },
    });
  }
}

const addressOf = (pod: number): string => `10.244.${100 + Math.floor(pod / 250)}.${(pod % 250) + 1}`;

/** The name of the Service that {@link putCrowd} puts. */
export const CROWD = 'crowd';

/** A headless Service with so many pods, each with a hostname; the first ones are ready. */
export function putCrowd(target: HistoryCluster, pods: number, ready: number): void {
  putHeadless(
    target,
    CROWD,
    Array.from({ length: pods }, (_, index) => ({ hostname: `${CROWD}-${index}`, ready: index < ready })),
  );
}

function putHeadless(target: HistoryCluster, name: string, pods: readonly PodState[]): void {
  const of = { namespace: 'shop', name };
  putService(target, { ...of, kind: 'headless', exported: 'true', ports: 0, tag: 'a', publishNotReady: false });
  setPods(target, { ...of, pods });
}

/** The name of the Service that {@link putSet} puts. */
const SET = 'set';

/** A headless Service with so many pods, each with a hostname. */
export function putSet(target: HistoryCluster, pods: number): void {
  putHeadless(
    target,
    SET,
    Array.from({ length: pods }, (_, index) => ({ hostname: `${SET}-${index}`, ready: true })),
  );
}

/** The name of the Service that {@link putByHand} puts. */
export const HAND = 'hand';

/** A headless Service without a selector, with so many pods in a slice made by hand, the first in two. */
export function putByHand(target: HistoryCluster, pods: number, second: boolean): void {
  const of = { namespace: 'shop', name: HAND };
  if (target.get('v1', 'Service', 'shop', HAND) === undefined) {
    const plain = { ...of, exported: 'true', ports: 0, tag: 'a', publishNotReady: false } as const;
    putService(target, { ...plain, kind: 'headless', selector: false });
  }
  const endpoints = Array.from({ length: pods }, (_, index) => ({
    addresses: [`10.244.2.${index + 1}`],
    conditions: { ready: true },
    hostname: `${HAND}-${index}`,
  }));
  putSlice(target, { ...of, slice: HAND + BY_HAND, endpoints, port: 8080 });
  putSlice(target, { ...of, slice: `${HAND}-2${BY_HAND}`, endpoints: endpoints.slice(0, second ? 1 : 0), port: 9090 });
}

interface HandSlice extends OfSource {
  readonly slice: string;
  readonly endpoints: readonly object[];
  readonly port: number;
}

/** Puts a slice made by hand; without an endpoint it goes. */
function putSlice(target: HistoryCluster, { namespace, name, slice, endpoints, port }: HandSlice): void {
  if (endpoints.length === 0) {
    if (target.get('discovery.k8s.io/v1', 'EndpointSlice', namespace, slice) !== undefined)
      target.remove('discovery.k8s.io/v1', 'EndpointSlice', namespace, slice);
    return;
  }
  target.put({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: slice, namespace, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints,
    ports: [{ name: 'http', port, protocol: 'TCP' }],
  });
}

/** Deletes the pods behind a Service. @returns makes them anew, as far as there are none of their names */
export function renewPods(
  target: HistoryCluster,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): () => void {
  const pods = target
    .list('v1', 'Pod')
    .filter(({ metadata }) => metadata.namespace === namespace && metadata.labels?.['app'] === name);
  for (const { metadata } of pods) target.remove('v1', 'Pod', namespace, metadata.name);
  return () => {
    for (const pod of pods) {
      if (target.get('v1', 'Pod', namespace, pod.metadata.name) === undefined) target.put(pod);
    }
  };
}

/** @returns puts back the slices made by hand that there are now, as far as their Services are there */
export function keepSlicesByHand(target: HistoryCluster): () => void {
  const kept = target
    .list('discovery.k8s.io/v1', 'EndpointSlice')
    .filter(({ metadata }) => metadata.name.endsWith(BY_HAND));
  return () => {
    for (const slice of kept) {
      const { namespace, name, labels = {} } = slice.metadata;
      const service = target.get('v1', 'Service', namespace, labels['kubernetes.io/service-name'] ?? '');
      const there = target.get('discovery.k8s.io/v1', 'EndpointSlice', namespace, name);
      if (service !== undefined && there === undefined) target.put(slice);
    }
  };
}

/** Another cluster comes to have Services, pods and slices made by hand of one, and no others. */
export function copyServices(from: HistoryCluster, to: HistoryCluster, which: 'all' | 'half' | 'none'): void {
  const isOld = ({ kind, metadata }: KubeObject): boolean =>
    metadata.namespace !== 'default' && ['Service', 'Pod', 'EndpointSlice', SERVICE_EXPORT.kind].includes(kind ?? '');
  const kinds = [
    ['v1', 'Service'],
    ['v1', 'Pod'],
    ['discovery.k8s.io/v1', 'EndpointSlice'],
  ] as const;
  // Who still reads it learns of that by a list alone. One that has been empty can be watched from any version.
  if (kinds.some(([version, kind]) => to.list(version, kind).some(isOld)) || all(to, SERVICE_EXPORT).length > 0)
    to.faults.wipe(isOld);
  const services = from
    .list('v1', 'Service')
    .filter((service) => service.metadata.namespace !== 'default' && fateOf(service) === undefined);
  const copied = which === 'none' ? [] : services.filter((_, index) => which === 'all' || index % 2 === 0);
  for (const service of copied) {
    const { clusterIP, clusterIPs: _, ...spec } = service.spec as { clusterIP?: string; clusterIPs?: unknown };
    to.put({ ...service, spec: { ...spec, ...(clusterIP === 'None' ? { clusterIP } : {}) } });
  }
  if (which === 'none') return;
  for (const pod of from.list('v1', 'Pod')) to.put(pod);
  const kept = from.list('discovery.k8s.io/v1', 'EndpointSlice');
  const isCopied = (namespace: string | undefined, name: string | undefined): boolean =>
    copied.some(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  for (const slice of kept.filter(({ metadata }) => metadata.name.endsWith(BY_HAND))) {
    const { namespace, labels } = slice.metadata;
    if (isCopied(namespace, labels?.['kubernetes.io/service-name'])) to.put(slice);
  }
  if (!to.has(SERVICE_EXPORT)) return;
  for (const { status: _, ...each } of all(from, SERVICE_EXPORT))
    if (isCopied(each.metadata.namespace, each.metadata.name)) to.put(each);
}

/** How slices made by hand are called, after their Service. */
const BY_HAND = '-by-hand';

/** A slice made by hand, for a Service without a selector; without an endpoint it goes. */
export function setSlice(target: HistoryCluster, { namespace, name, pods }: Of<'set slice'>): void {
  const service = target.get('v1', 'Service', namespace, name);
  if (service === undefined || kindOf(service) !== 'selectorless') return;
  const endpoints = named(pods).map(({ hostname, ready }, index) => ({
    addresses: [`10.244.1.${index + 1}`],
    conditions: { ready },
    ...(hostname === '' ? {} : { hostname }),
  }));
  putSlice(target, { namespace, name, slice: `${name}${BY_HAND}`, endpoints, port: 8080 });
}

const exportLabels = (exported: Export): Labels => (exported === 'none' ? {} : { [EXPORT_LABEL]: exported });

const kindOf = (service: KubeObject): string => {
  const { type, clusterIP, selector } = service.spec as { type?: string; clusterIP?: string; selector?: Labels };
  if (type === 'ExternalName') return 'external';
  if (clusterIP === 'None') return 'headless';
  return Object.keys(selector ?? {}).length === 0 ? 'selectorless' : 'clusterIP';
};

/** Each hostname once. */
const named = (pods: readonly PodState[]): readonly PodState[] =>
  pods.filter(({ hostname }, at) => hostname === '' || pods.findIndex((other) => other.hostname === hostname) === at);
