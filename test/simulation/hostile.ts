/**
 * Objects that no API server would store: those of a target that is hostile or broken, and a Link's status as anybody
 * with the right may write it. They get past all validation. What the rules make of each is told by a mark on it, which
 * the operator does not know.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import type { HistoryCluster } from './cluster.ts';
import type { OfSource } from './command.ts';

/** `ignored`: as if it were not there (E8). `refused`: reported, and not mirrored (A4). */
type Fate = 'ignored' | 'refused';

const MARK = 'hostile';
const NAME = 'evil';
const LABELS = { 'mirror.linkerd.io/exported': 'true' };
const PORTS = [{ name: 'http', port: 80, protocol: 'TCP' }];

/** What is put over a Service that is well. */
interface Twist {
  readonly fate: Fate;
  readonly metadata?: object;
  readonly spec?: unknown;
}

/** Services of a name of their own. */
const SERVICES: readonly Twist[] = [
  { fate: 'ignored', spec: 'none' },
  { fate: 'ignored', spec: { ports: 'http' } },
  { fate: 'ignored', spec: { ports: [{ port: 99_999 }] } },
  { fate: 'ignored', spec: { ports: PORTS, type: 7 } },
  { fate: 'ignored', spec: { ports: PORTS, publishNotReadyAddresses: 'yes' } },
  { fate: 'ignored', metadata: { labels: { ...LABELS, number: 5 } } },
  { fate: 'ignored', metadata: { annotations: [1] } },
  { fate: 'refused', metadata: { name: 'Evil_Name' } },
  { fate: 'refused', metadata: { name: 'evil.name' } },
  {
    fate: 'refused',
    spec: {
      ports: [
        { name: 'a', port: 80 },
        { name: 'a', port: 81 },
      ],
    },
  },
  { fate: 'refused', spec: { ports: [{ name: 'http', port: 0 }] } },
];

/** Slices beside those of Service `web`. */
const SLICES: readonly { readonly fate?: Fate; readonly body: object }[] = [
  { fate: 'ignored', body: { endpoints: 5 } },
  { fate: 'ignored', body: { endpoints: [{ addresses: ['10.244.9.9'], hostname: 7 }] } },
  { fate: 'ignored', body: { endpoints: [{ addresses: ['10.244.9.9'], conditions: 'ready' }] } },
  { fate: 'ignored', body: { addressType: undefined, endpoints: [] } },
  { body: { endpoints: [{ addresses: ['10.244.9.9'], hostname: 'Bad_Host', conditions: { ready: true } }] } },
];

/** A status of a Link. */
const STATUSES: readonly unknown[] = [
  null,
  'fine',
  { conditions: 'all' },
  // Entries have the key by which the API server merges them.
  { conditions: [{ type: 'Odd', status: true, reason: 7 }, { type: 'Ready' }] },
  { conditions: [{ type: 'Ready', status: 'True', reason: 'no reason', lastTransitionTime: 'yesterday' }] },
  { mirrorServices: 5 },
  { mirrorServices: [{ conditions: 'x' }, 7, { remoteRef: 'web' }] },
  { observedGeneration: 'latest', gateway: 7, mirrors: [] },
];

/** What a Service that is well turns into, and is not mirrored as. */
const SPOILED: readonly object[] = [
  {
    ports: [
      { name: 'a', port: 80 },
      { name: 'a', port: 81 },
    ],
  },
  { ports: [{ name: 'http', port: 0 }] },
];

/** Where a Service that was spoiled keeps what it was. */
const WAS = 'was';

export const HOSTILE = {
  spoiled: SPOILED.length,
  services: SERVICES.length,
  slices: SLICES.length,
  statuses: STATUSES.length,
} as const;

/** The object of a number: there are no more than in the list, and they come again. */
export const at = <T>(list: readonly T[], index: number): T => list[index % list.length]!;

export function putHostileService(target: HistoryCluster, namespace: string, index: number): void {
  const { fate, metadata, spec } = at(SERVICES, index);
  const service = {
    ...{ apiVersion: 'v1', kind: 'Service', [MARK]: fate },
    metadata: { name: NAME, namespace, uid: `evil-${index}`, labels: LABELS, ...metadata },
    spec: spec ?? { clusterIP: '10.96.66.6', ports: PORTS },
  };
  target.putRaw(service);
}

export function putHostileSlice(target: HistoryCluster, namespace: string, index: number): void {
  const { fate, body } = at(SLICES, index);
  const slice = {
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', ...(fate && { [MARK]: fate }) },
    metadata: {
      name: NAME,
      namespace,
      uid: `evil-${index}`,
      labels: { ...LABELS, 'kubernetes.io/service-name': 'web' },
    },
    ...{ addressType: 'IPv4', ports: PORTS, ...body },
  };
  target.putRaw(slice);
}

/** Spoils a Service in place: it has a mirror, which stays. */
export function spoil(target: HistoryCluster, { namespace, name }: OfSource, index: number): void {
  const service = target.get('v1', 'Service', namespace, name);
  if (service === undefined || fateOf(service) !== undefined) return;
  const { spec } = service;
  target.putRaw({
    ...service,
    ...{ [MARK]: 'refused', [WAS]: spec, metadata: { ...service.metadata } },
    spec: { ...(spec as object), ...at(SPOILED, index) },
  });
}

/** Makes what was spoiled of a target what it was. @param which @default - all of it */
export function mendSpoiled(target: HistoryCluster, which?: OfSource): void {
  for (const service of target.list('v1', 'Service').filter((each) => WAS in each)) {
    const { [MARK]: _, [WAS]: spec, ...rest } = service;
    const { namespace, name } = service.metadata;
    if (which !== undefined && (namespace !== which.namespace || name !== which.name)) continue;
    target.putRaw({ ...rest, metadata: { ...service.metadata }, spec });
  }
}

export function removeHostile(target: HistoryCluster): void {
  for (const [apiVersion, kind] of [
    ['v1', 'Service'],
    ['discovery.k8s.io/v1', 'EndpointSlice'],
  ] as const) {
    const evil = target.list(apiVersion, kind).filter(({ metadata }) => /^evil/i.test(metadata.name));
    for (const object of evil) target.removeRaw(object);
  }
}

export function writeStatus(east: HistoryCluster, link: KubeObject, index: number): void {
  east.putRaw({ ...link, metadata: { ...link.metadata }, status: at(STATUSES, index) });
}

/** Whoever edits a Link by hand has to take such a status out of it: with it, the API server refuses the Link. */
export function removeHostileStatus(east: HistoryCluster, link: KubeObject): void {
  if (!STATUSES.some((hostile) => isDeepStrictEqual(hostile, link['status']))) return;
  const { status: _, ...rest } = link;
  east.putRaw({ ...rest, metadata: { ...link.metadata } });
}

export const fateOf = (object: KubeObject): Fate | undefined => object[MARK] as Fate | undefined;
