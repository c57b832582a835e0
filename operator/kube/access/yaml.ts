/** YAML as people write it, whose errors name the line and the reason without quoting the text. */
import { load, loadAll } from 'js-yaml';
import { parseErrorText } from './parse-error-text.ts';

/** An alias makes a small text a large document. */
const OPTIONS = { maxAliases: 0 };

/**
 * One document.
 * @throws Error that says on which line the text is not valid YAML; duplicate keys and aliases are not valid
 *   either
 */
export const parseYaml = (text: string): unknown => {
  try {
    return load(text, OPTIONS);
  } catch (error) {
    throw new Error(parseErrorText(error), { cause: error });
  }
};

/**
 * Every document of a text; of one that is empty, null.
 * @throws Error as {@link parseYaml}
 */
export const parseYamlAll = (text: string): readonly unknown[] => {
  try {
    return loadAll(text, OPTIONS);
  } catch (error) {
    throw new Error(parseErrorText(error), { cause: error });
  }
};
