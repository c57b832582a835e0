/** Our commands, as processes, on clusters of the mesh. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { diagnosticsText } from '../synth/commands/check/access/proxy-metrics.ts';
import { Cluster } from '../../synth/commands/common/cluster.ts';
import { explainAdmission } from '../../synth/commands/explain/admission.ts';
import { admissionFactsOf, identityIn } from '../../synth/commands/explain/admission-facts.ts';
import { LINKS_NAMESPACE } from '../support/builders.ts';
import { LINKERD } from './control-plane.ts';
import type { TwoMeshes } from './two-meshes.ts';

const CLI = join(import.meta.dirname, '..', '..', 'synth', 'cli.ts');

/** What a command prints as JSON, whatever its exit code. */
const jsonOf = async <T>(...args: readonly string[]): Promise<T> => {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  execFile(process.execPath, [CLI, ...args, '--output=json'], (_, stdout, stderr) => {
    if (stdout === '') reject(new Error(`linkspan ${args.join(' ')}: ${stderr}`));
    else resolve(JSON.parse(stdout) as T);
  });
  return promise;
};

/** A use of the gateway, as `linkspan check --gateway-access` reports it. */
export interface ReportedUse {
  readonly client: string;
  readonly host: string;
  readonly port: number;
  readonly opaque: boolean;
  readonly exported: string;
  readonly clients: string;
}

/** What check makes of all that the proxies of west's gateways have counted. */
export const gatewayUses = async ({ west, gateways }: TwoMeshes): Promise<readonly ReportedUse[]> => {
  const texts = await Promise.all(gateways.map(async (pod) => [pod.name, await pod.metrics()] as const));
  const file = join(west.processes.dir, 'gateway.metrics');
  await writeFile(file, diagnosticsText(Object.fromEntries(texts)));
  const { kubeconfigFile } = west.cluster;
  const { gatewayAccess } = await jsonOf<{ readonly gatewayAccess: { readonly uses: readonly ReportedUse[] } }>(
    'check',
    '--gateway-access',
    `--gateway-metrics=${file}`,
    `--kubeconfig=${kubeconfigFile}`,
  );
  return gatewayAccess.uses;
};

/** What `linkspan explain --as` says that west's gateways answer a client, by port: `admitted`, `403`, `404` or `closed`. */
export const explainedAnswers = async (
  { west }: TwoMeshes,
  service: string,
  client: string,
): Promise<ReadonlyMap<number, string>> => {
  const target = await Cluster.open({ kubeconfig: west.cluster.kubeconfigFile });
  try {
    const ref = { namespace: 'shop', name: service };
    const identity = await identityIn(target, client, LINKERD);
    const { admitted, refused } = explainAdmission(
      await admissionFactsOf(target, LINKS_NAMESPACE, ref, identity, LINKERD),
    );
    return new Map([
      ...admitted.map((port) => [port, 'admitted'] as const),
      ...refused.map(({ port, answer }) => [port, answer] as const),
    ]);
  } finally {
    await target.close();
  }
};
