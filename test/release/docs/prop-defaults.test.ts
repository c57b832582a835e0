/** The props of the operator, whose schema is generated from docstrings, have the defaults of the table of settings. */
import { expect, test } from 'vitest';
import { MIRROR_OPERATOR_PROPS } from '../../../constructs/operator/schema.gen.ts';
import { defaultText } from '../../../crds/operator-setting-names.ts';
import { propSettings } from '../../../crds/operator-settings.ts';
import { meaningAndDefault } from './cluster-file.ts';

/** Reports whether two texts give one default: a docstring may add a detail, as in `all, by a ClusterRole`. */
const agree = (docstring: string, setting: string): boolean =>
  docstring === setting || [', ', ': '].some((mark) => docstring.startsWith(`${setting}${mark}`));

/** Of credentialsSecrets, the prop names Secrets where the flag names a type: their defaults differ. */
const compared = propSettings.filter(([name]) => name !== 'credentialsSecrets');

test.each(compared)('the docstring of %s has the default of its setting', (name, setting) => {
  const [, fallback = ''] = meaningAndDefault(MIRROR_OPERATOR_PROPS.properties[name].description);
  const expected = setting.propDefault ?? defaultText(setting);
  expect(agree(fallback, expected) ? expected : fallback).toBe(expected);
});
