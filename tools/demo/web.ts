/** What the play of failover deploys to each cluster: web, pods behind a Service with a ClusterIP. */
import type { ObjectRef } from '../../test/cluster/workload/index.ts';

const metadata: ObjectRef['metadata'] = { name: 'web', namespace: 'default' };
const labels = { app: 'web' };

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata,
  spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
};

const statefulSet = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata,
  spec: {
    serviceName: 'web',
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { containers: [{ name: 'web', image: 'nginx', ports: [{ name: 'http', containerPort: 8080 }] }] },
    },
  },
};

/** The manifests, in the order they are applied. */
export const WEB: readonly ObjectRef[] = [service, statefulSet];
