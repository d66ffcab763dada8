import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { backupShop } from '../src/commands/backup/backup.ts';
import { checkBackup } from '../src/platform/backup/manifest.ts';
import { restoreShopFile } from '../src/commands/backup/restore.ts';
import type { Restored } from '../src/imports/backup/restore.ts';
import { findShopTables } from '../src/platform/backup/tables.ts';
import { installationKey } from '../src/platform/sealing.ts';
import { OPERATIONS, validCall, type Shop } from './operations.ts';
import type { Request } from './reads.ts';
import { readPage } from './storefront.ts';
import type { CallOptions, Service } from './service.ts';

/** A shop is held against what a backup made of it: everything that clients and visitors can see. */

/** The path of the backup, in the data folder of the service. */
export async function givenBackup({ db, config }: Service, shopId: string): Promise<string> {
  const file = path.join(config.KONTOR_DATA, `${shopId}.backup`);
  await backupShop(db, config, { shopId, file });
  return file;
}

export async function restored(
  { app, db, config }: Service,
  file: string,
  { as, former }: { as?: string; former?: Buffer } = {},
): Promise<Restored> {
  const keys = { own: await installationKey(config), former };
  const made = await restoreShopFile(db, config, await checkBackup(file), { as, keys });
  await app.shopHosts.refresh();
  return made;
}

/** The audit log gets an entry for the restore, and one for each export; the emails of a sandbox stay there. */
const OF_ONE_SHOP = ['GET /manage/audit', 'GET /manage/sandbox-emails'];

/** A request of every operation that reads, with what it needs made in the shop. */
export async function readingsOf(shop: Shop): Promise<Request[]> {
  const requests: Request[] = [];
  for (const operation of OPERATIONS) {
    if (operation.method !== 'GET' || operation.momentary || OF_ONE_SHOP.includes(operation.name)) continue;
    const { path: place, search, options } = await validCall(operation, shop);
    const { cartToken } = options;
    requests.push({ method: 'GET', path: place + search, ...(cartToken !== undefined && { cartToken }) });
  }
  return requests;
}

/** What is answered, by request. The id of the shop is replaced, so that shops of different ids can be compared. */
async function answersOf(
  { service, shopId, token }: Shop,
  requests: readonly Request[],
): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const { method, path: place, body, cartToken } of requests) {
    const options: CallOptions = {
      token,
      ...(body !== undefined && { body }),
      ...(cartToken !== undefined && { cartToken }),
    };
    const { status, text } = await service.call(method, place.replace('{shop}', shopId), options);
    // An export shows the entry of the audit log that it leaves itself.
    // The id of a delivery is made from the id of the shop.
    const shown = text.replaceAll(/"(entryId|deliveryId|messageId)":"[^"]*"/g, '"$1":"{id}"');
    answers[`${method} ${place}`] = { status, text: withoutId(shown, shopId) };
  }
  return answers;
}

/** The same requests for a shop of any id. */
export function forAnyShop(requests: readonly Request[], shopId: string): Request[] {
  return requests.map((request) => ({ ...request, path: request.path.replace(shopId, '{shop}') }));
}

/** The start page of the shop, and every page that it links. */
async function pagesOf({ service, shopId }: Shop): Promise<Record<string, unknown>> {
  const pages: Record<string, unknown> = {};
  const { text: start } = await readPage(service, `/${shopId}`);
  const links = new Set([...start.matchAll(/href="\/shop\/[^/"?]+(\/[^"#]*)"/g)].map(([, link]) => link!));
  for (const link of ['', ...links]) {
    const { status, text } = await readPage(service, `/${shopId}${link}`);
    pages[link] = { status, text: withoutId(text, shopId) };
  }
  return pages;
}

function withoutId(text: string, shopId: string): string {
  return text.replaceAll(shopId, '{shop}').replaceAll(shopId.toLowerCase(), '{shop}');
}

/** The bytes of all media files that these texts name. */
async function mediaIn(
  { service, shopId }: Shop,
  texts: Record<string, unknown>,
): Promise<Record<string, { status: number; bytes: string }>> {
  const named = JSON.stringify(texts).matchAll(/\/media\/\{shop\}\/[\w/.-]+/g);
  const files: Record<string, { status: number; bytes: string }> = {};
  for (const place of new Set([...named].map(([found]) => found))) {
    const { statusCode, rawPayload } = await service.app.inject(place.replace('{shop}', shopId));
    files[place] = { status: statusCode, bytes: rawPayload.toString('base64') };
  }
  return files;
}

/** All rows of a shop as texts, by table, without the numbers that a restore moves on. */
export async function rowsOf({ db }: Service, shopId: string): Promise<Record<string, unknown[]>> {
  const rows: Record<string, unknown[]> = {};
  for (const { name, columns } of await findShopTables(db)) {
    // When a token was last used is written a moment after the request, so that it may come after the backup. Another
    // installation seals the secrets of webhooks and payment methods with its own key.
    const ignored = [
      'version',
      'settings_version',
      'last_used_at',
      ...(name === 'webhook' ? ['secret_sealed'] : []),
      ...(name === 'payment_account' ? ['fields_sealed'] : []),
    ];
    const texts = columns
      .filter((column) => !ignored.includes(column.name))
      .map((column) => `"${column.name}"::text`);
    const { rows: found } = await db.pool.query(
      `select ${texts.join(', ')} from ${name} where shop_id = $1 order by (${name}.*)::text`,
      [shopId],
    );
    rows[name] = found;
  }
  return rows;
}

/** Everything that clients and visitors see of a shop. */
export interface Appearance {
  answers: Record<string, unknown>;
  pages: Record<string, unknown>;
  media: Record<string, { status: number; bytes: string }>;
}

export async function appearanceOf(shop: Shop, requests: readonly Request[]): Promise<Appearance> {
  const answers = await answersOf(shop, requests);
  const pages = await pagesOf(shop);
  return { answers, pages, media: await mediaIn(shop, { ...answers, ...pages }) };
}

/** What one shop shows and the other does not, or shows differently. */
export function differences(
  found: Appearance,
  expected: Appearance,
): { name: string; expected: unknown; found: unknown }[] {
  return (['answers', 'pages', 'media'] as const).flatMap((part) => {
    const names = new Set([...Object.keys(expected[part]), ...Object.keys(found[part])]);
    return [...names].flatMap((name) => {
      const [one, other] = [expected[part][name], found[part][name]];
      return isDeepStrictEqual(one, other) ? [] : [{ name, expected: one, found: other }];
    });
  });
}
