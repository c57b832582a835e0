/**
 * The AppProject of a set of clusters: the kinds that a set can render, and those that its charts really hold when they
 * are rendered. What only the operator writes (Endpoints, EndpointSlices) is never among it. All namespaces of a cluster are
 * permitted, so that what leaves one for good is still pruned.
 */
import { ApiObject, type Chart, Lazy } from 'cdk8s';
import type { Construct } from 'constructs';
import { objectsIn } from '../common/objects-in.ts';
import { ARGO_CD_API } from './application.ts';
import { ARGO_CD_KINDS, CLUSTER_KINDS, type GroupKind, NAMESPACED_KINDS } from './kinds.ts';
import type { ArgoCdDestination } from './props.ts';

/** What Argo CD applies, and where to. */
export interface AppliedChart {
  readonly chart: Chart;
  readonly destination: ArgoCdDestination;
}

/** The AppProject of what is in the charts of these clusters, and in that of Argo CD itself, from one repository. */
export const appProject = (
  scope: Construct,
  id: string,
  name: string,
  repoUrl: string,
  clusters: readonly AppliedChart[],
  root: (AppliedChart & { readonly namespace: string }) | undefined,
): ApiObject => {
  const applied = root === undefined ? clusters : [...clusters, root];
  const inNamespaces = root === undefined ? NAMESPACED_KINDS : [...NAMESPACED_KINDS, ...ARGO_CD_KINDS];
  return new ApiObject(scope, id, {
    apiVersion: ARGO_CD_API,
    kind: 'AppProject',
    metadata: { name },
    spec: {
      description: 'What linkspan synth renders, and nothing else',
      sourceRepos: [repoUrl],
      destinations: [
        ...clusters.map(({ destination }) => ({ ...destination, namespace: '*' })),
        ...(root === undefined ? [] : [{ ...root.destination, namespace: root.namespace }]),
      ],
      clusterResourceWhitelist: Lazy.any({
        produce: () => kinds(CLUSTER_KINDS, applied, (object) => !isNamespaced(object)),
      }) as unknown,
      namespaceResourceWhitelist: Lazy.any({ produce: () => kinds(inNamespaces, applied, isNamespaced) }) as unknown,
    },
  });
};

const kinds = (
  always: readonly GroupKind[],
  applied: readonly AppliedChart[],
  isWanted: (object: ApiObject) => boolean,
): readonly GroupKind[] =>
  sorted([
    ...always.map(({ group, kind }) => `${group}/${kind}`),
    ...applied.flatMap(({ chart }) =>
      objectsIn(chart)
        .filter(isWanted)
        .map(({ apiVersion, kind }) => `${groupOf(apiVersion)}/${kind}`),
    ),
  ]).map((text) => {
    const [group = '', kind = ''] = text.split('/');
    return { group, kind };
  });

/** What names no namespace is of the whole cluster: our constructs always name it. */
const isNamespaced = ({ metadata }: ApiObject): boolean => metadata.namespace !== undefined;

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? apiVersion.replace(/\/.*/, '') : '');

/** Sorted, each once. */
const sorted = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort();
