/**
 * The walk-throughs of Linkerd's multicluster guides, command by command, with the real kubectl against real API
 * servers: ClusterIPs that the API server allocates, endpoints and slices that Kubernetes' own controllers make, names
 * that CoreDNS resolves. What the guides print is what must be seen here.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { dumpYaml, loadYaml } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { linkCrd } from '../../crds/index.ts';
import { requireBinary } from '../cluster/real/binaries.ts';
import { resolve } from '../cluster/real/dns.ts';
import { onReal } from '../cluster/on-each-backing.ts';
import {
  eventually,
  installCrd,
  type Kubelet,
  type KubeObject,
  type ObjectRef,
  startKubelet,
} from '../cluster/workload/index.ts';
import { mergedKubeconfig } from '../../tools/demo/kubeconfig.ts';
import { credentials, link, LINKS_NAMESPACE, namespace } from '../support/builders.ts';
import type { EndpointsObject } from '../support/objects.ts';
import { TestOperator } from '../support/operator.ts';
import { TwoClusters } from '../support/two-clusters.ts';

const WAIT_MS = 60_000;
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const MIRRORING = 'endpointslicemirroring-controller.k8s.io';
/** A ClusterIP of the API servers' range. */
const ALLOCATED = /^10\.96\.\d+\.\d+$/;
const HOSTNAMES = ['nginx-set-0', 'nginx-set-1', 'nginx-set-2'];
const IDENTITY = 'linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local';

/**
 * Makes the steps of a walk-through: each is a test that begins where the one before it ended, skipped if that failed.
 */
const walkThrough = (): ((outcome: string, run: () => Promise<void>) => void) => {
  let broken = false;
  return (outcome, run) =>
    test(outcome, { timeout: 180_000 }, async ({ skip }) => {
      skip(broken, 'an earlier step has failed');
      broken = true;
      await run();
      broken = false;
    });
};

/** A row of a table that kubectl printed, by column. */
type Row = Readonly<Record<string, string>>;

interface SliceObject extends KubeObject {
  readonly endpoints: readonly object[];
}

/** Hostname of a pod → ClusterIP of its endpoint mirror. */
type Pods = Readonly<Record<string, string>>;

onReal('the guides', () => {
  let clusters: TwoClusters;
  let kubelets: readonly Kubelet[];
  let directory: string;
  let kubeconfig: string;

  /** Types a command into a shell that has both clusters in its kubeconfig; returns what is printed. */
  const kubectl = async (command: string, stdin = ''): Promise<string> => {
    const typed = promisify(execFile)(requireBinary('kubectl'), command.split(' '), {
      env: { KUBECONFIG: kubeconfig, HOME: directory },
    });
    // A command that does not read its input may exit before the input is written; its exit code tells how it ended.
    typed.child.stdin?.on('error', () => undefined).end(stdin);
    return (await typed).stdout.trimEnd();
  };

  const apply = (context: string, manifests: readonly (string | ObjectRef)[]): Promise<string> => {
    const documents = manifests.map((manifest) => (typeof manifest === 'string' ? manifest : dumpYaml(manifest)));
    return kubectl(`--context=${context} apply -f -`, documents.join('---\n'));
  };

  /** Types a command until what it prints is as it must be. */
  const shows = async (command: string, holds: (printed: string) => boolean): Promise<string> => {
    let printed = '';
    const attempt = async (): Promise<boolean> => holds((printed = await kubectl(command)));
    return eventually(`kubectl ${command}`, attempt, WAIT_MS).then(
      () => printed,
      (error: unknown) => {
        throw new Error(`kubectl ${command} prints, after ${WAIT_MS / 1000} s:\n${printed}`, { cause: error });
      },
    );
  };

  /** The table of `get services` in default, once it has just these rows. */
  const services = async (context: string, names: readonly string[]): Promise<readonly Row[]> => {
    const isJust = (printed: string): boolean => namesOf(table(printed)).join() === names.join();
    return table(await shows(`--context=${context} get services`, isJust));
  };

  /** The slices of a Service of east, once it has any. */
  const slicesOf = (service: string): Promise<readonly SliceObject[]> =>
    eventually(
      `${service} has slices`,
      async () => {
        const yaml = await kubectl(
          `--context=east get endpointslices -l kubernetes.io/service-name=${service} -o yaml`,
        );
        const { items } = loadYaml<{ readonly items: readonly SliceObject[] }>(yaml);
        return items.length > 0 && items;
      },
      WAIT_MS,
    );

  /** Waits until CoreDNS of east answers a query for a name in namespace default with just these addresses. */
  const resolves = async (name: string, addresses: readonly string[]): Promise<void> => {
    const fqdn = `${name}.default.svc.cluster.local`;
    const expected = addresses.toSorted().join();
    const attempt = async () => (await resolve(clusters.eastCluster.dns, fqdn, 'A')).join() === expected;
    await eventually(`${fqdn} resolves to ${expected || 'nothing'}`, attempt, WAIT_MS);
  };

  /** Waits until DNS has the set by its name, and each pod by its hostname, at the ClusterIPs that kubectl shows. */
  const resolvesPodByPod = async (pods: Pods): Promise<void> => {
    await resolves('nginx-svc-west', Object.values(pods));
    for (const [hostname, clusterIP] of Object.entries(pods)) {
      await resolves(`${hostname}.nginx-svc-west`, [clusterIP]);
    }
  };

  const exportNginx = async (): Promise<readonly Row[]> => {
    const printed = await kubectl('--context=west label service nginx-svc mirror.linkerd.io/exported=true');
    expect(printed).toBe('service/nginx-svc labeled');
    return services('east', mirrorsOf(3));
  };

  const scale = async (replicas: number): Promise<Pods> => {
    const printed = await kubectl(`--context=west scale statefulset nginx-set --replicas=${replicas}`);
    expect(printed).toBe('statefulset.apps/nginx-set scaled');
    return podsOf(await services('east', mirrorsOf(replicas)));
  };

  /** Takes the export back, and waits until it is gone from what kubectl shows and from DNS. */
  const unexport = async (): Promise<void> => {
    const printed = await kubectl('--context=west label service nginx-svc mirror.linkerd.io/exported-');
    expect(printed).toBe('service/nginx-svc unlabeled');
    await services('east', ['kubernetes']);
    await resolves('nginx-svc-west', []);
    await resolves('nginx-set-0.nginx-svc-west', []);
    const nothingOfWest = (printed: string): boolean => !printed.includes('-west');
    await shows('--context=east get endpoints', nothingOfWest);
    await shows('--context=east get endpointslices', nothingOfWest);
  };

  beforeAll(async () => {
    clusters = await TwoClusters.start({
      backing: 'real',
      namespaces: ['test'],
      east: {
        dns: true,
        controllers: [
          'endpoints-controller',
          'endpointslice-controller',
          'endpointslice-mirroring-controller',
          'namespace-controller',
          'deployment-controller',
          'replicaset-controller',
        ],
      },
      west: { controllers: ['statefulset-controller', 'endpoints-controller', 'endpointslice-controller'] },
    });
    kubelets = await Promise.all([
      startKubelet(clusters.eastCluster, { podCidr: '10.245.0.0/16' }),
      startKubelet(clusters.westCluster),
    ]);
    directory = await mkdtemp(join(tmpdir(), 'linkspan-guides-'));
    kubeconfig = join(directory, 'config');
    await writeFile(kubeconfig, mergedKubeconfig([clusters.eastCluster, clusters.westCluster]));
  });

  afterAll(async () => {
    await Promise.all(kubelets.map((kubelet) => kubelet.stop()));
    await clusters.stop();
    await rm(directory, { recursive: true, force: true });
  });

  describe('Multi-cluster communication with StatefulSets', () => {
    const step = walkThrough();
    let operator: TestOperator;
    let pods: Pods;

    beforeAll(async () => {
      await clusters.link();
      operator = clusters.operator({ kubeconfigFile: kubeconfig, flags: { context: 'east' } });
    });
    afterAll(() => operator.stop());

    step('west has the headless Service and the pods of its StatefulSet', async () => {
      await apply('west', [statefulSet('nginx', 80)]);
      const running = await shows('--context=west get pods', (printed) => {
        return table(printed).filter(({ READY, STATUS }) => READY === '1/1' && STATUS === 'Running').length === 3;
      });
      expect(namesOf(table(running))).toEqual(HOSTNAMES);
      expect(await services('west', ['kubernetes', 'nginx-svc'])).toMatchObject([
        { TYPE: 'ClusterIP', 'PORT(S)': '443/TCP' },
        { NAME: 'nginx-svc', TYPE: 'ClusterIP', 'CLUSTER-IP': 'None', 'EXTERNAL-IP': '<none>', 'PORT(S)': '80/TCP' },
      ]);
      await shows('--context=west get endpoints nginx-svc -o yaml', (printed) => {
        return hostnamesOf(loadYaml(printed)).join() === HOSTNAMES.join();
      });
    });

    step('exporting it, east gets a headless mirror, and for each pod a mirror with a ClusterIP', async () => {
      const rows = await exportNginx();
      const mirror = { TYPE: 'ClusterIP', 'EXTERNAL-IP': '<none>', 'PORT(S)': '80/TCP' };
      expect(rows.slice(1)).toMatchObject([
        ...HOSTNAMES.map((hostname) => ({ NAME: `${hostname}-west`, ...mirror })),
        { NAME: 'nginx-svc-west', ...mirror, 'CLUSTER-IP': 'None' },
      ]);
      pods = podsOf(rows);
      expect(new Set(Object.values(pods)).size).toBe(3);
      for (const clusterIP of Object.values(pods)) expect(clusterIP).toMatch(ALLOCATED);
    });

    step('its Endpoints have the same hostnames, each pointing to one of those Services', async () => {
      const all = (printed: string): boolean => hostnamesOf(loadYaml(printed)).length === 3;
      const printed = await shows('--context=east get endpoints nginx-svc-west -o yaml', all);
      expect(loadYaml<EndpointsObject>(printed).subsets).toEqual([
        {
          addresses: HOSTNAMES.map((hostname) => ({ hostname, ip: pods[hostname] })),
          ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
        },
      ]);
    });

    step('DNS of east resolves the set, and each pod by its hostname', () => resolvesPodByPod(pods));

    step("Kubernetes' own controller makes slices of them, with what Linkerd reads", async () => {
      expect(await slicesOf('nginx-svc-west')).toMatchObject([
        {
          metadata: {
            labels: {
              [MANAGED_BY]: MIRRORING,
              'mirror.linkerd.io/mirrored-service': 'true',
              'mirror.linkerd.io/cluster-name': 'west',
            },
            annotations: {
              'mirror.linkerd.io/remote-svc-fq-name': 'nginx-svc.default.svc.cluster.local',
              'mirror.linkerd.io/remote-gateway-identity': IDENTITY,
            },
          },
          ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
        },
      ]);
      const ofPod = await slicesOf('nginx-set-0-west');
      expect(ofPod).toMatchObject([
        {
          metadata: {
            labels: {
              [MANAGED_BY]: MIRRORING,
              'mirror.linkerd.io/headless-mirror-svc-name': 'nginx-svc-west',
            },
            annotations: {
              'mirror.linkerd.io/remote-svc-fq-name': 'nginx-set-0.nginx-svc.default.svc.cluster.local',
              'mirror.linkerd.io/remote-gateway-identity': IDENTITY,
            },
          },
          ports: [{ name: 'http', port: 4143, protocol: 'TCP' }],
        },
      ]);
      expect(ofPod[0]!.endpoints).toEqual([{ addresses: ['203.0.113.10'], conditions: { ready: true } }]);
    });

    step('scaled to 4 and to 2, DNS follows, and the pods that stay keep their addresses', async () => {
      const four = await scale(4);
      expect(four).toMatchObject(pods);
      await resolvesPodByPod(four);
      const two = await scale(2);
      expect(pods).toMatchObject(two);
      await resolvesPodByPod(two);
      await resolves('nginx-set-3.nginx-svc-west', []);
      expect(await scale(3)).toMatchObject(two);
    });

    step('D6: where the Service maps its port, a pod is mirrored on the port that it listens on', async () => {
      await apply('west', [statefulSet('api', 8080)]);
      await kubectl('--context=west rollout status statefulset/api-set --timeout=60s');
      await kubectl('--context=west label service api-svc mirror.linkerd.io/exported=true');
      const ofApi = ['api-set-0-west', 'api-set-1-west', 'api-set-2-west', 'api-svc-west'];
      const rows = (await services('east', [...ofApi, ...mirrorsOf(3)])).slice(0, 4);
      expect(rows.map((row) => row['PORT(S)'])).toEqual(['8080/TCP', '8080/TCP', '8080/TCP', '80/TCP']);
      await resolves('api-set-0.api-svc-west', [rows[0]!['CLUSTER-IP']!]);
      await kubectl('--context=west delete statefulset/api-set service/api-svc');
      await services('east', mirrorsOf(3));
    });

    step('unexported, every mirror and every name is gone', unexport);
  });

  describe('Multi-cluster communication with StatefulSets, with --endpoints slices', () => {
    const step = walkThrough();
    let operator: TestOperator;

    beforeAll(async () => {
      await clusters.link();
      operator = clusters.operator({ kubeconfigFile: kubeconfig, flags: { context: 'east', endpoints: 'slices' } });
    });
    afterAll(() => operator.stop());

    step('exported, names resolve the same, from slices of our own', async () => {
      const pods = podsOf(await exportNginx());
      await resolvesPodByPod(pods);
      for (const name of mirrorsOf(3).slice(1)) {
        expect((await slicesOf(name)).map(({ metadata }) => metadata.labels?.[MANAGED_BY])).toEqual(['linkspan.dev']);
      }
      expect(await slicesOf('nginx-svc-west')).toMatchObject([
        {
          metadata: { annotations: { 'mirror.linkerd.io/remote-gateway-identity': IDENTITY } },
          endpoints: HOSTNAMES.map((hostname) => ({ hostname, addresses: [pods[hostname]] })),
        },
      ]);
    });

    step('scaled to 4 and to 2, DNS follows', async () => {
      await resolvesPodByPod(await scale(4));
      await resolvesPodByPod(await scale(2));
      await resolves('nginx-set-3.nginx-svc-west', []);
    });

    step("Kubernetes' own controller has nothing to make slices of", async () => {
      expect(await kubectl('--context=east get endpoints')).not.toContain('-west');
      expect(await kubectl(`--context=east get endpointslices -l ${MANAGED_BY}=${MIRRORING}`)).toBe('');
    });

    step('unexported, every mirror and every name is gone', unexport);
  });

  describe('Multi-cluster communication', () => {
    const step = walkThrough();
    let operator: TestOperator;

    /** Here west is the source, and east the target. */
    beforeAll(async () => {
      await installCrd(clusters.westCluster, linkCrd);
      await apply('west', [namespace(LINKS_NAMESPACE)]);
      await apply('east', [GATEWAY]);
      const ingress = JSON.stringify({ status: { loadBalancer: { ingress: [{ ip: '203.0.113.20' }] } } });
      await kubectl(
        `--context=east -n ${LINKS_NAMESPACE} patch svc linkerd-gateway --subresource=status -p ${ingress}`,
      );
      await apply('west', [
        credentials('east', clusters.eastCluster.kubeconfig),
        link('east', { gatewayAddress: '203.0.113.20' }),
      ]);
      operator = new TestOperator(kubeconfig, clusters.gateway, {
        flags: {
          context: 'west',
          probeConnectTo: [`probe-east.${LINKS_NAMESPACE}.svc=127.0.0.1:${clusters.gateway.address.port}`],
        },
      });
    });

    afterAll(() => operator.stop());

    step("podinfo of east, exported, is mirrored in west with the gateway's address", async () => {
      await apply('east', [PODINFO]);
      await kubectl('--context=east -n test rollout status deploy/podinfo --timeout=60s');

      await kubectl('--context=east label svc -n test podinfo mirror.linkerd.io/exported=true');
      const [podinfo] = table(
        await shows('--context=west -n test get svc --ignore-not-found podinfo-east', (printed) => printed !== ''),
      );
      expect(podinfo).toMatchObject({ NAME: 'podinfo-east', TYPE: 'ClusterIP', 'PORT(S)': '9898/TCP,9999/TCP' });
      expect(podinfo!['CLUSTER-IP']).toMatch(ALLOCATED);

      const gateway = await kubectl(
        `--context=east -n ${LINKS_NAMESPACE} get svc linkerd-gateway -o custom-columns=GATEWAY_IP:.status.loadBalancer.ingress[*].ip`,
      );
      expect(gateway).toBe('GATEWAY_IP\n203.0.113.20');
      await shows(
        '--context=west -n test get endpoints podinfo-east -o custom-columns=ENDPOINT_IP:.subsets[*].addresses[*].ip',
        (printed) => printed === gateway.replace('GATEWAY_IP', 'ENDPOINT_IP'),
      );
    });
  });
});

/** A table as kubectl prints it; no cell of those read here has a space in it. */
const table = (printed: string): readonly Row[] => {
  const [header = '', ...lines] = printed.split('\n');
  const columns = header.trim().split(/\s+/);
  return lines.map((line) =>
    Object.fromEntries(
      line
        .trim()
        .split(/\s+/)
        .map((cell, i) => [columns[i]!, cell]),
    ),
  );
};

const namesOf = (rows: readonly Row[]): readonly string[] => rows.map((row) => row['NAME'] ?? '');

/** What `get services` lists while so many pods of nginx are mirrored. */
const mirrorsOf = (replicas: number): readonly string[] => [
  'kubernetes',
  ...Array.from({ length: replicas }, (_, index) => `nginx-set-${index}-west`),
  'nginx-svc-west',
];

/** The endpoint mirrors among the rows of `get services`. */
const podsOf = (rows: readonly Row[]): Pods =>
  Object.fromEntries(
    rows.flatMap((row) => {
      const [, hostname] = /^(nginx-set-\d+)-west$/.exec(row['NAME']!) ?? [];
      return hostname === undefined ? [] : [[hostname, row['CLUSTER-IP']!]];
    }),
  );

const hostnamesOf = ({ subsets = [] }: EndpointsObject): readonly string[] =>
  subsets.flatMap(({ addresses = [] }) => addresses.map(({ hostname = '' }) => hostname));

/** A StatefulSet of three pods behind a headless Service on port 80, as the guide's repository has it. */
const statefulSet = (name: string, containerPort: number): string => `apiVersion: v1
kind: Service
metadata:
  name: ${name}-svc
spec:
  clusterIP: None
  selector:
    app: ${name}
  ports:
    - name: http
      port: 80
      targetPort: http
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: ${name}-set
spec:
  serviceName: ${name}-svc
  replicas: 3
  selector:
    matchLabels:
      app: ${name}
  template:
    metadata:
      labels:
        app: ${name}
    spec:
      containers:
        - name: ${name}
          image: nginx
          ports:
            - name: http
              containerPort: ${containerPort}
`;

const PODINFO = `apiVersion: v1
kind: Service
metadata:
  name: podinfo
  namespace: test
spec:
  selector:
    app: podinfo
  ports:
    - name: http
      port: 9898
    - name: grpc
      port: 9999
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: podinfo
  namespace: test
spec:
  selector:
    matchLabels:
      app: podinfo
  template:
    metadata:
      labels:
        app: podinfo
    spec:
      containers:
        - name: podinfo
          image: podinfo
          ports:
            - name: http
              containerPort: 9898
            - name: grpc
              containerPort: 9999
`;

/** What a cloud makes of it: see the patch of its status. */
const GATEWAY = `apiVersion: v1
kind: Service
metadata:
  name: linkerd-gateway
  namespace: ${LINKS_NAMESPACE}
spec:
  type: LoadBalancer
  ports:
    - name: mc-gateway
      port: 4143
    - name: mc-probe
      port: 4191
`;
