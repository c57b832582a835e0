import { describe, expect, it } from 'vitest';

import { LINK_SCHEMA } from '../../crds/link/schema.ts';
import type { Link } from '../../crds/link/types.gen.ts';
import { fieldError, fieldPath, formatFieldErrors } from '../../crds/field-error.ts';
import { compile, INSTANCE_OF } from '../../crds/validate.ts';

const checkLink = compile<Link>(LINK_SCHEMA);

const complaint = (value: unknown): string => {
  const checked = checkLink(value);
  return checked.ok ? '' : formatFieldErrors(checked.errors);
};

describe('the schema of the Link', () => {
  it.each([
    [{}],
    [{ apiVersion: 'multicluster.linkerd.io/v1alpha1', kind: 'Link', metadata: { name: 'west' } }],
    [{ spec: {} }],
    [{ spec: { gatewayPort: 'not checked here', fieldOfALaterLinkerd: 1 } }],
    [{ spec: { probeSpec: { timeout: '1 day', period: '' }, selector: { matchLabels: {} } } }],
  ])('accepts %j, as Linkerd does', (value) => {
    expect(checkLink(value)).toEqual({ ok: true, value });
  });

  it('accepts the status that Linkerd writes, and ours', () => {
    const condition = {
      type: 'Mirrored',
      status: 'True',
      reason: 'Mirrored',
      message: '',
      lastTransitionTime: '2026-08-01T10:00:00Z',
    };
    const service = {
      controllerName: 'linkerd.io/service-mirror',
      remoteRef: { name: 'web', namespace: 'shop', kind: 'Service', group: 'core' },
      conditions: [{ ...condition, localRef: { name: 'web-west', namespace: 'shop', kind: 'Service', group: '' } }],
    };
    expect(complaint({ status: { mirrorServices: [service], federatedServices: [service] } })).toBe('');
    expect(
      complaint({
        status: {
          observedGeneration: 2,
          conditions: [{ ...condition, type: 'Ready', observedGeneration: 2 }],
          mirrors: { total: 3, ready: 2, failed: 1 },
          gateway: { alive: true, addresses: ['192.0.2.1'] },
        },
      }),
    ).toBe('');
  });

  it('leaves the value as it is', () => {
    const value = Object.freeze({ spec: Object.freeze({ probeSpec: Object.freeze({}) }) });
    expect(checkLink(value)).toEqual({ ok: true, value: { spec: { probeSpec: {} } } });
  });

  it.each<[unknown, string]>([
    [null, 'null must be an object'],
    [{ spec: [] }, 'spec: [] must be an object'],
    [{ spec: { gatewayPort: 4143 } }, 'spec.gatewayPort: 4143 must be a string (put it in quotes: "4143")'],
    [{ spec: { targetClusterName: null } }, 'spec.targetClusterName: null must be a string'],
    [
      { spec: { selector: { matchExpressions: [{ operator: 'Like' }] } } },
      'spec.selector.matchExpressions[0].key: is required; ' +
        'spec.selector.matchExpressions[0].operator: "Like" must be one of In, NotIn, Exists, DoesNotExist',
    ],
    [
      { metadata: { annotations: { 'example.com/a~b': 1 } } },
      'metadata.annotations["example.com/a~b"]: 1 must be a string (put it in quotes: "1")',
    ],
    [{ status: { mirrors: { total: -1 } } }, 'status.mirrors.total: -1 must be greater than or equal to 0'],
    [{ status: { mirrors: { total: 1.5 } } }, 'status.mirrors.total: 1.5 must be an integer'],
  ])('refuses %j', (value, message) => {
    expect(complaint(value)).toBe(message);
  });
});

describe('compile', () => {
  it('names fields from the root that it is given, and unknown ones', () => {
    const check = compile<object>({ type: 'object', additionalProperties: false, properties: {} }, { root: 'props' });
    expect(check({ a: 1 })).toEqual({
      ok: false,
      errors: [{ path: 'props.a', reason: 'is not a known field', remedy: 'remove it, or correct its name' }],
    });
  });

  it('checks formats of its own, and says why a text is not of one', () => {
    const even = (text: string) => (text.length % 2 === 0 ? undefined : 'must have an even length');
    const check = compile<string>({ type: 'string', format: 'even' }, { formats: { even } });
    expect(check('ab').ok).toBe(true);
    expect(check('abc')).toEqual({ ok: false, errors: [fieldError('', 'abc', 'must have an even length')] });
  });

  it('reports of alternatives what they require, not each that fails', () => {
    const check = compile<object>({ type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] });
    expect(check({})).toEqual({ ok: false, errors: [{ path: '', reason: 'must have a or b' }] });
  });

  it('ends at the first error where that is asked for', () => {
    const schema = { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } };
    const check = compile<readonly string[]>(schema, { firstOnly: true });
    const checked = check([1, 2, 3]);
    expect(checked.ok ? [] : checked.errors.map(({ path }) => path)).toEqual(['[0]', '[0]', '[0]']);
  });

  it('quotes no value that may be secret, and reports no more errors than asked for', () => {
    const schema = { type: 'array', items: { type: 'string', enum: ['a'] } };
    const check = compile<readonly string[]>(schema, { secret: true, limit: 2 });
    expect(check(['hunter2', 'hunter2', 'hunter2'])).toEqual({
      ok: false,
      errors: [0, 1].map((index) => ({ path: `[${index}]`, reason: 'must be one of a' })),
    });
  });

  it.each([
    [{ minLength: 1, type: 'string' }, '', '"" must not be empty'],
    [{ minItems: 1, type: 'array' }, [], '[] must not be empty'],
    [{ maxItems: 1, type: 'array' }, [1, 2], '[1,2] must have at most 1 item'],
    [{ const: 'v1' }, 'v2', '"v2" must be "v1"'],
    [{ type: 'object', dependencies: { a: ['b'] } }, { a: 1 }, 'b: is required'],
  ])("reports a violation of %j in the API server's words", (schema, value, message) => {
    const checked = compile<unknown>(schema)(value);
    expect(checked.ok ? '' : formatFieldErrors(checked.errors)).toBe(message);
  });

  it.each<[unknown, unknown, string | undefined]>([
    ['string', true, 'put it in quotes: "true"'],
    ['string', [], undefined],
    ['array', 'a, b', 'put it in a list: ["a","b"]'],
    ['array', 'x'.repeat(64), `put it in a list: ["${'x'.repeat(64)}"]`],
    ['array', 'x'.repeat(65), undefined],
    ['array', 1, undefined],
    ['integer', '12', 'write 12, without quotes'],
    ['integer', '-7', 'write -7, without quotes'],
    ['integer', 'a7', undefined],
    ['integer', '7a', undefined],
    ['integer', true, undefined],
    ['number', '12', 'write 12, without quotes'],
    ['object', '12', undefined],
    ['boolean', 'true', 'write true, without quotes'],
    ['boolean', 'false', 'write false, without quotes'],
    ['boolean', 'yes', undefined],
    ['object', 'true', undefined],
  ])('says what to write for %s instead of %j', (type, value, remedy) => {
    const checked = compile<unknown>({ type })(value);
    expect(checked.ok ? 'accepted' : checked.errors.map((error) => error.remedy)).toEqual([remedy]);
  });

  it('says which field was meant', () => {
    const check = compile<object>({ type: 'object', additionalProperties: false, properties: { replicas: {} } });
    expect(check({ replcias: 1 })).toMatchObject({ errors: [{ remedy: 'did you mean replicas?' }] });
  });

  it('quotes no value of a field that may be written and not read, wherever that is said', () => {
    const schema = {
      type: 'object',
      properties: { token: { type: 'string', writeOnly: true }, name: { type: 'string' } },
    };
    expect(compile<object>(schema)({ token: 7, name: 7 })).toEqual({
      ok: false,
      errors: [
        { path: 'token', reason: 'must be a string' },
        { path: 'name', value: '7', reason: 'must be a string', remedy: 'put it in quotes: "7"' },
      ],
    });
  });

  it('reports of alternatives what they are, if they do not only require fields', () => {
    const checked = compile<unknown>({ anyOf: [{ type: 'string' }, { type: 'null' }] })(1);
    expect(checked.ok ? [] : checked.errors.at(-1)).toEqual({
      path: '',
      value: '1',
      reason: 'must match a schema in anyOf',
    });
  });

  it('checks of what class a value is that is no JSON, by the names of its classes', () => {
    class Base {}
    class Derived extends Base {}
    const check = compile<unknown>({ [INSTANCE_OF]: 'Base' });
    expect([check(new Base()).ok, check(new Derived()).ok]).toEqual([true, true]);
    expect(check({})).toEqual({ ok: false, errors: [{ path: '', value: '{}', reason: 'must be a Base' }] });
    expect(check('Base').ok).toBe(false);
  });

  it("takes Kubernetes' own keywords", () => {
    const check = compile<object>({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true });
    expect(check({ a: 1 }).ok).toBe(true);
  });

  it('throws at the first value when the schema is wrong', () => {
    expect(() => compile({ type: 'object', propertys: {} })({})).toThrow(/unknown keyword/);
  });
});

describe('fieldError', () => {
  it('quotes at most 64 characters of a value', () => {
    expect(fieldError('a', 'x'.repeat(62), 'is long').value).toBe(`"${'x'.repeat(62)}"`);
    expect(fieldError('a', 'x'.repeat(63), 'is long').value).toBe(`"${'x'.repeat(62)}…`);
  });

  it.each<[unknown, string]>([
    [Infinity, 'Infinity'],
    [Symbol('a'), 'a'],
    [Symbol(), 'a symbol'],
    [() => 1, 'a function'],
    [1n, 'a bigint'],
    [new Map(), 'an instance of Map'],
    [Object.create({ constructor: undefined }), 'an instance of Object'],
    [Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    [[1], '[1]'],
    [{ a: 1n }, 'an object'],
    [null, 'null'],
  ])('quotes %s, which may be no JSON, as %s', (value, quoted) => {
    expect(fieldError('a', value, 'is wrong').value).toBe(quoted);
  });

  it('quotes no value of a field that is absent', () => {
    expect(fieldError('a', undefined, 'is required')).toEqual({ path: 'a', reason: 'is required' });
  });
});

describe('fieldPath', () => {
  it.each([
    ['', 'spec', 'spec'],
    ['spec', 'selector', 'spec.selector'],
    ['a', 0, 'a[0]'],
    ['labels', 'x.io/a', 'labels["x.io/a"]'],
    ['', 'x.io/a', '["x.io/a"]'],
  ])('joins %j and %j to %s', (parent, name, path) => {
    expect(fieldPath(parent, name)).toBe(path);
  });
});
