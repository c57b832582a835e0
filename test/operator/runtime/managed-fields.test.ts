/** Who owns fields once they are made one manager's. */
import { describe, expect, it } from 'vitest';
import type { ManagedFieldsEntry } from '../../../operator/kube/objects.ts';
import { claimed } from '../../../operator/runtime/managed-fields.ts';

const entry = (manager: string, fieldsV1: object, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1: fieldsV1 as NonNullable<ManagedFieldsEntry['fieldsV1']>,
  ...more,
});
const ours = (fieldsV1: object): object => ({
  manager: 'linkspan',
  operation: 'Apply',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1,
});

const KUBECTL = entry('kubectl', {
  'f:metadata': { 'f:labels': { 'f:team': {} } },
  'f:spec': { 'f:type': {}, 'f:ports': { 'k:80': { 'f:port': {} } } },
});
const OURS = entry('linkspan', {
  'f:metadata': { 'f:labels': { 'f:mirror': {} } },
  'f:spec': { 'f:ports': { 'k:80': { 'f:name': {} } } },
});
const STATUS = entry('kubelet', { 'f:status': { 'f:phase': {} } }, { subresource: 'status' });

describe('the fields of an object', () => {
  it("are one manager's, all of them; those of a subresource stay", () => {
    expect(claimed([KUBECTL, OURS, STATUS], 'linkspan', false)).toEqual([
      ours({
        'f:metadata': { 'f:labels': { 'f:team': {}, 'f:mirror': {} } },
        'f:spec': { 'f:type': {}, 'f:ports': { 'k:80': { 'f:port': {}, 'f:name': {} } } },
      }),
      STATUS,
    ]);
  });

  it('leave labels and annotations to others where they are spared', () => {
    const { fieldsV1: _, ...rest } = KUBECTL;
    expect(claimed([KUBECTL, OURS, STATUS], 'linkspan', true)).toEqual([
      ours({
        'f:metadata': { 'f:labels': { 'f:mirror': {} } },
        'f:spec': { 'f:type': {}, 'f:ports': { 'k:80': { 'f:port': {}, 'f:name': {} } } },
      }),
      { ...rest, fieldsV1: { 'f:metadata': { 'f:labels': { 'f:team': {} } } } },
      STATUS,
    ]);
  });

  it('need no metadata, no fields, no version and no name of a subresource', () => {
    const bare = entry('helm', { 'f:spec': { 'f:type': {} } }, { subresource: '' });
    const { fieldsV1: _, apiVersion: __, ...empty } = KUBECTL;
    expect(claimed([bare], 'linkspan', true)).toEqual([ours({ 'f:spec': { 'f:type': {} } })]);
    expect(claimed([empty], 'linkspan', true)).toEqual([
      { manager: 'linkspan', operation: 'Apply', fieldsType: 'FieldsV1', fieldsV1: {} },
    ]);
    expect(claimed([empty], 'linkspan', false)).toEqual([
      { manager: 'linkspan', operation: 'Apply', fieldsType: 'FieldsV1', fieldsV1: {} },
    ]);
    expect(claimed([], 'linkspan', false)).toEqual([
      { manager: 'linkspan', operation: 'Apply', fieldsType: 'FieldsV1', fieldsV1: {} },
    ]);
  });
});
