/** Random histories of exports, each reconciled to the end, against the rules as statement.ts says them. */
import { expect, test } from 'vitest';
import type { EndpointSlice, Service, ServicePort } from '../../../operator/kube/objects.ts';
import { decideImport } from '../../../operator/mcs/decide.ts';
import type { ServiceExport } from '../../../operator/target/read/mcs-objects.ts';
import type { ObservedImport, TargetExporter } from '../../../operator/mcs/observed.ts';
import { exportStatus } from '../../../operator/mcs/status.ts';
import { type Random, randomOf } from '../../simulation/world/random.ts';
import {
  addressOf,
  flat,
  local,
  NOTHING,
  NOW,
  observed,
  ownSlice,
  type Pod,
  podSlice,
  service,
  serviceExport,
  settled,
  type Standing,
  step,
  target,
} from './observed.ts';
import { brokenRules, conflictsOf } from './statement.ts';

const TARGETS = ['a', 'b', 'c'];
const HERE = 'here';
const PORTS: readonly ServicePort[] = [
  { name: 'http', port: 80, protocol: 'TCP' },
  { name: 'http', port: 81, protocol: 'TCP' },
  { name: 'web', port: 80, protocol: 'TCP' },
  { name: 'admin', port: 82, protocol: 'TCP' },
  { name: 'dns', port: 53, protocol: 'UDP' },
];

/** What one cluster exports. */
interface Exported {
  readonly serviceExport: ServiceExport;
  readonly service: Service | undefined;
}

class Draw {
  readonly #random: Random;
  constructor(seed: number) {
    this.#random = randomOf(seed);
  }
  chance(of: number): boolean {
    return this.#random() < of;
  }
  one<T>(...all: readonly [T, ...T[]]): T {
    return all[Math.floor(this.#random() * all.length)] as T;
  }

  ports(): readonly ServicePort[] {
    if (this.chance(0.05)) return [{ port: 80, protocol: 'TCP' }];
    const drawn: ServicePort[] = [];
    for (const port of PORTS) {
      const clashes = drawn.some((each) => each.name === port.name || each.port === port.port);
      if (!clashes && this.chance(port.name === 'http' ? 0.7 : 0.3)) drawn.push(port);
    }
    return drawn;
  }

  service(): Service | undefined {
    if (this.chance(0.1)) return undefined;
    const spec = {
      ports: this.ports(),
      ...(this.chance(0.4) && { clusterIP: 'None' }),
      ...(this.chance(0.05) && { type: 'ExternalName' }),
      ...(this.chance(0.2) && { sessionAffinity: 'ClientIP' }),
      ...(this.chance(0.2) && { internalTrafficPolicy: this.one('Cluster', 'Local') }),
    };
    const metadata = this.chance(0.05) ? { labels: { 'mirror.linkerd.io/mirrored-service': 'true' } } : {};
    return service(spec, metadata);
  }

  exported(): Exported {
    const labels = this.chance(0.3) ? { exportedLabels: { team: this.one('x', 'y') } } : {};
    const createdAt = this.one('2025-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z');
    const drawn = serviceExport(createdAt, labels);
    const uid = String(Math.floor(this.#random() * 1_000_000));
    return { serviceExport: { ...drawn, metadata: { ...drawn.metadata, uid } }, service: this.service() };
  }

  /** The exports a while later: each stays, changes, or comes or goes. */
  later(before: ReadonlyMap<string, Exported>): ReadonlyMap<string, Exported> {
    return new Map(
      [HERE, ...TARGETS].flatMap((cluster): (readonly [string, Exported])[] => {
        const was = before.get(cluster);
        if (was !== undefined && this.chance(0.5)) return [[cluster, was]];
        if (was !== undefined && this.chance(0.4)) return [[cluster, { ...was, service: this.service() }]];
        return this.chance(was === undefined ? 0.6 : 0.3) ? [[cluster, this.exported()]] : [];
      }),
    );
  }

  target(cluster: string, exported: Exported | undefined, gateways: boolean): TargetExporter {
    const isKnown = this.chance(0.85);
    return (gateways ? target : flat)(cluster, {
      isKnown,
      // After a restart the id is not known either.
      ...(!isKnown && this.chance(0.5) && { id: undefined }),
      serviceExport: isKnown ? exported?.serviceExport : undefined,
      service: isKnown ? exported?.service : undefined,
      slices: this.chance(0.2) ? undefined : this.slices(),
      ...(gateways && { gateway: this.gateway(cluster) }),
      isAdmitted: this.chance(0.95),
    });
  }

  /** What is behind a Service: a StatefulSet, a Deployment, both, or what a hostile cluster may say. */
  slices(): readonly EndpointSlice[] {
    const stateful = [0, 1, 2].map((at): Pod => ({ hostname: `web-${at}`, address: `10.1.0.${at}` }));
    const stateless = [7, 8, 9].map((at): Pod => ({ address: `10.1.0.${at}` }));
    const hostile: readonly Pod[] = [{ hostname: 'Web' }, { hostname: 'a.b' }, { address: '$', hostname: '' }];
    const kinds = [stateful, stateless, this.chance(0.1) ? hostile : []].filter(() => this.chance(0.7));
    return kinds.map((pods, at) => ({
      ...podSlice(pods.filter(() => this.chance(0.7)).map((pod) => ({ ...pod, ready: this.chance(0.7) }))),
      metadata: { name: `web-${at}`, namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
    }));
  }

  /** Some of the pods with a hostname that have a Service and are gone. */
  departed({ link, slices = [] }: TargetExporter, { podServices }: Standing): TargetExporter['departed'] {
    const hostnames = podServices
      .filter(({ metadata }) => metadata.labels?.['linkspan.dev/imported-from'] === link.cluster)
      .map(({ metadata }) => metadata.labels?.['linkspan.dev/imported-pod'] ?? '');
    const listed = slices.flatMap(({ endpoints }) => (endpoints ?? []).map(({ hostname }) => hostname));
    const gone = hostnames.filter((each) => each.startsWith('web-') && !listed.includes(each));
    return new Map(gone.filter(() => this.chance(0.5)).map((hostname) => [hostname, 1_000]));
  }

  gateway(cluster: string): TargetExporter['gateway'] {
    const addresses = [this.chance(0.8) ? addressOf(cluster) : '203.0.113.200'];
    return { port: 4143, identity: `gateway.${cluster}`, addresses, alive: this.chance(0.8) };
  }

  observed(exports: ReadonlyMap<string, Exported>, gateways: boolean, before: Standing): ObservedImport {
    const targets = TARGETS.map((cluster) => this.target(cluster, exports.get(cluster), gateways)).map((each) => ({
      ...each,
      departed: this.departed(each, before),
    }));
    return observed(targets, {
      local: local({ ...exports.get(HERE), slices: [ownSlice('10.1.0.1', 'web-7')] }),
      isReadable: this.chance(0.95),
      isSettled: this.chance(0.7),
      namespaceState: this.chance(0.97) ? 'exists' : 'unreadable',
      maxPods: this.one(100, 100, 2),
      isForeign: this.chance(0.1) ? (name) => /[0-7]$/.test(name) : () => false,
      ...before,
    });
  }
}

const HISTORIES = 500;

/** Exports change so often in one history, each time with what the last left behind. */
const CHANGES = 5;

test(`K1 to K5 hold for ${HISTORIES} random histories of exports, and what is right is not written again`, () => {
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    const draw = new Draw(seed);
    let gateways = draw.chance(0.6);
    let before = NOTHING;
    let exports: ReadonlyMap<string, Exported> = new Map();
    for (let change = 0; change < CHANGES; change += 1) {
      exports = draw.later(exports);
      if (draw.chance(0.15)) gateways = !gateways;
      const given = draw.observed(exports, gateways, before);
      const at = `seed ${seed}, change ${change}`;
      const [after] = settled(given);
      expect(brokenRules(given, after), at).toEqual([]);
      const reordered = { ...given, targets: [...given.targets].reverse() };
      expect(step({ ...reordered, ...after }).actions, at).toEqual([]);
      expect(reportedConflicts(given), at).toEqual(conflictsOf(given));
      // Now and then somebody deletes the ServiceImport.
      before = draw.chance(0.1) ? { ...after, live: undefined } : after;
    }
  }
});

/** The reasons that the local export reports; undefined if it is not valid. */
function reportedConflicts(given: ObservedImport): readonly string[] | undefined {
  const { serviceExport } = given.local;
  if (serviceExport === undefined) return undefined;
  const { conditions = [] } = exportStatus(decideImport(given), serviceExport, NOW) ?? {};
  if (conditions.find(({ type }) => type === 'Valid')?.status !== 'True') return undefined;
  const conflict = conditions.find(({ type }) => type === 'Conflict');
  return conflict?.status === 'True' ? conflict.reason.split(',') : [];
}
