/**
 * The exports of one Link's target, by aspect, with the checks that must pass before the operator acts on them:
 * deletions are not held, the target has confirmed them, and the limits allow the exports. A new aspect of what targets
 * export is added here. No I/O.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Obstacle } from '../../crds/link/import-policy.ts';
import type { OperatorConfig } from '../config/config.ts';
import type { Service } from '../kube/objects.ts';
import type { Observed } from '../mirror/observed.ts';
import { readSlices } from '../mirror/target-endpoints.ts';
import { volumeOfExport, volumeOfMember } from '../mirror/volumes.ts';
import type { Logger } from '../runtime/logger.ts';
import { PROBE_KEY } from '../source/owner.ts';
import type { SourceStores } from '../source/stores.ts';
import type { AppliedPolicy } from '../mirror/applied-policy.ts';
import { admittedOf, admittedPods, type AdmittedTarget, type NotAdmitted } from '../target/admitted.ts';
import type { PodAnswers, TargetView } from '../target/aspect.ts';
import { Certain } from '../target/certain/certain.ts';
import type { Counted, HeldListener } from '../target/certain/counted.ts';
import { Losses } from '../target/certain/losses.ts';
import type { Exported } from '../target/read/exported.ts';
import type { ServiceExport } from '../target/read/mcs-objects.ts';
import type { LinkReport } from './environment.ts';
import { HeldDeletions, type HeldDeletionsOptions } from './held.ts';
import { Limits } from './limits.ts';
import { Pods } from './pods.ts';

/** Aspects of a target with their own derived objects. The objects of pods belong to `mirrored`. */
export type DerivedAspect = 'mirrored' | 'members' | 'exports';

export interface ServedTargetOptions extends Pick<HeldDeletionsOptions, 'record'> {
  readonly link: string;
  readonly cluster: string;
  readonly target: TargetView;
  readonly config: Pick<
    OperatorConfig,
    'maxMirrors' | 'maxEndpointMirrors' | 'maxServicePods' | 'maxWrittenMib' | 'endpointMirrorGraceMs'
  >;
  readonly source: Pick<SourceStores, 'keysOf' | 'membershipsOf' | 'ownedBy'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly report: LinkReport;
  /** Notified when fewer deletions are held. @default - nobody is notified */
  readonly listener?: HeldListener | undefined;
  /** Returns the import policy of the Link; undefined if it has none (rule N1). @default - returns undefined */
  readonly policy?: (() => AppliedPolicy | undefined) | undefined;
  /** Reports whether each pod of a headless Service gets a mirror of its own. */
  readonly isHeadless: () => boolean;
  /** Returns the keys of the ServiceImports that the cluster is part of. @default - there are none */
  readonly parts?: (() => Iterable<string>) | undefined;
  /**
   * Returns the keys of an aspect for which something is being written. Objects that are derived from these keys may
   * exist before a store shows them.
   * @default - none
   */
  readonly underWay?: ((aspect: DerivedAspect) => Iterable<string>) | undefined;
}

/** What is known about one mirrored Service of the target. */
export type ObservedExport = Pick<
  Observed,
  | 'target'
  | 'slices'
  | 'isAdmitted'
  | 'admitsPod'
  | 'areAllPodsAdmitted'
  | 'admitsBytes'
  | 'departed'
  | 'arePodsUnconfirmed'
  | 'decidable'
  | 'isConfirmed'
> & {
  /**
   * Whether the Service is mirrored pod by pod only because deletions of its pods are held (rule E6). The settings no
   * longer ask for endpoint mirrors.
   */
  readonly isHeldByPod: boolean;
  /** Whether the Service is certainly not exported any more. */
  readonly isCertainlyGone: boolean;
};

/** What is known about one Service of the target as a member of a federated Service. */
export interface ObservedMember {
  readonly service: Service | undefined;
  /** False while it is not known whether the target has this member, and while its deletion is held. */
  readonly isKnown: boolean;
  /** Whether the member is within the Link's limit on the number of members. */
  readonly isAdmitted: boolean;
  /** Whether what is written for the member is within the Link's limit on written bytes. */
  readonly isWithinBytes: boolean;
  /**
   * Whether an endpoint of the member is ready; undefined while it is not known, or if slices of members are not read.
   */
  readonly anyReady: boolean | undefined;
}

export class ServedTarget {
  /** The Services that are mirrored. */
  readonly mirrored: Certain<Exported>;
  /** Pods of headless Services that have endpoint mirrors. */
  readonly pods: Pods;
  /** The members of federated Services. */
  readonly members: Certain<Service>;
  /** The Services that ServiceExports export. */
  readonly exports: Certain<Service>;
  /** All four aspects. */
  readonly sorts: readonly Counted[];
  readonly held: HeldDeletions;
  readonly limits: Limits;
  readonly #target: AdmittedTarget;
  /** The Services that {@link notAdmitted} last returned, by key. */
  #refused: ReadonlyMap<string, NotAdmitted> = new Map();

  constructor(options: ServedTargetOptions) {
    const { link, cluster, config, source, log, report, isHeadless, parts = () => [], record } = options;
    // A key that is exported counts once objects derived from it are known. A key that is gone counts as soon as such
    // objects may exist (L189).
    const begun = (aspect: DerivedAspect): readonly string[] =>
      [...(options.underWay?.(aspect) ?? [])].filter((key) => target[aspect].get(key) === undefined);
    const { listener, policy = () => undefined } = options;
    const target = admittedOf(options.target, policy);
    this.#target = target;
    const losses = new Losses(() => void record?.());
    const isCountedOneByOne = (): boolean => policy() !== undefined;
    const limit = { setting: 'maxMirrors', most: config.maxMirrors, report, listener } as const;
    const services = { ...limit, isCountedOneByOne };
    this.mirrored = new Certain({
      ...services,
      what: 'Services',
      aspect: target.mirrored,
      losses: losses.sort((key) => key),
      made: () => [...source.keysOf(cluster), ...begun('mirrored')].filter((key) => key !== PROBE_KEY),
      isServed: (key) => source.ownedBy({ cluster, key }).services.length > 0,
      since: (key) => createdAt(target.mirrored.get(key)?.service),
    });
    this.pods = new Pods({
      what: 'pods of headless Services',
      setting: 'maxEndpointMirrors',
      most: config.maxEndpointMirrors,
      losses: losses.sort((pod) => pod),
      report,
      listener,
      mirrored: target.mirrored,
      answers: target.pods,
      cluster,
      source,
      graceMs: config.endpointMirrorGraceMs,
      isHeadless,
      maxServicePods: config.maxServicePods,
    });
    this.members = new Certain({
      ...services,
      what: 'members of federated Services',
      aspect: target.members,
      losses: losses.sort((key) => `${key}@${cluster}`),
      made: () => [...source.membershipsOf(cluster), ...begun('members')],
      since: (key) => createdAt(target.members.get(key)),
    });
    this.exports = new Certain({
      ...services,
      what: 'Services by ServiceExports',
      aspect: target.exports,
      losses: losses.sort((key) => `${key}!${cluster}`),
      made: () => [...parts(), ...begun('exports')],
      since: (key) => target.exports.since(key),
    });
    this.sorts = [this.mirrored, this.pods, this.members, this.exports];
    this.held = new HeldDeletions({ link, sorts: this.sorts, losses, log, report, record });
    const { sorts, mirrored, members, exports } = this;
    const written = { mirrored, members, exports };
    this.limits = new Limits({ maxWrittenMib: config.maxWrittenMib, cluster, source, parts, sorts, written, report });
  }

  /** Returns what is known about one mirrored Service. */
  observe(key: string): ObservedExport {
    const { mirrored, pods, limits } = this;
    const target = mirrored.get(key);
    const heldAs = pods.heldAs(key);
    return {
      target,
      slices: target && mirrored.slicesOf(key),
      isAdmitted: mirrored.admits(key),
      admitsPod: (hostname) => pods.admitsPod(key, hostname),
      areAllPodsAdmitted: pods.admitsAll,
      admitsBytes: (bytes) => limits.admitsBytes('mirrored', key, bytes),
      ...pods.departed(key),
      // While the mirror stays as it is for held pods, nothing may be decided about it.
      decidable: mirrored.decides(key) && heldAs !== 'as it is',
      isConfirmed: mirrored.confirms(key),
      isHeldByPod: heldAs === 'pod by pod',
      isCertainlyGone: mirrored.isCertainlyGone(key),
    };
  }

  /** Returns what is known about one Service as a member of a federated Service. */
  observeMember(key: string): ObservedMember {
    const { members, limits } = this;
    const service = members.get(key);
    const slices = service && members.slicesOf(key);
    const isKnown = members.decides(key);
    const isAdmitted = members.admits(key);
    const bytes = service && isAdmitted ? volumeOfMember(service) : 0;
    return {
      service,
      isKnown,
      isAdmitted,
      isWithinBytes: !isKnown || limits.admitsBytes('members', key, bytes),
      anyReady: service && slices && readSlices(service, slices).anyReady,
    };
  }

  /** Reports whether a member of a federated Service is ready; undefined while that is not known. */
  isMemberReady(key: string): boolean | undefined {
    return this.members.isCertainlyGone(key) ? false : this.observeMember(key).anyReady;
  }

  /**
   * Reports whether the objects that are derived from one ServiceExport are within the Link's limit on written bytes.
   */
  isWithinBytes(key: string, serviceExport: ServiceExport | undefined): boolean {
    const { exports, limits } = this;
    if (!exports.decides(key)) return true;
    const isServed = serviceExport !== undefined && exports.admits(key);
    const bytes = isServed ? volumeOfExport(serviceExport, exports.get(key), exports.slicesOf(key)) : 0;
    return limits.admitsBytes('exports', key, bytes);
  }

  /** Returns answers about the pods of those Services with a ServiceExport that the policy admits. */
  podsOfExports(pods: PodAnswers): PodAnswers {
    return admittedPods(this.#target.exports, pods);
  }

  /** Returns the Services that the policy of the Link does not admit, each once, sorted by key. */
  notAdmitted(): readonly NotAdmitted[] {
    const { mirrored, members, exports } = this.#target;
    const all = [mirrored, members, exports].flatMap((each) => [...each.refused()]);
    this.#refused = new Map(all.map((each) => [each.key, each]));
    return [...this.#refused.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** Reports whether the policy's verdict on a key differs from what {@link notAdmitted} last returned. */
  isRefusedAnew(key: string): boolean {
    return !isDeepStrictEqual(this.obstacleOf(key), this.#refused.get(key)?.obstacle);
  }

  /**
   * Returns why the policy does not admit a Service; undefined if the policy admits it, or if nothing is exported under
   * the key.
   */
  obstacleOf(key: string): Obstacle | undefined {
    const { mirrored, members, exports } = this.#target;
    return mirrored.obstacleOf(key) ?? members.obstacleOf(key) ?? exports.obstacleOf(key);
  }

  stop(): void {
    this.limits.stop();
  }
}

const createdAt = (service: Service | undefined): string => service?.metadata.creationTimestamp ?? '';
