import { describe, expect, it } from 'vitest';
import {
  applyCrds,
  byExplain,
  byLinkerd,
  byLinkspan,
  linkAgain,
  mintAgain,
  patchLink,
  refusalRemedy,
} from '../../../../synth/commands/common/remedies.ts';

const EAST = { kubeconfig: '/tmp/my clusters', context: 'east', namespace: 'linkerd-multicluster' };
const FLAGS = "--kubeconfig '/tmp/my clusters' --context east";

describe('a remedy', () => {
  it('applies CRDs over those that others have applied', () => {
    expect(applyCrds(EAST, '--mcs')).toBe(
      `\`linkspan crds --mcs | kubectl ${FLAGS} apply --server-side --force-conflicts -f -\``,
    );
  });

  it('names the target of a Link if its context is known, and says so if it is not', () => {
    const link = { name: 'west', cluster: 'west' };
    const target = { kubeconfig: '/tmp/my clusters', context: 'admin@west' };
    const command = `linkspan link --name west --apply ${FLAGS}`;
    expect(linkAgain(EAST, link, target)).toBe(`\`${command} --to-context admin@west\``);
    expect(linkAgain(EAST, link)).toBe(`\`${command}\`, with --to-context and the context of west`);
  });

  it('names the namespaces that are not the usual ones', () => {
    const mesh = { context: 'east', namespace: 'mesh' };
    expect(byLinkspan(EAST, 'status')).toBe(`\`linkspan status ${FLAGS}\``);
    expect(byLinkspan(mesh, 'status')).toBe('`linkspan status --namespace mesh --context east`');
    expect(byLinkspan({ ...EAST, linkerdNamespace: 'l5d' }, 'credentials', 'rotate', 'west', '--apply')).toBe(
      `\`linkspan credentials rotate west --apply --linkerd-namespace l5d ${FLAGS}\``,
    );
    expect(byExplain(mesh, 'shop/web')).toBe(
      '`linkspan explain shop/web --multicluster-namespace mesh --context east`',
    );
  });

  it('links and mints in the namespaces and by the name that were given', () => {
    const mesh = { context: 'east', namespace: 'mesh', linkerdNamespace: 'mesh-control' };
    const at = '--namespace mesh --linkerd-namespace mesh-control';
    const link = { name: 'west', cluster: 'west' };
    const west = { context: 'w' };
    expect(linkAgain(mesh, link, west, '--flat')).toBe(
      `\`linkspan link --name west ${at} --flat --apply --context east --to-context w\``,
    );
    expect(mintAgain(mesh, west, 'west', { ...mesh, sourceName: 'e' }, '--apply')).toBe(
      `linkspan credentials mint --apply --name west --source-name e ${at} --context east --to-context w`,
    );
    const usual = { namespace: 'linkerd-multicluster', linkerdNamespace: 'linkerd' };
    expect(mintAgain(mesh, west, 'west', usual, '-o', 'yaml')).toBe(
      'linkspan credentials mint -o yaml --name west --context east --to-context w',
    );
  });

  it('is quoted word by word', () => {
    expect(byLinkerd(EAST, 'check', '--proxy')).toBe(`\`linkerd check --proxy ${FLAGS}\``);
    expect(patchLink(EAST, 'west', { federation: 'gateway' })).toBe(
      `\`kubectl ${FLAGS} -n linkerd-multicluster patch links.multicluster.linkerd.io west --type=merge '--patch={"spec":{"federation":"gateway"}}'\``,
    );
  });

  it('creates the namespace that lacks, and deletes nothing that somebody else has made', () => {
    const service = { namespace: 'bank', mirror: 'ledger-west' };
    expect(refusalRemedy(EAST, 'MissingNamespace', service)).toContain(`\`kubectl ${FLAGS} create namespace bank\``);
    expect(refusalRemedy(EAST, 'NameConflict', service)).toContain('-n bank get service ledger-west');
    for (const reason of ['NameConflict', 'InvalidName', 'InvalidService', 'LimitExceeded', 'Odd']) {
      expect(refusalRemedy(EAST, reason, service)).not.toMatch(/`[^`]*delete[^`]*`/);
    }
  });
});
