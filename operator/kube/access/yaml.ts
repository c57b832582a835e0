/** YAML as people write it: one document, whose errors name the line and the reason without quoting the text. */
import { load } from 'js-yaml';
import { parseErrorText } from './parse-error-text.ts';

/** @throws Error that says on which line the text is not valid YAML; duplicate keys and aliases are not valid either */
export const parseYaml = (text: string): unknown => {
  try {
    // An alias makes a small text a large document.
    return load(text, { maxAliases: 0 });
  } catch (error) {
    throw new Error(parseErrorText(error), { cause: error });
  }
};
