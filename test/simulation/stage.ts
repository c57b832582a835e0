/**
 * The stage of one history: a source and two targets, two gateways, and the operator, each a process of one world.
 * Every command of a history is played here, and every write of the operator's to the source cluster is judged as it
 * happens.
 */
import { linkCrd } from '../../crds/index.ts';
import type { FlagValues } from '../../operator/config/flags.ts';
import { sleep } from '../../operator/kube/backoff.ts';
import type { Exchange } from '../cluster/simulated/exchange.ts';
import type { KubeObject } from '../cluster/simulated/storage/object.ts';
import { LINKS_NAMESPACE, namespace as namespaceObject } from '../support/builders.ts';
import { HistoryCluster, readerRoles } from './cluster.ts';
import { Credentials } from './credentials.ts';
import {
  type Command,
  GATEWAY_NAME,
  type LinkName,
  LINKS,
  MANY,
  NAMESPACES,
  outageMs,
  type Place,
  PLACES,
  TARGET_OF,
  TARGETS,
  type TargetName,
} from './command.ts';
import { mendSpoiled, putHostileService, putHostileSlice, removeHostile, spoil, writeStatus } from './hostile.ts';
import { DeadGateways } from './dead-gateways.ts';
import { fail, forbid, lag } from './failing.ts';
import { exportedBy, flatOf, keyOfMirror, membersOf } from './guard.ts';
import type { History } from './history.ts';
import { Judge } from './judge.ts';
import { clusterOf } from './link-state.ts';
import { conditionsOf, LinkUsers } from './link-users.ts';
import { Linkerd } from './linkerd.ts';
import { LinkerdLocal } from './linkerd-local.ts';
import { Operators } from './operators.ts';
import { Pace } from './pace.ts';
import { FEATURES } from './parts/index.ts';
import type { Part } from './parts/part.ts';
import { Refused } from './refused.ts';
import { editMirror, putForeign } from './source-users.ts';
import {
  copyServices,
  keepSlicesByHand,
  putByHand,
  putService,
  putSet,
  renewPods,
  setExport,
  setPods,
  setSlice,
} from './target-users.ts';
import { Internet, type Sender } from './world/internet.ts';
import type { World } from './world/world.ts';

export class Stage {
  readonly history: History;
  readonly east: HistoryCluster;
  /** What the good credentials of each target lead to: users may move it to another cluster. */
  readonly #homes: Record<TargetName, HistoryCluster>;
  /** Where west's credentials may lead instead, or that which they led to before. */
  #spare: HistoryCluster;
  readonly judge: Judge;
  readonly links: LinkUsers;
  readonly world: World;
  readonly internet: Internet;
  readonly #alive: Record<TargetName, boolean> = { west: true, bar: true };
  readonly #credentials: Credentials;
  readonly #clusters: readonly HistoryCluster[];
  readonly operators: Operators;
  /** Writes to the source that were denied. */
  readonly refused: Refused;
  /** Of the features that the history has. */
  readonly parts: readonly Part[];
  /** Clusters that are being restored from a backup. */
  readonly #restoring = new Set<HistoryCluster>();
  readonly #mayRestore: boolean;
  /** Of the gateway that has a name. */
  #addresses: readonly string[] = ['203.0.113.20', '203.0.113.21'];
  #naming: 'answered' | 'refused' | 'silent' = 'answered';

  /** Servers and gateways up, both Links there, the operator at work. */
  constructor(history: History, world: World) {
    this.history = history;
    this.world = world;
    this.internet = new Internet(world);
    this.#mayRestore = history.commands.some((command) => command.do === 'down' && command.back > 0);
    this.internet.named = () => this.#named();
    this.internet.probed = (at) => (this.#alive[gatewayAt(at)] ? 200 : undefined);
    const internet = this.internet;
    const namespaces = [LINKS_NAMESPACE, ...NAMESPACES].map(namespaceObject);
    const { bookmarks, spareAhead, federation, failover } = history;
    const features = FEATURES.filter((feature) => feature.isIn(history));
    const variant = features.map((feature) => feature.name).join(' ');
    const pace = new Pace((what) => this.judge.complain(what));
    const onRequest =
      (name: string) =>
      (request: Exchange & Sender): void =>
        pace.asked(request.process.name, name, request, world.nowMs);
    const target = (name: string, ahead?: number): HistoryCluster =>
      new HistoryCluster({
        ...{ name, variant, ahead, bookmarks, internet, onRequest: onRequest(name) },
        controllers: SLICES_ALONE,
        objects: [...namespaces, ...readerRoles, ...features.flatMap(({ targetObjects }) => targetObjects)],
      });
    const objects = [linkCrd, ...namespaces, ...features.flatMap(({ sourceObjects }) => sourceObjects)];
    this.east = new HistoryCluster({
      ...{ name: 'east', variant, objects, bookmarks, internet, onRequest: onRequest('east') },
      controllers: [...new Set(features.flatMap(({ sourceControllers }) => sourceControllers))],
    });
    this.#homes = { west: target('west'), bar: target('bar') };
    this.#spare = target('spare', spareAhead);
    this.#clusters = [this.east, this.#homes.west, this.#homes.bar, this.#spare];
    const clusters = this.#clusters;
    this.#credentials = new Credentials({ world, east: this.east, clusters, targets: () => this.targets });
    this.judge = new Judge(this.east, {
      nowMs: () => world.nowMs,
      undisturbedMs: () => this.deadGateways.undisturbedMs,
      targetsOf: (cluster) => this.#targetsOf(cluster),
      isAstray: (name) => this.isAstray(name),
      hasMembers: federation !== undefined,
    });
    this.links = new LinkUsers(this.east, this.judge, federation);
    for (const cluster of this.#clusters.slice(1)) {
      cluster.onWrite((_, { plural }, event) => {
        if (plural !== 'services' && plural !== 'endpointslices') return;
        if (event.type !== 'DELETED') this.judge.guard.seen(event.object);
        if (event.type !== 'DELETED') this.judge.lostMembers?.guard.seen(event.object);
        const name = TARGETS.find((each) => this.#homes[each] === cluster);
        if (name !== undefined) this.judge.lostPods.targetChanged(name, cluster, event.object);
        if (plural !== 'services') return;
        this.judge.lostMembers?.seen(event.object, { isByUs: false });
        if (name === undefined) return;
        this.judge.lost.targetChanged(name, event);
        this.judge.lostMembers?.targetChanged(name, event);
      });
    }
    this.#linkerd = new Map(
      LINKS.map((link) => [
        link,
        new Linkerd({
          ...{ world, east: this.east, namespace: LINKS_NAMESPACE, link, cluster: () => this.#clusterOf(link) },
          // Whether it finds gateways dead matters to ServiceFailovers alone.
          isAlive: () => failover === undefined || this.isAlive(link),
        }),
      ]),
    );
    this.#linkerdLocal = new LinkerdLocal({ world, east: this.east, namespace: LINKS_NAMESPACE });
    const probeConnectTo = LINKS.map((name) => `probe-${name}.${LINKS_NAMESPACE}.svc=${GATEWAYS[TARGET_OF[name]]}`);
    const complain = (what: string): void => this.judge.complain(what);
    this.refused = new Refused(
      () => world.nowMs,
      (identity) => this.operators.processOf(identity),
    );
    this.east.onOperatorWrite((_, { plural }, { object: { metadata } }) =>
      this.refused.written({ ...metadata, resource: plural }),
    );
    this.parts = features.map((feature) => feature.join(this));
    this.judge.parts = this.parts;
    const flags = Object.assign({}, ...features.map((feature) => feature.flags)) as FlagValues;
    this.operators = new Operators({ history, world, internet, east: this.east, probeConnectTo, complain, flags });
    for (const name of LINKS) this.#credentials.put(name, 'good');
    for (const name of TARGETS) this.links.put(name);
    if (history.commands[0]?.do === 'linkerd') this.#linkerd.get(history.commands[0].link)?.start();
    this.operators.startAll();
    this.deadGateways = new DeadGateways(this);
  }

  readonly #linkerd: ReadonlyMap<LinkName, Linkerd>;
  readonly #linkerdLocal: LinkerdLocal;
  /** F3. */
  readonly deadGateways: DeadGateways;

  async stop(): Promise<void> {
    await this.operators.stopAll();
    for (const cluster of this.#clusters) cluster.stop();
  }

  isAlive(name: LinkName): boolean {
    return this.#alive[TARGET_OF[name]];
  }

  /** Whether the Secret of a Link leads to another cluster than its target. */
  isAstray(name: LinkName): boolean {
    return this.#credentials.isAstray(name);
  }

  /** Whether the operator says of a Link that it is accepted, as it is now. */
  isAccepted(name: LinkName): boolean {
    const link = this.linkOf(name);
    const accepted = conditionsOf(link).find(({ type }) => type === 'Accepted');
    return accepted?.status === 'True' && accepted.observedGeneration === link?.metadata.generation;
  }

  /** What the spec of a Link comes to: a host name stands for its addresses. */
  resolved<T extends { readonly gatewayAddress: string }>(spec: T): T {
    return spec.gatewayAddress === GATEWAY_NAME ? { ...spec, gatewayAddress: this.#addresses.join(',') } : spec;
  }

  #named(): readonly string[] | undefined {
    if (this.#naming === 'refused') throw new Error(`queryA ENOTFOUND ${GATEWAY_NAME}`);
    return this.#naming === 'silent' ? undefined : this.#addresses;
  }

  /** Differs when anything in the clusters does. */
  get revisions(): string {
    return this.#clusters.map(({ name, revision, isDown }) => `${name} ${revision} ${isDown}`).join(' ');
  }

  /** The source, and all clusters that may be targets. */
  get clusters(): readonly HistoryCluster[] {
    return this.#clusters;
  }

  /** What each target is at present. */
  get targets(): Readonly<Record<TargetName, HistoryCluster>> {
    return this.#homes;
  }

  /** Names of the clusters that are down: they come back by themselves. */
  get down(): readonly string[] {
    return this.#clusters.filter(({ isDown }) => isDown).map(({ name }) => name);
  }

  linkOf(name: LinkName): KubeObject | undefined {
    return this.links.get(name);
  }

  /** Everything that was broken works again; what users did stays done. */
  calm(): void {
    this.deadGateways.end();
    for (const linkerd of [...this.#linkerd.values(), this.#linkerdLocal]) linkerd.stop('release');
    for (const cluster of this.#clusters) {
      // A restore takes its time, whatever else is over.
      if (!this.#restoring.has(cluster)) cluster.start();
      cluster.faults.clear();
      cluster.manner = undefined;
      this.internet.weather(cluster.at, 'fair');
      this.internet.cut(cluster.at, 0, 0);
    }
    this.#naming = 'answered';
    for (const name of TARGETS) mendSpoiled(this.targets[name]);
    for (const place of PLACES) this.internet.weather(this.#addressOf(place), 'fair');
    for (const name of LINKS) {
      const link = this.linkOf(name);
      if (link === undefined) continue;
      // Others keep the status that somebody wrote, for the operator to put right.
      this.links.mend(name);
      this.#credentials.put(name, 'good');
    }
    for (const part of this.parts) part.calm?.();
    this.operators.calm();
  }

  async play(command: Command): Promise<void> {
    if (mayBeUndecided(command)) this.judge.appliesAtOnce = false;
    this.deadGateways.noticed(command);
    for (const part of this.parts) part.noticed?.(command);
    if (this.#mayRestore) for (const cluster of this.#clusters) cluster.backUp();
    // What no API server would store it does not let users change in part.
    if (command.do === 'export' || command.do === 'federate' || command.do === 'put service')
      mendSpoiled(this.targets[command.link], command);
    switch (command.do) {
      case 'put service':
        putService(this.targets[command.link], command);
        break;
      case 'remove service':
        this.targets[command.link].remove('v1', 'Service', command.namespace, command.name);
        break;
      case 'put many':
        for (const name of MANY) {
          const plain = { kind: 'clusterIP', exported: 'true', ports: 0, tag: 'a', publishNotReady: false } as const;
          putService(this.targets[command.link], { namespace: 'shop', name, ...plain });
        }
        break;
      case 'lose all':
        this.lose(command.link, command.do, (target) => target.faults.wipe(({ kind }) => kind === 'Service'));
        break;
      case 'lose part':
        this.lose(command.link, command.do, (target) =>
          target.faults.wipe(
            ({ kind, metadata }) => kind === 'Service' && Number(metadata.name.replace(/\D/g, '')) % 3 === command.part,
          ),
        );
        break;
      case 'confirm prunes':
        this.links.confirmPrunes();
        break;
      case 'lose slices': {
        const target = this.targets[command.link];
        const putBack = keepSlicesByHand(target);
        this.lose(command.link, command.do, () => target.faults.wipe(({ kind }) => kind === 'EndpointSlice'));
        this.world.after(this.world.users, command.ms, () => {
          putBack();
          target.restartControllers();
        });
        break;
      }
      case 'put set':
        putSet(this.targets[command.link], command.pods);
        break;
      case 'put by hand':
        putByHand(this.targets[command.link], command.pods, command.second);
        break;
      case 'put hostile': {
        const put = command.kind === 'Service' ? putHostileService : putHostileSlice;
        put(this.targets[command.link], command.namespace, command.index);
        break;
      }
      case 'remove hostile':
        removeHostile(this.targets[command.link]);
        break;
      case 'spoil service':
        spoil(this.targets[command.link], command, command.index);
        break;
      case 'write status': {
        const link = this.linkOf(command.link);
        if (link !== undefined) writeStatus(this.east, link, command.index);
        break;
      }
      case 'renew pods': {
        const putBack = renewPods(this.targets[command.link], command);
        this.world.after(this.world.users, command.ms, putBack);
        break;
      }
      case 'export':
        setExport(this.targets[command.link], command);
        break;
      case 'set pods':
        setPods(this.targets[command.link], command);
        break;
      case 'set slice':
        setSlice(this.targets[command.link], command);
        break;
      case 'put foreign':
        putForeign(this.east, command);
        break;
      case 'remove foreign': {
        const { kind, namespace, name } = command;
        const there = this.east.get('v1', kind, namespace, name);
        if (there !== undefined && !this.judge.isWritten(there)) this.east.remove('v1', kind, namespace, name);
        break;
      }
      case 'edit mirror':
        editMirror(this.east, command, (object) => this.judge.isMirrorOrMember(object));
        break;
      case 'put namespace':
        if (this.east.get('v1', 'Namespace', undefined, command.namespace) === undefined) {
          this.east.put(namespaceObject(command.namespace));
        }
        break;
      case 'remove namespace':
        this.east.removeNamespace(command.namespace);
        break;
      case 'kill gateway':
        this.#alive[command.link] = false;
        break;
      case 'revive gateway':
        this.#alive[command.link] = true;
        break;
      case 'edit link':
        this.links.edit(command.link, command.edit);
        break;
      case 'linkerd': {
        const linkerd = this.#linkerd.get(command.link);
        if (command.act === 'start') linkerd?.start();
        else linkerd?.stop(command.act);
        break;
      }
      case 'linkerd local':
        if (command.act === 'start') this.#linkerdLocal.start();
        else this.#linkerdLocal.stop(command.act);
        break;
      case 'remove link':
        this.judge.forgive();
        this.links.remove(command.link);
        break;
      case 'put link':
        if (this.linkOf(command.link) === undefined) this.links.put(command.link, command.invalid);
        break;
      case 'suspend link':
        this.links.suspend(command.link);
        break;
      case 'resume link':
        this.links.resume(command.link);
        break;
      case 'rename link': {
        const from = this.linkOf('west') === undefined ? 'west-v2' : 'west';
        const to = from === 'west' ? 'west-v2' : 'west';
        this.judge.forgive();
        if (command.first === 'put') await this.play({ do: 'put link', link: to });
        this.links.remove(from);
        await this.play({ do: 'put link', link: to });
        break;
      }
      case 'put secret':
        this.#credentials.put(command.link, command.as);
        break;
      case 'move target': {
        const left = this.#homes.west;
        copyServices(left, this.#spare, command.services);
        this.lose('west', command.do, () => {
          this.#homes.west = this.#spare;
          this.#spare = left;
        });
        this.#credentials.put('west', 'good');
        this.#credentials.put('west-v2', 'good');
        break;
      }
      case 'stop operator':
        this.operators.end(this.#replica(command), 'stop');
        break;
      case 'kill operator':
        this.operators.end(this.#replica(command), 'kill');
        break;
      case 'start operator':
        this.operators.start(this.#replica(command));
        break;
      case 'pause operator':
        this.operators.pause(this.#replica(command), command.ms);
        break;
      case 'crash operator':
        this.operators.crashAfter(command.writes);
        break;
      case 'weather': {
        const address = this.#addressOf(command.at);
        this.internet.weather(address, command.weather);
        this.world.after(this.world.users, command.ms, () => this.internet.weather(address, 'fair'));
        break;
      }
      case 'cut answers':
        this.internet.cut(this.#at(command.at).at, command.bytes, command.times);
        break;
      case 'names':
        if (command.as === 'moved')
          this.#addresses = this.#addresses.map((ip) => ip.replace(/\d+$/, (n) => `${+n + 2}`));
        else this.#naming = command.as;
        break;
      case 'down': {
        const cluster = this.#at(command.at);
        const sinceMs = this.world.nowMs;
        cluster.goDown();
        if (command.back > 0) {
          this.#restoring.add(cluster);
          const restore = (): boolean => cluster.restore(command.back, command.more);
          if (command.at !== 'east') this.lose(command.at, command.do, restore);
          else if (restore()) {
            this.judge.restored();
            for (const linkerd of this.#linkerd.values()) linkerd.restored();
          }
        }
        const leastMs = outageMs({ ...command, ms: 0 });
        const comeBack = (): void => {
          const isMissed = leastMs > 0 && this.world.nowMs < this.operators.pausedUntilMs + leastMs;
          if (command.at === 'east') this.deadGateways.disturbed(isMissed ? leastMs : 0);
          if (isMissed) this.world.after(this.world.users, leastMs, comeBack);
          else {
            this.#restoring.delete(cluster);
            cluster.start();
            if (command.at === 'east') this.judge.sourceBack(sinceMs);
          }
        };
        this.world.after(this.world.users, outageMs(command), comeBack);
        break;
      }
      case 'lag': {
        const heal = lag(this.targets[command.link], command.mode);
        this.world.after(this.world.users, command.ms, heal);
        break;
      }
      case 'forbid':
        this.world.after(this.world.users, command.ms, forbid(this.east, command.resource));
        break;
      case 'compact':
        this.#at(command.at).faults.compact();
        break;
      case 'manner': {
        const cluster = this.#at(command.at);
        cluster.manner = command.as;
        // Every watch and list meets the server's new manner.
        cluster.faults.dropWatches();
        this.world.after(this.world.users, command.ms, () => (cluster.manner = undefined));
        break;
      }
      case 'fail':
        fail(this.#at(command.at), command);
        break;
      case 'drop watches':
        this.#at(command.at).faults.dropWatches();
        break;
      case 'expire watches':
        this.#at(command.at).faults.expireWatches();
        break;
      case 'silence watches':
        this.#at(command.at).faults.silenceWatches();
        break;
      case 'delay':
        this.#at(command.at).faults.latency(400);
        break;
      case 'heal':
        this.#at(command.at).faults.clear();
        break;
      case 'wait':
        await sleep(command.ms);
        break;
      default:
        if (!this.parts.some((part) => part.play(command)))
          throw new Error(`this history does not have "${command.do}"`);
    }
  }

  /** Lets a target lose something without anybody deleting it. */
  lose(name: TargetName, what: string, lose: (target: HistoryCluster) => unknown): void {
    const was = this.targets[name];
    const [before, flat, members] = [exportedBy(was), flatOf(was), membersOf(was)];
    const clusters = LINKS.flatMap((link) => (TARGET_OF[link] === name ? (this.#clusterOf(link) ?? []) : []));
    const told = this.parts.map((part) => part.lose?.(name, what, clusters));
    lose(was);
    const target = this.targets[name];
    const knownMs = this.#firstAskedMs(target);
    for (const each of told) each?.(knownMs);
    const mirrors = this.east.list('v1', 'Service').filter((object) => this.judge.isMirror(object));
    this.judge.guard.lost(what, clusters, {
      ...{ before, after: exportedBy(target), flat, knownMs },
      there: (cluster) =>
        mirrors
          .filter(({ metadata: { labels } }) => labels?.['mirror.linkerd.io/cluster-name'] === cluster)
          .map((mirror) => keyOfMirror(cluster, mirror)),
    });
    this.judge.lost.targetReplaced(name, target);
    this.judge.lostPods.targetReplaced(name, target);
    this.judge.lostMembers?.lost(what, clusters, { before: members, after: membersOf(target), knownMs });
    this.judge.lostMembers?.targetReplaced(name, target);
  }

  /** When a target is first asked from now on: what nobody reported is known to nobody before. */
  #firstAskedMs(target: HistoryCluster): () => number {
    let askedMs = Infinity;
    target.onOperatorRequest(() => (askedMs = Math.min(askedMs, this.world.nowMs)));
    return () => askedMs;
  }

  #clusterOf(name: LinkName): string | undefined {
    return clusterOf(this.linkOf(name));
  }

  #targetsOf(cluster: string): readonly HistoryCluster[] {
    return LINKS.flatMap((name) => (this.#clusterOf(name) === cluster ? this.targets[TARGET_OF[name]] : []));
  }

  #replica({ replica = 0 }: { readonly replica?: number | undefined }): number {
    return replica % this.history.replicas;
  }

  #addressOf(place: Place): string {
    if (place === 'gateway of west') return GATEWAYS.west;
    return place === 'gateway of bar' ? GATEWAYS.bar : this.#at(place).at;
  }

  #at(at: 'east' | TargetName): HistoryCluster {
    return at === 'east' ? this.east : this.targets[at];
  }
}

/** The controllers of clusters that have pods. */
const SLICES_ALONE: readonly string[] = ['endpointslice-controller'];

/** Where probes of a target's gateway arrive. */
const GATEWAYS: Readonly<Record<TargetName, string>> = { west: '10.9.0.1:4191', bar: '10.9.0.2:4191' };

const gatewayAt = (at: string): TargetName => (at === GATEWAYS.west ? 'west' : 'bar');

/** Whether something of a target may not be decided for a while after a command, or a Link may get another's mirrors. */
const mayBeUndecided = (command: Command): boolean =>
  UNDECIDED.has(command.do) || (command.do === 'down' && command.at !== 'east');

const UNDECIDED: ReadonlySet<Command['do']> = new Set<Command['do']>([
  ...(['lose all', 'lose part', 'lose slices', 'move target', 'put link', 'remove link', 'rename link'] as const),
  // What is refused is in the status of its Service, and waits for nothing.
  'deny',
]);
