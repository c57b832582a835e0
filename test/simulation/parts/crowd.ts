/**
 * A headless Service of hundreds of pods in a history (rules D10 and E10), and an operator on a slow machine: each object that
 * it renders takes time, in which it does nothing else. No decision may hold the loop, and an event costs what one pod costs.
 */
import { Chart } from 'cdk8s';
import { sleep } from '../../../operator/kube/backoff.ts';
import type { KubeObject } from '../../cluster/simulated/storage/object.ts';
import { type Command, TARGETS } from '../command.ts';
import type { Stage } from '../stage.ts';
import { CROWD, putCrowd } from '../target-users.ts';
import type { World } from '../world/world.ts';
import type { Feature, Part } from './part.ts';

/** The crowd of a history. */
export interface CrowdSetting {
  /** Pods that there are to begin with. */
  readonly pods: number;
  /** What rendering an object costs the operator, in milliseconds. */
  readonly renderMs: number;
}

/** Objects that may be rendered before the loop is given back: those of 20 pods of each of two Services, and of a turn. */
const MOST_AT_ONCE = 100;
/** Objects that may be rendered for an event of one pod, its status and retries included. */
const MOST_FOR_A_POD = 40;
/** Time in which one pod's event has been handled. */
const HANDLED_MS = 5_000;

/** What has been rendered in this thread: histories are played one after another. */
let rendered: ((objects: number) => void) | undefined;
const toJson: unknown = Reflect.get(Chart.prototype, 'toJson');
Chart.prototype.toJson = function (this: Chart): unknown[] {
  const objects = (toJson as (this: Chart) => unknown[]).call(this);
  rendered?.(objects.length);
  return objects;
};

class Crowd implements Part {
  readonly #stage: Stage;
  readonly #setting: CrowdSetting;
  #rendered = 0;

  constructor(stage: Stage, setting: CrowdSetting) {
    this.#stage = stage;
    this.#setting = setting;
    this.#charge(stage.world);
    putCrowd(stage.targets.west, setting.pods, setting.pods);
  }

  #charge(world: World): void {
    const { renderMs } = this.#setting;
    rendered = (objects) => {
      if (world.current === world.users) return;
      this.#rendered += objects;
      world.spend(objects * renderMs);
    };
    world.onHeld = ({ name }, ms) => {
      if (ms > MOST_AT_ONCE * renderMs) this.#stage.judge.complain(`${name} held its loop for ${ms} ms (E10)`);
    };
  }

  play(command: Command): boolean {
    if (command.do !== 'change crowd') return false;
    putCrowd(this.#stage.targets.west, command.pods, command.ready);
    return true;
  }

  problems(): readonly string[] {
    return [];
  }

  /** One pod of many changes: that costs what one pod costs. */
  async epilogue(): Promise<readonly string[]> {
    const { east, targets } = this.#stage;
    const isMirrored = TARGETS.some((name) => east.get('v1', 'Service', 'shop', `${CROWD}-${name}`) !== undefined);
    if (!isMirrored || targets.west.get('v1', 'Service', 'shop', CROWD) === undefined) return [];
    const pods = targets.west.list('v1', 'Pod').filter(({ metadata }) => metadata.labels?.['app'] === CROWD);
    if (pods.length <= MOST_FOR_A_POD) return [];
    // Where slices were lost with a backup, writing them anew is an event of all pods.
    const slices = targets.west.list('discovery.k8s.io/v1', 'EndpointSlice').filter(isOfCrowd);
    const listed = slices.flatMap((slice) => (slice as { readonly endpoints?: readonly unknown[] }).endpoints ?? []);
    if (listed.length !== pods.length) return [];
    const ready = pods.filter(isReady).length;
    // The first one to be ready is an event of all.
    if (ready === 0) return [];
    const before = this.#rendered;
    putCrowd(targets.west, pods.length, ready === pods.length ? ready - 1 : ready + 1);
    await sleep(HANDLED_MS);
    const count = this.#rendered - before;
    return count > MOST_FOR_A_POD ? [`an event of one of ${pods.length} pods had ${count} objects rendered (E10)`] : [];
  }
}

const isOfCrowd = ({ metadata }: KubeObject): boolean => metadata.labels?.['kubernetes.io/service-name'] === CROWD;

const isReady = ({ status }: KubeObject): boolean =>
  (status as { readonly conditions: readonly { readonly status: string }[] }).conditions[0]?.status === 'True';

export const crowdFeature: Feature = {
  name: 'crowd',
  isIn: ({ crowd }) => crowd !== undefined,
  sourceObjects: [],
  sourceControllers: [],
  targetObjects: [],
  flags: {},
  quiet: ['change crowd'],
  join: (stage) => new Crowd(stage, stage.history.crowd!),
};
