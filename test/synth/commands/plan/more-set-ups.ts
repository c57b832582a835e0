/** What random set-ups have beside mirrors and federated Services: ServiceExports on both sides, ServiceFailovers, policies of Links, gateways that are lost. */
import type { ObjectRef } from '../../../cluster/workload/index.ts';
import { randomFor, type Random } from '../../../simulation/world/random.ts';
import { GATEWAY, objectRef, service, slice } from '../../../support/builders.ts';
import { serviceExport } from '../../../support/mcs.ts';
import type { Edit, SetUp } from './set-ups.ts';

const EXPORTED = ['web', 'web-0', 'foo-a'] as const;

/** Returns the set-up with more in it, in part of them all. */
export const withMore = (drawn: SetUp, seed: number): SetUp => {
  const draw = new DrawMore(randomFor(seed, `more of set-up ${drawn.id}`), drawn);
  const exporting = draw.exporting();
  const failing = draw.failing();
  const losing = draw.losing();
  const policies = { before: draw.policy(0.15), planned: draw.policy(0.25) };
  const { before, then, links } = drawn;
  return {
    ...drawn,
    before: {
      ...before,
      target: [...before.target, ...exporting.before.target, ...losing.before],
      source: [...before.source, ...exporting.before.source, ...failing.before],
      links: before.links.map((each) => policies.before(losing.link(exporting.link(each, true), GATEWAY))),
    },
    then: {
      ...then,
      target: [...then.target, ...exporting.then.target, ...losing.then],
      source: [...then.source, ...exporting.then.source, ...failing.then],
    },
    links: links.map((each, at) => {
      const exported = exporting.link(each, at === 0 && exporting.isTaken);
      return at === 0 ? policies.planned(losing.link(exported, '')) : exported;
    }),
  };
};

const put = (object: ObjectRef): Edit => ({ do: 'put', object });
const remove = (object: ObjectRef): Edit => ({ do: 'remove', object });

class DrawMore {
  readonly #random: Random;
  readonly #drawn: SetUp;
  readonly #home: string;

  constructor(random: Random, drawn: SetUp) {
    this.#random = random;
    this.#drawn = drawn;
    this.#home = `home-${drawn.id}`;
  }

  /** ServiceExports of the target, and of the source; and what a Link says of them, which is nothing in half of all set-ups. */
  exporting() {
    const isOn = this.#chance(0.5);
    const { target, source } = { target: this.#exports(isOn, 0.6), source: this.#exports(isOn, 0.2) };
    const foreign = service(`${this.#one(EXPORTED)}-clusterset`, { namespace: this.#home });
    return {
      ...{ before: { target, source }, isTaken: this.#chance(0.9) },
      then: {
        target: this.#changes(isOn),
        source: [...this.#changes(isOn && this.#chance(0.3)), ...(isOn && this.#chance(0.15) ? [put(foreign)] : [])],
      },
      // All Links lead to one target: each takes the exports of its own namespaces.
      link: (link: ObjectRef, isTaken: boolean): ObjectRef => {
        const { spec } = link as { readonly spec?: object };
        const more = isOn && isTaken ? { targetNamespaces: [this.#home] } : { serviceExports: false };
        return { ...link, spec: { ...spec, ...more } } as ObjectRef;
      },
    };
  }

  /** A ServiceFailover that comes, changes or goes. Which gateway a probe finds alive is not known beforehand. */
  failing(): { readonly before: readonly Edit[]; readonly then: readonly Edit[] } {
    if (this.#drawn.probe !== 'none' || this.#chance(0.2)) return { before: [], then: [] };
    const front = { namespace: this.#home };
    const ready = (): readonly object[] => [{ ready: this.#chance(0.7) }];
    const apex = [put(service('front', front)), put(slice('front', { ...front, endpoints: ready() }))];
    const failover = put(this.#failover());
    const then = this.#one([[], [put(this.#failover())], [remove(failover.object)]] as const);
    const changed = this.#chance(0.5) ? [put(slice('front', { ...front, endpoints: ready() }))] : [];
    return this.#drawn.isServed && this.#chance(0.7)
      ? { before: [...apex, failover], then: [...changed, ...then] }
      : { before: apex, then: [...changed, failover] };
  }

  /** A Link that has no gateway any more, while so many members of federated Services go that their removal is held. */
  losing() {
    const { id, isServed } = this.#drawn;
    const isLost = isServed && this.#chance(0.2);
    const labels = { 'mirror.linkerd.io/federated': 'member', 'set-up': String(id) };
    const member = { namespace: this.#home, labels };
    const crew = isLost ? Array.from({ length: 12 }, (_, at) => `crew-${at}`) : [];
    const edits = crew.map((name) => [service(name, member), slice(name, member)] as const);
    return {
      before: edits.flat().map(put),
      then: edits.slice(1).flat().map(remove),
      link: (link: ObjectRef, gatewayAddress: string): ObjectRef => {
        const { spec } = link as { readonly spec?: object };
        const more = { federation: 'gateway', federatedServiceSelector: { matchLabels: labels }, gatewayAddress };
        return isLost ? ({ ...link, spec: { ...spec, ...more } } as ObjectRef) : link;
      },
    };
  }

  /** What a Link takes of its target. */
  policy(part: number): (link: ObjectRef) => ObjectRef {
    if (!this.#chance(part)) return (link) => link;
    const approved = this.#one([[], [`${this.#home}/web*`], [`${this.#home}/foo-a`, '*/db']] as const);
    const importPolicy = this.#one([
      { namespaces: [this.#home] },
      { names: ['web*', 'crew-*'] },
      { ports: ['1-1023'], names: ['*'] },
      { types: ['ClusterIP'] },
      { approval: 'required', approved },
    ] as const);
    return (link) => {
      const { spec } = link as { readonly spec?: object };
      return { ...link, spec: { ...spec, importPolicy } } as ObjectRef;
    };
  }

  #failover(): ObjectRef {
    const mirror = { service: `${this.#one(['web-0', 'foo-a'])}-${this.#drawn.cluster}` };
    const local = { service: this.#one(['front', 'front', 'away']) };
    const backends = this.#chance(0.7) ? [mirror, local] : [local, mirror];
    const spec = { service: 'front', backends, holdDown: '0' };
    const object = { ...objectRef('linkspan.dev/v1alpha1', 'ServiceFailover', 'front', this.#home), spec };
    return object;
  }

  #exports(isOn: boolean, part: number): readonly Edit[] {
    const names = EXPORTED.filter(() => this.#chance(part));
    return isOn ? names.map((name) => put(serviceExport(name, this.#home))) : [];
  }

  #changes(isOn: boolean): readonly Edit[] {
    const changed = EXPORTED.filter(() => this.#chance(0.4));
    const all = changed
      .map((name) => serviceExport(name, this.#home))
      .map((each) => (this.#chance(0.5) ? put : remove)(each));
    return isOn ? all : [];
  }

  #chance(part: number): boolean {
    return this.#random() < part;
  }

  #one<T>(of: readonly T[]): T {
    return of[Math.floor(this.#random() * of.length)]!;
  }
}
