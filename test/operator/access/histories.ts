/** Random histories of what is exported, and to whom: the policy of the gateway is judged at every write of them. */
import { AccessDerivation } from '../../../operator/access/derivation.ts';
import { decideAccess, type ObservedAccess } from '../../../operator/access/decide.ts';
import {
  type Export,
  type GatewayAccess,
  type GatewayTcp,
  type Identities,
  unionOf,
} from '../../../operator/access/exports.ts';
import {
  type AccessRoute,
  type Authentication,
  type Authorization,
  isForAnyClient,
  isOurs,
  type Networks,
  OPEN,
  setOf,
} from '../../../operator/access/objects.ts';
import { ApiError } from '../../../operator/kube/errors.ts';
import type { KubeObject } from '../../../operator/kube/objects.ts';
import type { Outcome } from '../../../operator/runtime/applier.ts';
import { takeStep } from '../../../operator/runtime/pass.ts';
import type { Action } from '../../../operator/runtime/plan.ts';
import { once } from '../runtime/once.ts';
import { GatewayModel, type PolicyObject } from './model.ts';

const CLIENTS = ['a', 'b', 'c', 'd'] as const;
const NAMESPACE = 'linkerd-multicluster';
/** The networks that clients connect from, and the operator's copy. */
const NAMED = 'source-cluster';
const KEPT = 'linkspan-source-networks';
/** More than two routes take. */
const SERVICES = 20;
const DOMAIN = 'shop.svc.cluster.local';
/** A host that is never exported, and pods of headless Services. */
const HOSTS = [
  `secret.${DOMAIN}`,
  ...Array.from({ length: SERVICES }, (_, at) => `s${at}.${DOMAIN}`),
  ...[0, 5, 10].map((at) => `pod-0.s${at}.${DOMAIN}`),
];

/** Who is to be let in, by one state of what was asked for. */
interface Intent {
  /** Whether a client must be let in. */
  must(client: string, host: string): boolean;
  /** Whether a client may be let in. */
  may(client: string, host: string): boolean;
}

const OPENED: Intent = { must: () => true, may: () => true };
const NOBODY: Intent = { must: () => false, may: () => false };

/** Uniform in [0, 1). */
type Random = () => number;

export interface HistoryResult {
  readonly writes: number;
  /** The first write after which somebody was refused, or let in, who must not be. */
  readonly violation: string | undefined;
}

/** Plays one history. */
export async function play(random: Random): Promise<HistoryResult> {
  const history = new History(random);
  await history.run();
  return history;
}

class History {
  readonly #random: Random;
  readonly #objects = new Map<string, PolicyObject & KubeObject>();
  readonly #accepted = new Set<string>();
  readonly #exports = new Map<string, Export>();
  #mode: GatewayAccess;
  #tcp: GatewayTcp = 'none';
  /** What was asked for since the policy was last as it must be. */
  #intents: Intent[];
  /** Whether nobody can come in since somebody took the networks away before the operator had kept them. */
  #isCutOff = false;
  #versions = 0;
  writes = 0;
  violation: string | undefined;

  constructor(random: Random) {
    this.#random = random;
    this.#mode = this.#pick(['open', 'exported', 'clients']);
    this.#putNetworks(['10.0.0.0/8']);
    const isOpen = this.#mode === 'open' || random() < 0.5;
    if (isOpen) this.#putOpening();
    this.#intents = [isOpen ? OPENED : NOBODY];
    if (this.#mode !== 'open') this.#intents.push(this.#intent());
  }

  async run(): Promise<void> {
    const steps = 4 + Math.floor(this.#random() * 12);
    for (let step = 0; step < steps && this.violation === undefined; step += 1) {
      for (let many = this.#random() < 0.2 ? 12 : 1; many > 0; many -= 1) this.#change();
      this.#intents.push(this.#intent());
      const passes = Math.floor(this.#random() * 4);
      for (let pass = 0; pass < passes; pass += 1) await this.#pass(0.2);
      if (this.#random() < 0.4) await this.#settle();
    }
    await this.#settle();
    this.#judgeSettled();
  }

  /** Somebody changes what is exported, to whom, or how. */
  #change(): void {
    const roll = this.#random();
    if (roll < 0.1) {
      this.#mode = this.#pick(['open', 'exported', 'clients']);
      if (this.#mode === 'open') {
        this.#putOpening();
        this.#intents.push(OPENED);
      }
      if (this.#mode === 'clients' && this.#tcp === 'meshed') this.#tcp = 'clients';
    } else if (roll < 0.15) {
      this.#tcp = this.#pick(this.#mode === 'clients' ? ['none', 'clients'] : ['none', 'meshed', 'clients']);
    } else if (roll < 0.25) {
      const networks = this.#pick([undefined, [], ['10.0.0.0/8'], ['10.1.0.0/16', '10.2.0.0/16']]);
      this.#putNetworks(networks);
    } else if (roll < 0.3) this.#relabel();
    else {
      const at = Math.floor(this.#random() * SERVICES);
      const name = `s${at}`;
      if (this.#random() < 0.3) this.#exports.delete(name);
      else this.#exports.set(name, this.#draw(name, at));
    }
  }

  /** Somebody gives an object of the operator the label of another of its kind, or that of what lets in everyone. */
  #relabel(): void {
    const ours = [...this.#objects.values()].filter(isOurs);
    if (ours.length === 0) return;
    const object = this.#pick(ours);
    const label = this.#pick([...ours.filter(({ kind }) => kind === object.kind).map(setOf), OPEN]);
    const labels = { ...object.metadata.labels, 'linkspan.dev/gateway-access': label ?? OPEN };
    this.#put({ ...object, metadata: { ...object.metadata, labels } });
  }

  #draw(name: string, at: number): Export {
    const host = `${name}.${DOMAIN}`;
    const sets: readonly Identities[] = ['*', ['a'], ['b'], ['a', 'b'], ['a', 'b', 'c'], []];
    return {
      key: `shop/${name}`,
      hosts: at % 5 === 0 ? [host, `*.${host}`] : [host],
      identities: this.#pick(sets),
      opaquePorts: this.#random() < 0.2 ? [3306] : [],
      errors: [],
    };
  }

  #intent(): Intent {
    if (this.#mode === 'open') return OPENED;
    const exports = [...this.#exports.values()];
    const opaque = exports.filter(({ opaquePorts }) => opaquePorts.length > 0).map(({ identities }) => identities);
    const union: Identities = this.#tcp === 'meshed' ? '*' : this.#tcp === 'clients' ? unionOf(opaque) : [];
    const has = (identities: Identities, client: string): boolean => identities === '*' || identities.includes(client);
    const of = (host: string): Identities => {
      const service = host.replace(/^pod-0\./, '').split('.')[0] ?? '';
      return exports.find(({ key }) => key === `shop/${service}`)?.identities ?? [];
    };
    return {
      must: (client, host) => has(of(host), client),
      may: (client, host) => of(host).length > 0 && (has(of(host), client) || has(union, client)),
    };
  }

  /** The operator makes one pass, of which some writes fail; the policy controller takes some routes. */
  async #pass(failing: number): Promise<number> {
    const observed = this.#observe();
    const decision = decideAccess(observed);
    const goal = AccessDerivation.prototype.goal.call(undefined, observed, decision);
    for (const { desired } of goal.steps) once(desired);
    const execute = (action: Action): Promise<Outcome> => {
      if (this.#random() < failing) return Promise.reject(new Error('unreachable'));
      if (action.op === 'create' && this.#objects.has(`${action.of.kind}/${action.object.metadata.name}`))
        return Promise.reject(new ApiError(409, { reason: 'Conflict' }, 'POST'));
      this.#write(action);
      return Promise.resolve({ result: 'written', object: action.object });
    };
    const pass = await takeStep(goal, { applier: { execute }, conflictRetryMs: 1, texts: TEXTS }, NEVER);
    for (const { kind, metadata } of this.#objects.values())
      if (kind === 'HTTPRoute' && (failing === 0 || this.#random() < 0.5)) this.#accept(metadata.name);
    if (failing === 0 && pass.errors.length > 0) this.violation ??= `a write fails: ${String(pass.errors[0])}`;
    return pass.writes;
  }

  async #settle(): Promise<void> {
    for (let left = 40; left > 0 && this.violation === undefined; left -= 1) {
      const accepted = this.#accepted.size;
      if ((await this.#pass(0)) > 0 || this.#accepted.size !== accepted) continue;
      this.#intents = [this.#intent()];
      this.#isCutOff = !this.#hasNetworks(NAMED) && (this.#mode === 'open' || !this.#hasNetworks(KEPT));
      return;
    }
    this.violation ??= 'it never settles';
  }

  /** Nothing is left of what is not needed, and who may come in is who is asked for, not more and not less. */
  #judgeSettled(): void {
    this.#judge('the end');
    if (this.#mode === 'open' && this.#hasNetworks(NAMED) && this.#objects.size > 3)
      this.violation ??= `left although open: ${[...this.#objects.keys()].join(' ')}`;
  }

  #observe(): ObservedAccess {
    const of = <T extends KubeObject>(kind: string): readonly T[] =>
      [...this.#objects.values()].filter((each) => each.kind === kind) as unknown as readonly T[];
    const authentications = of<Authentication>('MeshTLSAuthentication');
    return {
      mode: this.#mode,
      tcp: this.#tcp,
      namespace: NAMESPACE,
      hasServer: true,
      exports: [...this.#exports.values()],
      routes: of<AccessRoute>('HTTPRoute'),
      authentications: authentications.filter(isOurs),
      everyone: new Set(authentications.filter(isForAnyClient).map(({ metadata }) => metadata.name)),
      authorizations: of<Authorization>('AuthorizationPolicy'),
      networks: of<Networks>('NetworkAuthentication'),
    };
  }

  #write(action: Action): void {
    const { kind } = action.of;
    const { name } = action.object.metadata;
    const id = `${kind}/${name}`;
    if (action.op === 'delete') {
      this.#objects.delete(id);
      if (kind === 'HTTPRoute') this.#accepted.delete(name);
    } else this.#put({ ...(action.object as PolicyObject & KubeObject), kind });
    if (kind === 'HTTPRoute' && this.#accepted.has(name)) this.#accept(name);
    this.writes += 1;
    this.#judge(`${action.op} ${id}`);
  }

  #put(object: PolicyObject & KubeObject): void {
    this.#versions += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#versions) };
    this.#objects.set(`${object.kind}/${object.metadata.name}`, { ...object, metadata });
  }

  /** Linkerd's policy controller says in the status of a route that it has taken it. */
  #accept(name: string): void {
    const route = this.#objects.get(`HTTPRoute/${name}`);
    if (route === undefined || (this.#accepted.has(name) && 'status' in route)) return;
    const parentRef = { kind: 'Server', name: 'linkerd-gateway' };
    const status = { parents: [{ parentRef, conditions: [{ type: 'Accepted', status: 'True' }] }] };
    this.#accepted.add(name);
    this.#put({ ...route, status } as PolicyObject & KubeObject);
    this.#judge(`acceptance of ${name}`);
  }

  /** Somebody names the networks that clients connect from; undefined: takes their object away. */
  #putNetworks(networks: readonly string[] | undefined): void {
    const isOpening = this.#objects.has('AuthorizationPolicy/linkerd-gateway');
    if ((networks?.length ?? 0) > 0) {
      if (isOpening) this.#intents.push(OPENED);
    } else if (isOpening || !this.#hasNetworks(KEPT)) this.#isCutOff = true;
    const spec = { networks: networks?.map((cidr) => ({ cidr })) };
    const metadata = { name: NAMED, namespace: NAMESPACE };
    if (networks === undefined) this.#objects.delete(`NetworkAuthentication/${NAMED}`);
    else this.#put({ kind: 'NetworkAuthentication', metadata, spec });
  }

  #hasNetworks(name: string): boolean {
    const { networks = [] } = (this.#objects.get(`NetworkAuthentication/${name}`)?.spec ?? {}) as {
      readonly networks?: readonly unknown[];
    };
    return networks.length > 0;
  }

  /** The policy of the chart, as the construct renders it. */
  #putOpening(): void {
    const references = [
      { kind: 'MeshTLSAuthentication', name: 'any-meshed' },
      { kind: 'NetworkAuthentication', name: NAMED },
    ];
    const object = (kind: string, name: string, spec: object, labels: Readonly<Record<string, string>> = {}) =>
      this.#put({ kind, metadata: { name, namespace: NAMESPACE, labels }, spec } as PolicyObject & KubeObject);
    object('MeshTLSAuthentication', 'any-meshed', { identities: ['*'] });
    const targetRef = { kind: 'Server', name: 'linkerd-gateway' };
    const labels = { 'linkspan.dev/gateway-access': OPEN };
    const spec = { targetRef, requiredAuthenticationRefs: references };
    object('AuthorizationPolicy', 'linkerd-gateway', spec, labels);
  }

  #judge(after: string): void {
    if (this.violation !== undefined) return;
    const model = new GatewayModel([...this.#objects.values()], this.#accepted);
    for (const host of HOSTS)
      for (const client of CLIENTS) {
        const isIn = model.request(client, host) === 200;
        if (!isIn && !this.#isCutOff && this.#intents.every((each) => each.must(client, host)))
          this.violation = `after ${after}, ${client} is refused ${host}`;
        if (isIn && !this.#intents.some((each) => each.may(client, host)))
          this.violation = `after ${after}, ${client} is let in to ${host}`;
      }
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)] as T;
  }
}

const NEVER = new AbortController().signal;
const reason = (): { readonly reason: string; readonly message: string } => ({ reason: '', message: '' });
const TEXTS = { foreign: reason, contested: reason, vanished: reason, refusedName: reason, added: () => '' };
