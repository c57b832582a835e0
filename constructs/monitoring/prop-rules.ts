/**
 * What the constructs for Prometheus and Grafana have in common: the API that the Prometheus Operator reads, and the
 * rules for the props that its objects are found and timed by.
 */
import { type FieldError, fieldError, fieldPath } from '../../crds/field-error.ts';
import { isLabelKey, isLabelValue } from '../../crds/names.ts';
import { goDuration, type TimeSpan } from '../common/time-span.ts';

/** Of PrometheusRule and ServiceMonitor. */
export const MONITORING_API = 'monitoring.coreos.com/v1';

/** Units from long to short, each at most once, as both the CRDs and Prometheus itself have it. */
const PROMETHEUS_DURATION = /^(?=\d)(\d+y)?(\d+w)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?$/;

/** A duration as Prometheus writes it: other than Go's, it has days and no fractions. */
export const prometheusDuration = (path: string, value: TimeSpan | undefined): FieldError | undefined =>
  value === undefined || PROMETHEUS_DURATION.test(goDuration(value))
    ? undefined
    : fieldError(
        path,
        typeof value === 'number' ? value : goDuration(value),
        'must be a valid Prometheus duration',
        'whole numbers with units, as in "90s" or "1h30m"',
      );

/** Key and value of a label. */
export const labelErrors = (path: string, key: string, value: string): readonly (FieldError | undefined)[] => [
  isLabelKey(key) ? undefined : fieldError(path, key, 'must be a valid label key'),
  isLabelValue(value)
    ? undefined
    : fieldError(path, value, 'must be a valid label value', 'letters, digits, -, _ and ., at most 63 characters'),
];

/** Labels that objects are selected by. */
export const labelsErrors = (
  path: string,
  all: Readonly<Record<string, string>> = {},
): readonly (FieldError | undefined)[] =>
  Object.entries(all).flatMap(([key, value]) => labelErrors(fieldPath(path, key), key, value));
