/** The settings of an operator, read from its Deployment. */
import { expect, test } from 'vitest';
import { settingsIn } from '../../../../synth/commands/common/operator-settings.ts';

const deployment = (...containers: readonly { readonly name: string; readonly args: readonly string[] }[]) => ({
  metadata: { name: 'linkspan', namespace: 'mc' },
  spec: { template: { spec: { containers } } },
});

test('settings are those of the container of the operator, wherever it is', () => {
  const read = settingsIn(
    deployment(
      { name: 'linkerd-proxy', args: ['--endpoints=none'] },
      { name: 'controller', args: ['operator', '--endpoints=slices'] },
    ),
    { namespace: 'mc' },
  );
  expect(read).toMatchObject({ ok: true, config: { namespace: 'mc', endpoints: 'slices' } });
});

test.each(['--endpoints=none', '--nonsense'])('settings that the operator would refuse, %s, are reported', (arg) => {
  const read = settingsIn(deployment({ name: 'controller', args: ['operator', arg] }), { namespace: 'mc' });
  expect(read.ok ? 'accepted' : read.reason).toContain(arg.replace('=none', ''));
});
