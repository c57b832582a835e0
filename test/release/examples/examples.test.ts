/** Each example renders what its README promises, and is a package as a user needs it. */
import { readFile } from 'node:fs/promises';
import { Yaml } from 'cdk8s';
import { describe, expect, test } from 'vitest';
import { EXAMPLE_NAMES, synthesize } from './synthesize.ts';

const json = async (path: string): Promise<Readonly<Record<string, unknown>>> =>
  JSON.parse(await readFile(new URL(`../../../${path}`, import.meta.url), 'utf8')) as Readonly<Record<string, unknown>>;

const yamlOf = async (name: string): Promise<string> =>
  (await synthesize(name)).map(({ file, yaml }) => `# ${file}\n${yaml}`).join('');

describe.each(EXAMPLE_NAMES)('the example %s', (name) => {
  test('is a package that asks for the versions that Linkspan works with', async () => {
    const { version, peerDependencies } = await json('package.json');
    const example = await json(`examples/${name}/package.json`);
    expect(example).toMatchObject({ private: true, type: 'module', dependencies: peerDependencies });
    expect(example['dependencies']).toHaveProperty('linkspan', `^${String(version)}`);
    expect(example['scripts']).toEqual({ synth: 'tsc --noEmit && node main.ts' });
  });

  test('is synthesized by the cdk8s command', () => {
    const config = new URL(`../../../examples/${name}/cdk8s.yaml`, import.meta.url).pathname;
    expect(Yaml.load(config)).toEqual([{ language: 'typescript', app: 'npm run synth' }]);
  });

  test('renders the same twice', async () => {
    expect(await synthesize(name)).toEqual(await synthesize(name));
  });
});

test('statefulset renders an nginx StatefulSet and its headless Service, exported', async () => {
  expect(await yamlOf('statefulset')).toMatchInlineSnapshot(`
    "# nginx.k8s.yaml
    apiVersion: v1
    kind: Service
    metadata:
      labels:
        mirror.linkerd.io/exported: "true"
      name: nginx-svc
      namespace: default
    spec:
      clusterIP: None
      externalIPs: []
      ports:
        - name: http
          port: 80
      selector:
        cdk8s.io/metadata.addr: nginx-StatefulSet-c80ca29c
      type: ClusterIP
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata:
      name: nginx-set
      namespace: default
    spec:
      minReadySeconds: 0
      podManagementPolicy: OrderedReady
      replicas: 3
      selector:
        matchLabels:
          cdk8s.io/metadata.addr: nginx-StatefulSet-c80ca29c
      serviceName: nginx-svc
      template:
        metadata:
          annotations:
            linkerd.io/inject: enabled
          labels:
            cdk8s.io/metadata.addr: nginx-StatefulSet-c80ca29c
        spec:
          automountServiceAccountToken: false
          containers:
            - image: nginx:stable
              imagePullPolicy: Always
              name: main
              ports:
                - containerPort: 80
                  name: http
              securityContext:
                allowPrivilegeEscalation: false
                privileged: false
                readOnlyRootFilesystem: false
                runAsNonRoot: false
          dnsPolicy: ClusterFirst
          hostNetwork: false
          restartPolicy: Always
          securityContext:
            fsGroupChangePolicy: Always
            runAsNonRoot: true
          setHostnameAsFQDN: false
          terminationGracePeriodSeconds: 30
      updateStrategy:
        rollingUpdate:
          partition: 0
        type: RollingUpdate
    "
  `);
});

test('failover renders, in each cluster, which cluster takes over for it', async () => {
  const failovers = (await synthesize('failover')).flatMap(({ objects }) =>
    objects
      .filter(({ kind }) => kind === 'ServiceFailover')
      .map((object) => [object.metadata.namespace, object['spec']]),
  );
  expect(failovers).toEqual(
    ['west', 'east'].map((other) => [
      'podinfo',
      {
        service: 'podinfo',
        backends: [{ service: 'podinfo', minReady: '50%' }, { service: `podinfo-${other}` }],
        holdDown: '60s',
      },
    ]),
  );
});

test('podinfo renders both clusters, each with half of its requests for the other', async () => {
  expect(await yamlOf('podinfo')).toMatchInlineSnapshot(`
    "# east.k8s.yaml
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: podinfo
      namespace: test
    spec:
      minReadySeconds: 0
      progressDeadlineSeconds: 600
      replicas: 1
      selector:
        matchLabels:
          cdk8s.io/metadata.addr: east-Podinfo-c81235a4
      strategy:
        rollingUpdate:
          maxSurge: 25%
          maxUnavailable: 25%
        type: RollingUpdate
      template:
        metadata:
          annotations:
            linkerd.io/inject: enabled
          labels:
            cdk8s.io/metadata.addr: east-Podinfo-c81235a4
        spec:
          automountServiceAccountToken: false
          containers:
            - command:
                - ./podinfo
                - --port=9898
                - --ui-message=greetings from east
              image: ghcr.io/stefanprodan/podinfo:6.7.1
              imagePullPolicy: Always
              name: podinfo
              ports:
                - containerPort: 9898
                  name: http
              securityContext:
                allowPrivilegeEscalation: false
                privileged: false
                readOnlyRootFilesystem: true
                runAsGroup: 101
                runAsNonRoot: true
                runAsUser: 100
          dnsPolicy: ClusterFirst
          hostNetwork: false
          restartPolicy: Always
          securityContext:
            fsGroupChangePolicy: Always
            runAsNonRoot: true
          setHostnameAsFQDN: false
          terminationGracePeriodSeconds: 30
    ---
    apiVersion: v1
    kind: Service
    metadata:
      labels:
        mirror.linkerd.io/exported: "true"
      name: podinfo
      namespace: test
    spec:
      externalIPs: []
      ports:
        - name: http
          port: 9898
      selector:
        cdk8s.io/metadata.addr: east-Podinfo-c81235a4
      type: ClusterIP
    ---
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: frontend
      namespace: test
    data:
      default.conf: |
        server {
          listen 8080;
          location / {
            proxy_pass http://podinfo:9898;
          }
        }
    immutable: false
    ---
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: frontend
      namespace: test
    spec:
      minReadySeconds: 0
      progressDeadlineSeconds: 600
      replicas: 1
      selector:
        matchLabels:
          cdk8s.io/metadata.addr: east-Frontend-c8846077
      strategy:
        rollingUpdate:
          maxSurge: 25%
          maxUnavailable: 25%
        type: RollingUpdate
      template:
        metadata:
          annotations:
            linkerd.io/inject: enabled
          labels:
            cdk8s.io/metadata.addr: east-Frontend-c8846077
        spec:
          automountServiceAccountToken: false
          containers:
            - image: nginxinc/nginx-unprivileged:stable
              imagePullPolicy: Always
              name: nginx
              ports:
                - containerPort: 8080
                  name: http
              securityContext:
                allowPrivilegeEscalation: false
                privileged: false
                readOnlyRootFilesystem: false
                runAsGroup: 101
                runAsNonRoot: true
                runAsUser: 101
              volumeMounts:
                - mountPath: /etc/nginx/conf.d
                  name: configmap-frontend
          dnsPolicy: ClusterFirst
          hostNetwork: false
          restartPolicy: Always
          securityContext:
            fsGroupChangePolicy: Always
            runAsNonRoot: true
          setHostnameAsFQDN: false
          terminationGracePeriodSeconds: 30
          volumes:
            - configMap:
                name: frontend
              name: configmap-frontend
    ---
    apiVersion: v1
    kind: Service
    metadata:
      name: frontend
      namespace: test
    spec:
      externalIPs: []
      ports:
        - name: http
          port: 8080
      selector:
        cdk8s.io/metadata.addr: east-Frontend-c8846077
      type: ClusterIP
    ---
    apiVersion: gateway.networking.k8s.io/v1
    kind: HTTPRoute
    metadata:
      name: podinfo
      namespace: test
    spec:
      parentRefs:
        - group: core
          kind: Service
          name: podinfo
          namespace: test
          port: 9898
      rules:
        - backendRefs:
            - name: podinfo
              namespace: test
              port: 9898
              weight: 50
            - name: podinfo-west
              namespace: test
              port: 9898
              weight: 50
    # west.k8s.yaml
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: podinfo
      namespace: test
    spec:
      minReadySeconds: 0
      progressDeadlineSeconds: 600
      replicas: 1
      selector:
        matchLabels:
          cdk8s.io/metadata.addr: west-Podinfo-c84e4b95
      strategy:
        rollingUpdate:
          maxSurge: 25%
          maxUnavailable: 25%
        type: RollingUpdate
      template:
        metadata:
          annotations:
            linkerd.io/inject: enabled
          labels:
            cdk8s.io/metadata.addr: west-Podinfo-c84e4b95
        spec:
          automountServiceAccountToken: false
          containers:
            - command:
                - ./podinfo
                - --port=9898
                - --ui-message=greetings from west
              image: ghcr.io/stefanprodan/podinfo:6.7.1
              imagePullPolicy: Always
              name: podinfo
              ports:
                - containerPort: 9898
                  name: http
              securityContext:
                allowPrivilegeEscalation: false
                privileged: false
                readOnlyRootFilesystem: true
                runAsGroup: 101
                runAsNonRoot: true
                runAsUser: 100
          dnsPolicy: ClusterFirst
          hostNetwork: false
          restartPolicy: Always
          securityContext:
            fsGroupChangePolicy: Always
            runAsNonRoot: true
          setHostnameAsFQDN: false
          terminationGracePeriodSeconds: 30
    ---
    apiVersion: v1
    kind: Service
    metadata:
      labels:
        mirror.linkerd.io/exported: "true"
      name: podinfo
      namespace: test
    spec:
      externalIPs: []
      ports:
        - name: http
          port: 9898
      selector:
        cdk8s.io/metadata.addr: west-Podinfo-c84e4b95
      type: ClusterIP
    ---
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: frontend
      namespace: test
    data:
      default.conf: |
        server {
          listen 8080;
          location / {
            proxy_pass http://podinfo:9898;
          }
        }
    immutable: false
    ---
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: frontend
      namespace: test
    spec:
      minReadySeconds: 0
      progressDeadlineSeconds: 600
      replicas: 1
      selector:
        matchLabels:
          cdk8s.io/metadata.addr: west-Frontend-c89fe36b
      strategy:
        rollingUpdate:
          maxSurge: 25%
          maxUnavailable: 25%
        type: RollingUpdate
      template:
        metadata:
          annotations:
            linkerd.io/inject: enabled
          labels:
            cdk8s.io/metadata.addr: west-Frontend-c89fe36b
        spec:
          automountServiceAccountToken: false
          containers:
            - image: nginxinc/nginx-unprivileged:stable
              imagePullPolicy: Always
              name: nginx
              ports:
                - containerPort: 8080
                  name: http
              securityContext:
                allowPrivilegeEscalation: false
                privileged: false
                readOnlyRootFilesystem: false
                runAsGroup: 101
                runAsNonRoot: true
                runAsUser: 101
              volumeMounts:
                - mountPath: /etc/nginx/conf.d
                  name: configmap-frontend
          dnsPolicy: ClusterFirst
          hostNetwork: false
          restartPolicy: Always
          securityContext:
            fsGroupChangePolicy: Always
            runAsNonRoot: true
          setHostnameAsFQDN: false
          terminationGracePeriodSeconds: 30
          volumes:
            - configMap:
                name: frontend
              name: configmap-frontend
    ---
    apiVersion: v1
    kind: Service
    metadata:
      name: frontend
      namespace: test
    spec:
      externalIPs: []
      ports:
        - name: http
          port: 8080
      selector:
        cdk8s.io/metadata.addr: west-Frontend-c89fe36b
      type: ClusterIP
    ---
    apiVersion: split.smi-spec.io/v1alpha2
    kind: TrafficSplit
    metadata:
      name: podinfo
      namespace: test
    spec:
      backends:
        - service: podinfo
          weight: 50
        - service: podinfo-east
          weight: 50
      service: podinfo
    "
  `);
});

test('reuse renders a namespace for each team, with all their Services exported', async () => {
  expect(await yamlOf('reuse')).toMatchInlineSnapshot(`
    "# teams.k8s.yaml
    apiVersion: v1
    kind: Namespace
    metadata:
      annotations:
        example.com/contact: shop@example.com
        linkerd.io/inject: enabled
      name: shop
    spec: {}
    ---
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: cart
      namespace: shop
    spec:
      minReadySeconds: 0
      progressDeadlineSeconds: 600
      replicas: 2
      selector:
        matchLabels:
          cdk8s.io/metadata.addr: teams-shop-cart-Deployment-c86e269a
      strategy:
        rollingUpdate:
          maxSurge: 25%
          maxUnavailable: 25%
        type: RollingUpdate
      template:
        metadata:
          labels:
            cdk8s.io/metadata.addr: teams-shop-cart-Deployment-c86e269a
        spec:
          automountServiceAccountToken: false
          containers:
            - image: registry.example.com/cart:1.4.2
              imagePullPolicy: Always
              name: main
              ports:
                - containerPort: 8080
                  name: http
              securityContext:
                allowPrivilegeEscalation: false
                privileged: false
                readOnlyRootFilesystem: true
                runAsNonRoot: true
          dnsPolicy: ClusterFirst
          hostNetwork: false
          restartPolicy: Always
          securityContext:
            fsGroupChangePolicy: Always
            runAsNonRoot: true
          setHostnameAsFQDN: false
          terminationGracePeriodSeconds: 30
    ---
    apiVersion: v1
    kind: Service
    metadata:
      labels:
        mirror.linkerd.io/exported: "true"
      name: cart
      namespace: shop
    spec:
      externalIPs: []
      ports:
        - name: http
          port: 8080
      selector:
        cdk8s.io/metadata.addr: teams-shop-cart-Deployment-c86e269a
      type: ClusterIP
    ---
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: checkout
      namespace: shop
    spec:
      minReadySeconds: 0
      progressDeadlineSeconds: 600
      replicas: 2
      selector:
        matchLabels:
          cdk8s.io/metadata.addr: teams-shop-checkout-Deployment-c8e2fa6b
      strategy:
        rollingUpdate:
          maxSurge: 25%
          maxUnavailable: 25%
        type: RollingUpdate
      template:
        metadata:
          labels:
            cdk8s.io/metadata.addr: teams-shop-checkout-Deployment-c8e2fa6b
        spec:
          automountServiceAccountToken: false
          containers:
            - image: registry.example.com/checkout:2.0.1
              imagePullPolicy: Always
              name: main
              ports:
                - containerPort: 8080
                  name: http
              securityContext:
                allowPrivilegeEscalation: false
                privileged: false
                readOnlyRootFilesystem: true
                runAsNonRoot: true
          dnsPolicy: ClusterFirst
          hostNetwork: false
          restartPolicy: Always
          securityContext:
            fsGroupChangePolicy: Always
            runAsNonRoot: true
          setHostnameAsFQDN: false
          terminationGracePeriodSeconds: 30
    ---
    apiVersion: v1
    kind: Service
    metadata:
      labels:
        mirror.linkerd.io/exported: "true"
      name: checkout
      namespace: shop
    spec:
      externalIPs: []
      ports:
        - name: http
          port: 8080
      selector:
        cdk8s.io/metadata.addr: teams-shop-checkout-Deployment-c8e2fa6b
      type: ClusterIP
    ---
    apiVersion: v1
    kind: Namespace
    metadata:
      annotations:
        example.com/contact: bank@example.com
        linkerd.io/inject: enabled
      name: bank
    spec: {}
    ---
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: ledger
      namespace: bank
    spec:
      minReadySeconds: 0
      progressDeadlineSeconds: 600
      replicas: 2
      selector:
        matchLabels:
          cdk8s.io/metadata.addr: teams-bank-ledger-Deployment-c8f2ab4c
      strategy:
        rollingUpdate:
          maxSurge: 25%
          maxUnavailable: 25%
        type: RollingUpdate
      template:
        metadata:
          labels:
            cdk8s.io/metadata.addr: teams-bank-ledger-Deployment-c8f2ab4c
        spec:
          automountServiceAccountToken: false
          containers:
            - image: registry.example.com/ledger:3.1.0
              imagePullPolicy: Always
              name: main
              ports:
                - containerPort: 50051
                  name: http
              securityContext:
                allowPrivilegeEscalation: false
                privileged: false
                readOnlyRootFilesystem: true
                runAsNonRoot: true
          dnsPolicy: ClusterFirst
          hostNetwork: false
          restartPolicy: Always
          securityContext:
            fsGroupChangePolicy: Always
            runAsNonRoot: true
          setHostnameAsFQDN: false
          terminationGracePeriodSeconds: 30
    ---
    apiVersion: v1
    kind: Service
    metadata:
      labels:
        mirror.linkerd.io/exported: "true"
      name: ledger
      namespace: bank
    spec:
      externalIPs: []
      ports:
        - name: http
          port: 50051
      selector:
        cdk8s.io/metadata.addr: teams-bank-ledger-Deployment-c8f2ab4c
      type: ClusterIP
    "
  `);
});

test('federated renders both clusters, each with a member of one federated Service', async () => {
  const files = await synthesize('federated');
  expect(files.map(({ file }) => file)).toEqual(['east.k8s.yaml', 'west.k8s.yaml']);
  for (const { objects } of files) {
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'Deployment podinfo',
      'Service podinfo',
      'Deployment frontend',
    ]);
    expect(objects[1]?.metadata.labels).toEqual({ 'mirror.linkerd.io/federated': 'member' });
  }
});

test('mcs renders both clusters, each with a ServiceExport beside its Service', async () => {
  const files = await synthesize('mcs');
  expect(files.map(({ file }) => file)).toEqual(['east.k8s.yaml', 'west.k8s.yaml']);
  for (const { objects } of files) {
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual([
      'Deployment frontend',
      'Deployment podinfo',
      'Service podinfo',
      'ServiceExport podinfo',
    ]);
    expect(objects.find(({ kind }) => kind === 'ServiceExport')).toMatchObject({
      metadata: { namespace: 'welcome' },
      spec: { exportedLabels: { team: 'greetings' } },
    });
    expect(objects.find(({ kind }) => kind === 'Service')?.metadata.labels).toBeUndefined();
  }
});
