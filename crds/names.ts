/**
 * Kubernetes' rules for names, label keys and label values, as its API server applies them.
 * There is one copy of each rule, so that a current API server refuses nothing that passes here.
 */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const DNS_LABEL = new RegExp(`^${LABEL}$`);
const DNS_SUBDOMAIN = new RegExp(`^${LABEL}(\\.${LABEL})*$`);
const QUALIFIED_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

/** Most characters of a DNS label, a Service name, the name part of a label key, or a label value. */
export const LABEL_MAX_LENGTH = 63;

/** Most characters of a DNS subdomain: a Secret's name, the prefix of a label key. */
export const SUBDOMAIN_MAX_LENGTH = 253;

/** RFC 1123 label: a Namespace's name, a cluster's name. */
export const isDnsLabel = (text: string): boolean => text.length <= LABEL_MAX_LENGTH && DNS_LABEL.test(text);

/** RFC 1123 subdomain: labels joined by dots. */
export const isDnsSubdomain = (text: string): boolean =>
  text.length <= SUBDOMAIN_MAX_LENGTH && DNS_SUBDOMAIN.test(text);

/**
 * RFC 1123 label: a Service's name (KEP-5311). API servers before Kubernetes 1.36, and those without the feature gate
 * `RelaxedServiceNameValidation`, refuse one that begins with a digit.
 */
export const isServiceName = isDnsLabel;

/** Key of a label: a name, or `<DNS subdomain>/<name>`. */
export const isLabelKey = (text: string): boolean => {
  const slash = text.indexOf('/');
  const name = text.slice(slash + 1);
  return (
    (slash < 0 || isDnsSubdomain(text.slice(0, slash))) && name.length <= LABEL_MAX_LENGTH && QUALIFIED_PART.test(name)
  );
};

/** Key of an annotation: as of a label, but capitals are allowed anywhere. */
export const isAnnotationKey = (text: string): boolean => isLabelKey(text.toLowerCase());

/** Value of a label; the empty string is one. */
export const isLabelValue = (text: string): boolean =>
  text === '' || (text.length <= LABEL_MAX_LENGTH && QUALIFIED_PART.test(text));
