/**
 * podinfo in two clusters, exported by the MCS API (KEP-1645). The operator of each cluster imports it from both: clients
 * call `podinfo.welcome.svc.clusterset.local` in either cluster, and pods of both answer.
 */
import { App, Chart } from 'cdk8s';
import { Deployment, Service } from 'cdk8s-plus-27';
import { Exported } from 'linkspan';

const PORT = 9898;
const MESHED = { annotations: { 'linkerd.io/inject': 'enabled' } };

const app = new App();

for (const cluster of ['west', 'east']) {
  const chart = new Chart(app, cluster, { namespace: 'welcome' });
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

  // A ServiceExport for every Service of the chart, also for those that are added later.
  Exported.of(chart, { api: 'mcs', exportedLabels: { team: 'greetings' } });
}

app.synth();
