import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { parseOperatorConfig } from '../../../operator/config/config.ts';
import { effectiveFlags } from '../../../operator/config/effective.ts';
import { addOperatorFlags, type FlagValues } from '../../../operator/config/flags.ts';

const config = (argv: readonly string[]) => {
  const command = addOperatorFlags(new Command()).exitOverride();
  command.parse([...argv], { from: 'user' });
  const around = { processName: () => 'machine', isTerminal: false };
  const parsed = parseOperatorConfig(command.opts<FlagValues>(), {}, around);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  return parsed.value;
};

describe('the configuration that is in effect', () => {
  it.each([
    ['by default', ''],
    [
      'where all is given',
      '--kubeconfig f --context c --namespace a --control-plane-namespace b --identity pod-0 --enable-headless-services ' +
        '--mirror-namespaces x,y --credentials-secrets a,b.c --federated-selector= --endpoints slices --probe-via address ' +
        '--probe-connect-to probe-east.ns=127.0.0.1:80 --probe-connect-to probe-west.ns=[::1]:81 ' +
        '--gateway-resolve-period 1m30s --endpoint-mirror-grace 0 --admin-address [::]:0 --no-leader-elect ' +
        '--lease-duration 1h --renew-deadline 5s --retry-period 500ms --concurrency 256 --log-level debug',
    ],
  ])('is that of the flags that are logged, %s', (_, given) => {
    const expected = config(given.split(' ').filter((each) => each !== ''));
    const flags = effectiveFlags(expected);
    expect(config(flags.split(' ').map((each) => each.replace(/^'(.*)'$/, '$1')))).toEqual(expected);
  });

  it('can be pasted into a shell', () => {
    expect(effectiveFlags(config(['--context', "Anna's cluster"]))).toContain(
      String.raw`'--context=Anna'\''s cluster'`,
    );
  });
});
