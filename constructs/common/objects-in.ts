/** The objects of a construct tree at the time of the call. */
import { ApiObject } from 'cdk8s';
import type { IConstruct } from 'constructs';

/** Every ApiObject that is `scope` or below it. */
export const objectsIn = (scope: IConstruct): readonly ApiObject[] =>
  scope.node.findAll().filter((each) => ApiObject.isApiObject(each));
