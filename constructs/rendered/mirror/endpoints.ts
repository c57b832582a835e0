/**
 * The addresses behind a Service without a selector, in either form the API has: one Endpoints object, as Linkerd's
 * own controller writes, or EndpointSlices, one per address family and subset, or several where one would hold too many.
 * Both render the same state. Addresses are sorted and deduplicated, so that equal state is an equal object.
 */
import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import { type Family, sliceSuffix } from '../../../crds/slice-names.ts';
import { ENDPOINT_SLICE_MANAGER, Label } from '../../../crds/wire.ts';
import { isIPv6 } from '../../common/prop-rules.ts';
import { fillSlices } from './fill-slices.ts';
import type { EndpointPort } from './ports.ts';
import { keepOutOfGit, type StaticEndpointsProps } from './static-endpoints.ts';

/** Which API object holds the addresses: v1 Endpoints, or discovery.k8s.io/v1 EndpointSlices. */
export type EndpointsKind = 'endpoints' | 'slices';

/** One address behind a Service. */
export interface EndpointsAddress {
  readonly ip: string;
  readonly hostname?: string | undefined;
  /**
   * Whether it takes requests, where that is another matter for each; in slices only.
   * @default - as its subset says
   */
  readonly ready?: boolean | undefined;
}

/** Addresses that share ports and readiness. */
export interface EndpointsSubset {
  readonly addresses: readonly EndpointsAddress[];
  readonly ports: readonly EndpointPort[];
  /** `absent`: nobody is there; the addresses only say which families to keep an empty slice for. */
  readonly state: 'ready' | 'not-ready' | 'absent';
}

/** Properties of {@link endpointsObjects}. */
export interface EndpointsObjectProps extends StaticEndpointsProps {
  /** Name of the Service, and of its Endpoints. */
  readonly name: string;
  readonly namespace: string;
  /**
   * What the names of slices start with.
   * @default - the name
   */
  readonly slicePrefix?: string | undefined;
  /**
   * Whether slices are labelled as those of the Service, so that Kubernetes and Linkerd send its requests there.
   * @default true
   */
  readonly isOfService?: boolean | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** @default endpoints */
  readonly kind?: EndpointsKind | undefined;
  readonly subsets: readonly EndpointsSubset[];
}

/**
 * Renders the addresses of a Service: one Endpoints object, or the EndpointSlices of each family and subset.
 * To synthesize them for Git is an error, unless they are static.
 */
export const endpointsObjects = (scope: Construct, props: EndpointsObjectProps): readonly ApiObject[] => {
  const objects = objectsOf(props.kind ?? 'endpoints', scope, props);
  for (const object of objects) keepOutOfGit(object, props);
  return objects;
};

const objectsOf = (kind: EndpointsKind, scope: Construct, props: EndpointsObjectProps): readonly ApiObject[] => {
  switch (kind) {
    case 'endpoints':
      return [endpoints(scope, props)];
    case 'slices':
      return [...slices(scope, props, 'IPv4'), ...slices(scope, props, 'IPv6')];
  }
};

const endpoints = (
  scope: Construct,
  { name, namespace, labels, annotations, subsets }: EndpointsObjectProps,
): ApiObject => {
  const rendered = subsets
    .filter(({ addresses, state }) => addresses.length > 0 && state !== 'absent')
    .map(({ addresses, ports, state }) => ({
      [state === 'ready' ? 'addresses' : 'notReadyAddresses']: ordered(addresses).map(({ ip, hostname }) => ({
        ip,
        hostname,
      })),
      ports: ports.map((port) => endpointPort(port)),
    }));
  return new ApiObject(scope, 'Endpoints', {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name, namespace, labels, annotations },
    // The API server stores no empty list.
    ...(rendered.length > 0 ? { subsets: rendered } : {}),
  });
};

const slices = (scope: Construct, props: EndpointsObjectProps, family: Family): readonly ApiObject[] => {
  const { name, namespace, labels, annotations, slicePrefix = name, isOfService = true } = props;
  return contentsOf(props.subsets, family).map(
    ({ suffix, subset: { addresses, ports, state } }) =>
      new ApiObject(scope, `EndpointSlice-${suffix}`, {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          name: `${slicePrefix}-${suffix}`,
          namespace,
          labels: {
            ...labels,
            ...(isOfService && { [Label.serviceName]: name }),
            [Label.endpointSliceManagedBy]: ENDPOINT_SLICE_MANAGER,
          },
          annotations,
        },
        addressType: family,
        endpoints: addresses.map(({ ip, hostname, ready = state === 'ready' }) => ({
          addresses: [ip],
          conditions: { ready },
          hostname,
        })),
        // Here the API server stores an unnamed port as "", other than in Endpoints.
        ports: ports.map((port) => ({ ...endpointPort(port), name: port.name ?? '' })),
      }),
  );
};

/** What one of several slices holds. */
interface SliceContent {
  /** What its name ends with, after a dash. */
  readonly suffix: string;
  /** So many addresses as one slice holds, all of one family. */
  readonly subset: EndpointsSubset;
}

const contentsOf = (subsets: readonly EndpointsSubset[], family: Family): readonly SliceContent[] =>
  subsets
    .map((subset) => ({
      ...subset,
      addresses: subset.addresses.filter(({ ip }) => isIPv6(ip) === (family === 'IPv6')),
    }))
    .filter(({ addresses }) => addresses.length > 0)
    .flatMap(({ addresses: all, ...subset }, index) =>
      fillSlices(subset.state === 'absent' ? [] : ordered(all)).map(({ bits, addresses }) => ({
        suffix: sliceSuffix(family, index, bits),
        subset: { ...subset, addresses },
      })),
    );

const endpointPort = ({ name, port, protocol = 'TCP', appProtocol }: EndpointPort) => ({
  name: name || undefined,
  port,
  protocol,
  appProtocol: appProtocol || undefined,
});

/** Returns addresses by hostname, then by IP; each pair once. */
export const ordered = <A extends EndpointsAddress>(addresses: readonly A[]): readonly A[] => {
  const unique = new Map(addresses.map((each) => [`${each.hostname ?? ''} ${each.ip}`, each]));
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, address]) => address);
};
