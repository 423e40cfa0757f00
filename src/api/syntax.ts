/**
 * How names, label keys and label values may be spelled. Each function answers with what is wrong, in the words that
 * kube-apiserver uses, or with nothing.
 */
export function dnsLabelFaults(value: string): string[] {
  const faults = tooLong(value, 63);
  if (!DNS_LABEL.test(value)) {
    faults.push(
      DNS_SUBDOMAIN.test(value)
        ? 'must not contain dots'
        : `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character ${example(DNS_LABEL_TEXT, 'my-name', '123-abc')}`,
    );
  }
  return faults;
}

export function dnsSubdomainFaults(value: string): string[] {
  const faults = tooLong(value, 253);
  if (!DNS_SUBDOMAIN.test(value)) {
    faults.push(
      `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character ${example(DNS_SUBDOMAIN_TEXT, 'example.com')}`,
    );
  }
  return faults;
}

/** As `dnsLabelFaults`, but the first character must be a letter: Services and kinds. */
export function dns1035LabelFaults(value: string): string[] {
  const faults = tooLong(value, 63);
  if (!DNS_1035_LABEL.test(value)) {
    faults.push(
      `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character ${example(DNS_1035_LABEL_TEXT, 'my-name', 'abc-123')}`,
    );
  }
  return faults;
}

/** `name` or `prefix/name`: keys of labels and annotations, finalizers. */
export function qualifiedNameFaults(value: string): string[] {
  const parts = value.split('/', 3);
  const name = parts.at(-1) ?? '';
  if (parts.length > 2) {
    return [
      `a qualified name ${QUALIFIED_NAME_RULE} ${NAME_EXAMPLE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const faults: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0] ?? '';
    if (prefix === '') faults.push('prefix part must be non-empty');
    else faults.push(...dnsSubdomainFaults(prefix).map((fault) => `prefix part ${fault}`));
  }
  if (name === '') faults.push('name part must be non-empty');
  faults.push(...tooLong(name, 63).map((fault) => `name part ${fault}`));
  if (!QUALIFIED_NAME.test(name)) faults.push(`name part ${QUALIFIED_NAME_RULE} ${NAME_EXAMPLE}`);
  return faults;
}

export function labelValueFaults(value: string): string[] {
  const faults = tooLong(value, 63);
  if (value !== '' && !QUALIFIED_NAME.test(value)) {
    faults.push(
      `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character ${example(`(${QUALIFIED_NAME_TEXT})?`, 'MyValue', 'my_value', '12345')}`,
    );
  }
  return faults;
}

/** What no name may be, because it stands in a URL path. */
export function pathSegmentFaults(value: string): string[] {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  return ['/', '%'].filter((char) => value.includes(char)).map((char) => `may not contain '${char}'`);
}

const DNS_LABEL_TEXT = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const DNS_SUBDOMAIN_TEXT = `${DNS_LABEL_TEXT}(\\.${DNS_LABEL_TEXT})*`;
const DNS_1035_LABEL_TEXT = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED_NAME_TEXT = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
// The patterns shown to people backtrack on long input; these accept the same strings, and look at each character a
// bounded number of times.
const DNS_LABEL = /^[a-z0-9](?:-*[a-z0-9])*$/;
const DNS_SUBDOMAIN = /^[a-z0-9](?:-*[a-z0-9])*(?:\.[a-z0-9](?:-*[a-z0-9])*)*$/;
const DNS_1035_LABEL = /^[a-z](?:-*[a-z0-9])*$/;
const QUALIFIED_NAME = /^[A-Za-z0-9](?:[-_.]*[A-Za-z0-9])*$/;
const QUALIFIED_NAME_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

function example(pattern: string, ...samples: string[]): string {
  const shown = samples.map((sample) => `'${sample}', `).join(' or ');
  return `(e.g. ${shown}regex used for validation is '${pattern}')`;
}
const NAME_EXAMPLE = example(QUALIFIED_NAME_TEXT, 'MyName', 'my.name', '123-abc');

const tooLong = (value: string, limit: number): string[] =>
  Buffer.byteLength(value) > limit ? [`must be no more than ${limit} characters`] : [];
