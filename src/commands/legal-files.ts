import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Transaction } from '../db/database.ts';
import { messagesIn } from '../kernel/messages.ts';
import { isDraft } from '../shops/legal/draft.ts';
import { replaceLegalPage } from '../shops/legal/queries.ts';
import { MAX_LEGAL_TEXT_LENGTH, PAGES, type PageName } from '../shops/legal/schema.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { moveSettingsVersion } from '../shops/shop/queries.ts';
import { CommandProblem } from './problem.ts';
import { readText } from './read-file.ts';

/** A legal text of a folder; without a locale it is in the shop's default language. */
export interface LegalFile {
  file: string;
  page: PageName;
  locale: string | undefined;
  text: string;
}

const NAME = /^([a-z-]+)(?:\.([a-z]{2}_[A-Z]{2}))?\.html$/;

/** Reads `privacy-policy.html`, `privacy-policy.de_DE.html` and so on. Other files are refused: a typing mistake would leave a draft. */
export async function readLegalFolder(folder: string): Promise<LegalFile[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    throw new CommandProblem(`${folder} can't be read: ${(error as Error).message}`, { cause: error });
  }
  const files: LegalFile[] = [];
  for (const name of names.filter((one) => !one.startsWith('.')).toSorted()) {
    const file = path.join(folder, name);
    const [, stem, locale] = NAME.exec(name) ?? [];
    const page = PAGES.find((known) => known.page === stem)?.page;
    if (!page) {
      const known = PAGES.map((one) => `${one.page}.html`).join(', ');
      throw new CommandProblem(`${file} is no legal text. The names are ${known}.`);
    }
    const text = (await readText(file)).trim();
    if (text.length > MAX_LEGAL_TEXT_LENGTH) {
      throw new CommandProblem(`${file} has more than ${MAX_LEGAL_TEXT_LENGTH} characters.`);
    }
    files.push({ file, page, locale, text });
  }
  return files;
}

/** Replaces the texts of a shop, and says which. The names of the pages are the usual ones of the language. */
export async function applyLegalFiles(
  tx: Transaction,
  { shopId, locales, defaultLocale }: Settings,
  files: readonly LegalFile[],
): Promise<string[]> {
  const lines: string[] = [];
  for (const { file, page, locale = defaultLocale, text } of files) {
    if (!locales.includes(locale)) {
      throw new CommandProblem(`${file}: the shop does not have the language ${locale}.`);
    }
    const content = { name: messagesIn(locale).storefront.legal.names[page], description: text };
    await replaceLegalPage(tx, shopId, page, locale, content);
    lines.push(`~ legal text ${page} (${locale})${isDraft(content) ? ', still a draft' : ''}`);
  }
  if (lines.length > 0) await moveSettingsVersion(tx, shopId);
  return lines;
}
