/**
 * Kubernetes' rules for names, label keys and label values, as its API server applies them.
 * There is one copy of each rule, so that the API server refuses nothing that passes here.
 */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const DNS_LABEL = new RegExp(`^${LABEL}$`);
const DNS_SUBDOMAIN = new RegExp(`^${LABEL}(\\.${LABEL})*$`);
const SERVICE_NAME = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
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

/** RFC 1035 label: a Service's name, which may not start with a digit. */
export const isServiceName = (text: string): boolean => text.length <= LABEL_MAX_LENGTH && SERVICE_NAME.test(text);

/** Key of a label: a name, or `<DNS subdomain>/<name>`. */
export const isLabelKey = (text: string): boolean => {
  const slash = text.indexOf('/');
  const name = text.slice(slash + 1);
  return (
    (slash < 0 || isDnsSubdomain(text.slice(0, slash))) && name.length <= LABEL_MAX_LENGTH && QUALIFIED_PART.test(name)
  );
};

/** Value of a label; the empty string is one. */
export const isLabelValue = (text: string): boolean =>
  text === '' || (text.length <= LABEL_MAX_LENGTH && QUALIFIED_PART.test(text));
