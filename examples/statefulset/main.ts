/**
 * The nginx StatefulSet of Linkerd's guide, exported: each of its pods can be addressed from the clusters that link to
 * this one, as in `nginx-set-0.nginx-svc-west.default.svc.cluster.local`.
 */
import { App, Chart } from 'cdk8s';
import { Service, StatefulSet } from 'cdk8s-plus-27';
import { Exported } from 'linkspan';

const app = new App();
const chart = new Chart(app, 'nginx', { namespace: 'default' });

const service = new Service(chart, 'Service', {
  metadata: { name: 'nginx-svc' },
  clusterIP: 'None',
  ports: [{ name: 'http', port: 80 }],
});

new StatefulSet(chart, 'StatefulSet', {
  metadata: { name: 'nginx-set' },
  podMetadata: { annotations: { 'linkerd.io/inject': 'enabled' } },
  service,
  replicas: 3,
  containers: [
    {
      image: 'nginx:stable',
      ports: [{ name: 'http', number: 80 }],
      resources: {},
      // This image starts as root and writes to its own file system.
      securityContext: { ensureNonRoot: false, readOnlyRootFilesystem: false },
    },
  ],
});

Exported.of(service);

app.synth();
