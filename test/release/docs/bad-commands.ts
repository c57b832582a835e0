/** Bad input of the commands that work on clusters, with what each of them prints: no cluster is needed to refuse it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linkspanHere } from '../../synth/in-process.ts';

/** A command line, and what it comes to. */
export interface BadCommand {
  readonly typed: string;
  readonly code: number;
  readonly message: string;
}

/** `east` and `west` are where nobody listens. */
const KUBECONFIG = `
apiVersion: v1
kind: Config
current-context: east
clusters:
  - { name: east, cluster: { server: 'https://127.0.0.1:1' } }
  - { name: west, cluster: { server: 'https://127.0.0.1:2' } }
users: [{ name: admin, user: { token: none } }]
contexts:
  - { name: east, context: { cluster: east, user: admin } }
  - { name: west, context: { cluster: west, user: admin } }
`;

/** Files that the commands are given. */
const FILES: Readonly<Record<string, string>> = {
  config: KUBECONFIG,
  broken: 'clusters: [',
  'values.yaml': 'gateway: { replicas: many }\nenableHeadlessService: true\n',
  'linkspan.yaml': 'members: []\n',
};

const COMMAND_LINES: readonly string[] = [
  'linkspan link',
  'linkspan link --to-context=north',
  'linkspan link --to-context=west --name=West_1',
  'linkspan link --to-context=west --wait',
  'linkspan link --to-context=west --gateway=maybe',
  'linkspan link --to-context=west --gateway-port=70000',
  'linkspan link --to-context=west --gateway=false --gateway-port=4143',
  'linkspan link --to-context=west --timeout=5',
  'linkspan link --to-context=west --gateway=false',
  'linkspan link --kubeconfig=nowhere --to-context=west',
  'linkspan link --kubeconfig=broken --to-context=west',
  'linkspan unlink',
  'linkspan unlink --name=West_1',
  'linkspan install --apply',
  'linkspan install -f values.yaml',
  'linkspan install -f nowhere.yaml',
  'linkspan install --namespace=No',
  'linkspan upgrade --context=north',
  'linkspan uninstall --context=west',
  'linkspan init -f linkspan.yaml',
  'linkspan allow',
  'linkspan link-gen --context=west',
  'linkspan credentials rotate',
  'linkspan check --output=xml',
  'linkspan status --context=west',
  'linkspan gateways --context=north',
  'linkspan explain shop/web',
  'linkspan explain web --context=north',
  'linkspan plan',
  'linkspan plan -f nowhere.yaml',
  'linkspan migrate --context=west',
  'linkspan migrate --back --context=north',
  'linkspan completion powershell',
  'linkspan sync',
  'linkspan synth --chekc',
];

/** Runs all of them. */
export const badCommands = async (): Promise<readonly BadCommand[]> => {
  const directory = await mkdtemp(join(tmpdir(), 'linkspan-bad-'));
  const [cwd, kubeconfig] = [process.cwd(), process.env['KUBECONFIG']];
  try {
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(directory, name), text);
    process.chdir(directory);
    process.env['KUBECONFIG'] = 'config';
    const all: BadCommand[] = [];
    for (const typed of COMMAND_LINES) {
      const { code, stdout, stderr } = await linkspanHere(...typed.split(' ').slice(1));
      all.push({ typed, code, message: `${stdout}${stderr}`.trim() });
    }
    return all;
  } finally {
    process.chdir(cwd);
    if (kubeconfig === undefined) delete process.env['KUBECONFIG'];
    else process.env['KUBECONFIG'] = kubeconfig;
    await rm(directory, { recursive: true });
  }
};
