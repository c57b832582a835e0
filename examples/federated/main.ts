/**
 * podinfo in two clusters, and one Service over both: `podinfo-federated`, which the operator of each cluster makes of the
 * Services that are members. Clients reach the pods of both, and of the other cluster alone when one fails.
 */
import { App, Chart } from 'cdk8s';
import { Deployment, Service } from 'cdk8s-plus-27';
import { Federated } from 'linkspan';

const PORT = 9898;
const MESHED = { annotations: { 'linkerd.io/inject': 'enabled' } };

const app = new App();

for (const cluster of ['west', 'east']) {
  const chart = new Chart(app, cluster, { namespace: 'greetings' });
  const podinfo = new Deployment(chart, 'Podinfo', {
    metadata: { name: 'podinfo' },
    podMetadata: MESHED,
    replicas: 2,
    containers: [
      {
        name: 'podinfo',
        image: 'ghcr.io/stefanprodan/podinfo:6.7.1',
        command: ['./podinfo', `--port=${PORT}`, `--ui-message=greetings from ${cluster}`],
        ports: [{ name: 'http', number: PORT }],
        resources: {},
        securityContext: { user: 100, group: 101 },
      },
    ],
  });
  new Service(chart, 'Service', {
    metadata: { name: 'podinfo' },
    selector: podinfo,
    ports: [{ name: 'http', port: PORT }],
  });

  // A client in the mesh: it waits, and requests are made from it by hand.
  new Deployment(chart, 'Frontend', {
    metadata: { name: 'frontend' },
    podMetadata: MESHED,
    replicas: 1,
    containers: [
      {
        name: 'curl',
        image: 'curlimages/curl:8.10.1',
        command: ['sleep', 'infinity'],
        resources: {},
        securityContext: { user: 100, group: 101 },
      },
    ],
  });

  // Every Service of the chart, also those that are added later.
  Federated.of(chart);
}

app.synth();
