/**
 * What was rendered for the pods of headless Services. A pod is rendered when it changes, or what all pods of its Service
 * have in common, and not with each event of another (rule E10); so are the endpoints of mirrors that are kept. Whatever is
 * rendered is a function of the props alone.
 */
import type { EndpointMirrorProps, GatewayEndpoints, HeadlessMirrorProps } from '../../constructs/rendered/index.ts';
import {
  type ApiJson,
  EndpointMirror,
  type EndpointsObjectProps,
  endpointsObjects,
  podMetadata,
  render,
} from '../../constructs/rendered/index.ts';
import { RenderedHeadless, type SharedProps } from './rendered-headless.ts';

/** Props of the endpoint mirror of one pod. */
export interface PodProps extends Pick<EndpointMirrorProps, 'hostname' | 'ports'> {
  readonly name: string;
  readonly endpoints: GatewayEndpoints;
}

/** Pods, or mirrors that are kept, that are rendered in any case before the loop is given back. */
const LEAST_PODS = 20;

export interface RenderedOptions {
  /**
   * Reports whether rendering has taken so long that the rest is left for the next turn.
   * @default - all is rendered at once
   */
  readonly isTurnOver?: () => boolean;
}

/** The objects, or why a construct refused the props. */
type Result = readonly ApiJson[] | Error;

interface OfPod {
  readonly props: PodProps;
  readonly result: Result;
}

interface OfService {
  readonly shared: string;
  readonly pods: Map<string, OfPod>;
  readonly mirror: RenderedHeadless;
}

/** Objects, and the props that they were rendered from, as JSON. */
interface OfProps {
  readonly props: string;
  readonly objects: readonly ApiJson[];
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
    // The version alone causes no write (rule B4): what stays as it is keeps the one that it was rendered from.
    const ofPods = { ...given, ...podMetadata(given) };
    const shared = JSON.stringify({ ...ofPods, remoteResourceVersion: undefined });
    const before = this.#services.get(key);
    const known: OfService =
      before?.shared === shared ? before : { shared, pods: new Map(), mirror: new RenderedHeadless() };
    this.#services.set(key, known);
    return new ServiceRender(given, ofPods, known, this.#isTurnOver);
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
  readonly #asked = new Set<string>();
  #rendered = 0;

  constructor(shared: SharedProps, ofPods: SharedProps, known: OfService, isTurnOver: () => boolean) {
    this.#shared = shared;
    this.#ofPods = ofPods;
    this.#known = known;
    this.#isTurnOver = isTurnOver;
  }

  /**
   * Returns the endpoint mirror of a pod; undefined if it is left for the next turn.
   * @throws InvalidPropsError as the construct does
   */
  pod(given: PodProps): readonly ApiJson[] | undefined {
    const { hostname } = given;
    this.#asked.add(hostname);
    const before = this.#known.pods.get(hostname);
    const result = before && isSame(before.props, given) ? before.result : this.#renderPod(given);
    if (result === undefined) return undefined;
    if (result !== before?.result) this.#known.pods.set(hostname, { props: given, result });
    if (result instanceof Error) throw result;
    return result;
  }

  /** Returns the headless mirror, and forgets the pods that were not asked for. */
  mirror(endpoints: HeadlessMirrorProps['endpoints']): readonly ApiJson[] {
    for (const hostname of this.#known.pods.keys()) if (!this.#asked.has(hostname)) this.#known.pods.delete(hostname);
    return this.#known.mirror.objects(this.#shared, endpoints);
  }

  #renderPod(given: PodProps): Result | undefined {
    if (this.#rendered >= LEAST_PODS && this.#isTurnOver()) return undefined;
    this.#rendered += 1;
    try {
      // A chart of its own for each pod: a construct tree of a thousand pods costs more than a thousand small ones.
      return render((chart) => new EndpointMirror(chart, 'rendered', { ...this.#ofPods, ...given }));
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
  endpoints(given: EndpointsObjectProps): readonly ApiJson[] {
    const id = `${given.kind} ${given.name}`;
    const props = JSON.stringify(given);
    const before = this.#before.get(id);
    if (before?.props === props) {
      this.#asked.set(id, before);
      return before.objects;
    }
    this.#isUnfinished ||= this.#rendered >= LEAST_PODS && this.#isTurnOver();
    if (this.#isUnfinished) return [];
    this.#rendered += 1;
    const objects = render((chart) => void endpointsObjects(chart, given));
    this.#asked.set(id, { props, objects });
    return objects;
  }

  /** Remembers what was asked for, and that alone once all of it has been rendered. */
  end(): void {
    this.#end(this.#isUnfinished ? new Map([...this.#before, ...this.#asked]) : this.#asked);
  }
}

/** Whether two are of one value. Mostly they hold the same arrays, so that nothing needs to be compared. */
const isSame = (a: PodProps, b: PodProps): boolean =>
  a.name === b.name && isSameJson(a.ports, b.ports) && isSameGateway(a.endpoints, b.endpoints);

const isSameGateway = (a: GatewayEndpoints, b: GatewayEndpoints): boolean =>
  a.port === b.port &&
  a.identity === b.identity &&
  a.alive === b.alive &&
  a.ready === b.ready &&
  a.kind === b.kind &&
  isSameJson(a.addresses, b.addresses);

const isSameJson = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);
