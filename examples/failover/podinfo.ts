/** What runs in each cluster: podinfo, exported, and the frontend that calls it. */
import { Chart } from 'cdk8s';
import { ConfigMap, Deployment, type IConfigMap, Service, Volume } from 'cdk8s-plus-27';
import type { Construct } from 'constructs';
import { Exported } from 'linkspan';

/** Properties of {@link Podinfo}. */
export interface PodinfoProps {
  /** Name of the cluster, which podinfo greets from. */
  readonly cluster: string;
}

const PORT = 9898;
const MESHED = { annotations: { 'linkerd.io/inject': 'enabled' } };

const FRONTEND = `server {
  listen 8080;
  location / {
    proxy_pass http://podinfo:${PORT};
  }
}
`;

/** podinfo and its frontend, in namespace `podinfo`. */
export class Podinfo extends Chart {
  /** Name of podinfo's Service. */
  readonly service = 'podinfo';
  /** Port of podinfo's Service. */
  readonly port = PORT;

  constructor(scope: Construct, id: string, { cluster }: PodinfoProps) {
    super(scope, id, { namespace: 'podinfo' });
    const podinfo = new Deployment(this, 'Podinfo', {
      metadata: { name: 'podinfo' },
      podMetadata: MESHED,
      replicas: 1,
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
    const service = new Service(this, 'PodinfoService', {
      metadata: { name: this.service },
      selector: podinfo,
      ports: [{ name: 'http', port: PORT }],
    });
    Exported.of(service);

    const config = new ConfigMap(this, 'FrontendConfig', {
      metadata: { name: 'frontend' },
      data: { 'default.conf': FRONTEND },
    });
    // Under exactOptionalPropertyTypes, cdk8s-plus' classes are not what its interfaces say.
    const volume = Volume.fromConfigMap(this, 'FrontendVolume', config as IConfigMap);
    const frontend = new Deployment(this, 'Frontend', {
      metadata: { name: 'frontend' },
      podMetadata: MESHED,
      replicas: 1,
      containers: [
        {
          name: 'nginx',
          image: 'nginxinc/nginx-unprivileged:stable',
          ports: [{ name: 'http', number: 8080 }],
          resources: {},
          securityContext: { user: 101, group: 101, readOnlyRootFilesystem: false },
          volumeMounts: [{ path: '/etc/nginx/conf.d', volume }],
        },
      ],
    });
    new Service(this, 'FrontendService', {
      metadata: { name: 'frontend' },
      selector: frontend,
      ports: [{ name: 'http', port: 8080 }],
    });
  }
}
