/**
 * Each kubeconfig means to our commands what it means to kubectl: the same server is reached on the same way, with the same
 * identity, or the same kind of error comes of it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { concurrently } from '../../support/concurrently.ts';
import { Both, type Outcome } from './both.ts';
import { CASES } from './cases.ts';
import { type Seen, Servers } from './servers.ts';

const servers = new Servers();
const folder = mkdtempSync(join(tmpdir(), 'kubeconfigs-'));
const all = Object.values(CASES).flat();
const both = new Map<string, Both>();
const kubectl = new Map<string, Outcome>();

beforeAll(async () => {
  await servers.start();
  for (const [index, each] of all.entries()) both.set(each.name, new Both(servers, folder, `case-${index}`, each));
  await concurrently(all, 4, async ({ name }) => void kubectl.set(name, await both.get(name)!.kubectl()));
}, 120_000);
afterAll(async () => {
  await servers.stop();
  rmSync(folder, { recursive: true });
});

/** What a login program was told, which it prints in base64: kubectl and we may write the same JSON in another order. */
const told = (outcome: Outcome): object | undefined => {
  const token = outcome.seen?.headers['authorization']?.[0]?.split('Bearer told-')[1];
  if (token === undefined) return undefined;
  const [info = '', ...rest] = Buffer.from(token, 'base64').toString().split('|');
  return { info: JSON.parse(info) as object, rest };
};

const via = (sees: Partial<Seen>): Partial<Seen> =>
  sees.via === undefined ? sees : { ...sees, via: servers.filled(sees.via) };

const comparable = (outcome: Outcome): object => ({
  result: outcome.result,
  told: told(outcome),
  seen: told(outcome) === undefined ? outcome.seen : { ...outcome.seen, headers: undefined },
});

describe.each(Object.entries(CASES))('%s', (_, cases) => {
  it.each(cases)('means to us what it means to kubectl: $name', async ({ name, result, sees }) => {
    const ours = await both.get(name)!.ours();
    const theirs = kubectl.get(name)!;
    expect(comparable(ours), `kubectl: ${theirs.message}\nours: ${ours.message}`).toEqual(comparable(theirs));
    expect(ours.result).toBe(result);
    if (sees !== undefined) expect(ours.seen).toMatchObject(via(sees));
  });
});
