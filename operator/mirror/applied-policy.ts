/**
 * What the policy of a Link says of the Services of its target (rules N1, N2). Pure, but for what it remembers to be
 * faster.
 */
import { admitsPort, type ImportPolicy, notAdmittedBy, type Obstacle } from '../../crds/link/import-policy.ts';
import type { EndpointSlice, Service } from '../kube/objects.ts';

/** What a policy says of Services. Each is looked at once. */
export class AppliedPolicy {
  readonly #policy: ImportPolicy;
  readonly #known = new WeakMap<Service, { readonly obstacle: Obstacle | undefined }>();
  readonly #slices = new WeakMap<EndpointSlice, EndpointSlice>();

  constructor(policy: ImportPolicy) {
    this.#policy = policy;
  }

  /** Why a Service is not admitted; undefined if it is. */
  obstacleOf(service: Service): Obstacle | undefined {
    const known = this.#known.get(service) ?? { obstacle: notAdmittedBy(this.#policy, offeredAs(service)) };
    this.#known.set(service, known);
    return known.obstacle;
  }

  /**
   * The slices behind a Service. The pods of a headless one are reached by the ports of these, whatever ports it has.
   */
  slicesOf(service: Service, slices: readonly EndpointSlice[]): readonly EndpointSlice[] {
    return isHeadless(service.spec) ? slices.map((slice) => this.sliceOf(slice)) : slices;
  }

  /**
   * A slice of a headless Service, with the ports that are admitted. Without any it lists nobody: what was made of its
   * pods goes.
   */
  sliceOf(slice: EndpointSlice): EndpointSlice {
    const known = this.#slices.get(slice) ?? this.#withPorts(slice);
    this.#slices.set(slice, known);
    return known;
  }

  #withPorts(slice: EndpointSlice): EndpointSlice {
    if (this.#policy.ports === undefined) return slice;
    const ports = slice.ports ?? [];
    const admitted = ports.filter(({ port }) => admitsPort(this.#policy.ports, port ?? 0));
    if (admitted.length === 0) return { ...slice, ports: [], endpoints: [] };
    return admitted.length === ports.length ? slice : { ...slice, ports: admitted };
  }
}

/** Whether a Service has no ClusterIP. */
export const isHeadless = (spec: Service['spec']): boolean => spec?.clusterIP === 'None';

const offeredAs = ({ metadata: { namespace = '', name }, spec }: Service) => ({
  namespace,
  name,
  ports: (spec?.ports ?? []).map(({ port }) => port),
  type: isHeadless(spec) ? 'Headless' : (spec?.type ?? 'ClusterIP'),
});
