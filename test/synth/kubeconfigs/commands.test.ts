/** What a command makes of a context that nobody is logged in with, or that cannot be used. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SERVER } from './certificates.ts';
import { linkspanHere } from '../in-process.ts';

let folder: string;
let kubeconfig: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'commands-'));
  kubeconfig = join(folder, 'config');
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'no-such-login', interactiveMode: 'Never' };
  const users = { good: { token: 't' }, out: { exec }, wrong: { token: 't', username: 'me' }, bad: { token: 't' } };
  const cluster = (name: string, port: number) => ({
    name,
    cluster: {
      server: `https://127.0.0.1:${port}`,
      ...(name === 'bad' ? { 'certificate-authority': 'none' } : {}),
    },
  });
  const names = Object.keys(users);
  const config = {
    clusters: names.map((name, index) => cluster(name, index + 1)),
    users: Object.entries(users).map(([name, user]) => ({ name, user })),
    contexts: names.map((name) => ({ name, context: { cluster: name, user: name } })),
    'current-context': 'good',
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
});
afterAll(() => rmSync(folder, { recursive: true }));

const OUT = 'context "out": the login program no-such-login: not found, or not executable (install it)';

it.each([
  'status --context=out',
  'check --context=out',
  'check --pre --context=out',
  'explain shop/web --context=out',
  'link --context=good --to-context=out',
])('ends with one line and exit code 1, if nobody is logged in: %s', async (line) => {
  const { code, stderr } = await linkspanHere(...line.split(' '), `--kubeconfig=${kubeconfig}`);
  expect({ code, stderr }).toEqual({ code: 1, stderr: `error: kubeconfig ${kubeconfig}: ${OUT}\n` });
});

it('ends with one line and exit code 2, if the kubeconfig cannot be used', async () => {
  const { code, stderr } = await linkspanHere('status', '--context=wrong', `--kubeconfig=${kubeconfig}`);
  const message = 'context "wrong": user "wrong" has a token and a password (keep one)';
  expect({ code, stderr }).toEqual({ code: 2, stderr: `error: kubeconfig ${kubeconfig}: ${message}\n` });
});

it('goes on with the other contexts, if it asks all', async () => {
  const file = join(folder, 'linkspan.yaml');
  const { code } = await linkspanHere('init', `--kubeconfig=${kubeconfig}`, `--file=${file}`);
  const text = readFileSync(file, 'utf8');
  expect(code).toBe(0);
  for (const name of ['good', 'out', 'wrong', 'bad']) expect(text).toContain(`name: ${name}`);
  expect(text).toContain(OUT.slice(0, 70));
});

it('trusts the CAs of the machine, if the kubeconfig has none', async () => {
  const server = createServer(SERVER, (_, response) => response.writeHead(404).end('{}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const file = join(folder, 'machine');
  const config = {
    clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${port}` } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'a', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'a',
  };
  writeFileSync(file, JSON.stringify(config));
  writeFileSync(join(folder, 'ca.pem'), SERVER.cert);
  const status = (env: object) =>
    promisify(execFile)(process.execPath, ['synth/cli.ts', 'status', `--kubeconfig=${file}`], {
      env: { ...process.env, ...env },
    }).catch((error: unknown) => error as { readonly stderr: string });
  expect((await status({ SSL_CERT_FILE: undefined })).stderr).toContain('self-signed certificate');
  expect((await status({ SSL_CERT_FILE: join(folder, 'ca.pem') })).stderr).toContain('the cluster has no Links');
  server.close();
});
