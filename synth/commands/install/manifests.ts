/** The manifests of an installation, in an order in which the API server can take them. Pure. */
import { Multicluster, type MulticlusterProps } from '../../../constructs/index.ts';
import { InvalidPropsError } from '../../../constructs/common/invalid-props.ts';
import { labelsErrors } from '../../../constructs/common/prop-rules.ts';
import { syncWave } from '../../../constructs/argo-cd/sync-waves.ts';
import { type ApiJson, render } from '../../../constructs/rendered/render.ts';
import type { FieldError } from '../../../crds/field-error.ts';
import { Default, Label, Value } from '../../../crds/wire.ts';
import { ExitCode, fieldProblem, type Problem, refuseProblems } from '../common/command-error.ts';
import type { Domains } from '../common/linkerd.ts';
import { recordManifest, type Settings } from './settings.ts';
import { mergedProps, readValues, type ReadValues } from './values.ts';
import { VERSION } from './version.ts';

/** The image that the release of this version comes with. A build from a checkout has none. */
export const RELEASED_IMAGE = `ghcr.io/linkspan-dev/linkspan:${VERSION}`;

/** Stands for the user's image, in what is printed and in the documentation. */
export const EXAMPLE_IMAGE = `registry.example.com/linkspan:${VERSION}`;

/** Linkerd's HA values: a node that fails takes one pod. */
const HA = {
  gateway: { replicas: 3, antiAffinity: 'required' },
  operator: { image: EXAMPLE_IMAGE, antiAffinity: 'required' },
} as const satisfies MulticlusterProps;

/** What was made of settings. */
export interface Rendered {
  readonly objects: readonly ApiJson[];
  /** Values that are ignored, each with the reason. */
  readonly warnings: readonly string[];
}

/**
 * The objects of an installation: CRD and namespace first, then rights, then what uses them.
 * @param domains those of Linkerd in the cluster; undefined if no cluster was asked
 * @throws CommandError for settings that no manifest can have, by their flags and keys
 */
export const installManifests = (namespace: string, settings: Settings, domains: Domains | undefined): Rendered => {
  const read = readValues(settings.values ?? {});
  const { objects: unordered, problems } = rendered(propsOf(namespace, settings, read, domains), read);
  const found = [...read.errors, ...labelsErrors('commonLabels', read.labels).filter((error) => error !== undefined)];
  refuseProblems([...found.map(valueProblem), ...problems], ExitCode.usage);
  const objects = unordered.toSorted((one, other) => syncWave(one.kind) - syncWave(other.kind));
  const first = objects.findLastIndex(({ kind }) => kind === 'Namespace') + 1;
  const record = recordManifest(namespace, { version: VERSION, settings });
  const all = [...objects.slice(0, first), record, ...objects.slice(first)];
  return { objects: all.map((object) => marked(object, read.labels)), warnings: read.warnings };
};

/** The trust domain that values files name, if they do. */
export const givenTrustDomain = ({ values = {} }: Settings): string | undefined => readValues(values).props.trustDomain;

/** The props of an installation, as its settings give them. Pure. */
export const installedProps = (namespace: string, settings: Settings): MulticlusterProps =>
  propsOf(namespace, settings, readValues(settings.values ?? {}), undefined);

/** Operator and CRD always: Links are made later, and so are the Secrets that they name. */
const propsOf = (
  namespace: string,
  { image = EXAMPLE_IMAGE, ha, gateway, linkerdNamespace, sourceNetworks, ...rest }: Settings,
  { props: values }: ReadValues,
  domains: Domains | undefined,
): MulticlusterProps => {
  const { trustDomain, clusterDomain = Default.clusterDomain } = domains ?? {};
  const base: MulticlusterProps = { namespace, linkerdNamespace, trustDomain, sourceNetworks, crd: true };
  const { flat, grantNamespaceCreation, gatewayAccess, gatewayTcp } = rest;
  const chosen = mergedProps(ha ? HA : {}, values);
  const { operator } = chosen;
  return {
    ...mergedProps(base, chosen),
    // A flag wins over a file.
    ...(gateway === false && { gateway: false }),
    ...(gateway === true && chosen.gateway === false && { gateway: {} }),
    operator: {
      ...operator,
      image,
      credentialsSecrets: 'any',
      // Of a cluster file, what is not true follows from its Links.
      ...(flat === true && { flat }),
      ...(grantNamespaceCreation === true && { grantNamespaceCreation }),
      gatewayTcp,
      // Only who writes the policy of the gateway needs the domain.
      ...(gatewayAccess !== undefined && {
        gatewayAccess,
        ...(clusterDomain !== Default.clusterDomain && { clusterDomain }),
      }),
    },
  };
};

interface Attempt {
  readonly objects: readonly ApiJson[];
  readonly problems: readonly Problem[];
}

const rendered = (props: MulticlusterProps, { pathOf }: ReadValues): Attempt => {
  try {
    const objects = render((chart) => {
      new Multicluster(chart, 'multicluster', props);
    });
    return { objects, problems: [] };
  } catch (error) {
    if (!(error instanceof InvalidPropsError)) throw error;
    const problems = error.errors.map((each): Problem => {
      const path = pathOf(each.path);
      return path === undefined
        ? fieldProblem(FLAG_OF_PROP[each.path.replace(/\[\d+\]$/, '')] ?? each.path, each)
        : valueProblem({ ...each, path });
    });
    // One value may be a prop of the gateway and of the operator.
    const distinct = new Map(problems.map((each) => [`${each.object} ${each.reason}`, each]));
    return { objects: [], problems: [...distinct.values()] };
  }
};

const FLAG_OF_PROP: Readonly<Record<string, string>> = {
  'operator.image': '--image',
  namespace: '--namespace',
  sourceNetworks: '--source-networks',
  linkerdNamespace: '--linkerd-namespace',
  'operator.grantNamespaceCreation': '--grant-namespace-creation',
  'operator.gatewayAccess': '--gateway-access',
  'operator.gatewayTcp': '--gateway-tcp',
};

const valueProblem = (error: FieldError): Problem => fieldProblem(`--values: ${error.path}`, error);

/** With the label by which `uninstall` knows it, and those that the user wants everywhere. */
const marked = (object: ApiJson, labels: Readonly<Record<string, string>>): ApiJson => ({
  ...object,
  metadata: {
    ...object.metadata,
    labels: { ...labels, ...object.metadata.labels, [Label.managedBy]: Value.managedBy },
  },
});
