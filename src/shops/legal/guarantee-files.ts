import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../../config.ts';
import { toAsset, type Asset } from '../../http/assets.ts';
import { languageTag } from '../../http/locale.ts';
import { EU_LANGUAGES } from './guarantee-notice.ts';

/** The official notice on the legal guarantee in one language, as the operator has placed it. */
export interface GuaranteeFile extends Asset {
  type: 'image/svg+xml' | 'image/png';
  language: string;
  /** `de.svg` */
  name: string;
}

/** By language. */
export type GuaranteeFiles = ReadonlyMap<string, GuaranteeFile>;

/** The official files are far smaller. */
const MAX_BYTES = 2_000_000;
const FILE_NAME = /^([a-z]{2})\.(svg|png)$/;

function guaranteeFolder({ LEGAL_NOTICE_DIR, KONTOR_DATA }: GuaranteeConfig): string {
  return path.resolve(LEGAL_NOTICE_DIR ?? path.join(KONTOR_DATA, 'legal-guarantee'));
}

type GuaranteeConfig = Pick<Config, 'LEGAL_NOTICE_DIR' | 'KONTOR_DATA'>;

/** By folder: pages and emails need the files all the time, and reading them would keep other requests waiting. */
const known = new Map<string, GuaranteeFiles>();

/**
 * `de.svg`, `fr.png` and so on, read once: a new file counts after a restart. The notice must be shown as the
 * Commission has designed it, so the files are sent as they are. A missing folder has none; other files in it are left
 * alone.
 */
export function guaranteeFiles(config: GuaranteeConfig): GuaranteeFiles {
  const folder = guaranteeFolder(config);
  let files = known.get(folder);
  if (!files) known.set(folder, (files = readFiles(folder)));
  return files;
}

function readFiles(folder: string): GuaranteeFiles {
  const files = new Map<string, GuaranteeFile>();
  for (const name of namesIn(folder)) {
    const [, language = '', extension] = FILE_NAME.exec(name) ?? [];
    if (!EU_LANGUAGES.includes(language) || files.has(language)) continue;
    const file = path.join(folder, name);
    const { size } = statSync(file);
    if (size > MAX_BYTES) throw new Error(`${file} is larger than ${MAX_BYTES} bytes`);
    const isVector = extension === 'svg';
    const asset = toAsset(`legal-guarantee-${language}`, isVector ? 'svg' : 'png', readFileSync(file));
    files.set(language, { ...asset, type: isVector ? 'image/svg+xml' : 'image/png', language, name });
  }
  return files;
}

/** In this order, a vector graphic comes before a picture of the same language. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted().toReversed();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

export function guaranteeFileIn(files: GuaranteeFiles, locale: string): GuaranteeFile | undefined {
  return files.get(languageTag(locale).slice(0, 2));
}
