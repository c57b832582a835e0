/** YAML as people write it: one document, whose errors are said by line and reason without quoting it. */
import { load } from 'js-yaml';
import { readable } from './parse-error.ts';

/** @throws Error that says on which line the text is no YAML; duplicate keys and aliases are none either */
export const parseYaml = (text: string): unknown => {
  try {
    // An alias makes a small text a large document.
    return load(text, { maxAliases: 0 });
  } catch (error) {
    throw new Error(readable(error), { cause: error });
  }
};
