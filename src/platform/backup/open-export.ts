import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Config } from '../../config.ts';
import type { Transaction } from '../../db/database.ts';
import { catalogueSql, sql, type Sql } from '../../db/sql.ts';
import { openMediaStorage } from '../media/open-storage.ts';
import { packageVersion, setTextFormats } from './content.ts';
import { findShopTables, quoted, type ShopTable } from './tables.ts';

/** Tables that the open export leaves out beside those that a backup leaves out, and why. */
export const NOT_OPEN: Readonly<Record<string, string>> = {
  account_passkey: 'A passkey works on the domain of this shop only.',
  category_listing: 'It is made from the products and categories.',
  demo_payment: 'Payments of the demonstration, which nobody has made.',
  import_record: 'It says what came from which shop, in ids of this installation.',
  listing: 'It is made from the products.',
  listing_rebuild: 'The state of work of this installation.',
  listing_size: 'It is counted from the products.',
  listing_upgrade: 'The state of work of this installation.',
  listing_word: 'It is made from the products.',
  newsletter_request: 'Nobody has confirmed it, so it is no consent.',
  order_day: 'It is counted from the orders.',
  payment_account: 'Keys of payment providers are secrets.',
  pending_domain: 'Nobody has proved it.',
  product_rating: 'It is counted from the reviews.',
  review_objection: 'Only hashes of addresses, which mean nothing elsewhere.',
  subcategory_listing: 'It is made from the products and categories.',
  token: 'Access tokens are secrets.',
  webhook_delivery: 'Calls are recorded by the installation that made them.',
  wish: 'A browser is known by a secret that it keeps, and by no name.',
};

/** Columns that the open export leaves out, and why. */
export const NOT_OPEN_COLUMNS: Readonly<Record<string, string>> = {
  'app.secret_hash': 'a secret',
  'app.secret_sealed': 'a secret',
  'app_manifest.icon': 'is read again from the app',
  'app_manifest.secrets_sealed': 'a secret',
  'assistant_session.holder': 'the state of work of this installation',
  'assistant_session.leased_until': 'the state of work of this installation',
  'cart.token_hash': 'a secret',
  'customer_order.cart_token_hash': 'a secret',
  'gift_card.code_hash': 'a secret: who knows the code has the money',
  'payment_attempt.redirect_to': 'a secret: who knows the address can pay',
  'payment_attempt.token_sealed': 'a secret: who has the token can charge the buyer',
  'shop.preview_seed': 'a secret: the link of the preview is made from it',
  'rule.holder': 'the state of work of this installation',
  'rule.leased_until': 'the state of work of this installation',
  'webhook.secret_sealed': 'a secret',
  'webhook.former_secret_sealed': 'a secret',
  'webhook.former_secret_until': 'belongs to a secret',
  'webhook.client_secret_sealed': 'a secret',
  'webhook.lease_id': 'the state of work of this installation',
  'webhook.leased_until': 'the state of work of this installation',
};

/** Columns with whole files, which are written as files named by the key of their row. */
export const FILE_COLUMNS: Readonly<Record<string, string>> = {
  'order_document.pdf': 'pdf',
  'order_document.xml': 'xml',
};

export interface OpenExport {
  tables: { name: string; rows: number }[];
  documents: number;
  pictures: number;
}

/** The folder is not empty, so something would be mixed. */
export class FolderNotEmpty extends Error {
  override name = 'FolderNotEmpty';
}

/**
 * Writes a shop into a folder in formats that any program reads: JSON Lines, and files. The transaction must read one
 * snapshot (repeatable read). Rows are read in steps, so memory does not grow with the shop. undefined: there is no
 * such shop.
 */
export async function writeOpenExport(
  tx: Transaction,
  config: Config,
  { shopId, folder, onProgress }: { shopId: string; folder: string; onProgress: (entries: number) => void },
): Promise<OpenExport | undefined> {
  await setTextFormats(tx);
  if (!(await tx.one(sql`select shop_id from shop where shop_id = ${shopId}`))) return undefined;
  // Only the owner of the files reads them: they hold the data of customers.
  await mkdir(path.join(folder, 'data'), { recursive: true, mode: 0o700 });
  if (
    (await readdir(folder)).some((name) => name !== 'data') ||
    (await readdir(path.join(folder, 'data'))).length > 0
  )
    throw new FolderNotEmpty(`${folder} is not empty`);
  const tables = await findOpenTables(tx);
  const counted: OpenExport['tables'] = [];
  for (const table of tables) {
    counted.push({ name: table.name, rows: await writeRows(tx, shopId, table, folder, onProgress) });
  }
  const documents = await writeDocuments(tx, shopId, folder, onProgress);
  const pictures = await writePictures(config, shopId, folder, onProgress);
  const manifest = {
    format: 'kontor-open-export',
    version: 1,
    kontor: await packageVersion(),
    shopId,
    createdAt: tx.now.toISOString(),
    tables: tables.map(({ name, key, columns }, index) => ({
      name,
      file: `data/${name}.jsonl`,
      rows: counted[index]!.rows,
      key,
      columns,
    })),
    documents,
    pictures,
  };
  await writeFile(path.join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`, {
    mode: 0o600,
  });
  return { tables: counted, documents, pictures };
}

/** The tables of the merchant, without columns that are left out. */
export async function findOpenTables(tx: Transaction): Promise<ShopTable[]> {
  const tables = await findShopTables(tx);
  return tables
    .filter(({ name }) => !Object.hasOwn(NOT_OPEN, name))
    .map((table) => ({
      ...table,
      columns: table.columns.filter(({ name }) => {
        const column = `${table.name}.${name}`;
        return !Object.hasOwn(NOT_OPEN_COLUMNS, column) && !Object.hasOwn(FILE_COLUMNS, column);
      }),
    }));
}

const ROWS_AT_ONCE = 200;
const FETCH = catalogueSql([`fetch ${ROWS_AT_ONCE} from open_rows`]);

function declareRows(shopId: string, { name, columns, key }: ShopTable): Sql {
  const picked = columns.map((column) => `entry.${quoted(column.name)}`).join(', ');
  const order =
    key.length > 0 ? ` order by ${key.map((column) => `entry.${quoted(column)}`).join(', ')}` : '';
  return catalogueSql(
    [
      `declare open_rows no scroll cursor for select row_to_json(picked)::text as line
        from (select ${picked} from ${quoted(name)} as entry where entry.shop_id = `,
      `${order}) as picked`,
    ],
    [shopId],
  );
}

async function writeRows(
  tx: Transaction,
  shopId: string,
  table: ShopTable,
  folder: string,
  onProgress: (entries: number) => void,
): Promise<number> {
  const file = await open(path.join(folder, 'data', `${table.name}.jsonl`), 'wx', 0o600);
  let rows = 0;
  try {
    await tx.run(declareRows(shopId, table));
    for (;;) {
      const lines = await tx.many<{ line: string }>(FETCH);
      if (lines.length === 0) break;
      await file.write(lines.map(({ line }) => `${line}\n`).join(''));
      rows += lines.length;
      onProgress(lines.length);
    }
    await tx.run(sql`close open_rows`);
  } finally {
    await file.close();
  }
  return rows;
}

/** Invoices and the like, as they were sent. */
async function writeDocuments(
  tx: Transaction,
  shopId: string,
  folder: string,
  onProgress: (entries: number) => void,
): Promise<number> {
  let written = 0;
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const row = await tx.one<{ id: string; pdf: Buffer | null; xml: Buffer | null }>(sql`
      select document_id as id, pdf, xml from order_document
      where shop_id = ${shopId} and document_id > ${after} order by document_id limit 1`);
    if (!row) return written;
    after = row.id;
    const target = path.join(folder, 'documents');
    if (row.pdf ?? row.xml) await mkdir(target, { recursive: true, mode: 0o700 });
    for (const [ending, content] of [
      ['pdf', row.pdf],
      ['xml', row.xml],
    ] as const) {
      if (!content) continue;
      await writeFile(path.join(target, `${row.id}.${ending}`), content, { mode: 0o600 });
      written++;
      onProgress(1);
    }
  }
}

async function writePictures(
  config: Config,
  shopId: string,
  folder: string,
  onProgress: (entries: number) => void,
): Promise<number> {
  const storage = openMediaStorage(config);
  let pictures = 0;
  for await (const name of storage.files(shopId)) {
    const stream = await storage.read(name);
    // It was removed meanwhile.
    if (!stream) continue;
    const target = path.join(folder, 'pictures', path.basename(name.folder));
    await mkdir(target, { recursive: true, mode: 0o700 });
    await pipeline(stream, createWriteStream(path.join(target, path.basename(name.file)), { mode: 0o600 }));
    pictures++;
    onProgress(1);
  }
  return pictures;
}
