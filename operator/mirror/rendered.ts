/**
 * What was rendered for the pods of headless Services. A pod is rendered when it changes, or what all pods of its
 * Service have in common, and not with each event of another (rule E10); so are the endpoints of mirrors that are kept.
 * Whatever is rendered is a function of the props alone.
 */
import {
  EndpointMirror,
  type EndpointsObjectProps,
  endpointsObjects,
  podMetadata,
  render,
} from '../../constructs/rendered/index.ts';
import { type Desired, Settled } from '../runtime/plan.ts';
import type { ByHostname } from './by-hostname.ts';
import { desiredOf, type Manifests, toDesired } from './manifests.ts';
import {
  type Circumstances,
  type DecideGroup,
  isSamePod,
  type OfPods,
  PodGroups,
  type PodProps,
  type RenderedPod,
} from './pod-groups.ts';
import { type CommonEndpoints, type ListedPods, RenderedHeadless, type SharedProps } from './rendered-headless.ts';
import type { TargetHost } from './target-endpoints.ts';

/** Pods, or mirrors that are kept, that are rendered in any case before the loop is given back. */
const LEAST_PODS = 20;

export interface RenderedOptions {
  /**
   * Reports whether rendering has taken so long that the rest is left for the next turn.
   * @default - all is rendered at once
   */
  readonly isTurnOver?: () => boolean;
}

interface OfService {
  readonly shared: string;
  readonly pods: PodGroups;
  readonly mirror: RenderedHeadless;
  readonly settled: SettledMirrors;
}

/** What the plans of the mirrors of one Service have found, one for each step. */
export interface SettledMirrors {
  readonly services: Settled;
  readonly endpoints: Settled;
}

/** What is desired, and the props that it was rendered from, as JSON. */
interface OfProps {
  readonly props: string;
  readonly desired: readonly Desired[];
}

/** By name and kind: endpoints of mirrors that are kept. */
type Staying = ReadonlyMap<string, OfProps>;

export class Rendered {
  readonly #services = new Map<string, OfService>();
  readonly #staying = new Map<string, Staying>();
  readonly #isTurnOver: () => boolean;

  constructor({ isTurnOver = () => false }: RenderedOptions = {}) {
    this.#isTurnOver = isTurnOver;
  }

  /** Number of pods, and of mirrors that are kept, that are remembered. */
  get size(): number {
    const sizes = [...this.#services.values()].map(({ pods }) => pods.size);
    return [...sizes, ...[...this.#staying.values()].map(({ size }) => size)].reduce((sum, size) => sum + size, 0);
  }

  /** Begins to render the endpoints of mirrors of a Service that are kept. */
  staying(key: string): StayingRender {
    const end = (asked: Staying): void => {
      if (asked.size === 0) this.#staying.delete(key);
      else this.#staying.set(key, asked);
    };
    return new StayingRender(this.#staying.get(key) ?? new Map(), this.#isTurnOver, end);
  }

  /** Begins to render a headless Service. */
  begin(given: SharedProps): ServiceRender {
    const { service, namespace } = given;
    const key = `${namespace}/${service}`;
    // Another version alone causes no write (rule B4): what stays as it is keeps the one that it was rendered from.
    const ofPods = { ...given, ...podMetadata(given) };
    const shared = JSON.stringify({ ...ofPods, remoteResourceVersion: undefined });
    const before = this.#services.get(key);
    const known: OfService =
      before?.shared === shared
        ? before
        : {
            ...{ shared, pods: new PodGroups(this.#isTurnOver), mirror: new RenderedHeadless(this.#isTurnOver) },
            settled: { services: new Settled(), endpoints: new Settled() },
          };
    this.#services.set(key, known);
    return new ServiceRender(given, ofPods, known, this.#isTurnOver);
  }

  /** Returns what the plans of a headless Service have found; undefined if no such Service has been rendered. */
  settledOf(key: string): SettledMirrors | undefined {
    return this.#services.get(key)?.settled;
  }

  /** Forgets a Service that is not headless, or not mirrored. */
  forget(key: string): void {
    this.#services.delete(key);
  }
}

/** One headless Service that is being rendered. */
export class ServiceRender {
  readonly #shared: SharedProps;
  readonly #ofPods: SharedProps;
  readonly #known: OfService;
  readonly #isTurnOver: () => boolean;
  #rendered = 0;

  constructor(shared: SharedProps, ofPods: SharedProps, known: OfService, isTurnOver: () => boolean) {
    this.#shared = shared;
    this.#ofPods = ofPods;
    this.#known = known;
    this.#isTurnOver = isTurnOver;
  }

  /**
   * Decides about the pods, as far as what was decided before does not stand. Returns undefined if some are left for
   * the next turn.
   */
  groups(
    hosts: ByHostname<TargetHost>,
    now: Circumstances,
    decide: DecideGroup,
  ): ReadonlyMap<number, OfPods> | undefined {
    return this.#known.pods.decide(hosts, now, decide);
  }

  /** Returns the endpoint mirror of a pod, or why there can be none; undefined if it is left for the next turn. */
  pod(given: PodProps, before: RenderedPod | undefined): RenderedPod | undefined {
    if (before !== undefined && isSamePod(before.props, given)) return before;
    if (this.#rendered >= LEAST_PODS && this.#isTurnOver()) return undefined;
    this.#rendered += 1;
    return { props: given, result: this.#renderPod(given) };
  }

  /** Returns the headless mirror; undefined if some of it is left for the next turn. */
  mirror(endpoints: CommonEndpoints | undefined, listed: ListedPods): Manifests | undefined {
    return this.#known.mirror.desired(this.#shared, endpoints, listed);
  }

  /** All of it has been rendered. */
  finish(): void {
    this.#known.pods.finish();
  }

  #renderPod(given: PodProps): RenderedPod['result'] {
    try {
      // A chart of its own for each pod: a construct tree of a thousand pods costs more than a thousand small ones.
      return desiredOf(render((chart) => new EndpointMirror(chart, 'rendered', { ...this.#ofPods, ...given })));
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }
}

/** The endpoints of mirrors of one Service that are kept, as they are being rendered. */
export class StayingRender {
  readonly #before: Staying;
  readonly #isTurnOver: () => boolean;
  readonly #end: (asked: Staying) => void;
  readonly #asked = new Map<string, OfProps>();
  #rendered = 0;
  #isUnfinished = false;

  constructor(before: Staying, isTurnOver: () => boolean, end: (asked: Staying) => void) {
    this.#before = before;
    this.#isTurnOver = isTurnOver;
    this.#end = end;
  }

  /** Whether some are left for the next turn. */
  get isUnfinished(): boolean {
    return this.#isUnfinished;
  }

  /** Returns the endpoints of one mirror; none if they are left for the next turn. */
  endpoints(given: EndpointsObjectProps): readonly Desired[] {
    const id = `${given.kind} ${given.name}`;
    const props = JSON.stringify(given);
    const before = this.#before.get(id);
    if (before?.props === props) {
      this.#asked.set(id, before);
      return before.desired;
    }
    this.#isUnfinished ||= this.#rendered >= LEAST_PODS && this.#isTurnOver();
    if (this.#isUnfinished) return [];
    this.#rendered += 1;
    const desired = render((chart) => void endpointsObjects(chart, given)).map(toDesired);
    this.#asked.set(id, { props, desired });
    return desired;
  }

  /** Remembers what was asked for, and that alone once all of it has been rendered. */
  end(): void {
    this.#end(this.#isUnfinished ? new Map([...this.#before, ...this.#asked]) : this.#asked);
  }
}
