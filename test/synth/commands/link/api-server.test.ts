import { describe, expect, it } from 'vitest';
import { apiServerOf, apiServerProblem, leadsToItself } from '../../../../synth/commands/link/api-server.ts';

const reachedBy = (context: string, server: string) => ({ context, server, caData: 'Q0E=', tlsServerName: 'api' });

describe('the address of an API server', () => {
  it.each([
    ['https://127.0.0.1:6443', true],
    ['https://127.8.0.1', true],
    ['https://0.0.0.0:6443', true],
    ['https://[::1]:6443', true],
    ['https://localhost:6443', true],
    ['https://api.localhost', true],
    ['https://kubernetes.docker.internal:6443', true],
    ['https://192.0.2.7:6443', false],
    ['https://[2001:db8::1]', false],
    ['https://localhost.example.com', false],
  ])('%s leads to the machine that uses it: %s', (server, expected) => {
    expect(leadsToItself(server)).toBe(expected);
  });

  it.each([
    ['kind-west', 'for kind: --api-server-address https://west-control-plane:6443'],
    ['k3d-west', 'for k3d: --api-server-address https://k3d-west-server-0:6443'],
    ['west', 'name the address that they reach with --api-server-address'],
  ])('of %s that only this machine reaches is refused with the remedy', (context, remedy) => {
    const problem = apiServerProblem(
      reachedBy(context, 'https://127.0.0.1:6443'),
      'pods of east',
      '--api-server-address',
    );
    expect(problem).toEqual({
      object: `API server of ${context}`,
      reason: 'https://127.0.0.1:6443 leads to this machine, and pods of east cannot reach it',
      remedy,
    });
  });

  it('of the kubeconfig comes with its certificates, and another with the own ones of the cluster', () => {
    const given = reachedBy('west', 'https://192.0.2.7:6443');
    const { context: _, ...own } = given;
    expect(apiServerOf(given, undefined)).toEqual(own);
    expect(apiServerOf(given, 'https://192.0.2.7:6443')).toEqual(own);
    const other = { server: 'https://192.0.2.8:6443', caData: undefined, tlsServerName: undefined };
    expect(apiServerOf(given, 'https://192.0.2.8:6443')).toEqual(other);
  });
});
