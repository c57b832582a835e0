/** Our commands, as processes, on clusters of the mesh. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { diagnosticsText } from '../synth/commands/check/access/proxy-metrics.ts';
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
