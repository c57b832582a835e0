/**
 * The target Service as its mirrors know it, and the labels and annotations that say whose mirror an object is.
 * Every kind of mirror carries these; Linkerd's destination controller and `linkerd multicluster` read them.
 */
import type { FieldError } from '../../../crds/field-error.ts';
import { Annotation, Default, Label, remoteFqName, Value } from '../../../crds/wire.ts';
import { dnsLabel, dnsSubdomain, serviceName } from '../../common/prop-rules.ts';
import { copiedAnnotations, copiedLabels, type Metadata } from './copied-metadata.ts';

/** What a mirror must know of the Service in the target cluster. */
export interface TargetServiceProps {
  /** Name of the target Service. */
  readonly service: string;
  /** Namespace of the target Service, and so of its mirror. */
  readonly namespace: string;
  /** Name of the target cluster: `spec.targetClusterName` of its Link. */
  readonly targetCluster: string;
  /**
   * DNS domain of the target cluster.
   * @default cluster.local
   */
  readonly targetClusterDomain?: string | undefined;
  /**
   * Labels of the target Service; those that must not be copied are left out here (rule B2).
   * @default - none
   */
  readonly labels?: Metadata | undefined;
  /**
   * Annotations of the target Service; those that must not be copied are left out here (rules B2 and B3).
   * @default - none
   */
  readonly annotations?: Metadata | undefined;
  /**
   * Further labels to leave out: exact keys, or `prefix/*`.
   * @default - none
   */
  readonly excludedLabels?: readonly string[] | undefined;
  /**
   * Further annotations to leave out: exact keys, or `prefix/*`.
   * @default - none
   */
  readonly excludedAnnotations?: readonly string[] | undefined;
  /**
   * resourceVersion of the target Service that the mirror is rendered from (rule B4).
   * @default - not recorded
   */
  readonly remoteResourceVersion?: string | undefined;
}

/** Labels of a mirror and of its endpoints: the copied ones, and whose it is. */
export const mirrorLabels = (target: TargetServiceProps): Record<string, string> => ({
  ...copiedLabels(target.labels ?? {}, target.excludedLabels),
  [Label.mirroredService]: Value.true,
  [Label.clusterName]: target.targetCluster,
});

/** Annotations of a mirror; `host` is what the target's DNS calls it: the Service, or `<hostname>.<service>`. */
export const mirrorAnnotations = (target: TargetServiceProps, host = target.service): Record<string, string> => ({
  ...copiedAnnotations(target.annotations ?? {}, target.excludedAnnotations),
  ...remoteName(target, host),
  ...(target.remoteResourceVersion ? { [Annotation.remoteResourceVersion]: target.remoteResourceVersion } : {}),
});

/** Most labels of a Service that are copied to the mirror of one of its pods: there may be thousands of pods. */
const MAX_POD_LABELS = 64;

/**
 * The labels and annotations of the target Service that an endpoint mirror takes over: the first labels by key, and how
 * proxies treat the ports (rules B2, B3 and E10).
 */
export const podMetadata = ({
  labels = {},
  annotations = {},
  excludedLabels,
}: Pick<TargetServiceProps, 'labels' | 'annotations' | 'excludedLabels'>): {
  readonly labels: Metadata;
  readonly annotations: Metadata;
} => {
  const { [Annotation.opaquePorts]: opaquePorts } = annotations;
  const copied = Object.entries(copiedLabels(labels, excludedLabels)).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    labels: Object.fromEntries(copied.slice(0, MAX_POD_LABELS)),
    annotations: opaquePorts === undefined ? {} : { [Annotation.opaquePorts]: opaquePorts },
  };
};

/** Annotations of a mirror's endpoints: the name and the TLS identity by which proxies reach the target. */
export const endpointsAnnotations = (
  target: TargetServiceProps,
  identity: string | undefined,
  host = target.service,
): Record<string, string> => ({
  ...remoteName(target, host),
  ...(identity ? { [Annotation.remoteGatewayIdentity]: identity } : {}),
});

const remoteName = (target: TargetServiceProps, host: string): Record<string, string> => ({
  [Annotation.remoteSvcFqName]: remoteFqName(
    host,
    target.namespace,
    target.targetClusterDomain ?? Default.clusterDomain,
  ),
});

/** Errors of the names of a target Service and of its mirror. */
export const targetServiceErrors = (
  target: TargetServiceProps,
  mirror: string,
): readonly (FieldError | undefined)[] => [
  serviceName('service', target.service),
  dnsLabel('namespace', target.namespace),
  dnsLabel('targetCluster', target.targetCluster),
  dnsSubdomain('targetClusterDomain', target.targetClusterDomain ?? Default.clusterDomain),
  serviceName('name', mirror),
];
