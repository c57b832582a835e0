/** ServiceFailovers in a history (rules J1 to J4, J6, H9). */
import type { KubeObject } from '../../cluster/simulated/storage/object.ts';
import { sleep } from '../../../operator/kube/backoff.ts';
import { LINKS_NAMESPACE, namespace } from '../../support/builders.ts';
import type { Command } from '../command.ts';
import {
  editRoute,
  failoverCrds,
  failoverOf,
  failoversIn,
  FAILOVER,
  HARMLESS_STATUSES,
  isValid,
  mendStatuses,
  ourRoutesIn,
  putFailover,
  putRoute,
  removeFailover,
  removeRoute,
  routesIn,
  writeStatusOf,
} from '../failover-users.ts';
import { SECOND, SECOND_NAMESPACE } from '../operators.ts';
import type { LinkState, SourceState } from '../oracle.ts';
import type { Stage } from '../stage.ts';
import { isEnough, specOf, statusOf } from './failover-fields.ts';
import { failoverProblems, type View } from './failover-statement.ts';
import { countsOf } from './failover-view.ts';
import { FailoverWatch } from './failover-watch.ts';
import type { Feature, Part, Step } from './part.ts';

/** The longest hold-down that is drawn, by the slowest clock, and the time until all is known and written. */
const HELD_MS = 40_000 * 1.04 + 10_000;
/** In this time what others have written is put right. */
const REPAIRED_MS = 4_000;

class Failover implements Part {
  readonly #stage: Stage;
  readonly #watch: FailoverWatch;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#watch = new FailoverWatch(stage);
  }

  play(command: Command): boolean {
    const { east } = this.#stage;
    switch (command.do) {
      case 'put failover':
        putFailover(east, command);
        return true;
      case 'remove failover':
        removeFailover(east, command);
        return true;
      case 'write failover status':
        writeStatusOf(east, command);
        return true;
      case 'put route':
        putRoute(east, command);
        return true;
      case 'remove route':
        removeRoute(east, command);
        return true;
      case 'edit route':
        editRoute(east, command);
        return true;
      case 'second operator':
        this.#second(command.act);
        return true;
      default:
        return false;
    }
  }

  #second(act: 'start' | 'stop' | 'kill' | 'remove'): void {
    const { operators, east, history } = this.#stage;
    if (history.failover?.second !== true) return;
    if (act === 'start') {
      if (east.get('v1', 'Namespace', undefined, SECOND_NAMESPACE) !== undefined) operators.start(SECOND);
      return;
    }
    operators.end(SECOND, act === 'stop' ? 'stop' : 'kill');
    if (act === 'remove') east.removeNamespace(SECOND_NAMESPACE);
  }

  noticed(command: Command): void {
    this.#watch.noticed(command);
  }

  deadGateway(cluster: string): void {
    this.#watch.deadGateway(cluster);
  }

  /** The hold-down of what came back ends; and others write what is not theirs to write. */
  steps(): readonly Step[] {
    const { east, history, world } = this.#stage;
    const passes: Step = ['the gateway came back, and all hold-downs are over (J2)', () => sleep(HELD_MS), 0];
    const all = failoversIn(east);
    const { namespace = '', name = '' } = all[Math.floor(world.users.random() * all.length)]?.metadata ?? {};
    const index = Math.floor(world.users.random() * HARMLESS_STATUSES);
    const isFirst = (what: Command['do']): boolean => !history.commands.some((command) => command.do === what);
    // Who keeps undoing what is written is answered later and later.
    const edits: readonly Step[] = [
      [
        'somebody wrote the status of a ServiceFailover (C3)',
        () => this.#stage.play({ do: 'write failover status', namespace, name, index }),
        REPAIRED_MS,
      ],
      [
        'somebody edited a route (J1)',
        () => this.#stage.play({ do: 'edit route', index, how: 'weights' }),
        // A backend that got requests by this has them for no hold-down.
        REPAIRED_MS,
      ],
    ];
    return [
      passes,
      ...(all.length > 0 && isFirst('write failover status') ? edits.slice(0, 1) : []),
      ...(isFirst('edit route') ? edits.slice(1) : []),
    ];
  }

  calm(): void {
    mendStatuses(this.#stage.east);
  }

  problems(links: readonly LinkState[], source: SourceState): readonly string[] {
    const { east } = this.#stage;
    const slices = east.list('discovery.k8s.io/v1', 'EndpointSlice');
    const routes = routesIn(east);
    const problems = failoversIn(east).flatMap((failover) => {
      const { operator } = statusOf(failover);
      if (operator !== LINKS_NAMESPACE && operator !== SECOND_NAMESPACE)
        return [`${nameOf(failover)} is served by ${operator}`];
      const known = operator === LINKS_NAMESPACE ? links : [];
      const view: View = {
        routes,
        service: (within, name) =>
          source.services.find(({ metadata }) => metadata.namespace === within && metadata.name === name),
        countsOf: (service) => countsOf(service, known, slices),
        mayBeHeld: (of, service) => this.#mayBeHeld(of, service, view),
      };
      if (isValid(failover))
        for (const { service } of specOf(failover).backends) this.#mayBeHeld(failover, service, view);
      return failoverProblems(failover, view);
    });
    const left = ourRoutesIn(east).filter(
      (route) =>
        east.get(FAILOVER.apiVersion, FAILOVER.kind, route.metadata.namespace, failoverOf(route) ?? '') === undefined,
    );
    return [...problems, ...left.map((route) => `${nameOf(route)} is left of a ServiceFailover that is gone`)];
  }

  #mayBeHeld(failover: KubeObject, service: string, view: View): boolean {
    const live = view.service(failover.metadata.namespace ?? '', service);
    const backend = specOf(failover).backends.find((each) => each.service === service);
    const counts = live && view.countsOf(live);
    const isReady = backend !== undefined && counts !== undefined && isEnough(counts, backend);
    return this.#watch.mayBeHeld(failover, service, isReady);
  }
}

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.namespace}/${metadata.name}`;

export const failoverFeature: Feature = {
  name: 'failover',
  isIn: ({ failover }) => failover !== undefined,
  sourceObjects: [...failoverCrds, namespace(SECOND_NAMESPACE)],
  sourceControllers: ['endpointslice-controller', 'endpointslice-mirroring-controller'],
  targetObjects: [],
  flags: { failover: true },
  quiet: [],
  join: (stage) => new Failover(stage),
};
