/**
 * An address in the form by which redirects are found: decoded, in lower case, without a slash at the end. Old links
 * come in many spellings, and all of them mean the same page.
 */
export interface AddressKey {
  path: string;
  /** `name=value`, sorted; without those that only count visitors. */
  parameters: readonly string[];
}

export const MAX_SOURCE_LENGTH = 1_000;
/** Characters of a key: an index entry takes at most some 2,700 bytes. */
const MAX_KEY_LENGTH = 600;
/** Parameters of a source: the combinations of a request that are looked up grow with it. */
export const MAX_SOURCE_PARAMETERS = 2;
/** Parameters of a request that are compared. */
export const MAX_COMPARED_PARAMETERS = 8;

/** Parameters of advertisements and statistics, and those with which pages of every shop are shown. */
const TRACKING =
  /^(?:utm_\w*|mtm_\w*|pk_\w*|gclid|gbraid|wbraid|fbclid|msclkid|dclid|yclid|mc_cid|mc_eid|_ga|_gl|srsltid|locale|currency)$/;

const CONTROL = /\p{Cc}/u;

const WHOLE_ADDRESS = /^(?:https?:)?\/\/[^/?#]*/i;

/** An address with its percent signs decoded, in the letters in which it was written. */
export function decodedAddress(address: string): AddressKey {
  const [beforeHash = ''] = address.trim().replace(WHOLE_ADDRESS, '').split('#', 1);
  const [rawPath = '', ...rest] = beforeHash.split('?');
  const path = decoded(rawPath)
    .normalize('NFC')
    .replaceAll(/\/{2,}/g, '/')
    .replace(/(?<=.)\/$/, '');
  // An old shop may have had its pages below a query only: `?p=12`.
  const absolute = path.startsWith('/') ? path : `/${path}`;
  const parameters = [...new URLSearchParams(rest.join('?'))]
    .filter(([name]) => !TRACKING.test(name.toLowerCase()))
    .map(([name, value]) => `${name}=${value}`.normalize('NFC'));
  return { path: absolute.replaceAll('?', '%3f'), parameters: [...new Set(parameters)] };
}

/** undefined: the text can't be an address of a shop. The host of a whole address is left out. */
export function addressKey(address: string): AddressKey | undefined {
  const { path, parameters } = decodedAddress(address);
  const key = {
    path: path.toLowerCase(),
    parameters: [...new Set(parameters.map((one) => one.toLowerCase()))].toSorted(),
  };
  const text = keyText(key);
  return text.length > MAX_KEY_LENGTH || CONTROL.test(text) || !text.isWellFormed() ? undefined : key;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Windows-1252 in percent signs, from long ago: it is compared as it is.
    return text;
  }
}

export function keyText({ path, parameters }: AddressKey): string {
  return parameters.length === 0 ? path : `${path}?${parameters.join('&')}`;
}

/**
 * The sources that match a request, the most specific first: a source with parameters matches a request that has all
 * of them, and perhaps others.
 */
export function matchingKeys({ path, parameters }: AddressKey): string[] {
  const compared = parameters.slice(0, MAX_COMPARED_PARAMETERS);
  const pairs = compared.flatMap((first, index) =>
    compared.slice(index + 1).map((second) => keyText({ path, parameters: [first, second] })),
  );
  const singles = compared.map((one) => keyText({ path, parameters: [one] }));
  return [...pairs, ...singles, path];
}
