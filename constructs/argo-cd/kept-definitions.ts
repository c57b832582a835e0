/**
 * CustomResourceDefinitions that Argo CD never prunes, since all objects of their kinds go with them: the Links,
 * ServiceFailovers, ServiceExports and ServiceImports that users have made. What is not in Git any more still goes when
 * the Application of its cluster is deleted.
 */
import type { IConstruct } from 'constructs';
import { ARGO_CD_KEEPS } from '../../crds/wire.ts';
import { objectsIn } from '../common/objects-in.ts';
import { annotationOf } from './sync-waves.ts';

/** Annotates every CustomResourceDefinition below `scope`, also those that are added later. Annotations of its own hold. */
export const keepDefinitions = (scope: IConstruct): void => {
  scope.node.addValidation({
    validate: () => {
      for (const { kind, metadata } of objectsIn(scope)) {
        if (kind !== 'CustomResourceDefinition') continue;
        for (const [key, value] of Object.entries(ARGO_CD_KEEPS)) {
          if (annotationOf(metadata, key) === undefined) metadata.addAnnotation(key, value);
        }
      }
      return [];
    },
  });
};
