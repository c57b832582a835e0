/**
 * The AppProject of a set of clusters: what Argo CD may do for it, counted from what the charts really hold when they
 * are rendered. What only the operator writes (Endpoints, EndpointSlices, mirrors elsewhere) is never among it.
 */
import { ApiObject, type Chart, Lazy } from 'cdk8s';
import type { Construct } from 'constructs';
import { objectsIn } from '../common/objects-in.ts';
import { ARGO_CD_API } from './application.ts';
import type { ArgoCdDestination } from './props.ts';

/** What Argo CD applies, and where to. */
export interface AppliedChart {
  readonly chart: Chart;
  readonly destination: ArgoCdDestination;
  /** Namespace of the Application, whether or not the chart has an object in it. */
  readonly namespace: string;
}

/** A kind, as a project names it. */
interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** The AppProject of what is in these charts, from one repository. */
export const appProject = (
  scope: Construct,
  id: string,
  name: string,
  repoUrl: string,
  applied: readonly AppliedChart[],
): ApiObject =>
  new ApiObject(scope, id, {
    apiVersion: ARGO_CD_API,
    kind: 'AppProject',
    metadata: { name },
    spec: {
      description: 'What linkspan synth has rendered, and nothing else',
      sourceRepos: [repoUrl],
      destinations: Lazy.any({ produce: () => applied.flatMap(destinations) }) as unknown,
      clusterResourceWhitelist: Lazy.any({
        produce: () => kinds(applied, (object) => !isNamespaced(object)),
      }) as unknown,
      namespaceResourceWhitelist: Lazy.any({ produce: () => kinds(applied, isNamespaced) }) as unknown,
    },
  });

const destinations = ({ chart, destination, namespace }: AppliedChart): readonly object[] =>
  sorted([namespace, ...objectsIn(chart).map(({ metadata }) => metadata.namespace)]).map((each) => ({
    ...destination,
    namespace: each,
  }));

const kinds = (applied: readonly AppliedChart[], isWanted: (object: ApiObject) => boolean): readonly GroupKind[] =>
  sorted(
    applied.flatMap(({ chart }) =>
      objectsIn(chart)
        .filter(isWanted)
        .map(({ apiVersion, kind }) => `${groupOf(apiVersion)}/${kind}`),
    ),
  ).map((text) => {
    const [group = '', kind = ''] = text.split('/');
    return { group, kind };
  });

/** What names no namespace is of the whole cluster: our constructs always name it. */
const isNamespaced = ({ metadata }: ApiObject): boolean => metadata.namespace !== undefined;

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? apiVersion.replace(/\/.*/, '') : '');

/** Sorted, each once. */
const sorted = (texts: readonly (string | undefined)[]): readonly string[] =>
  [...new Set(texts.filter((text) => text !== undefined))].sort();
