/** Definitions that leave Git stay in the cluster, with the objects of users. */
import { App, Chart } from 'cdk8s';
import { expect, it } from 'vitest';
import { ArgoCd, ClusterSet, ServiceFailoverCrd } from '../../../constructs/index.ts';
import type { ApiJson } from '../../../constructs/rendered/render.ts';
import { clusterSetProps } from '../../support/cluster-file.ts';

const OPTIONS = 'argocd.argoproj.io/sync-options';

it('has Argo CD prune no definition of a cluster, also one that is added later, and nothing else stay', () => {
  const app = new App();
  const clusterSet = new ClusterSet(app, 'set', { ...clusterSetProps(2), mcs: { clusterSet: 'shop' } });
  new ArgoCd(new Chart(app, 'gitops'), 'argo', { clusterSet, repoUrl: 'https://git.example.com/a.git' });
  const [{ chart }] = clusterSet.clusters as [(typeof clusterSet.clusters)[0]];
  const own = new ServiceFailoverCrd(new Chart(chart, 'more'), 'own').crd;
  own.metadata.addAnnotation(OPTIONS, 'Replace=true');
  const errors = app.node.findAll().flatMap(({ node }) => node.validate());
  expect(errors).toEqual([]);
  expect(own.toJson()).toMatchObject({ metadata: { annotations: { [OPTIONS]: 'Replace=true' } } });
  const kept = (chart.toJson() as ApiJson[]).filter(
    ({ kind, metadata }) => kind === 'CustomResourceDefinition' && metadata.annotations?.[OPTIONS] === 'Prune=false',
  );
  expect(kept.map(({ metadata }) => metadata.name).sort()).toEqual(
    [
      'clusterproperties.about.k8s.io',
      'links.multicluster.linkerd.io',
      'servicefailovers.linkspan.dev',
      'serviceexports.multicluster.x-k8s.io',
      'serviceimports.multicluster.x-k8s.io',
    ].sort(),
  );
  expect(
    kept.every(({ metadata }) => metadata.annotations?.['argocd.argoproj.io/compare-options'] === 'IgnoreExtraneous'),
  ).toBe(true);
});
