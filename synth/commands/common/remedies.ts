/**
 * Remedies that several commands give. Each is a sentence in which every command stands between backticks, whole: with the
 * kubeconfig and the context that were given, and quoted, so that it can be pasted. Pure.
 */
import { Default, LinkApi } from '../../../crds/wire.ts';
import { kubectl, linkspan, linkspanPair, type NamedCluster, shellWord } from './command-text.ts';

/** A source cluster, and the namespaces of the extension and the control plane in it. */
export interface Place extends NamedCluster {
  readonly namespace: string;
  /** @default 'linkerd' */
  readonly linkerdNamespace?: string;
}

/** A command in a sentence. */
export const quoted = (command: string): string => `\`${command}\``;

/** A command of kubectl in a sentence. */
export const byKubectl = (cluster: NamedCluster, ...words: readonly string[]): string =>
  quoted(kubectl(cluster, ...words));

/** The flag that names the namespace of the extension, if that is not the usual one. */
export const namespaceWords = (namespace: string): readonly string[] =>
  namespace === Default.multiclusterNamespace ? [] : ['--namespace', namespace];

/** The flags that name those namespaces of the extension and the control plane that are not the usual ones. */
export const withNamespaces = ({
  namespace,
  linkerdNamespace = Default.controlPlaneNamespace,
}: Pick<Place, 'namespace' | 'linkerdNamespace'>): readonly string[] => [
  ...namespaceWords(namespace),
  ...(linkerdNamespace === Default.controlPlaneNamespace ? [] : ['--linkerd-namespace', linkerdNamespace]),
];

/** A command of ours in a sentence, with the namespaces that are not the usual ones. */
export const byLinkspan = (place: Place, ...words: readonly string[]): string =>
  quoted(linkspan(place, ...words, ...withNamespaces(place)));

/** Installs the operator. Only the reader knows from which registry the cluster gets the image. */
export const byInstall = (place: Place): string =>
  `${byLinkspan(place, 'install', '--apply')}, with --image and your image`;

/** `linkspan explain` of a Service, a mirror or a ServiceImport, by its namespace and name. */
export const byExplain = (place: Place, key: string): string => {
  const flags = namespaceWords(place.namespace).map((word) =>
    word === '--namespace' ? '--multicluster-namespace' : word,
  );
  return quoted(linkspan(place, 'explain', key, ...flags));
};

/** A command of Linkerd's in a sentence. */
export const byLinkerd = ({ kubeconfig, context }: NamedCluster, ...words: readonly string[]): string => {
  const flags = [...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]), '--context', context];
  return quoted(['linkerd', ...words, ...flags].map(shellWord).join(' '));
};

/** Applies CRDs, also over those that Helm or somebody else has applied. */
export const applyCrds = (cluster: NamedCluster, ...flags: readonly string[]): string => {
  const apply = kubectl(cluster, 'apply', '--server-side', '--force-conflicts', '-f', '-');
  return quoted(`${['linkspan', 'crds', ...flags].join(' ')} | ${apply}`);
};

/**
 * Links a cluster again.
 * @param target undefined if its context is not known, as the Link has credentials in a Secret
 * @param flags what is to change
 */
export const linkAgain = (
  place: Place,
  link: { readonly name: string; readonly cluster: string },
  target?: NamedCluster,
  ...flags: readonly string[]
): string => {
  const words = ['link', '--name', link.name, ...withNamespaces(place), ...flags, '--apply'];
  return target === undefined
    ? `${quoted(linkspan(place, ...words))}, with --to-context and the context of ${link.cluster}`
    : quoted(linkspanPair(place, target, ...words));
};

/**
 * The command that makes new credentials of a Link, as it was given: the same account, in the same namespaces.
 * @param words what it is to do with them
 */
export const mintAgain = (
  source: NamedCluster,
  target: NamedCluster,
  link: string,
  given: Omit<Place, keyof NamedCluster> & { readonly sourceName?: string | undefined },
  ...words: readonly string[]
): string => {
  const { sourceName } = given;
  const named = sourceName === undefined ? [] : ['--source-name', sourceName];
  const flags = ['--name', link, ...named, ...withNamespaces(given)];
  return linkspanPair(source, target, 'credentials', 'mint', ...words, ...flags);
};

/** Selects the pods of the operator, whatever installed it. */
export const OPERATOR_SELECTOR = 'app.kubernetes.io/name=linkspan';

/** Shows the log of the operator: of all its pods, as only one of them leads. */
export const operatorLog = (place: Place): string => {
  const words = ['logs', '-l', OPERATOR_SELECTOR, '--prefix', '--since=1h', '--tail=-1'];
  return `see the log of the operator: ${byKubectl(place, '-n', place.namespace, ...words)}`;
};

/** Shows the pods of the operator's namespace. */
export const operatorPods = (place: Place): string =>
  `see whether the operator runs: ${byKubectl(place, '-n', place.namespace, 'get', 'deployments,pods')}`;

/** Changes fields of a Link's spec. */
export const patchLink = (place: Place, link: string, spec: object): string => {
  const patch = JSON.stringify({ spec });
  return byKubectl(place, '-n', place.namespace, 'patch', LinkApi.crd, link, '--type=merge', `--patch=${patch}`);
};

/** A Service that is not mirrored. */
export interface RefusedService {
  readonly namespace: string;
  /** Name of the mirror. */
  readonly mirror: string;
}

/** Gives an operator that `linkspan install` has made the right to create namespaces. */
export const grantNamespaces = (place: Place): string =>
  byLinkspan(place, 'upgrade', '--grant-namespace-creation', '--apply');

/** What to do about a Service that is not mirrored, by the reason that the operator gives. */
export const refusalRemedy = (place: Place, reason: string, { namespace, mirror }: RefusedService): string => {
  switch (reason) {
    case 'MissingNamespace':
      return `create it: ${byKubectl(place, 'create', 'namespace', namespace)}; or let the operator do so, by enableNamespaceCreation of the Link and ${grantNamespaces(place)}`;
    case 'NamespaceNotAllowed':
      return 'add it to --mirror-namespaces of the operator, unless it is one of the system, or no longer export the Service';
    case 'NameConflict': {
      const look = byKubectl(place, '-n', namespace, 'get', 'service', mirror, '--show-managed-fields', '-o', 'yaml');
      return `see whose it is: ${look}; then rename or delete it, or export the Service under another name`;
    }
    case 'InvalidName':
      return 'export a Service with a shorter name, or give the cluster a shorter one';
    case 'InvalidService':
      return 'no longer export it, or change what the reason names';
    case 'WaitingForEndpoints':
      return 'wait until a pod of it is ready';
    case 'WaitingForGateway':
      return 'see the address of the gateway: spec.gatewayAddress of the Link, and DNS';
    case 'NotAdmitted':
      return 'admit it by spec.importPolicy of the Link, if it is wanted';
    case 'WaitingForApproval':
      return 'approve it, if it is wanted: linkspan approve, or spec.importPolicy.approved of the Link';
    case 'LimitExceeded':
      return 'export fewer Services, or raise the limit';
    default:
      return operatorLog(place);
  }
};
