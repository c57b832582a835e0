/**
 * Clusters that use each other's Services, each linked with each, and the Applications by which Argo CD applies them. The
 * folders that the Applications lead to are written to clusters/, as `linkspan synth` writes them.
 */
import { App } from 'cdk8s';
import { ArgoCd, ClusterSet, writeClusterSet } from 'linkspan';
import { DESTINATIONS, MEMBERS, REPOSITORY, TOPOLOGY } from './inventory.ts';

const app = new App();

const clusterSet = new ClusterSet(app, 'clusters', {
  members: MEMBERS,
  topology: TOPOLOGY,
  operator: { image: 'registry.example.com/linkspan:0.1.0' },
  // Made in each cluster by `linkspan credentials mint`, and not in Git.
  credentials: { type: 'left-out' },
});

const argoCd = new ArgoCd(app, 'argocd', { clusterSet, repoUrl: REPOSITORY, destinations: DESTINATIONS });

writeClusterSet('clusters', clusterSet, argoCd);
