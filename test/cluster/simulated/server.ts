/**
 * A simulated API server: authentication, authorization, faults, and each request's way to the registry and back. It
 * opens no socket: what carries requests to it, HTTP on loopback or a simulated network, hands it an exchange for each.
 */
import { type Answer, noSuchResource, ok, pageNotFound, REASONS, success } from './answers.ts';
import { AuditLog, type AuditRecord } from './audit.ts';
import type { Exchange } from './exchange.ts';
import { Faults, type OpenWatch } from './faults.ts';
import { Authorizer, refusal, type User } from './kinds/rbac.ts';
import { groupVersion, idOf, type Resource } from './kinds/resources.ts';
import { discover } from './kubectl/discovery.ts';
import { tableOf } from './kubectl/table.ts';
import { contentTypeOf, deleteOptions, includeObject, selectionOf, wantsTable, writeOptions } from './options.ts';
import { flag, readRequest, type RequestInfo } from './request.ts';
import { listOf } from './storage/list.ts';
import { freeze, type KubeObject, textOf } from './storage/object.ts';
import { parseBody, type Registry } from './storage/registry.ts';
import type { Predicate } from './storage/selectors.ts';
import { ApiError, forbidden, methodNotAllowed, unauthorized } from './storage/status.ts';
import { Watch } from './storage/watch.ts';
import { bind, reviewAccess, scale } from './subresources.ts';
import { requestToken, reviewSelf, reviewToken } from './tokens.ts';

/** What a server is started with. */
export interface ServerOptions {
  readonly registry: Registry;
  /** Who a bearer token is; undefined for nobody. */
  readonly authenticate: (token: string) => User | undefined;
  /** Time between bookmarks, in milliseconds. */
  readonly bookmarkIntervalMs: number;
  readonly audit: boolean;
  /** Called just before a request is carried out, and after. @default nothing */
  readonly onCarryingOut?: (exchange: Exchange | undefined) => void;
  /** For faults that befall a fraction of requests. */
  readonly random: () => number;
}

const JSON_TYPE = 'application/json';

/** An API server over one registry. */
export class ApiServer {
  readonly faults: Faults;
  readonly audit: AuditLog;
  readonly #options: ServerOptions;
  readonly #registry: Registry;
  readonly #authorizer: Authorizer;
  readonly #watches = new Set<OpenWatch>();
  #resumed: PromiseWithResolvers<void> | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#registry = options.registry;
    this.audit = new AuditLog(options.audit);
    this.#authorizer = new Authorizer(options.registry.storage);
    this.faults = new Faults(options.registry, this.#watches, options.random);
  }

  /** Ends the watches, and what waits to be answered goes on: the connections are gone. */
  close(): void {
    for (const { watch } of this.#watches) watch.close();
    this.#watches.clear();
    this.resume();
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

  /** Carries a request out and answers it, unless a fault befalls it. Never rejects. */
  async handle(exchange: Exchange): Promise<void> {
    const user = this.#userOf(exchange);
    const userAgent = String(exchange.headers['user-agent'] ?? '');
    const request = readRequest(exchange.method, exchange.url, user?.name ?? '', userAgent);
    const record = this.audit.open(request);
    exchange.onClose(() => this.audit.close(record));
    try {
      const text = await exchange.text();
      await this.#resumed?.promise;
      const latencyMs = this.faults.latencyOf(request);
      if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
      if (exchange.closed) return;
      const failure = this.faults.failureOf(request);
      if (failure?.kind === 'status') {
        const { code, retryAfterSeconds, message: why = 'injected fault' } = failure;
        const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
        const { body } = new ApiError(code, REASONS[code] ?? 'InternalError', why, details);
        const headers = retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) };
        this.#send(exchange, record, ok(body, code), headers);
        return;
      }
      if (failure?.effect !== 'before') {
        const { onCarryingOut } = this.#options;
        onCarryingOut?.(exchange);
        let answer: Answer | undefined;
        try {
          answer = this.#answer(request, user, exchange, text, record);
        } finally {
          onCarryingOut?.(undefined);
        }
        if (failure === undefined) {
          await this.#resumed?.promise;
          if (answer !== undefined) this.#send(exchange, record, answer);
          return;
        }
      }
      if (failure?.kind === 'drop') exchange.destroy();
    } catch (error) {
      if (exchange.begun || exchange.closed) return;
      const refused =
        error instanceof ApiError
          ? error
          : new ApiError(500, 'InternalError', error instanceof Error ? (error.stack ?? '') : String(error));
      this.#send(exchange, record, ok(refused.body, refused.code));
    }
  }

  #send(
    exchange: Exchange,
    record: AuditRecord,
    { code, body, contentType = JSON_TYPE }: Answer,
    headers: Readonly<Record<string, string>> = {},
  ): void {
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    record.code = code;
    record.bytes += bytes.length;
    this.audit.close(record);
    exchange.answer(code, { 'Content-Type': contentType, 'Cache-Control': 'no-cache, private', ...headers }, bytes);
  }

  #userOf({ headers }: Exchange): User | undefined {
    const [, token] = /^Bearer (.+)$/.exec(String(headers['authorization'] ?? '')) ?? [];
    return token === undefined ? undefined : this.#options.authenticate(token);
  }

  /** Carries a request out. @returns undefined if it is a watch, which answers by itself */
  #answer(
    request: RequestInfo,
    user: User | undefined,
    exchange: Exchange,
    text: string,
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
    const review = this.#review(request, user, text);
    if (review !== undefined) return review;
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
      this.#watch(resource, request, exchange, record);
      return undefined;
    }
    const scope = resource.namespaced ? namespace : undefined;
    if (subresource === 'scale') return scale(this.#registry, resource, request, exchange, text);
    if (subresource === 'token') return requestToken(this.#registry, namespace ?? '', request.name ?? '', text);
    if (subresource === 'binding') return bind(this.#registry, resource, request, exchange, text);
    return this.#carryOut(resource, scope, request, exchange, text);
  }

  /** What is answered and not kept. */
  #review({ group, resource }: RequestInfo, user: User, text: string): Answer | undefined {
    switch (`${group}/${resource}`) {
      case 'authorization.k8s.io/selfsubjectaccessreviews':
        return reviewAccess(this.#authorizer, user, text);
      case 'authentication.k8s.io/selfsubjectreviews':
        return reviewSelf(user);
      case 'authentication.k8s.io/tokenreviews':
        return reviewToken(this.#options.authenticate, text);
      default:
        return undefined;
    }
  }

  #carryOut(
    resource: Resource,
    namespace: string | undefined,
    request: RequestInfo,
    exchange: Exchange,
    text: string,
  ): Answer {
    const { verb, name = '', query, version } = request;
    const registry = this.#registry;
    const shown = (object: KubeObject, code = 200): Answer => ok(this.#show(resource, object, request, exchange), code);
    const options = writeOptions(request, exchange);
    switch (verb) {
      case 'get':
        return shown(registry.get(resource, namespace, name));
      case 'list':
        return ok(this.#list(resource, namespace, request, exchange));
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
          contentTypeOf(exchange),
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
  #show(resource: Resource, object: KubeObject, { version, query }: RequestInfo, exchange: Exchange): object | string {
    const view = this.#registry.view(resource, object, version);
    if (!wantsTable(exchange)) return Object.isFrozen(view) ? textOf(view) : view;
    return tableOf(resource, version, [view], { resourceVersion: view.metadata.resourceVersion }, includeObject(query));
  }

  #list(resource: Resource, namespace: string | undefined, request: RequestInfo, exchange: Exchange): object | string {
    const { query, version } = request;
    const { storage } = this.#registry;
    const page = listOf(storage, storage.collection(idOf(resource)), namespace, selectionOf(resource, query), query);
    const views = page.objects.map((object) => this.#registry.view(resource, object, version));
    if (wantsTable(exchange)) return tableOf(resource, version, views, page.metadata, includeObject(query));
    const items = views.map((view) => textOf(resource.custom ? view : withoutType(view)));
    const head = JSON.stringify({
      kind: `${resource.kind}List`,
      apiVersion: groupVersion(resource.group, version),
      metadata: page.metadata,
    });
    return `${head.slice(0, -1)},"items":[${items.join(',')}]}`;
  }

  #watch(resource: Resource, request: RequestInfo, exchange: Exchange, record: AuditRecord): void {
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
    const table = wantsTable(exchange);
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
    exchange.begin(200, { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-cache, private' });
    record.code = 200;
    const watch = new Watch({
      collection: this.#registry.storage.collection(idOf(resource)),
      from: asked === '' || asked === '0' ? undefined : Number(asked),
      initial: this.#objects(resource, scope),
      matches,
      isSilent: this.faults.isSilent(request),
      render,
      send: (line) => {
        record.bytes += line.length;
        exchange.write(line);
      },
      end: () => exchange.end(),
    });
    const open: OpenWatch = { request, watch, drop: () => exchange.destroy() };
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
    exchange.onClose(() => {
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
