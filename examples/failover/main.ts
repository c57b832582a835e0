/**
 * podinfo and its frontend in two clusters, each of which takes over for the other: while fewer than half of the local pods
 * are ready, requests go through the other cluster's gateway.
 */
import { App, Duration } from 'cdk8s';
import { ServiceFailover } from 'linkspan';
import { Podinfo } from './podinfo.ts';

const app = new App();

for (const [cluster, other] of [
  ['west', 'east'],
  ['east', 'west'],
] as const) {
  const podinfo = new Podinfo(app, cluster, { cluster });
  new ServiceFailover(podinfo, 'Failover', {
    service: podinfo.service,
    backends: [
      { service: podinfo.service, minReady: '50%' },
      { service: podinfo.service, targetCluster: other },
    ],
    holdDown: Duration.minutes(1),
  });
}

app.synth();
