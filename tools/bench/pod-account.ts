/**
 * The operator's access as a pod has it: the files that Kubernetes mounts and the variables that it sets. With a
 * kubeconfig it loads what no pod does, and its memory would be another program's. Takes a user who may
 * write the mount point; what is there already is never touched.
 */
import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TestCluster } from '../../test/cluster/index.ts';

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Says that the files are those of a benchmark, not of a pod. */
const MARK = '.linkspan-bench';

export class PodAccount {
  /** What the process must find in its environment. */
  readonly env: Readonly<Record<string, string>>;

  private constructor(server: string) {
    const { hostname, port } = new URL(server);
    this.env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port, POD_IPS: '10.244.0.1' };
  }

  /**
   * @param server address at which the pod reaches the API server
   * @throws Error if the files of another pod are there already, or none may be written
   */
  static async mount(cluster: TestCluster, server = cluster.server): Promise<PodAccount> {
    const isOurs = await access(join(SERVICE_ACCOUNT, MARK)).then(
      () => true,
      () => false,
    );
    // An earlier run was killed.
    if (isOurs) await rm(SERVICE_ACCOUNT, { recursive: true });
    await mkdir(dirname(SERVICE_ACCOUNT), { recursive: true });
    await mkdir(SERVICE_ACCOUNT);
    const account = new PodAccount(server);
    await writeFile(join(SERVICE_ACCOUNT, MARK), '');
    await writeFile(join(SERVICE_ACCOUNT, 'token'), cluster.adminToken);
    await writeFile(join(SERVICE_ACCOUNT, 'ca.crt'), Buffer.from(cluster.caData, 'base64'));
    return account;
  }

  async unmount(): Promise<void> {
    await rm(SERVICE_ACCOUNT, { recursive: true });
  }
}
