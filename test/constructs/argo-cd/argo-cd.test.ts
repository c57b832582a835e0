import { ApiObject, App, Testing } from 'cdk8s';
import { describe, expect, test } from 'vitest';

import type { ArgoCdProps } from '../../../constructs/argo-cd/props.ts';
import { ArgoCd } from '../../../constructs/argo-cd/argo-cd.ts';
import type { ClusterSetProps } from '../../../constructs/cluster-set/props.ts';
import { ClusterSet } from '../../../constructs/cluster-set/cluster-set.ts';
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { clusterSetTree } from '../../../constructs/tree/cluster-tree.ts';
import { clusterSetProps } from '../../support/cluster-file.ts';
import { errorsOf } from '../errors-of.ts';

const REPOSITORY = 'https://git.example.com/mesh.git';

const setUp = (props: Partial<ArgoCdProps> = {}, set: Partial<ClusterSetProps> = {}) => {
  const app = new App();
  const clusterSet = new ClusterSet(app, 'set', { ...clusterSetProps(2), ...set });
  return { clusterSet, argoCd: new ArgoCd(app, 'argocd', { clusterSet, repoUrl: REPOSITORY, ...props }) };
};

const argoCd = (props: Partial<ArgoCdProps> = {}, set: Partial<ClusterSetProps> = {}) => setUp(props, set).argoCd;

const json = <T = ApiJson>(object: ApiObject | undefined): T => object?.toJson() as T;

interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

interface ProjectSpec {
  readonly spec: {
    readonly destinations: readonly object[];
    readonly clusterResourceWhitelist: readonly GroupKind[];
    readonly namespaceResourceWhitelist: readonly GroupKind[];
  };
}

const PLACEHOLDER: Partial<ClusterSetProps> = { credentials: { type: 'placeholder' } };

describe('for Argo CD a set of clusters', () => {
  test('is a project, an Application for each folder, and one for the folder that these are in', () => {
    expect(Testing.synth(argoCd({}, PLACEHOLDER).chart)).toMatchSnapshot();
  });

  test('is, on demand, an ApplicationSet that makes the same Applications', () => {
    const made = argoCd({ applications: 'application-set', destinations: { c02: { server: 'https://c02:6443' } } });
    expect(json(made.applicationSet)).toMatchSnapshot();
    expect([...made.applications]).toEqual([]);
  });

  test('is found where it is in the repository, under the names that were asked for', () => {
    const made = argoCd({
      revision: 'main',
      path: '',
      namespace: 'gitops',
      project: 'mesh',
      destinations: { c02: { server: 'https://c02.example.com' } },
    });
    expect(json(made.applications.get('c02'))).toMatchObject({
      metadata: { name: 'mesh-c02', namespace: 'gitops' },
      spec: {
        project: 'mesh',
        source: { path: 'c02', targetRevision: 'main' },
        destination: { server: 'https://c02.example.com' },
      },
    });
    expect(json(made.root)).toMatchObject({ metadata: { name: 'mesh' }, spec: { source: { path: 'argocd' } } });
  });

  test('goes with its clusters, but for the root, whose deletion leaves the Applications', () => {
    const made = argoCd();
    for (const application of made.applications.values()) {
      expect(json(application).metadata['finalizers']).toEqual(['resources-finalizer.argocd.argoproj.io']);
    }
    expect(json(made.root).metadata).not.toHaveProperty('finalizers');
  });

  test('is synced as asked: not by itself, or without pruning', () => {
    const sync = (automated: ArgoCdProps['automated']) =>
      json<{ readonly spec: { readonly syncPolicy: object } }>(argoCd({ automated }).applications.get('c01')).spec
        .syncPolicy;
    expect(sync(false)).not.toHaveProperty('automated');
    expect(sync({ prune: false })).toMatchObject({ automated: { prune: false, selfHeal: true } });
  });

  test('is annotated with the waves, on every object of every cluster, and only for Argo CD', () => {
    const wavesIn = (set: ClusterSet) =>
      set.clusters.flatMap(({ chart }) =>
        (Testing.synth(chart) as ApiJson[]).map(
          ({ metadata }) => metadata.annotations?.['argocd.argoproj.io/sync-wave'],
        ),
      );
    expect(new Set(wavesIn(setUp().clusterSet))).toEqual(new Set(['0', '1', '2', '3']));
    expect(new Set(wavesIn(new ClusterSet(new App(), 'set', clusterSetProps(2))))).toEqual(new Set([undefined]));
  });

  test('changes with a member in its own Application and the project alone', () => {
    const filesOf = (members: number) => {
      const { clusterSet, argoCd: made } = setUp({}, clusterSetProps(members));
      return clusterSetTree(clusterSet, made);
    };
    const before = filesOf(2);
    const after = filesOf(3);
    const changed = [...after].filter(([path, text]) => path.startsWith('argocd/') && before.get(path) !== text);
    expect(changed.map(([path]) => path)).toEqual([
      'argocd/0-appproject-linkspan.yaml',
      'argocd/2-application-linkspan-c03.yaml',
    ]);
    expect([...before.keys()].filter((path) => !after.has(path))).toEqual([]);
  });
});

describe('the project', () => {
  const rendered = (clusterSet: ClusterSet): readonly ApiJson[] =>
    clusterSet.clusters.flatMap(({ chart }) => Testing.synth(chart) as ApiJson[]);
  const kindsIn = (objects: readonly ApiJson[], isNamespaced: boolean): readonly GroupKind[] => {
    const names = objects
      .filter(({ metadata }) => (metadata.namespace !== undefined) === isNamespaced)
      .map(({ apiVersion, kind }) => `${/^(.*)\//.exec(apiVersion)?.[1] ?? ''}/${kind}`);
    return [...new Set(names)].sort().map((name) => {
      const [group = '', kind = ''] = name.split('/');
      return { group, kind };
    });
  };

  const EVERYTHING: Partial<ClusterSetProps> = {
    monitoring: { alerts: {}, dashboard: {} },
    mcs: { clusterSet: 'set' },
    operator: { image: 'linkspan:1', gatewayAccess: 'clients' },
  };

  test.each([
    ['with the root', true],
    ['without', false],
  ])('permits each kind that a set can render and no others, whatever it has now, %s', (_, root) => {
    const sets = [{}, { flat: true }, PLACEHOLDER, EVERYTHING];
    const made = [...sets.map((set) => setUp({ root, health: root }, set)), setUp({ applications: 'application-set' })];
    const objects = made.flatMap(({ clusterSet, argoCd: { chart } }) => [
      ...rendered(clusterSet),
      ...(root ? (Testing.synth(chart) as ApiJson[]) : []),
    ]);
    const [first, ...others] = made.slice(0, sets.length).map((each) => json<ProjectSpec>(each.argoCd.project).spec);
    expect(first!.clusterResourceWhitelist).toEqual(kindsIn(objects, false));
    expect(first!.namespaceResourceWhitelist).toEqual(kindsIn(objects, true));
    for (const each of others) expect(each).toEqual(first);
    const permitted = [...first!.clusterResourceWhitelist, ...first!.namespaceResourceWhitelist];
    expect(permitted.map(({ kind }) => kind)).not.toContain('Endpoints');
    expect(permitted.map(({ kind }) => kind)).not.toContain('EndpointSlice');
  });

  test('permits all namespaces of each cluster, and of that of Argo CD its own for the root alone', () => {
    const destinationsOf = (props: Partial<ArgoCdProps>) => json<ProjectSpec>(argoCd(props).project).spec.destinations;
    const clusters = [
      { name: 'c01', namespace: '*' },
      { server: 'https://c02.example.com', namespace: '*' },
    ];
    const destinations = { c02: { server: 'https://c02.example.com' } };
    expect(destinationsOf({ destinations, root: false })).toEqual(clusters);
    expect(destinationsOf({ destinations })).toEqual([
      ...clusters,
      { server: 'https://kubernetes.default.svc', namespace: 'argocd' },
    ]);
  });

  test('permits still what leaves Git, which Argo CD would not prune otherwise', () => {
    const projectOf = (exportNamespaces: readonly string[], set: Partial<ClusterSetProps>) => {
      const [first, second] = clusterSetProps(2).members;
      const made = setUp({}, { ...set, members: [first!, { ...second!, exportNamespaces }] });
      return { objects: rendered(made.clusterSet), project: json(made.argoCd.project) };
    };
    const before = projectOf(['shop', 'bank'], EVERYTHING);
    const after = projectOf(['shop'], { credentials: { type: 'left-out' } });
    const isOfBank = ({ metadata }: ApiJson): boolean => metadata.namespace === 'bank';
    expect(before.objects.filter(isOfBank).map(({ kind }) => kind)).toEqual(['Role', 'RoleBinding']);
    expect(after.objects.filter(isOfBank)).toEqual([]);
    expect(after.project).toEqual(before.project);
  });

  test("permits what is put into a cluster's chart afterwards", () => {
    const { clusterSet, argoCd: made } = setUp();
    new ApiObject(clusterSet.clusters[0]!.chart, 'Quota', {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'quota', namespace: 'quotas' },
    });
    const { spec } = json<ProjectSpec>(made.project);
    expect(spec.namespaceResourceWhitelist).toContainEqual({ group: '', kind: 'ResourceQuota' });
  });
});

describe('what is not for Git to say', () => {
  const ignoredIn = (set: Partial<ClusterSetProps>, cluster = 'c01') =>
    json<{ readonly spec: { readonly ignoreDifferences?: readonly { readonly kind: string }[] } }>(
      argoCd({}, set).applications.get(cluster),
    ).spec.ignoreDifferences?.map(({ kind }) => kind);

  test('is the token in a placeholder, where there is one', () => {
    expect(ignoredIn(PLACEHOLDER)).toEqual(['Link', 'Secret']);
    expect(ignoredIn({})).toEqual(['Link']);
  });

  test('is nothing in a cluster that has no Links', () => {
    const topology = { type: 'pairs', pairs: [{ source: 'c01', target: 'c02' }] } as const;
    expect(ignoredIn({ ...PLACEHOLDER, topology }, 'c02')).toBeUndefined();
  });
});

describe('the health of Links', () => {
  const KEY = 'resource.customizations.health.multicluster.linkerd.io_Link';

  test('is there as data, for whoever has the ConfigMap of Argo CD', () => {
    expect(Object.keys(ArgoCd.customizations)).toEqual([
      KEY,
      'resource.customizations.health.linkspan.dev_ServiceFailover',
    ]);
    expect(argoCd().configMap).toBeUndefined();
  });

  test('is, on demand, the one key of that ConfigMap, which Argo CD never removes', () => {
    const configMap = json(argoCd({ health: true }).configMap);
    expect(configMap).toMatchObject({
      metadata: {
        name: 'argocd-cm',
        namespace: 'argocd',
        labels: { 'app.kubernetes.io/part-of': 'argocd' },
        annotations: {
          'argocd.argoproj.io/sync-options': 'ServerSideApply=true,Prune=false,Delete=false',
          // Else the other keys of a ConfigMap that kubectl applied would be taken for ours, and removed.
          'kubectl.kubernetes.io/last-applied-configuration': '{}',
        },
      },
      data: ArgoCd.customizations,
    });
  });
});

describe('what Argo CD cannot do is refused', () => {
  test('all at once, by path', () => {
    const [first, second] = clusterSetProps(2).members;
    const members = [{ ...first!, name: 'argocd' }, second!];
    const props = {
      repoUrl: 'https://git.example.com/*',
      revision: '',
      path: '/clusters',
      namespace: 'Argo',
      project: 'mesh_1',
      destinations: { c02: { server: 'c02' }, c03: { name: 'c03' }, argocd: { server: 'https://*' } },
    };
    expect(errorsOf(() => argoCd(props, { members }))).toEqual([
      `clusterSet.members[0].name: "argocd" must not be argocd, the folder of Argo CD's own objects`,
      'repoUrl: "https://git.example.com/*" must not be a pattern',
      'revision: "" must not be empty',
      'path: "/clusters" must be a folder of the repository',
      'namespace: "Argo" must be a valid DNS label',
      'project: "mesh_1" must be a valid DNS subdomain',
      'destinations.c02.server: "c02" must be an https URL',
      'destinations.c03: "c03" must be the name of a member',
      'destinations.argocd.server: "https://*" must not be a pattern',
    ]);
  });

  test.each([
    ['https://user:secret@git.example.com/mesh.git', ['repoUrl: must not contain a password']],
    ['', ['repoUrl: "" must be the URL of a repository']],
  ])('a repository as in %j', (repoUrl, errors) => {
    expect(errorsOf(() => argoCd({ repoUrl }))).toEqual(errors);
  });

  test.each([
    [{}, 'destinations.c01: {} must have exactly one of name and server'],
    [
      { name: 'a', server: 'https://a' },
      'destinations.c01: {"name":"a","server":"https://a"} must have exactly one of name and server',
    ],
    [{ name: '*' }, 'destinations.c01.name: "*" must be the name of a cluster'],
  ])('a cluster that is registered as %j', (c01, error) => {
    expect(errorsOf(() => argoCd({ destinations: { c01 } }))).toEqual([error]);
  });

  test.each(['git@git.example.com:mesh/clusters.git', 'ssh://git@git.example.com:22/mesh.git', 'file:///srv/mesh'])(
    'but not the repository %s',
    (repoUrl) => {
      expect(json<{ readonly spec: object }>(argoCd({ repoUrl }).project).spec).toMatchObject({
        sourceRepos: [repoUrl],
      });
    },
  );
});
