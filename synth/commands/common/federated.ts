/** The federated Services of a source cluster, as they are there: who their members are, and how these are reached. */
import { Label, memberName, Value } from '../../../crds/wire.ts';
import { type Membership, membershipOf } from '../../../operator/federation/membership.ts';
import {
  ENDPOINT_SLICES,
  type EndpointSlice,
  type KubeObject,
  type Service,
  SERVICES,
} from '../../../operator/kube/objects.ts';
import type { Cluster } from './cluster.ts';

/** A federated Service, whoever wrote it. */
export interface FederatedService {
  readonly service: Service;
  /** Name of the Services that join it. */
  readonly member: string;
  /** Ours, if it leads through gateways; otherwise Linkerd finds the pods of its members. */
  readonly slices: readonly EndpointSlice[];
  readonly membership: Membership;
}

/** Of Services: mirrors have the second label too. */
const FEDERATED = `${Label.mirroredService}=${Value.true},!${Label.clusterName}`;
const SLICES = `${Label.federation}=${Value.gatewayFederation}`;

/** Reads those of a namespace, or all. */
export const readFederated = async (
  source: Pick<Cluster, 'list'>,
  namespace?: string,
): Promise<readonly FederatedService[]> => {
  const within = namespace === undefined ? {} : { namespace };
  const [services, slices] = await Promise.all([
    source.list<Service>(SERVICES, { ...within, labelSelector: FEDERATED }),
    source.list<EndpointSlice>(ENDPOINT_SLICES, { ...within, labelSelector: SLICES }),
  ]);
  return federatedAmong(services, slices);
};

const titleOf = ({ metadata: { namespace = '' } }: KubeObject, name: string): string => `${namespace}/${name}`;

/** The federated ones of Services, by namespace and name. Pure. */
export const federatedAmong = (
  services: readonly Service[],
  slices: readonly EndpointSlice[],
): readonly FederatedService[] => {
  const slicesOf = Map.groupBy(slices, (slice) => titleOf(slice, slice.metadata.labels?.[Label.serviceName] ?? ''));
  return services
    .map((service) => ({ service, title: titleOf(service, service.metadata.name) }))
    .toSorted((one, other) => (one.title < other.title ? -1 : 1))
    .flatMap(({ service, title }) => {
      const member = memberName(service.metadata.name) ?? '';
      const own = slicesOf.get(title) ?? [];
      const membership = membershipOf({ name: member, live: service, slices: own });
      return membership === undefined || member === '' ? [] : [{ service, member, slices: own, membership }];
    });
};
