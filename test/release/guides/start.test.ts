/**
 * docs/start.md, as a new user follows it, on two real API servers that are empty. Containers, certificates and Linkerd's
 * own command are stand-ins: what is real here is kubectl, linkspan, the API servers with their controllers, and the operator.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onReal } from '../../cluster/on-each-backing.ts';
import { follow, type Typed } from './follow.ts';
import { Lab } from './lab.ts';
import { linkerdCrds } from './linkerd.ts';

const PAGE = 'docs/start.md';
const PAGE_MS = 240_000;

onReal('docs/start.md', () => {
  let lab: Lab;
  let typed: readonly Typed[];

  beforeAll(async () => {
    lab = await Lab.start({ prefix: 'k3d-' });
    await lab.write('linkerd-crds.yaml', linkerdCrds());
    await lab.write('linkerd.yaml', lab.linkerdSettings());
    await lab.program(
      'linkerd',
      'case "$*" in "install --crds") cat linkerd-crds.yaml;; install*) cat linkerd.yaml;; check*) ;; *) exit 2;; esac',
    );
    // They print what they are asked to do.
    for (const name of ['k3d', 'step', 'docker', 'npm']) await lab.program(name, `echo "${name} $*"`);
  }, 120_000);
  afterAll(() => lab.stop());

  test('lead from two empty clusters to a mirrored Service, and back', { timeout: PAGE_MS }, async () => {
    typed = await follow(lab, PAGE, [
      {
        written: 'https://github.com/kubernetes-sigs/gateway-api/releases/download/v1.4.0/standard-install.yaml',
        typed: 'linkerd-crds.yaml',
      },
      { written: 'https://k3d-west-server-0:6443', typed: lab.clusters.west.server },
      // No container runs, so that none can be entered.
      { written: 'exec client --container=client -- curl --silent http://web-west', typed: 'get pod client' },
    ]);
    const printed = typed.map((block) => block.printed).join('');
    expect(printed).toMatch(/web-west +ClusterIP +10\.96\.\d+\.\d+/);
    expect(printed).toMatch(/endpoints\/web-west +198\.51\.100\.20:4143/);
  });

  test('need three commands from clusters with Linkerd to a Link that is ready', () => {
    const install = typed.find(({ commands }) => commands.includes('linkspan install'));
    expect(install?.commands.match(/^linkspan /gm)).toHaveLength(3);
    console.info(`three commands: ${((install?.ms ?? 0) / 1000).toFixed(1)} s`);
  });
});
