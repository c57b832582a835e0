/** When local memberships of federated Services are handed over: with the last Link, there and back. Pure. */
import { describe, expect, test } from 'vitest';
import { linksBefore, type LocalState } from '../../../../synth/commands/migrate/local-state.ts';
import { localReport, migrationText } from '../../../../synth/commands/migrate/report.ts';
import { link, LINKS_NAMESPACE } from '../../../support/builders.ts';

const SUSPENDED = { annotations: { 'linkspan.dev/suspended': 'true' } };

/** Of the Links in `suspended`, the operator has not released the Lease yet. */
const local = (
  writers: Readonly<Record<string, LocalState['writer']>>,
  suspended: readonly string[] = [],
  replicasBefore?: string,
): LocalState => ({
  deployment: {
    metadata: {
      name: 'linkerd-local-service-mirror',
      namespace: LINKS_NAMESPACE,
      annotations: replicasBefore === undefined ? {} : { 'linkspan.dev/replicas-before': replicasBefore },
    },
    spec: { replicas: replicasBefore === undefined ? 2 : 0 },
  },
  holder: 'linkerd-local-service-mirror-0',
  writer: replicasBefore === undefined ? 'another' : 'operator',
  links: Object.entries(writers).map(([name, writer]) => ({
    name,
    link: link(name, {}, suspended.includes(name) ? SUSPENDED : {}),
    holder: undefined,
    writer,
  })),
  federated: new Map([['shop/web-federated', 'uid 10.0.0.1']]),
  throughGateways: 0,
});

describe('Links that come before local memberships', () => {
  test.each([
    [
      'on the way there, those that others write for, and that are not handed over now',
      false,
      ['north', 'south', 'gone'],
    ],
    ['on the way back, those that the operator writes for, and that are not handed back now', true, ['east']],
  ])('%s', (_, isBack, expected) => {
    const state = local({ east: 'operator', north: 'another', south: 'operator', gone: 'nobody', west: 'another' }, [
      'south',
    ]);
    expect(linksBefore(state, new Set(['west']), isBack)).toEqual(expected);
  });
});

const textOf = (after: readonly string[], isBack: boolean, state: LocalState): string =>
  migrationText([], localReport(state, undefined, after, isBack), 'table');

test('nothing is done for local memberships before the last Link is handed over', () => {
  const head = 'LOCAL MIRROR                       WRITER                         FEDERATED   CHANGES   STEPS\n';
  const row = 'linkerd-local-service-mirror (2)   linkerd-local-service-mirror   1           <none>    ';
  expect(textOf(['north'], false, local({}))).toBe(`${head}${row}after Link north\n`);
  expect(textOf(['north', 'south'], false, local({}))).toBe(`${head}${row}after 2 Links\n`);
  expect(textOf([], false, local({}))).toContain(`${row}3\n\nLocal mirror:\n  1. scale`);
});

test('on the way back nothing is said of Links where nothing is left to do', () => {
  expect(textOf(['north'], true, local({}))).toMatch(/ done\n$/);
  expect(textOf(['north'], true, local({}, [], '2'))).toMatch(/ after Link north\n$/);
  expect(textOf([], true, local({}, [], '2'))).toContain(
    '1. scale Deployment linkerd-local-service-mirror to 2, as it was\n',
  );
});
