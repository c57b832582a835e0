/** The health of an object as Argo CD itself sees it: its own program evaluates our Lua. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Yaml } from 'cdk8s';
import { ArgoCd } from '../../constructs/argo-cd/argo-cd.ts';
import { argoCdTools } from './tools.ts';

const run = promisify(execFile);

/** Argo CD with our settings, in a folder of its own. */
export class HealthOf {
  readonly #dir: string;

  private constructor(dir: string) {
    this.#dir = dir;
  }

  static async start(): Promise<HealthOf> {
    const health = new HealthOf(await mkdtemp(join(tmpdir(), 'linkspan-health-')));
    const metadata = { name: 'argocd-cm', labels: { 'app.kubernetes.io/part-of': 'argocd' } };
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: ArgoCd.customizations };
    await writeFile(health.#settings, Yaml.stringify(configMap));
    return health;
  }

  stop(): Promise<void> {
    return rm(this.#dir, { recursive: true });
  }

  /** What Argo CD prints of an object: `STATUS: …`, and in another line `MESSAGE: …`. */
  async print(object: object): Promise<string> {
    const file = join(this.#dir, 'object.yaml');
    await writeFile(file, Yaml.stringify(object));
    const { stdout } = await run(
      argoCdTools.require('argocd'),
      ['admin', 'settings', 'resource-overrides', 'health', file, '--argocd-cm-path', this.#settings],
      { env: { ...process.env, HOME: this.#dir, ARGOCD_BINARY_NAME: 'argocd' } },
    );
    return stdout.trim();
  }

  get #settings(): string {
    return join(this.#dir, 'argocd-cm.yaml');
  }
}
