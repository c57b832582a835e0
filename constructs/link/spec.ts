/** The spec of a Link as its props give it; its defaults are what `linkerd multicluster link` writes. */
import type { ImportPolicySpec, LinkSpec, ProbeSpec } from '../../crds/link/types.gen.ts';
import { credentialsName, Default, gatewayIdentity, Label, Value } from '../../crds/wire.ts';
import { goDuration } from '../common/time-span.ts';
import type { LinkImportPolicy, LinkProbe, LinkProps } from './props.ts';

/** A spec. Its undefined fields are not rendered. */
export type Spec = { readonly [Field in keyof LinkSpec]: LinkSpec[Field] | undefined };

/** The spec for these props, which need not be valid. */
export const linkSpec = (props: LinkProps): Spec => {
  const domain = props.targetClusterDomain ?? Default.clusterDomain;
  const linkerdNamespace = props.targetLinkerdNamespace ?? Default.controlPlaneNamespace;
  const gateway = props.gatewayAddresses && {
    selector: { matchLabels: { [Label.exported]: Value.true } },
    gatewayAddress: props.gatewayAddresses.join(','),
    gatewayPort: String(props.gatewayPort ?? Default.gatewayPort),
    gatewayIdentity: props.gatewayIdentity ?? gatewayIdentity(linkerdNamespace, props.targetTrustDomain ?? domain),
    probeSpec: probeSpec(props.probe ?? {}),
  };
  return {
    targetClusterName: props.targetCluster,
    targetClusterDomain: domain,
    targetClusterLinkerdNamespace: linkerdNamespace,
    clusterCredentialsSecret: props.clusterCredentialsSecret ?? credentialsName(props.targetCluster),
    targetNamespaces: props.targetNamespaces && [...props.targetNamespaces],
    ...gateway,
    ...(props.selector && { selector: props.selector }),
    remoteDiscoverySelector: props.remoteDiscoverySelector ?? {
      matchLabels: { [Label.exported]: Value.remoteDiscovery },
    },
    federatedServiceSelector: props.federatedServiceSelector ?? {
      matchLabels: { [Label.federated]: Value.federatedMember },
    },
    federation: props.federation,
    ...(props.serviceExports === false && { serviceExports: false }),
    importPolicy: props.importPolicy && importPolicy(props.importPolicy),
    excludedLabels: props.excludedLabels && [...props.excludedLabels],
    excludedAnnotations: props.excludedAnnotations && [...props.excludedAnnotations],
    enableHeadlessServices: props.enableHeadlessServices,
    enableNamespaceCreation: props.enableNamespaceCreation,
  };
};

const importPolicy = ({ namespaces, names, ports, types, approval, approved }: LinkImportPolicy): ImportPolicySpec => ({
  ...(namespaces && { namespaces: [...namespaces] }),
  ...(names && { names: [...names] }),
  ...(ports && { ports: ports.map(String) }),
  ...(types && { types: [...types] }),
  ...(approval && { approval }),
  ...(approved && { approved: [...approved] }),
});

const probeSpec = ({
  path = Default.probePath,
  port = Default.probePort,
  period = '3s',
  timeout = '30s',
  failureThreshold = 3,
}: LinkProbe): ProbeSpec => ({
  path,
  port: String(port),
  period: goDuration(period),
  timeout: goDuration(timeout),
  failureThreshold: String(failureThreshold),
});
