/**
 * An admission webhook, or a quota, that denies one operation on one kind in the source cluster for a while (rules D3 and E8). What must
 * be another object stays as it is while its successor may not be created.
 */
import type { KubeObject } from '../../cluster/simulated/storage/object.ts';
import type { RequestInfo } from '../../cluster/simulated/request.ts';
import type { HistoryCluster } from '../cluster.ts';
import { type Command, LINKS } from '../command.ts';
import { type Choosy, verdictOn } from '../import-policy.ts';
import { clusterOf } from '../link-state.ts';
import { type LabelSelector, isTcp, selects, specOf } from '../oracle.ts';
import type { Stage } from '../stage.ts';
import type { Sender } from '../world/internet.ts';
import type { Feature, Part } from './part.ts';

type Denial = Extract<Command, { do: 'deny' }>;

/** Time after the beginning of a denial in which what was tried before it may still be sent. */
const UNDER_WAY_MS = 12_000;

/** Time after a change of Links in which mirrors go to another, or go. */
const ASSIGNED_MS = 18_000;

class Denials implements Part {
  readonly #stage: Stage;
  /** Since when Services may not be created, by true time; Infinity: they may. */
  #sinceMs = Infinity;
  readonly #heal = new Set<() => void>();
  /** When a Link last came, changed or went, by true time. */
  #linksMs = -Infinity;
  /** When a Service of a target last went, by `namespace/name`, by true time: its mirror goes with it, and comes again. */
  readonly #goneMs = new Map<string, number>();

  constructor(stage: Stage) {
    this.#stage = stage;
    stage.east.onWrite((_, { plural }, { type, object, previous }) => {
      const isNews = type === 'DELETED' || object.metadata.generation !== previous?.metadata.generation;
      if (plural === 'links' && isNews) this.#linksMs = stage.world.nowMs;
    });
    stage.east.onOperatorWrite((sender, { plural }, { type, object }) => {
      if (plural === 'services' && type === 'DELETED') this.#deleted(sender, object);
    });
    for (const target of stage.clusters.slice(1)) {
      target.onWrite((_, { plural }, { type, object: { metadata } }) => {
        if (plural === 'services' && type === 'DELETED')
          this.#goneMs.set(`${metadata.namespace}/${metadata.name}`, stage.world.nowMs);
      });
    }
  }

  play(command: Command): boolean {
    if (command.do !== 'deny') return false;
    this.#deny(command);
    return true;
  }

  /** Whatever is wrong with the source cluster is mended at once, denials too. */
  noticed(command: Command): void {
    if (command.do === 'heal' && command.at === 'east') this.calm();
  }

  calm(): void {
    for (const heal of this.#heal) heal();
  }

  problems(): readonly string[] {
    return [];
  }

  #deny({ operation, resource, code, ms }: Denial): void {
    const { world, east, refused } = this.#stage;
    const stop = east.faults.refuse({
      failure: { kind: 'status', code, message: 'admission webhook denied the request' },
      match: (request) => {
        const isDenied = request.resource === resource && operationOf(east, request) === operation;
        if (isDenied) refused.refused(request, request.user);
        return isDenied;
      },
    });
    const isCreation = operation === 'create' && resource === 'services';
    if (isCreation) this.#sinceMs = Math.min(this.#sinceMs, world.nowMs);
    const heal = (): void => {
      if (!this.#heal.delete(heal)) return;
      stop();
      if (isCreation) this.#sinceMs = Infinity;
    };
    this.#heal.add(heal);
    world.after(world.users, ms, heal);
  }

  #deleted({ sentMs }: Sender, object: KubeObject): void {
    const { judge } = this.#stage;
    const { namespace = '', name, labels } = object.metadata;
    const cluster = labels?.['mirror.linkerd.io/cluster-name'] ?? '';
    const of = name.slice(0, -cluster.length - 1);
    const goneMs = this.#goneMs.get(`${namespace}/${of}`) ?? -Infinity;
    // What has been sent arrives when it may; nobody can take it back.
    const sinceMs = Math.max(this.#sinceMs + UNDER_WAY_MS, this.#linksMs + ASSIGNED_MS, goneMs + UNDER_WAY_MS);
    if (sentMs < sinceMs || !judge.isMirror(object)) return;
    if (!UNDISPUTED.has(of) || !this.#isMirrored(cluster, namespace, of)) return;
    judge.complain(`${namespace}/${name} is deleted, though what comes in its place may not be created (D3)`);
  }

  /**
   * Whether a Service of a cluster is selected and admitted, and can be mirrored in one form or another. All mirrors of a cluster that no
   * Link names any more go, as soon as somebody can delete them (E5).
   */
  #isMirrored(cluster: string, namespace: string, name: string): boolean {
    const links = LINKS.flatMap((link) => this.#stage.linkOf(link) ?? []).filter((link) => clusterOf(link) === cluster);
    if (links.length === 0) return false;
    return this.#stage.judge.targetsOf(cluster).every((target) => {
      const service = target.get('v1', 'Service', namespace, name);
      if (service === undefined) return false;
      const { type, ports } = specOf(service);
      const isPossible = type !== 'ExternalName' && Array.isArray(ports) && ports.some(isTcp);
      return isPossible && links.every((link) => isSelected(link, service) && isAdmitted(link, service));
    });
  }
}

const isAdmitted = ({ spec }: KubeObject, service: KubeObject): boolean =>
  verdictOn(spec as Choosy, service).isAdmitted;

function isSelected({ spec }: KubeObject, { metadata: { labels = {} } }: KubeObject): boolean {
  const { selector, remoteDiscoverySelector } = spec as {
    readonly selector?: LabelSelector;
    readonly remoteDiscoverySelector?: LabelSelector;
  };
  return [selector, remoteDiscoverySelector].some((each) => selects(each, labels));
}

const KINDS = {
  services: ['v1', 'Service'],
  endpoints: ['v1', 'Endpoints'],
  endpointslices: ['discovery.k8s.io/v1', 'EndpointSlice'],
} as const;

/** What a request does, as a webhook is told: a patch that makes an object creates it. */
function operationOf(east: HistoryCluster, request: RequestInfo): Denial['operation'] | undefined {
  const { verb, resource, namespace, name } = request;
  if (verb === 'create' || verb === 'delete') return verb;
  if (verb !== 'patch' && verb !== 'update') return undefined;
  const [apiVersion, kind] = KINDS[resource as Denial['resource']];
  return east.get(apiVersion, kind, namespace, name ?? '') === undefined ? 'create' : 'update';
}

/** Names that no other Service of a history would have a mirror under. */
const UNDISPUTED: ReadonlySet<string> = new Set(['web', 'alt']);

export const denialsFeature: Feature = {
  name: 'denials',
  isIn: ({ commands }) => commands.some((command) => command.do === 'deny'),
  sourceObjects: [],
  sourceControllers: [],
  targetObjects: [],
  flags: {},
  quiet: [],
  join: (stage) => new Denials(stage),
};
