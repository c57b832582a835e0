/**
 * Two clusters that each answer half of the other's requests. In west a TrafficSplit divides them, as Linkerd's guide
 * has it, which needs the SMI extension; in east an HTTPRoute, which needs the Gateway API's CRDs alone.
 */
import { App } from 'cdk8s';
import { ServiceRoute, TrafficSplit } from 'linkspan';
import { Podinfo } from './podinfo.ts';

const app = new App();

const west = new Podinfo(app, 'west', { cluster: 'west' });
new TrafficSplit(west, 'Split', {
  service: west.service,
  backends: [
    { service: west.service, weight: 50 },
    { service: west.service, targetCluster: 'east', weight: 50 },
  ],
});

const east = new Podinfo(app, 'east', { cluster: 'east' });
new ServiceRoute(east, 'Route', {
  service: east.service,
  port: east.port,
  backends: [
    { service: east.service, weight: 50 },
    { service: east.service, targetCluster: 'west', weight: 50 },
  ],
});

app.synth();
