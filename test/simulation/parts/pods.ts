/** Pods of the source cluster, and Kubernetes' controllers that make endpoints of what selects them (rule C3). */
import type { KubeObject } from '../../cluster/simulated/storage/object.ts';
import { LINKS_NAMESPACE } from '../../support/builders.ts';
import { LINKS, NAMESPACES } from '../command.ts';
import { clusterOf, isServable } from '../link-state.ts';
import { putOwnPod } from '../source-users.ts';
import type { Stage } from '../stage.ts';
import type { Feature, Part } from './part.ts';

const LOOK_MS = 1_000;
/** Time in which what users do to a mirror is put right. */
const REPAIRED_MS = 5_000;
/** Who does the same so many times is answered less and less often. */
const FREE_REPAIRS = 3;

/**
 * C3, of any mirror of a Link that is served, be it one that is kept although its deletion is held or nothing is known of it:
 * a selector, by which Kubernetes leads requests to pods of this cluster, does not stay.
 */
class Selectors implements Part {
  readonly #stage: Stage;
  /** By uid of a Service: when somebody last gave it a selector, and how often. */
  readonly #given = new Map<string, { readonly sinceMs: number; readonly times: number }>();

  constructor(stage: Stage) {
    this.#stage = stage;
    stage.east.onWrite((sender, { plural }, { type, object }) => {
      if (plural !== 'services' || type === 'DELETED' || sender !== undefined || !hasSelector(object)) return;
      const { uid = '' } = object.metadata;
      this.#given.set(uid, { sinceMs: stage.world.nowMs, times: (this.#given.get(uid)?.times ?? 0) + 1 });
    });
    this.#look();
  }

  play(): boolean {
    return false;
  }

  problems(): readonly string[] {
    return [];
  }

  #look(): void {
    const { world, judge, east } = this.#stage;
    world.after(world.users, LOOK_MS, () => {
      if (judge.complaints.length > 0) return;
      if (this.#given.size > 0) for (const object of east.list('v1', 'Service')) this.#lookAt(object);
      this.#look();
    });
  }

  #lookAt(object: KubeObject): void {
    const { world, judge, operators, refused, deadGateways } = this.#stage;
    const { uid = '', namespace, name, labels } = object.metadata;
    const given = this.#given.get(uid);
    if (given === undefined || given.times > FREE_REPAIRS || !hasSelector(object)) return;
    if (!judge.isMirror(object) || judge.isTerminating(object) || operators.count === 0) return;
    const cluster = labels?.['mirror.linkerd.io/cluster-name'] ?? '';
    const naming = LINKS.filter((each) => clusterOf(this.#stage.linkOf(each)) === cluster);
    if (naming.some((each) => judge.isHeldByAnother(each))) return;
    const server = naming.find((each) => this.#stage.isAccepted(each) && judge.isServedByUs(each, cluster));
    const link = server && this.#stage.linkOf(server);
    if (server === undefined || link === undefined || !isServable(link)) return;
    const retriedMs = refused.retriedMs('services', object, given.sinceMs);
    const sinceMs = Math.max(given.sinceMs, retriedMs, deadGateways.undisturbedMs, judge.servedSinceMs(server));
    if (world.nowMs < sinceMs + REPAIRED_MS) return;
    const seconds = ((world.nowMs - given.sinceMs) / 1000).toFixed(1);
    judge.complain(`${namespace}/${name} has had a selector for ${seconds} s (C3)`);
  }
}

const hasSelector = ({ spec }: KubeObject): boolean =>
  Object.keys((spec as { readonly selector?: object } | undefined)?.selector ?? {}).length > 0;

export const podsFeature: Feature = {
  name: 'pods',
  isIn: ({ hasPods = false }) => hasPods,
  sourceObjects: [],
  sourceControllers: ['endpointslice-controller', 'endpoints-controller', 'endpointslice-mirroring-controller'],
  targetObjects: [],
  flags: {},
  quiet: [],
  join: (stage) => {
    for (const namespace of [LINKS_NAMESPACE, ...NAMESPACES]) putOwnPod(stage.east, namespace);
    return new Selectors(stage);
  },
};
