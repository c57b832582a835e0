/**
 * Hides those exports of a target that the import policy of the Link does not admit (rules N1, N2, N4). The hidden
 * exports are treated as if the target did not export them. Objects that were made from them are deleted without asking
 * the target, because nothing outside the policy is allowed to stay.
 */
import type { Obstacle } from '../../crds/link/import-policy.ts';
import type { EndpointSlice, Service } from '../kube/objects.ts';
import type { AppliedPolicy } from '../mirror/applied-policy.ts';
import type { Exported } from './read/exported.ts';
import type { Aspect, PodAnswers, ServiceExports, TargetView } from './aspect.ts';

/** The key, `namespace/name`, of a Service that is not admitted, and the reason. */
export interface NotAdmitted {
  readonly key: string;
  readonly obstacle: Obstacle;
}

/** Those exports of a target that a policy admits. */
export interface AdmittedTarget extends Omit<TargetView, 'mirrored' | 'members' | 'exports'> {
  readonly mirrored: AdmittedAspect<Exported>;
  readonly members: AdmittedAspect<Service>;
  readonly exports: AdmittedAspect<Service> & ServiceExports;
}

/**
 * Returns those exports of a target that the policy of a Link admits.
 * @param policy returns the present policy of the Link; undefined if the Link has none
 */
export const admittedOf = (
  { mirrored, members, exports, pods }: TargetView,
  policy: () => AppliedPolicy | undefined,
): AdmittedTarget => {
  const admitted = new AdmittedAspect(mirrored, ({ service }) => service, policy);
  return {
    mirrored: admitted,
    members: new AdmittedAspect(members, itself, policy),
    exports: new AdmittedExports(exports, policy),
    pods: admittedPods(admitted, pods),
  };
};

/**
 * Combines a target's answers about pods with the policy of a Link (rule N4). A pod that the policy excludes (see
 * {@link AdmittedAspect.excludes}) counts as gone without an answer of the target. For all other pods, the target's
 * answers count.
 */
export const admittedPods = (of: Pick<AdmittedAspect<unknown>, 'excludes'>, pods: PodAnswers): PodAnswers => ({
  lacks: (key, hostname) => of.excludes(key, hostname) || pods.lacks(key, hostname),
  ask: (key) => pods.ask(key),
  forget: (key) => pods.forget(key),
});

const lists = ({ endpoints }: EndpointSlice, hostname: string): boolean =>
  endpoints?.some((each) => each.hostname === hostname) === true;

const itself = (service: Service): Service => service;

class AdmittedAspect<T> implements Aspect<T> {
  readonly #of: Aspect<T>;
  readonly #serviceOf: (found: T) => Service;
  readonly #policy: () => AppliedPolicy | undefined;

  constructor(of: Aspect<T>, serviceOf: (found: T) => Service, policy: () => AppliedPolicy | undefined) {
    this.#of = of;
    this.#serviceOf = serviceOf;
    this.#policy = policy;
  }

  get isRead(): boolean {
    return this.#of.isRead;
  }

  /** Number of admitted keys. With a policy, every key is checked on each call. */
  get size(): number {
    return this.#policy() === undefined ? this.#of.size : this.keys().size;
  }

  keys(): ReadonlySet<string> {
    const all = this.#of.keys();
    return this.#policy() === undefined ? all : new Set([...all].filter((key) => this.obstacleOf(key) === undefined));
  }

  get(key: string): T | undefined {
    return this.obstacleOf(key) === undefined ? this.#of.get(key) : undefined;
  }

  slicesOf(key: string): readonly EndpointSlice[] | undefined {
    if (this.obstacleOf(key) !== undefined) return [];
    const slices = this.#of.slicesOf(key);
    const policy = this.#policy();
    const found = policy && this.get(key);
    return found && slices ? policy.slicesOf(this.#serviceOf(found), slices) : slices;
  }

  /**
   * Reports whether the policy excludes the pods of a Service that have a hostname. This is so if slices of the Service
   * list the hostname, but none of these slices counts, for one of two reasons: the policy does not admit the Service,
   * or the Service is headless and the policy admits no port of these slices.
   */
  excludes(key: string, hostname: string): boolean {
    const policy = this.#policy();
    const listing = (policy && this.#of.slicesOf(key))?.filter((slice) => lists(slice, hostname)) ?? [];
    const admitted = this.slicesOf(key) ?? [];
    return listing.length > 0 && !admitted.some((slice) => lists(slice, hostname));
  }

  decides(key: string): boolean {
    return this.#of.decides(key);
  }

  confirms(key: string): boolean {
    return this.obstacleOf(key) !== undefined || this.#of.confirms(key);
  }

  ask(key: string): void {
    this.#of.ask(key);
  }

  forget(key: string): void {
    this.#of.forget(key);
  }

  /**
   * Returns why the policy does not admit a key; undefined if there is no policy, if the policy admits the key, or if
   * nothing is exported under the key.
   */
  obstacleOf(key: string): Obstacle | undefined {
    const policy = this.#policy();
    const found = policy && this.#of.get(key);
    return found && policy.obstacleOf(this.#serviceOf(found));
  }

  /** Yields all keys that are not admitted, with the reasons. */
  *refused(): Generator<NotAdmitted> {
    if (this.#policy() === undefined) return;
    for (const key of this.#of.keys()) {
      const obstacle = this.obstacleOf(key);
      if (obstacle !== undefined) yield { key, obstacle };
    }
  }
}

class AdmittedExports extends AdmittedAspect<Service> implements ServiceExports {
  readonly #exports: ServiceExports;

  constructor(of: ServiceExports, policy: () => AppliedPolicy | undefined) {
    super(of, itself, policy);
    this.#exports = of;
  }

  since(key: string): string {
    return this.#exports.since(key);
  }
}
