import { decodedText } from '../../catalogue/products/csv-file.ts';
import { insertImport } from '../../catalogue/products/import-queries.ts';
import { ArchiveProblem, filesIn, type ArchiveFile } from '../../catalogue/products/picture-archive.ts';
import {
  countSentPictures,
  deleteSentPictures,
  hasRoom,
  saveSentPicture,
  sentName,
} from '../../catalogue/products/sent-pictures.ts';
import type { Transaction } from '../../db/database.ts';
import { badRequest } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { buttonForm } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { newImport } from './new-import.ts';
import { Redirect } from '../../http/page-kit.ts';

export const ARCHIVE_LIMIT = 64 * 1_048_576;

export function archivePages(pages: ShopPages): void {
  pages.post('/products/import/pictures/delete', 'products_write', async (visit) => {
    await visit.db.transaction((tx) => deleteSentPictures(tx, visit.shopId));
    return new Redirect(adminPath(visit, '/products/import'), visit.messages.import.picturesRemoved);
  });
}

/**
 * Stores the pictures of an archive for the product files that name them. A table among them is treated as if it had
 * been sent separately.
 */
export async function takeArchive(visit: ShopVisit, path: string): Promise<Redirect> {
  const { db, shopId, user } = visit;
  const messages = visit.messages.import;
  try {
    return await db.transaction(async (tx) => {
      const { count, table } = await keepFiles(tx, visit, path);
      if (count === 0 && !table) throw badRequest(messages.emptyArchive);
      if (!table) return new Redirect(adminPath(visit, '/products/import'), messages.picturesKept({ count }));
      const given = await newImport(visit, table.name, await decodedText(table.bytes));
      const importId = await insertImport(tx, shopId, { ...given, author: user.email });
      return new Redirect(adminPath(visit, `/products/import/${importId}`), messages.picturesKept({ count }));
    });
  } catch (error) {
    if (!(error instanceof ArchiveProblem)) throw error;
    throw badRequest(messages.unreadable({ reason: error.message }));
  }
}

async function keepFiles(tx: Transaction, { shopId, messages }: ShopVisit, path: string) {
  const names = new Set<string>();
  let bytes = 0;
  let table: ArchiveFile | undefined;
  for await (const file of filesIn(path)) {
    if (file.kind === 'table') {
      if (table) throw badRequest(messages.import.twoTables);
      table = file;
      continue;
    }
    const name = sentName(file.name);
    if (names.has(name)) throw badRequest(messages.import.pictureTwice({ name: file.name }));
    names.add(name);
    bytes += file.bytes.length;
    if (!hasRoom({ count: names.size, bytes })) throw badRequest(messages.import.picturesFull);
    await saveSentPicture(tx, shopId, name, file.bytes);
  }
  if (!hasRoom(await countSentPictures(tx, shopId))) throw badRequest(messages.import.picturesFull);
  return { count: names.size, table };
}

/** The pictures not yet named by a file. */
export async function waitingPictures(visit: ShopVisit): Promise<Markup | false> {
  const messages = visit.messages.import;
  const { count, bytes } = await countSentPictures(visit.db, visit.shopId);
  if (count === 0) return false;
  const megabytes = Math.max(1, Math.round(bytes / 1_048_576));
  return html`<section class="card">
    <p>${messages.picturesWait({ count, megabytes })}</p>
    ${buttonForm({ action: adminPath(visit, '/products/import/pictures/delete'), text: messages.removePictures })}
  </section>`;
}
