/**
 * Counts the endpoints of Services (rule J3): of a mirror first hand, by its target; of other Services by their slices
 * in this cluster.
 */
import type { MirrorMode } from '../../constructs/rendered/index.ts';
import { Annotation, Label } from '../../crds/wire.ts';
import { keyOf, type Service, type SliceEndpoint, splitKey } from '../kube/objects.ts';
import { hostnameOf } from '../mirror/endpoint-mirrors.ts';
import type { ReadKind } from '../runtime/optional-kind.ts';
import { isFederated, isFlat, ownerOf } from '../source/owner.ts';
import { type EndpointCounts, reachable, readyMembers, sumCounts, type TargetKnowledge } from './readiness.ts';
import type { CountedSlice } from './kinds.ts';

export interface EndpointsOptions {
  /** Namespace of the operator. */
  readonly namespace: string;
  /** All Services of the source cluster. */
  readonly services: { get(key: string): Service | undefined };
  readonly slices: ReadKind<CountedSlice>;
  /**
   * Returns what is known first hand of a Service of a target cluster; undefined if no Link is served for that cluster.
   */
  readonly knowledge: (cluster: string, key: string) => TargetKnowledge | undefined;
  /** Returns whether a member in a target cluster is ready; undefined while that is not known. */
  readonly isMemberReady: (cluster: string, key: string) => boolean | undefined;
}

export class ServiceEndpoints {
  readonly #options: EndpointsOptions;

  constructor(options: EndpointsOptions) {
    this.#options = options;
  }

  /** Reports whether any endpoint of a Service is ready; undefined while that is not known. */
  isReady(key: string): boolean | undefined {
    const live = this.#options.services.get(key);
    if (live === undefined) return false;
    const counts = this.of(live);
    return counts && counts.ready > 0;
  }

  /**
   * Returns the counts of a Service's endpoints: of a mirror first hand, of other Services by their slices in this
   * cluster. Undefined while the counts are not known.
   */
  of(live: Service): EndpointCounts | undefined {
    const { namespace, knowledge } = this.#options;
    const owner = ownerOf(live, namespace);
    const known = owner && knowledge(owner.cluster, owner.key);
    if (known !== undefined) return reachable(behind(live, known), modeOf(live));
    // A mirror in flat mode has no slices here, so only a session that reads its target knows its endpoints.
    if (owner !== undefined && modeOf(live) === 'remote-discovery') return undefined;
    // Federated Services that lead through gateways have slices here.
    if (isFederated(live) && isFlat(live)) return readyMembers(this.#membersOf(live));
    return this.#localEndpoints(keyOf(live));
  }

  #localEndpoints(service: string): EndpointCounts | undefined {
    const { slices } = this.#options;
    if (slices.stateIn(splitKey(service).namespace) !== 'readable') return undefined;
    return sumCounts(slices.store.by('service', service).map(({ counts }) => counts));
  }

  /**
   * Returns whether each member of a federated Service on a flat network is ready; undefined for a member while that is
   * not known.
   */
  #membersOf({ metadata: { namespace = '', annotations = {} } }: Service): readonly (boolean | undefined)[] {
    const entries = (annotations[Annotation.remoteDiscovery] ?? '').split(',').filter((each) => each.includes('@'));
    const remote = entries.map((each) => {
      const at = each.lastIndexOf('@');
      return this.#options.isMemberReady(each.slice(at + 1), `${namespace}/${each.slice(0, at)}`);
    });
    const local = annotations[Annotation.localDiscovery];
    if (local === undefined || local === '') return remote;
    const counts = this.#localEndpoints(`${namespace}/${local}`);
    return [...remote, counts && counts.ready > 0];
  }
}

/**
 * Returns what is known of the endpoints that a mirror leads to. An endpoint mirror leads to one pod of a headless
 * Service, so only that pod is left.
 */
function behind(mirror: Service, known: TargetKnowledge): TargetKnowledge {
  const pod = hostnameOf(mirror);
  if (pod === undefined) return known;
  const ofPod = ({ hostname }: SliceEndpoint): boolean => hostname === pod;
  return {
    ...known,
    slices: known.slices?.map((each) => ({ ...each, endpoints: (each.endpoints ?? []).filter(ofPod) })),
  };
}

/** Returns the mode of a mirror. */
const modeOf = ({ metadata: { labels = {} } }: Service): MirrorMode =>
  Label.remoteDiscovery in labels ? 'remote-discovery' : 'gateway';
