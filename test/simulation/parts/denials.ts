/**
 * An admission webhook, or a quota, that denies one operation on one kind in the source cluster for a while (rules D3 and E8). What must
 * be another object stays as it is while its successor may not be created.
 */
import type { KubeObject } from '../../cluster/simulated/storage/object.ts';
import type { RequestInfo } from '../../cluster/simulated/request.ts';
import type { HistoryCluster } from '../cluster.ts';
import type { Command } from '../command.ts';
import { MIRRORS } from '../lost-mirrors.ts';
import { isTcp, specOf } from '../oracle.ts';
import type { Stage } from '../stage.ts';
import type { Feature, Part } from './part.ts';

type Denial = Extract<Command, { do: 'deny' }>;

/** Time in which a write that was asked for before the denial may still arrive. */
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

  constructor(stage: Stage) {
    this.#stage = stage;
    stage.east.onWrite((_, { plural }, { type, object, previous }) => {
      const isNews = type === 'DELETED' || object.metadata.generation !== previous?.metadata.generation;
      if (plural === 'links' && isNews) this.#linksMs = stage.world.nowMs;
    });
    stage.east.onOperatorWrite((_, { plural }, { type, object }) => {
      if (plural === 'services' && type === 'DELETED') this.#deleted(object);
    });
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
    const { world, east } = this.#stage;
    const stop = east.faults.refuse({
      failure: { kind: 'status', code, message: 'admission webhook denied the request' },
      match: (request) => request.resource === resource && operationOf(east, request) === operation,
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

  #deleted(object: KubeObject): void {
    const { world, judge } = this.#stage;
    if (world.nowMs < Math.max(this.#sinceMs + UNDER_WAY_MS, this.#linksMs + ASSIGNED_MS) || !judge.isMirror(object))
      return;
    const { namespace, name, labels } = object.metadata;
    const cluster = labels?.['mirror.linkerd.io/cluster-name'] ?? '';
    const of = name.slice(0, -cluster.length - 1);
    const services = judge.targetsOf(cluster).map((target) => target.get('v1', 'Service', namespace, of));
    if (!UNDISPUTED.has(of) || !services.every(isMirrored)) return;
    judge.complain(`${namespace}/${name} is deleted, though what comes in its place may not be created (D3)`);
  }
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

/** Whether a Service is exported, and can be mirrored in one form or another. */
function isMirrored(service: KubeObject | undefined): boolean {
  if (service === undefined || !MIRRORS.isExported(service)) return false;
  const { type, ports } = specOf(service);
  return type !== 'ExternalName' && Array.isArray(ports) && ports.some(isTcp);
}

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
