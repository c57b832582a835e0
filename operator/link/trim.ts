/** Reduces Links, and the Secrets that hold their credentials, to the fields that are read. */
import { isDeepStrictEqual } from 'node:util';
import { Annotation, OUR_MANAGERS } from '../../crds/wire.ts';
import { keeperOf, type KeptSecret } from '../kube/keeper.ts';
import type { Secret } from '../kube/objects.ts';
import type { LinkObject } from './status/writer.ts';

/**
 * Reports whether two versions of a Link are equal in everything that a session depends on. The specs are compared too,
 * because one generation can stand for two specs after a restore from a backup.
 */
export const isSameLink = (before: LinkObject | undefined, after: LinkObject | undefined): boolean =>
  before?.metadata.uid === after?.metadata.uid &&
  before?.metadata.generation === after?.metadata.generation &&
  isDeepStrictEqual(before?.spec, after?.spec) &&
  READ_ANNOTATIONS.every((name) => before?.metadata.annotations?.[name] === after?.metadata.annotations?.[name]);

/** Annotations of a Link that a session depends on. */
const READ_ANNOTATIONS = [Annotation.confirmPrune, Annotation.suspended];

export const trimLink = (object: LinkObject): LinkObject => {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, annotations } = object.metadata;
  return {
    ...object,
    metadata: { name, namespace, uid, resourceVersion, generation, creationTimestamp, annotations },
  } as LinkObject;
};

export const trimSecret = (object: Secret): KeptSecret => {
  // `keeper` says who manages the Secret. The annotations that show this are dropped, because one of them might hold a
  // copy of the data.
  const keeper = keeperOf(object, OUR_MANAGERS);
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const metadata = { name, namespace, uid, resourceVersion };
  return { metadata, type: object.type, data: object.data, keeper } as KeptSecret;
};
