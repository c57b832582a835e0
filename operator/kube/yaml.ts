/** YAML as people write it: one document, whose errors are said by line and reason without quoting it. */
import { loadYaml } from '@kubernetes/client-node';
import { readable } from './unreadable.ts';

/** @throws Error that says on which line the text is no YAML; duplicate keys and aliases are none either */
export const parseYaml = (text: string): unknown => {
  try {
    return loadYaml<unknown>(text, { maxAliases: 0 });
  } catch (error) {
    throw new Error(readable(error), { cause: error });
  }
};
