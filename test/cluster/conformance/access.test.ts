/** Users, kubectl, the life of the server, and a namespace that is emptied. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { expect, it } from 'vitest';
import { api, eventually } from '../workload/index.ts';
import { onEachServer, type Status } from './server.ts';

const bob = { name: 'bob', groups: ['readers'], token: 'bob-token' };

onEachServer(
  'the server',
  (server) => {
    const { unique, core, group, get, post, patch, remove, apply, configMap, service, watch, versionNow, namespace } =
      server;

    it('empties a namespace that is deleted, and refuses new content meanwhile', async () => {
      const name = unique('ns');
      await post('/api/v1/namespaces', { metadata: { name } });
      const path = `/api/v1/namespaces/${name}/configmaps`;
      await post(path, { metadata: { name: 'held', finalizers: ['linkspan.test/hold'] } });
      await remove(`/api/v1/namespaces/${name}`);
      const refused = await post<Status>(path, { metadata: { name: 'late' } });
      expect(refused).toMatchObject({ code: 403, body: { reason: 'Forbidden' } });
      expect(refused.body.message).toBe(
        `configmaps "late" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
      );
      expect(refused.body.details?.causes?.[0]).toMatchObject({
        reason: 'NamespaceTerminating',
        field: 'metadata.namespace',
      });
      await eventually(
        'the content is being deleted',
        async () => (await get(`${path}/held`)).metadata.deletionTimestamp !== undefined,
      );
      await patch(`${path}/held`, { metadata: { finalizers: null } });
      await eventually(
        'the namespace is gone',
        async () => (await server.client.request('GET', `/api/v1/namespaces/${name}`)).code === 404,
        40_000,
      );
    });

    // Who may do what
    it('refuses an unknown token, and what no role grants', async () => {
      const stranger = api(server.cluster, { token: 'unknown' });
      const known = api(server.cluster, { token: bob.token });
      try {
        const { code, body } = await stranger.request<Status>('GET', core('services'));
        expect({ code, reason: body.reason, message: body.message }).toEqual({
          code: 401,
          reason: 'Unauthorized',
          message: 'Unauthorized',
        });
        const listed = await known.request<Status>('GET', core('services'));
        expect(listed).toMatchObject({ code: 403, body: { reason: 'Forbidden', details: { kind: 'services' } } });
        expect(listed.body.message).toBe(
          `services is forbidden: User "bob" cannot list resource "services" in API group "" in the namespace "${namespace}"`,
        );
        const one = await known.request<Status>('GET', group('coordination.k8s.io/v1', 'leases', 'x'));
        expect(one.body.message).toBe(
          `leases.coordination.k8s.io "x" is forbidden: User "bob" cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "${namespace}"`,
        );
        const everywhere = await known.request<Status>('GET', '/api/v1/services', { query: { watch: true } });
        expect(everywhere.body.message).toBe(
          'services is forbidden: User "bob" cannot watch resource "services" in API group "" at the cluster scope',
        );
      } finally {
        await Promise.all([stranger.close(), known.close()]);
      }
    });

    it('allows what a role grants, and reports it in a review of access', async () => {
      const known = api(server.cluster, { token: bob.token });
      const rbac = `/apis/rbac.authorization.k8s.io/v1`;
      const review = async (verb: string, resource: string, more: object = {}): Promise<boolean> => {
        const spec = { resourceAttributes: { verb, resource, namespace, ...more } };
        const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec };
        const answer = await known.request<{ status: { allowed: boolean } }>(
          'POST',
          '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
          { body },
        );
        return answer.body.status.allowed;
      };
      const rules = [
        { apiGroups: [''], resources: ['services'], verbs: ['get', 'list'] },
        { apiGroups: ['linkspan.test'], resources: ['widgets/status'], verbs: ['patch'], resourceNames: ['mine'] },
      ];
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'readers' };
      const subjects = [{ kind: 'Group', name: 'readers', apiGroup: 'rbac.authorization.k8s.io' }];
      try {
        expect((await post(`${rbac}/clusterroles`, { metadata: { name: 'readers' }, rules })).code).toBe(201);
        expect(
          (
            await post(`${rbac}/namespaces/${namespace}/rolebindings`, {
              metadata: { name: 'readers' },
              roleRef,
              subjects,
            })
          ).code,
        ).toBe(201);
        await eventually(
          'bob may list Services',
          async () => (await known.request('GET', core('services'))).code === 200,
        );
        expect((await known.request('GET', '/api/v1/services')).code).toBe(403);
        expect(await review('list', 'services')).toBe(true);
        expect(await review('create', 'services')).toBe(false);
        expect(await review('patch', 'widgets', { group: 'linkspan.test', subresource: 'status', name: 'mine' })).toBe(
          true,
        );
        expect(await review('patch', 'widgets', { group: 'linkspan.test', subresource: 'status', name: 'other' })).toBe(
          false,
        );
      } finally {
        await known.close();
      }
    });

    // Printing
    it('prints tables with the columns kubectl shows', async () => {
      const dispatcher = new Agent({ connect: { ca: Buffer.from(server.cluster.caData, 'base64').toString() } });
      const columns = async (path: string): Promise<readonly string[]> => {
        const headers = {
          authorization: `Bearer ${server.cluster.adminToken}`,
          accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
        };
        const { body: answer } = await request(`${server.cluster.server}${path}`, { headers, dispatcher });
        const body = (await answer.json()) as { columnDefinitions: { name: string; priority: number }[] };
        return body.columnDefinitions.map(({ name, priority }) => `${name}${priority > 0 ? '*' : ''}`);
      };
      const tables = {
        services: ['Name', 'Type', 'Cluster-IP', 'External-IP', 'Port(s)', 'Age', 'Selector*'],
        endpoints: ['Name', 'Endpoints', 'Age'],
        configmaps: ['Name', 'Data', 'Age'],
        secrets: ['Name', 'Type', 'Data', 'Age'],
        serviceaccounts: ['Name', 'Age'],
        pods: ['Name', 'Ready', 'Status', 'Restarts', 'Age', 'IP*', 'Node*', 'Nominated Node*', 'Readiness Gates*'],
        events: [
          'Last Seen',
          'Type',
          'Reason',
          'Object',
          'Subobject*',
          'Source*',
          'Message',
          'First Seen*',
          'Count*',
          'Name*',
        ],
      };
      for (const [plural, expected] of Object.entries(tables))
        expect(await columns(core(plural)), plural).toEqual(expected);
      expect(await columns('/api/v1/namespaces')).toEqual(['Name', 'Status', 'Age']);
      expect(await columns(group('apps/v1', 'statefulsets'))).toEqual([
        'Name',
        'Ready',
        'Age',
        'Containers*',
        'Images*',
      ]);
      expect(await columns(group('coordination.k8s.io/v1', 'leases'))).toEqual(['Name', 'Holder', 'Age']);
      expect(await columns(group('discovery.k8s.io/v1', 'endpointslices'))).toEqual([
        'Name',
        'AddressType',
        'Ports',
        'Endpoints',
        'Age',
      ]);
      expect(await columns(group('linkspan.test/v1', 'widgets'))).toEqual(['Name', 'Age']);
      await dispatcher.close();
    });

    // Life of the server
    it('keeps its data and its address over a kill, and has forgotten what happened before', async () => {
      const name = unique();
      const resourceVersion = await versionNow();
      const { body } = await post(core('configmaps'), configMap(name, {}));
      await server.cluster.kill();
      await expect(server.client.request('GET', core('configmaps', name))).rejects.toThrow();
      await server.cluster.start();
      expect((await get(core('configmaps', name))).metadata.uid).toBe(body.metadata.uid);
      const [event] = await watch({ kind: 'ConfigMap' }, { resourceVersion }, 1);
      expect(event?.type).toBe('ERROR');
      expect(event?.object).toMatchObject({ kind: 'Status', code: 410, reason: 'Expired' });
      expect(event?.object.message).toMatch(/^too old resource version: \d+ \(\d+\)$/);
    });

    it('answers nothing while paused, and all of it afterwards', async () => {
      const name = unique();
      let answered = false;
      server.cluster.pause();
      try {
        const answer = post(core('configmaps'), configMap(name, {})).finally(() => (answered = true));
        await sleep(300);
        expect(answered).toBe(false);
        server.cluster.resume();
        expect((await answer).code).toBe(201);
      } finally {
        server.cluster.resume();
      }
    });

    it('keeps an audit log', async () => {
      await server.cluster.clearAudit();
      const name = unique();
      await apply(core('services', name), service(name));
      await server.client.request('GET', core('services'), { query: { labelSelector: 'a=b' } });
      const entries = (await server.cluster.audit()).filter(({ userAgent }) => userAgent === 'conformance/1.0');
      expect(
        entries.map(({ verb, resource, name: of, code, user }) => [verb, resource, of, code, user === '']),
      ).toEqual([
        ['patch', 'services', name, 201, false],
        ['list', 'services', undefined, 200, false],
      ]);
      expect(entries[0]).toMatchObject({ group: '', namespace });
    });
  },
  { controllers: ['namespace-controller'], users: [bob] },
);
