/**
 * A set of clusters for Argo CD: an Application for the folder of each, their project, and the health check of Links.
 * Argo CD applies objects in waves, server-side, and keeps the fields that the operator or a team writes.
 *
 * Argo CD neither adopts nor prunes mirrors: its tracking metadata is never copied to them, and the project permits only
 * the kinds that a set can have in Git.
 */
import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { acceptProps } from '../common/props.ts';
import { ClusterSet } from '../cluster-set/cluster-set.ts';
import { type ApplicationProps, ARGO_CD_API, clusterApplication, rootApplication } from './application.ts';
import { ARGO_CD_FOLDER, argoCdErrors } from './errors.ts';
import { ARGO_CD_CUSTOMIZATIONS } from './health.ts';
import { keepDefinitions } from './kept-definitions.ts';
import { appProject } from './project.ts';
import type { ArgoCdProps } from './props.ts';
import { ARGO_CD_PROPS } from './schema.gen.ts';
import { annotateSyncWaves } from './sync-waves.ts';

/**
 * AppProject, Applications or ApplicationSet, and root, in a chart of their own; sync waves on all objects of the set.
 * For Argo CD 3.2 and later.
 * Synthesis fails for each prop that Argo CD would refuse, or would read as a pattern.
 */
export class ArgoCd extends Construct {
  /** Settings for Links, as keys of Argo CD's ConfigMap `argocd-cm`: `configs.cm` of its Helm chart. */
  static readonly customizations = ARGO_CD_CUSTOMIZATIONS;

  /** The chart, called `argocd`. */
  readonly chart: Chart;
  /** Namespace of Argo CD. */
  readonly namespace: string;
  /** The AppProject. */
  readonly project: ApiObject;
  /** Applications by cluster, in the order of the set; empty if an ApplicationSet creates them. */
  readonly applications: ReadonlyMap<string, ApiObject>;
  /** The ApplicationSet; undefined if each Application is rendered. */
  readonly applicationSet: ApiObject | undefined;
  /** The Application of the chart's own folder. */
  readonly root: ApiObject | undefined;
  /**
   * Argo CD's own ConfigMap `argocd-cm`, with one key of ours. Argo CD applies it server-side, which keeps the other keys, and
   * never prunes or deletes it. Do not apply this file yourself: `kubectl apply` would remove keys that were applied in
   * the same way. Apply the project and the root first.
   */
  readonly configMap: ApiObject | undefined;

  constructor(scope: Construct, id: string, given: ArgoCdProps) {
    super(scope, id);
    const props = acceptProps<ArgoCdProps>(this, ARGO_CD_PROPS, given, undefined, (given) => ({
      construct: `ArgoCd ${given.namespace ?? 'argocd'}/${given.project ?? 'linkspan'}`,
      // Undefined if it is refused.
      found: argoCdErrors(given, (given.clusterSet as ClusterSet | undefined)?.clusters.map(({ name }) => name) ?? []),
    }));
    const clusterSet = (props.clusterSet as ClusterSet | undefined) ?? clusterSetStandIn(this);
    const { repoUrl, namespace = 'argocd', project = 'linkspan' } = props;

    this.namespace = namespace;
    this.chart = new Chart(this, ARGO_CD_FOLDER, { namespace });
    const common = { project, repoUrl, revision: props.revision ?? 'HEAD', automated: props.automated ?? {} };
    const distinct = new Map(clusterSet.clusters.map((cluster) => [cluster.name, cluster]));
    const clusters = [...distinct.values()].map(({ name, chart, multicluster }) => ({
      ...common,
      name: `${project}-${name}`,
      path: folder(props, name),
      destination: props.destinations?.[name] ?? { name },
      namespace: multicluster.namespace.name,
      cluster: name,
      chart,
    }));
    const root = {
      ...common,
      name: project,
      path: folder(props, ARGO_CD_FOLDER),
      destination: { server: IN_CLUSTER },
      namespace,
      chart: this.chart,
    };
    const isRooted = props.root ?? true;

    this.project = appProject(this.chart, 'Project', project, repoUrl, clusters, isRooted ? root : undefined);
    if (props.applications === 'application-set') {
      this.applications = new Map();
      this.applicationSet = applicationSet(this.chart, 'Applications', clusters);
    } else {
      this.applications = new Map(
        clusters.map((each) => [
          each.cluster,
          application(this.chart, `Application-${each.cluster}`, clusterApplication(each, [each.chart])),
        ]),
      );
    }
    this.root = isRooted ? application(this.chart, 'Root', rootApplication(root)) : undefined;
    this.configMap = (props.health ?? false) ? customizations(this.chart, 'Customizations') : undefined;

    this.node.defaultChild = this.project;

    for (const chart of [...clusterSet.clusters.map((cluster) => cluster.chart), this.chart]) {
      annotateSyncWaves(chart);
      keepDefinitions(chart);
    }
  }
}

/** Stands in for a set that was not given. Synthesis fails. */
const clusterSetStandIn = (scope: Construct): ClusterSet =>
  new ClusterSet(scope, 'StandIn', { members: [{ name: 'invalid' }], operator: { image: 'invalid' } });

/** Where Argo CD runs. */
const IN_CLUSTER = 'https://kubernetes.default.svc';

const folder = ({ path = 'clusters' }: ArgoCdProps, name: string): string => (path === '' ? name : `${path}/${name}`);

const application = (chart: Chart, id: string, made: { readonly metadata: object; readonly spec: object }): ApiObject =>
  new ApiObject(chart, id, { apiVersion: ARGO_CD_API, kind: 'Application', ...made });

type ClusterApplication = ApplicationProps & { readonly cluster: string; readonly chart: Chart };

/** Makes the Applications of these clusters, which differ in what a template may have in braces. */
const applicationSet = (chart: Chart, id: string, clusters: readonly ClusterApplication[]): ApiObject => {
  const [first] = clusters;
  if (first === undefined) throw new Error('a ClusterSet has members');
  const template = {
    ...first,
    name: '{{ .name }}',
    path: '{{ .path }}',
    destination: { name: '{{ .destination.name }}', server: '{{ .destination.server }}' },
  };
  return new ApiObject(chart, id, {
    apiVersion: ARGO_CD_API,
    kind: 'ApplicationSet',
    metadata: { name: first.project },
    spec: {
      goTemplate: true,
      goTemplateOptions: ['missingkey=error'],
      generators: [
        {
          list: {
            elements: clusters.map(({ name, path, destination }) => ({
              name,
              path,
              destination: { name: '', server: '', ...destination },
            })),
          },
        },
      ],
      template: clusterApplication(
        template,
        clusters.map((each) => each.chart),
      ),
    },
  });
};

const customizations = (chart: Chart, id: string): ApiObject =>
  new ApiObject(chart, id, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'argocd-cm',
      // Argo CD watches no other.
      labels: { 'app.kubernetes.io/part-of': 'argocd' },
      annotations: {
        'argocd.argoproj.io/sync-options': 'ServerSideApply=true,Prune=false,Delete=false',
        'argocd.argoproj.io/compare-options': 'IgnoreExtraneous',
        // Who has this annotation from a client-side apply would hand all keys over to us, and ours are not all.
        'kubectl.kubernetes.io/last-applied-configuration': '{}',
      },
    },
    data: ARGO_CD_CUSTOMIZATIONS,
  });
