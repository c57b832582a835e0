/**
 * Who owns which fields of an object (`metadata.managedFields`). Server-side apply leaves alone what other managers
 * own; fields that count in an object of ours are made ours first, so that an apply without them removes them.
 */
import type { FieldsV1, ManagedFieldsEntry } from '../kube/objects.ts';

/**
 * Entries in which every field of the object itself belongs to one manager; those of subresources stay as they are.
 * @param manager who gets the fields
 * @param sparesMetadata whether labels and annotations stay with their managers
 */
export function claimed(
  entries: readonly ManagedFieldsEntry[],
  manager: string,
  sparesMetadata: boolean,
): readonly ManagedFieldsEntry[] {
  const whole = entries.filter(({ subresource }) => subresource === undefined || subresource === '');
  const spared = sparesMetadata ? whole.filter((entry) => entry.manager !== manager) : [];
  const fieldsV1 = whole
    .map((entry) => (spared.includes(entry) ? withoutMetadata(entry.fieldsV1) : (entry.fieldsV1 ?? {})))
    .reduce<FieldsV1>(union, {});
  const first = whole[0];
  return [
    {
      manager,
      operation: 'Apply',
      ...(first?.apiVersion === undefined ? {} : { apiVersion: first.apiVersion }),
      fieldsType: 'FieldsV1',
      fieldsV1,
    },
    ...spared.flatMap((entry) => {
      const metadata = entry.fieldsV1?.[METADATA];
      return metadata === undefined ? [] : [{ ...entry, fieldsV1: { [METADATA]: metadata } }];
    }),
    ...entries.filter((entry) => !whole.includes(entry)),
  ];
}

const METADATA = 'f:metadata';

const withoutMetadata = ({ [METADATA]: _, ...fields }: FieldsV1 = {}): FieldsV1 => fields;

function union(a: FieldsV1, b: FieldsV1): FieldsV1 {
  const merged: Record<string, FieldsV1> = { ...a };
  for (const [path, fields] of Object.entries(b)) merged[path] = union(merged[path] ?? {}, fields);
  return merged;
}
