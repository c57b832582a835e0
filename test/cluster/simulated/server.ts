/**
 * The HTTP face of a simulated API server: authentication, authorization, faults, and each request's way to the
 * registry and back, over TLS on loopback with keep-alive, as client libraries and kubectl speak to a real one.
 */
import {
  createServer as createPlainServer,
  type IncomingMessage,
  type Server as PlainServer,
  type ServerResponse,
} from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, noSuchResource, ok, pageNotFound, REASONS, success } from './answers.ts';
import { AuditLog, type AuditRecord } from './audit.ts';
import { CERTIFICATE, PRIVATE_KEY } from './certificate.ts';
import { Faults, type OpenWatch } from './faults.ts';
import { Authorizer, refusal, type User } from './kinds/rbac.ts';
import { groupVersion, idOf, type Resource } from './kinds/resources.ts';
import { discover } from './kubectl/discovery.ts';
import { tableOf } from './kubectl/table.ts';
import {
  bodyOf,
  contentTypeOf,
  deleteOptions,
  includeObject,
  selectionOf,
  wantsTable,
  writeOptions,
} from './options.ts';
import { flag, readRequest, type RequestInfo } from './request.ts';
import { listOf } from './storage/list.ts';
import { freeze, type KubeObject, textOf } from './storage/object.ts';
import { parseBody, type Registry } from './storage/registry.ts';
import type { Predicate } from './storage/selectors.ts';
import { ApiError, forbidden, methodNotAllowed, unauthorized } from './storage/status.ts';
import { Watch } from './storage/watch.ts';
import { bind, reviewAccess, scale } from './subresources.ts';

/** What a server is started with. */
export interface ServerOptions {
  readonly registry: Registry;
  /** Who a bearer token is; undefined for nobody. */
  readonly authenticate: (token: string) => User | undefined;
  /** Time between bookmarks, in milliseconds. */
  readonly bookmarkIntervalMs: number;
  readonly audit: boolean;
  /**
   * Whether to serve without TLS, which costs too much where one process is both ends of many connections. @default
   * false
   */
  readonly plain?: boolean;
  /** For faults that befall a fraction of requests. */
  readonly random: () => number;
}

const HOST = '127.0.0.1';
const JSON_TYPE = 'application/json';

/** An API server over one registry. */
export class ApiServer {
  readonly faults: Faults;
  readonly audit: AuditLog;
  readonly #options: ServerOptions;
  readonly #registry: Registry;
  readonly #authorizer: Authorizer;
  readonly #watches = new Set<OpenWatch>();
  readonly #sockets = new Set<Socket>();
  #server: Server | PlainServer | undefined;
  #port = 0;
  #resumed: PromiseWithResolvers<void> | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#registry = options.registry;
    this.audit = new AuditLog(options.audit);
    this.#authorizer = new Authorizer(options.registry.storage);
    this.faults = new Faults(options.registry, this.#watches, options.random);
  }

  /** `https://127.0.0.1:PORT`, or `http` where it is plain, once it listens. */
  get url(): string {
    return `${this.#options.plain === true ? 'http' : 'https'}://${HOST}:${this.#port}`;
  }

  /** Listens: on a free port the first time, on the same one afterwards. */
  async listen(): Promise<void> {
    if (this.#server !== undefined) return;
    const limits = { keepAliveTimeout: 0, requestTimeout: 0 };
    const serve = (request: IncomingMessage, response: ServerResponse): void => void this.#serve(request, response);
    const server =
      this.#options.plain === true
        ? createPlainServer(limits, serve)
        : createServer({ key: PRIVATE_KEY, cert: CERTIFICATE, ...limits }, serve);
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on('secureConnection', (socket: Socket) => socket.setNoDelay(true));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, HOST, resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Breaks every connection and listens no more. */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const { watch } of this.#watches) watch.close();
    this.#watches.clear();
    for (const socket of this.#sockets) socket.destroy();
    this.resume();
    await closed;
  }

  /** Answers nothing until {@link resume}; connections stay open. */
  pause(): void {
    this.#resumed ??= Promise.withResolvers<void>();
    for (const { watch } of this.#watches) watch.hold();
  }

  resume(): void {
    this.#resumed?.resolve();
    this.#resumed = undefined;
    for (const { watch } of this.#watches) watch.release();
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    const user = this.#userOf(message);
    const userAgent = message.headers['user-agent'] ?? '';
    const request = readRequest(message.method ?? 'GET', message.url ?? '/', user?.name ?? '', userAgent);
    const record = this.audit.open(request);
    response.once('close', () => {
      record.code ||= response.statusCode;
      this.audit.close(record);
    });
    try {
      const text = await bodyOf(message);
      await this.#resumed?.promise;
      const latencyMs = this.faults.latencyOf(request);
      if (latencyMs > 0) await sleep(latencyMs);
      if (message.socket.destroyed) return;
      const failure = this.faults.failureOf(request);
      if (failure?.kind === 'status') {
        const { code, retryAfterSeconds, message: why = 'injected fault' } = failure;
        if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(retryAfterSeconds));
        throw new ApiError(
          code,
          REASONS[code] ?? 'InternalError',
          why,
          retryAfterSeconds === undefined ? undefined : { retryAfterSeconds },
        );
      }
      if (failure?.effect !== 'before') {
        const answer = this.#answer(request, user, message, text, response, record);
        if (failure === undefined) {
          await this.#resumed?.promise;
          if (answer !== undefined) this.#send(response, record, answer);
          return;
        }
      }
      if (failure?.kind === 'drop') message.socket.destroy();
    } catch (error) {
      if (response.headersSent || response.destroyed) return;
      const refused =
        error instanceof ApiError
          ? error
          : new ApiError(500, 'InternalError', error instanceof Error ? (error.stack ?? '') : String(error));
      this.#send(response, record, ok(refused.body, refused.code));
    }
  }

  #send(response: ServerResponse, record: AuditRecord, { code, body, contentType = JSON_TYPE }: Answer): void {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const length = Buffer.byteLength(text);
    record.code = code;
    record.bytes += length;
    this.audit.close(record);
    response.writeHead(code, {
      'Content-Type': contentType,
      'Content-Length': length,
      'Cache-Control': 'no-cache, private',
    });
    response.end(text);
  }

  #userOf({ headers }: IncomingMessage): User | undefined {
    const [, token] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? [];
    return token === undefined ? undefined : this.#options.authenticate(token);
  }

  /** Carries a request out. @returns undefined if it is a watch, which answers by itself */
  #answer(
    request: RequestInfo,
    user: User | undefined,
    message: IncomingMessage,
    text: string,
    response: ServerResponse,
    record: AuditRecord,
  ): Answer | undefined {
    if (user === undefined) throw unauthorized();
    const { group, version, resource: plural } = request;
    const name = request.name ?? request.selected;
    if (!this.#authorizer.allows(user, name === undefined ? request : { ...request, name })) {
      throw plural === ''
        ? new ApiError(403, 'Forbidden', `forbidden: ${refusal(user, request)}`, {})
        : forbidden({ group, plural, kind: plural }, request.name ?? '', refusal(user, request));
    }
    if (plural === '') {
      const document = discover(request.path, this.#registry.resources());
      return document === undefined
        ? pageNotFound()
        : typeof document === 'string'
          ? { ...ok(document), contentType: 'text/plain' }
          : ok(document);
    }
    if (plural === 'selfsubjectaccessreviews' && group === 'authorization.k8s.io')
      return reviewAccess(this.#authorizer, user, text);
    const resource = this.#registry.find(group, version, plural);
    const { subresource, namespace } = request;
    if (resource === undefined) {
      const served = this.#registry
        .resources()
        .some((other) => other.group === group && other.versions.includes(version));
      if (served) throw noSuchResource();
      return pageNotFound();
    }
    if (subresource !== undefined && !resource.subresources.includes(subresource as 'status')) throw noSuchResource();
    if (request.verb === 'watch') {
      this.#watch(resource, request, message, response, record);
      return undefined;
    }
    const scope = resource.namespaced ? namespace : undefined;
    if (subresource === 'scale') return scale(this.#registry, resource, request, message, text);
    if (subresource === 'binding') return bind(this.#registry, resource, request, message, text);
    return this.#carryOut(resource, scope, request, message, text);
  }

  #carryOut(
    resource: Resource,
    namespace: string | undefined,
    request: RequestInfo,
    message: IncomingMessage,
    text: string,
  ): Answer {
    const { verb, name = '', query, version } = request;
    const registry = this.#registry;
    const shown = (object: KubeObject, code = 200): Answer => ok(this.#show(resource, object, request, message), code);
    const options = writeOptions(request, message);
    switch (verb) {
      case 'get':
        return shown(registry.get(resource, namespace, name));
      case 'list':
        return ok(this.#list(resource, namespace, request, message));
      case 'create':
        if (request.name !== undefined || (resource.namespaced && namespace === undefined)) throw methodNotAllowed();
        return shown(registry.create(resource, namespace, parseBody(text), options), 201);
      case 'update': {
        const { object, created } = registry.update(resource, namespace, name, parseBody(text), options);
        return shown(object, created ? 201 : 200);
      }
      case 'patch': {
        const { object, created } = registry.patch(
          resource,
          namespace,
          name,
          contentTypeOf(message),
          parseBody(text),
          options,
        );
        return shown(object, created ? 201 : 200);
      }
      case 'delete': {
        const { object, gone } = registry.delete(resource, namespace, name, deleteOptions(text, query));
        return gone && !resource.returnsDeleted ? ok(success(resource, object)) : shown(object);
      }
      case 'deletecollection': {
        const matches = selectionOf(resource, query);
        const objects = this.#objects(resource, namespace).filter(matches);
        for (const { metadata } of objects)
          registry.delete(resource, metadata.namespace, metadata.name, deleteOptions(text, query));
        return ok({
          kind: `${resource.kind}List`,
          apiVersion: groupVersion(resource.group, version),
          metadata: { resourceVersion: String(registry.storage.revision) },
          items: objects,
        });
      }
      case 'watch':
        throw methodNotAllowed();
    }
  }

  #objects(resource: Resource, namespace: string | undefined): readonly KubeObject[] {
    const objects = this.#registry.storage
      .collection(idOf(resource))
      .entries()
      .map(([, object]) => object);
    return namespace === undefined ? objects : objects.filter(({ metadata }) => metadata.namespace === namespace);
  }

  /** One object as the client asked to see it: itself, or a table. */
  #show(
    resource: Resource,
    object: KubeObject,
    { version, query }: RequestInfo,
    message: IncomingMessage,
  ): object | string {
    const view = this.#registry.view(resource, object, version);
    if (!wantsTable(message)) return Object.isFrozen(view) ? textOf(view) : view;
    return tableOf(resource, version, [view], { resourceVersion: view.metadata.resourceVersion }, includeObject(query));
  }

  #list(
    resource: Resource,
    namespace: string | undefined,
    request: RequestInfo,
    message: IncomingMessage,
  ): object | string {
    const { query, version } = request;
    const { storage } = this.#registry;
    const page = listOf(storage, storage.collection(idOf(resource)), namespace, selectionOf(resource, query), query);
    const views = page.objects.map((object) => this.#registry.view(resource, object, version));
    if (wantsTable(message)) return tableOf(resource, version, views, page.metadata, includeObject(query));
    const items = views.map((view) => textOf(resource.custom ? view : withoutType(view)));
    const head = JSON.stringify({
      kind: `${resource.kind}List`,
      apiVersion: groupVersion(resource.group, version),
      metadata: page.metadata,
    });
    return `${head.slice(0, -1)},"items":[${items.join(',')}]}`;
  }

  #watch(
    resource: Resource,
    request: RequestInfo,
    message: IncomingMessage,
    response: ServerResponse,
    record: AuditRecord,
  ): void {
    const { query, version, namespace, name } = request;
    if (query.has('sendInitialEvents')) {
      throw new ApiError(
        422,
        'Invalid',
        'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
      );
    }
    const selected = selectionOf(resource, query);
    const scope = resource.namespaced ? namespace : undefined;
    const matches: Predicate = (object) =>
      (scope === undefined || object.metadata.namespace === scope) &&
      (name === undefined || object.metadata.name === name) &&
      selected(object);
    const asked = query.get('resourceVersion') ?? '';
    const table = wantsTable(message);
    const render = (object: KubeObject): string => {
      const view = this.#registry.view(resource, object, version);
      return table
        ? JSON.stringify(
            tableOf(
              resource,
              version,
              [view],
              { resourceVersion: view.metadata.resourceVersion },
              includeObject(query),
            ),
          )
        : textOf(view);
    };
    response.writeHead(200, { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-cache, private' });
    response.flushHeaders();
    record.code = 200;
    const watch = new Watch({
      collection: this.#registry.storage.collection(idOf(resource)),
      from: asked === '' || asked === '0' ? undefined : Number(asked),
      initial: this.#objects(resource, scope),
      matches,
      render,
      send: (line) => {
        record.bytes += line.length;
        response.write(line);
      },
      end: () => void response.end(),
    });
    const open: OpenWatch = { request, watch, drop: () => void message.socket.destroy() };
    if (this.faults.isSilent(request)) watch.silence();
    this.#watches.add(open);
    const timers: NodeJS.Timeout[] = [];
    if (flag(query, 'allowWatchBookmarks')) {
      const bookmark = (): void =>
        watch.bookmark(groupVersion(resource.group, version), resource.kind, this.#registry.storage.revision);
      timers.push(setInterval(bookmark, this.#options.bookmarkIntervalMs));
    }
    const timeoutSeconds = Number(query.get('timeoutSeconds') ?? 0) || 1800 + 1800 * Math.random();
    timers.push(setTimeout(() => watch.end(), timeoutSeconds * 1000));
    for (const timer of timers) timer.unref();
    response.once('close', () => {
      for (const timer of timers) clearTimeout(timer);
      watch.close();
      this.#watches.delete(open);
    });
  }
}

const untyped = new WeakMap<KubeObject, object>();

/** An object as it stands in a list of its kind: without kind and apiVersion. */
function withoutType(object: KubeObject): object {
  let item = untyped.get(object);
  if (item === undefined) {
    const { kind: _k, apiVersion: _a, ...rest } = object;
    item = freeze(rest);
    untyped.set(object, item);
  }
  return item;
}
