/**
 * What the constructs for Prometheus and Grafana have in common: the API that the Prometheus Operator reads, and the
 * rules for the props that its objects are found and timed by.
 */
import { type FieldError, fieldError } from '../../crds/field-error.ts';
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
