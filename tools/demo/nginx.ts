/** What the guide deploys to west: an nginx StatefulSet behind a headless Service. */
import type { ObjectRef } from '../../test/cluster/workload/index.ts';

const metadata = (name: string): ObjectRef['metadata'] => ({ name, namespace: 'default' });
const labels = { app: 'nginx' };

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadata('nginx-svc'),
  spec: { clusterIP: 'None', selector: labels, ports: [{ name: 'http', port: 80, targetPort: 80 }] },
};

const statefulSet = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: metadata('nginx-set'),
  spec: {
    serviceName: 'nginx-svc',
    replicas: 3,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { containers: [{ name: 'nginx', image: 'nginx', ports: [{ name: 'http', containerPort: 80 }] }] },
    },
  },
};

/** The manifests, in the order they are applied. */
export const NGINX: readonly ObjectRef[] = [service, statefulSet];
