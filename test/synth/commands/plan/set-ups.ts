/**
 * Random set-ups for plans: what a target exports and a source holds, what becomes of both, and the Link that is planned
 * then. Each has namespaces, labels and a cluster name of its own, so that many share two clusters. A seed gives one list.
 */
import { randomFor, type Random } from '../../../simulation/world/random.ts';
import { type ObjectRef } from '../../../cluster/workload/index.ts';
import { GATEWAY, link, namespace, service, slice } from '../../../support/builders.ts';
import { linkerdEndpoints, linkerdMirror } from '../../../support/linkerd-controller.ts';

/** One set-up. */
export interface SetUp {
  readonly id: number;
  /** Name of the Link and of the target cluster. */
  readonly cluster: string;
  /** The Link was served before, by an operator that has stopped since. */
  readonly isServed: boolean;
  /** What is there while it was, or from the beginning. */
  readonly before: Step;
  /** What is done after that. */
  readonly then: Step;
  /** The Links as they are planned, and then applied. */
  readonly links: readonly ObjectRef[];
  readonly probe: 'alive' | 'dead' | 'none';
}

/** What is put and removed. */
export interface Step {
  readonly target: readonly Edit[];
  readonly source: readonly Edit[];
  readonly links: readonly ObjectRef[];
  /** Links that are removed. */
  readonly unlinked: readonly string[];
}

/** An object that is put, made anew, or removed. */
export interface Edit {
  readonly do: 'put' | 'renew' | 'remove';
  readonly object: ObjectRef;
}

const put = (object: ObjectRef): Edit => ({ do: 'put', object });
const remove = (object: ObjectRef): Edit => ({ do: 'remove', object });

type Labels = Readonly<Record<string, string>>;

const PORTS: readonly (readonly object[])[] = [
  [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }],
  [{ name: 'http', port: 8080, targetPort: 'web', protocol: 'TCP' }],
  [
    { name: 'http', port: 80, targetPort: 8080, protocol: 'TCP', appProtocol: 'http' },
    { name: 'dns', port: 53, targetPort: 53, protocol: 'UDP' },
  ],
  [{ name: 'dns', port: 53, targetPort: 53, protocol: 'UDP' }],
];
const LONG = 'n'.repeat(60);
const NAMES = ['web', 'web-0', 'web-1', 'db', 'foo-a', LONG] as const;
const HOSTS = ['web-0', 'web-1', 'web-2'] as const;

/** Draws a set-up. */
export const setUp = (id: number, seed: number): SetUp => {
  const random = randomFor(seed, `set-up ${id}`);
  const draw = new Draw(random, id);
  const { cluster, home } = draw;
  const isServed = draw.chance(0.6);
  const probe = draw.one(['none', 'none', 'alive', 'dead'] as const);
  const wasHeadless = draw.chance(0.8);
  const spec = draw.spec(probe, wasHeadless);
  const services = draw.some(NAMES, isServed ? 0.6 : 0.5).map((name) => draw.service(name));
  const crowd = draw.chance(0.15) ? Array.from({ length: 12 }, (_, at) => draw.plain(`crowd-${at}`)) : [];
  const rival = draw.chance(0.2) ? draw.rival() : undefined;
  const before: Step = {
    target: [...draw.namespaces, ...services.flatMap(({ edits }) => edits), ...crowd.flat(), ...(rival?.target ?? [])],
    source: [...[namespace(home), ...(draw.chance(0.3) ? [namespace(draw.other)] : [])].map(put), ...draw.federation()],
    links: isServed ? [link(cluster, spec)] : [],
    unlinked: [],
  };

  const target: Edit[] = [];
  for (const { name, of } of services) {
    if (draw.chance(0.5)) continue;
    if (draw.chance(0.3)) target.push(...draw.removal(name, of));
    else target.push(...draw.service(name, of).edits);
  }
  if (crowd.length > 0 && draw.chance(0.7)) {
    for (let at = 0; at < 11; at += 1) target.push(...draw.removal(`crowd-${at}`, home));
  }
  if (draw.chance(0.4)) target.push(...draw.service(draw.one(NAMES)).edits);
  const source = [...draw.disorder(isServed), ...(draw.chance(0.5) ? draw.federation() : [])];
  const isMoved = isServed && draw.chance(0.12);
  const isReplaced = isServed && !isMoved && draw.chance(0.1);
  const newer = draw.chance(0.5) ? spec : draw.spec(probe, draw.chance(0.8));
  const planned = isReplaced ? `r-${id}` : cluster;
  const links = [
    link(planned, {
      ...newer,
      targetClusterName: isMoved ? `n${id}` : cluster,
      ...CREDENTIALS,
    }),
    ...(rival === undefined ? [] : [rival.link]),
  ];
  return {
    ...{ id, cluster, isServed, before, links, probe },
    then: { target, source, links: [], unlinked: isReplaced ? [cluster] : [] },
  };
};

const MEMBER: Labels = { 'mirror.linkerd.io/federated': 'member' };
const CREDENTIALS = { clusterCredentialsSecret: 'cluster-credentials-west' };

interface DrawnService {
  readonly name: string;
  /** Its namespace. */
  readonly of: string;
  readonly edits: readonly Edit[];
}

class Draw {
  readonly cluster: string;
  readonly home: string;
  readonly other: string;
  readonly #random: Random;
  readonly #own: Labels;

  constructor(random: Random, id: number) {
    this.#random = random;
    this.cluster = `w${id}`;
    this.home = `home-${id}`;
    this.other = `other-${id}`;
    this.#own = { 'set-up': String(id) };
  }

  chance(part: number): boolean {
    return this.#random() < part;
  }

  one<T>(of: readonly T[]): T {
    return of[Math.floor(this.#random() * of.length)]!;
  }

  some<T>(of: readonly T[], part: number): readonly T[] {
    return of.filter(() => this.chance(part));
  }

  get namespaces(): readonly Edit[] {
    return [namespace(this.home), namespace(this.other)].map(put);
  }

  spec(probe: SetUp['probe'], headless: boolean): object {
    const exported = (value: string) => ({
      matchLabels: { 'mirror.linkerd.io/exported': value, ...this.#own },
    });
    return {
      ...CREDENTIALS,
      selector: this.chance(0.05) ? {} : exported('true'),
      remoteDiscoverySelector: this.chance(0.1) ? {} : exported('remote-discovery'),
      ...(this.chance(0.8) && { federatedServiceSelector: { matchLabels: { ...MEMBER, ...this.#own } } }),
      ...(this.chance(0.5) && { federation: 'gateway' }),
      gatewayAddress: this.one([GATEWAY, GATEWAY, '203.0.113.11', '203.0.113.12,203.0.113.10']),
      gatewayPort: this.one(['4143', '4143', '30143']),
      probeSpec: probe === 'none' ? undefined : { path: '/ready', port: '4191', period: '300ms', timeout: '1s' },
      enableHeadlessServices: headless,
      enableNamespaceCreation: this.chance(0.3),
      ...(this.chance(0.2) && { excludedLabels: ['team'] }),
      ...(this.chance(0.15) && { targetNamespaces: [this.home] }),
    };
  }

  /** A Service with what is behind it. One that is put again keeps whether it is headless. */
  service(name: string, within?: string): DrawnService {
    const of = within ?? (this.chance(0.75) ? this.home : this.other);
    const exported = this.one(['true', 'true', 'true', 'remote-discovery', 'false', undefined]);
    const labels = {
      ...this.#own,
      ...(exported !== undefined && { 'mirror.linkerd.io/exported': exported }),
      ...(this.chance(0.4) && { team: this.one(['a', 'b']) }),
      ...(this.chance(0.4) && MEMBER),
    };
    const headless = name === 'web' || name === 'db';
    const selector = this.chance(0.15) ? null : { app: name };
    const ports = this.one(PORTS);
    const spec = name === 'web-1' && this.chance(0.3) ? { type: 'ExternalName', externalName: 'a.example' } : {};
    const object = service(name, {
      namespace: of,
      labels,
      headless: headless && !('type' in spec),
      selector,
      ports,
      spec,
    });
    const endpoints = headless
      ? this.some(HOSTS, 0.6).map((hostname) => ({ hostname, ready: this.chance(0.8) }))
      : this.some([1, 2], 0.6).map(() => ({ ready: this.chance(0.8) }));
    const copied: Labels = selector === null ? {} : labels;
    const behind = slice(name, { namespace: of, endpoints, labels: copied });
    return {
      name,
      of,
      edits: [
        { do: 'renew', object },
        { do: 'renew', object: behind },
      ],
    };
  }

  plain(name: string): readonly Edit[] {
    const labels = { ...this.#own, 'mirror.linkerd.io/exported': 'true' };
    return [put(service(name, { namespace: this.home, labels })), put(slice(name, { namespace: this.home, labels }))];
  }

  removal(name: string, of: string): readonly Edit[] {
    return [remove(service(name, { namespace: of })), remove(slice(name, { namespace: of }))];
  }

  /** A Link whose cluster's name ends in that of this one, and a Service whose mirror wants the name of another. */
  rival(): { readonly target: readonly Edit[]; readonly link: ObjectRef } {
    const labels = { 'mirror.linkerd.io/exported': 'rival', ...this.#own };
    const name = `a-${this.cluster}`;
    return {
      target: [
        put(service('foo', { namespace: this.home, labels })),
        put(slice('foo', { namespace: this.home, labels })),
      ],
      link: link(name, {
        ...CREDENTIALS,
        selector: { matchLabels: labels },
        remoteDiscoverySelector: {},
        probeSpec: undefined,
        enableHeadlessServices: false,
      }),
    };
  }

  /** What decides in the source cluster about federated Services: local members, and credentials of the control plane. */
  federation(): readonly Edit[] {
    const { home: of, cluster } = this;
    const edits: Edit[] = [];
    if (this.chance(0.5)) {
      const name = this.one(NAMES);
      const labels = this.chance(0.8) ? MEMBER : {};
      const endpoints = this.some([1, 2], 0.6).map(() => ({ ready: this.chance(0.8) }));
      edits.push({ do: 'renew', object: service(name, { namespace: of, labels, ports: this.one(PORTS) }) });
      edits.push({ do: 'renew', object: slice(name, { namespace: of, labels, endpoints }) });
    }
    if (this.chance(0.2)) edits.push(...this.removal(this.one(NAMES), of));
    if (this.chance(0.2)) {
      edits.push({
        do: 'renew',
        object: service(`${this.one(['db', 'foo-a', 'web-0'])}-federated`, { namespace: of }),
      });
    }
    if (this.chance(0.6)) edits.push(put(namespace('linkerd')), put(controlPlaneCopy(cluster, this.chance(0.9))));
    return edits;
  }

  /** What others do in the source cluster. */
  disorder(isServed: boolean): readonly Edit[] {
    const { home: of, cluster } = this;
    const local = (name: string, labels?: Labels) =>
      service(`${name}-${cluster}`, { namespace: of, ...(labels && { labels }) });
    const edits: Edit[] = [];
    if (this.chance(0.3)) edits.push({ do: 'renew', object: local(this.one(['web', 'web-0', 'db', 'crowd-3'])) });
    if (this.chance(0.2)) edits.push(remove(local(this.one(['web', 'web-0', 'web-1']))));
    if (this.chance(0.2)) {
      const name = this.one(['db', 'foo-a', 'web']);
      edits.push(remove({ apiVersion: 'v1', kind: 'Endpoints', metadata: local(name).metadata }));
    }
    if (this.chance(0.2)) {
      edits.push({ do: 'renew', object: foreignEndpoints(`${this.one(['db', 'foo-a'])}-${cluster}`, of) });
    }
    if (this.chance(0.3)) {
      // Written by Linkerd's controller, of what may not be exported at all.
      const target = { name: this.one(['web-1', 'foo-a', 'ghost']), namespace: of, labels: this.#own };
      const ports = [{ name: 'http', port: 80 }];
      edits.push({ do: 'renew', object: linkerdMirror(cluster, target, ports) });
      edits.push({ do: 'renew', object: linkerdEndpoints(cluster, target, ports, ['203.0.113.99']) });
    }
    if (isServed && this.chance(0.3)) {
      const labels = { 'mirror.linkerd.io/mirrored-service': 'true', 'mirror.linkerd.io/cluster-name': cluster };
      edits.push({ do: 'renew', object: local(this.one(['foo-a', 'crowd-1']), { ...labels, edited: 'by-hand' }) });
    }
    return edits;
  }
}

const foreignEndpoints = (name: string, within: string): ObjectRef => {
  const manifest = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name, namespace: within },
    subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 1 }] }],
  };
  return manifest;
};

const DOMAINS: Labels = {
  'multicluster.linkerd.io/trust-domain': 'cluster.local',
  'multicluster.linkerd.io/cluster-domain': 'cluster.local',
};

/** The credentials by which Linkerd's control plane finds the pods of a cluster. */
const controlPlaneCopy = (cluster: string, isComplete: boolean): ObjectRef => {
  const manifest = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'mirror.linkerd.io/remote-kubeconfig',
    data: { kubeconfig: '' },
    metadata: {
      name: `cluster-credentials-${cluster}`,
      namespace: 'linkerd',
      labels: { 'multicluster.linkerd.io/cluster-name': cluster },
      // Linkerd ignores one without.
      ...(isComplete && { annotations: DOMAINS }),
    },
  };
  return manifest;
};
