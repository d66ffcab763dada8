import { Refusal } from '../../http/errors.ts';

export type ImageKind = 'png' | 'jpeg' | 'gif' | 'ico';

const KINDS: Readonly<Record<string, ImageKind>> = {
  png: 'png',
  jpg: 'jpeg',
  jpeg: 'jpeg',
  gif: 'gif',
  ico: 'ico',
};

const MAX_LENGTHS = 120;
const NAME = /^(.+)\.([a-z]{3,4})$/i;

export interface ImageName {
  kind: ImageKind;
  /** The file name on disk and in addresses, with the suffix of the size: `lamp_xs.png`. */
  fileOf: (suffix: string) => string;
}

/**
 * Parses the name of an uploaded file. Its files get similar names, in characters that every disk and address
 * supports.
 */
export function imageName(name: string): ImageName {
  if (name.length > MAX_LENGTHS) throw new Refusal('IMAGE_NAME_TOO_LONG', { limit: MAX_LENGTHS });
  if (/[\p{Cc}/\\]/u.test(name) || !name.isWellFormed()) {
    throw new Refusal('IMAGE_NAME_MALFORMED');
  }
  const [, base, extension] = NAME.exec(name) ?? [];
  const kind = KINDS[extension?.toLowerCase() ?? ''];
  if (base === undefined || extension === undefined || !kind) {
    throw new Refusal('IMAGE_KIND_UNKNOWN');
  }
  if (!/[\p{L}\p{N}]/u.test(base)) {
    throw new Refusal('IMAGE_NAME_EMPTY');
  }
  const safe = base
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[_-]+/, '')
    .slice(0, 90);
  return { kind, fileOf: (suffix) => `${safe || 'image'}${suffix}.${extension.toLowerCase()}` };
}
