/**
 * The ServiceImport of a Service that clusters of the set export (rules K2 to K4): the object that says what is imported,
 * and what lets clients reach it. One of type ClusterSetIP has a derived Service, whose ClusterIP is its IP address; its
 * slices, or in flat mode Linkerd's annotations, lead to the exporting clusters. A headless one has slices that DNS reads,
 * and a Service for each pod that is reached through a gateway. Slices of a cluster list only the ports that the cluster
 * exposes.
 */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { derivedName } from '../../../crds/mcs/derived-name.ts';
import { Annotation, Label, McsApi } from '../../../crds/wire.ts';
import { refuse } from '../../common/invalid-props.ts';
import { beside, readJsonProps } from '../../common/props.ts';
import { copiedAnnotations, copiedLabels } from '../mirror/copied-metadata.ts';
import { membershipAnnotations } from '../federated/members.ts';
import { importErrors } from './errors.ts';
import { addressSpec, importPorts } from './ports.ts';
import type { ServiceImportProps } from './props.ts';
import { importObjects } from './slices.ts';
import { servicePorts } from '../mirror/ports.ts';
import { SERVICE_IMPORT_PROPS } from './schema.gen.ts';

/**
 * ServiceImport of the name of the exported Services, the Service `<service>-clusterset` that is derived from it, and the
 * slices of each cluster. A headless one has no such Service, but one for each pod that is reached through a gateway,
 * `clusterset-<hostname>-<hash>`, with slices that lead there.
 *
 * In Git, without the operator, it is what it was rendered as: give each pod the addresses of its Service, or only the
 * Services of pods are rendered. Where the operator imports, it writes ServiceImports itself, and takes this one for its own.
 * @throws InvalidPropsError naming every prop that the API server or Linkerd would refuse
 */
export class ServiceImport extends Construct {
  /** The ServiceImport. */
  readonly serviceImport: ApiObject;
  /** The derived Service; undefined if the ServiceImport is headless. */
  readonly service: ApiObject | undefined;
  /** The Services of the pods that are reached through gateways, if the ServiceImport is headless. */
  readonly pods: readonly ApiObject[];
  /** The EndpointSlices of all clusters, and those of the Services of pods. */
  readonly endpoints: readonly ApiObject[];

  constructor(scope: Construct, id: string, given: ServiceImportProps) {
    super(scope, id);
    const { props, errors } = readJsonProps<ServiceImportProps>(SERVICE_IMPORT_PROPS, given);
    const { service, namespace } = props;
    refuse(`ServiceImport ${namespace}/${service}`, [...errors, ...beside(errors, importErrors(props))]);

    const own = { [Label.serviceImport]: service };
    const { [Annotation.derivedService]: _, ...annotations } = copiedAnnotations(props.annotations ?? {});
    this.serviceImport = new ApiObject(this, 'Resource', {
      apiVersion: McsApi.apiVersion,
      kind: McsApi.serviceImport.kind,
      metadata: {
        name: service,
        namespace,
        labels: { ...copiedLabels(props.labels ?? {}), ...own },
        annotations: {
          ...annotations,
          ...(props.type !== 'Headless' && { [Annotation.derivedService]: derivedName(service) }),
        },
      },
      spec: importSpec(props),
    });
    this.service = props.type === 'Headless' ? undefined : this.#derived(props, own);
    const { pods, endpoints } = importObjects(this, props, own);
    this.pods = pods;
    this.endpoints = endpoints;
  }

  #derived(props: ServiceImportProps, labels: Record<string, string>): ApiObject {
    const { service, namespace, mode = 'gateway', clusters = [], ips = [], ipFamilies, opaquePorts } = props;
    const targets = clusters.flatMap(({ targetCluster }) => targetCluster ?? []);
    return new ApiObject(this, 'Derived', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: derivedName(service),
        namespace,
        labels,
        annotations: {
          ...(opaquePorts && { [Annotation.opaquePorts]: opaquePorts }),
          ...(mode === 'remote-discovery' && membershipAnnotations(service, targets, targets.length < clusters.length)),
        },
      },
      spec: {
        type: 'ClusterIP',
        ...addressSpec(ips, ipFamilies),
        ports: servicePorts(importPorts(props.ports)),
      },
    });
  }
}

const importSpec = ({
  type = 'ClusterSetIP',
  ports,
  ips = [],
  ipFamilies = [],
  sessionAffinity,
  sessionAffinitySeconds,
  internalTrafficPolicy,
  trafficDistribution,
}: ServiceImportProps) => ({
  type,
  ports: ports.map(({ name, protocol = 'TCP', port, appProtocol }) => ({
    name: name || undefined,
    protocol,
    port,
    appProtocol: appProtocol || undefined,
  })),
  ...(ips.length > 0 && { ips }),
  ...(ipFamilies.length > 0 && { ipFamilies }),
  ...(sessionAffinity !== undefined && { sessionAffinity }),
  ...(sessionAffinitySeconds !== undefined && {
    sessionAffinityConfig: { clientIP: { timeoutSeconds: sessionAffinitySeconds } },
  }),
  ...(internalTrafficPolicy !== undefined && { internalTrafficPolicy }),
  ...(trafficDistribution !== undefined && { trafficDistribution }),
});
