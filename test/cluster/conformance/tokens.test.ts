/** Tokens of ServiceAccounts that end: asked for, bound to a Secret, reviewed, and void when that Secret is gone. */
import { expect, it } from 'vitest';
import { api, eventually } from '../workload/index.ts';
import { onEachServer, type Status } from './server.ts';

interface Request {
  readonly spec: { readonly expirationSeconds: number };
  readonly status: { readonly token: string; readonly expirationTimestamp: string };
}

interface Review {
  readonly status: {
    readonly authenticated?: boolean;
    readonly error?: string;
    readonly user: { readonly username?: string; readonly uid?: string };
  };
}

const REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';

onEachServer('tokens that end', (server) => {
  const { unique, core, post, remove, namespace } = server;

  const account = async (): Promise<{ readonly name: string; readonly uid: string | undefined }> => {
    const name = unique('reader');
    const { body } = await post(core('serviceaccounts'), { metadata: { name } });
    return { name, uid: body.metadata.uid };
  };
  const secret = async (): Promise<{ readonly kind: string; readonly name: string; readonly uid: string }> => {
    const name = unique('peer');
    const { body } = await post(core('secrets'), { metadata: { name } });
    return { kind: 'Secret', name, uid: body.metadata.uid };
  };
  const ask = <T>(name: string, spec: object) => post<T>(`${core('serviceaccounts', name)}/token`, { spec });
  const review = async (token: string): Promise<Review['status']> => {
    const { code, body } = await post<Review>(REVIEWS, { spec: { token } });
    expect(code).toBe(201);
    return body.status;
  };

  it('are given for as long as is asked, and say whose they are and what they are bound to', async () => {
    const { name, uid } = await account();
    const bound = await secret();
    const { code, body } = await ask<Request>(name, {
      expirationSeconds: 700,
      boundObjectRef: { apiVersion: 'v1', ...bound },
    });
    expect(code).toBe(201);
    const claims = JSON.parse(Buffer.from(body.status.token.split('.')[1]!, 'base64url').toString()) as {
      readonly exp: number;
      readonly iat: number;
    };
    expect(claims.exp - claims.iat).toBe(700);
    expect(body.status.expirationTimestamp).toBe(new Date(claims.exp * 1_000).toISOString().replace('.000Z', 'Z'));
    expect(claims).toMatchObject({
      sub: `system:serviceaccount:${namespace}:${name}`,
      'kubernetes.io': { namespace, serviceaccount: { name, uid }, secret: { name: bound.name, uid: bound.uid } },
    });
    expect(await review(body.status.token)).toMatchObject({
      authenticated: true,
      user: { username: `system:serviceaccount:${namespace}:${name}`, uid },
    });
  });

  it('are known to whoever holds them', async () => {
    const { name, uid } = await account();
    const { body } = await ask<Request>(name, {});
    const holder = api(server.cluster, { token: body.status.token });
    try {
      const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
      const answer = await holder.request<{ readonly status: { readonly userInfo: object } }>('POST', path, {
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      });
      const username = `system:serviceaccount:${namespace}:${name}`;
      expect(answer).toMatchObject({ code: 201, body: { status: { userInfo: { username, uid } } } });
    } finally {
      await holder.close();
    }
  });

  it('are refused: too short, of no account, bound to what is not there or was made anew', async () => {
    const { name } = await account();
    const bound = await secret();
    const to = (boundObjectRef: object) =>
      ask<Status>(name, { boundObjectRef: { apiVersion: 'v1', ...boundObjectRef } });
    const answers = [
      await ask<Status>(name, { expirationSeconds: 599 }),
      await ask<Status>('nobody', {}),
      await to({ kind: 'Secret', name: 'nothing' }),
      await to({ ...bound, uid: 'another' }),
    ];
    expect(answers.map(({ code, body: { reason } }) => [code, reason])).toEqual([
      [422, 'Invalid'],
      [404, 'NotFound'],
      [404, 'NotFound'],
      [409, 'Conflict'],
    ]);
    expect(answers[0]!.body.message).toContain(
      'spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
    );
  });

  it('are void when what they are bound to is gone, and when they were not made here', async () => {
    const { name } = await account();
    const bound = await secret();
    const { body } = await ask<Request>(name, { boundObjectRef: { apiVersion: 'v1', ...bound } });
    const { token } = body.status;
    expect((await review(`${token.slice(0, -8)}AAAAAAAA`)).authenticated).not.toBe(true);
    expect((await review('nobody')).error).toBeDefined();
    expect((await review(token)).authenticated).toBe(true);
    await remove(core('secrets', bound.name));
    await eventually('the token is refused', async () => (await review(token)).authenticated !== true, 20_000);
  });
});
