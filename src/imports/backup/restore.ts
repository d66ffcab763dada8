import { randomInt } from 'node:crypto';
import type { Config } from '../../config.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { Refusal } from '../../http/errors.ts';
import { violatedConstraint } from '../../db/failure.ts';
import { readMigrations } from '../../db/migrate.ts';
import { catalogueSql, type Sql } from '../../db/sql.ts';
import { readDemoAccess } from '../../http/demo-access.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import { isMediaName, type MediaStorage } from '../../platform/media/storage.ts';
import { resealLicenceKeys } from '../../downloads/reseal.ts';
import { resealAccounts } from '../../orders/payments/accounts.ts';
import { restoreManifests } from '../../apps/manifest/restore.ts';
import { resealSecrets, resealWebhookSecrets, type SealingKeys } from '../../apps/apps.ts';
import { findSimilarShop, updateDeletion } from '../../shops/shop/queries.ts';
import { domainProblems } from '../../shops/settings/checks.ts';
import { domainOfService, refuseDomainsOfOthers, writeDomains } from '../../shops/settings/domains.ts';
import { problemLine, SettingsProblem } from '../../shops/settings/problem.ts';
import { selectSettings } from '../../shops/settings/settings.ts';
import { domainPolicy } from '../../shops/shop/domain-policy.ts';
import { setTextFormats, type NewChunk } from '../../platform/backup/content.ts';
import { BackupProblem, chunkName, readChunks, toSingleLine } from '../../platform/backup/file.ts';
import type { CheckedBackup } from '../../platform/backup/manifest.ts';
import { unpackRows, UnpackProblem } from '../../platform/backup/unpack-rows.ts';
import { KEPT_AS_THEY_ARE, putBack, takeOutShop } from './replace.ts';
import { openOlderSchema } from './older-schema.ts';
import { findShopTables, quoted, type TableColumn, type ShopTable } from '../../platform/backup/tables.ts';

/** Why a shop is not restored, although the backup is whole; `values` belong to the words for people. */
export class RestoreProblem extends Error {
  override name = 'RestoreProblem';
  readonly reason: RestoreReason;
  readonly values: Readonly<Record<string, string>>;

  constructor(
    reason: RestoreReason,
    message: string,
    values: Readonly<Record<string, string>> = {},
    cause?: unknown,
  ) {
    super(message, { cause });
    this.reason = reason;
    this.values = values;
  }
}

export type RestoreReason =
  | 'ID_TAKEN'
  | 'ID_SIMILAR'
  | 'ID_MALFORMED'
  | 'NEWER_VERSION'
  | 'DOMAIN_IMPOSSIBLE'
  | 'DOMAIN_TAKEN'
  | 'FILES_IN_THE_WAY';

export interface RestoreOptions {
  /** The id of the restored shop; absent: the original one. */
  as?: string | undefined;
  keys: SealingKeys;
  /** Rows and files, and their bytes in the backup. */
  onProgress?: (entries: number, bytes: number) => void;
  /** Before the first file is written; the row of the shop reserves its id by then. */
  beforeFiles?: () => Promise<void>;
  /** Files below this id were left by an attempt that ended with its process, and are removed. */
  ownsFiles?: boolean;
  /** The shop is there, and the backup of itself takes its place. */
  replaces?: boolean;
  /** The last statements of the transaction, such as an entry of the audit log. */
  finish?: (tx: Transaction) => Promise<void>;
}

export interface Restored {
  shopId: string;
  files: number;
  /** Names of the apps whose secrets can't be opened by any key. */
  appsWithoutSecret: string[];
  /** The number of webhooks that were deactivated, because no key opens their secrets. */
  webhooksWithoutSecret: number;
  /** The number of payment methods that have lost their keys, because no key opens them. */
  paymentsWithoutKeys: number;
  /** The number of licence keys that no key opens. */
  unreadableKeys: number;
}

/**
 * Data that a copy under another id does not get: tokens, because access to one shop does not imply access to the
 * other, domains, because a host belongs to one shop, webhooks, because their receivers would take the events of the
 * copy for those of the shop, licence keys, because each is given away once, rules, because they send emails and call addresses, manifests of apps with what was typed
 * into their fields, assistants that people have connected, and the keys and payments at providers, because both shops would request, cancel and refund the
 * same money.
 */
const OF_ONE_SHOP_ONLY: readonly string[] = [
  'token',
  'app_manifest',
  'connected_assistant',
  'shop_domain',
  'pending_domain',
  'webhook',
  'webhook_delivery',
  'licence_key',
  'rule',
  'rule_run',
  'payment_account',
  'payment_attempt',
  'app_payment',
  'demo_payment',
];

/**
 * Restores a shop from a backup, in one transaction. The first row inserted is the shop's own, so that no other shop
 * of this id can be restored or created meanwhile; media files follow the rows, and are removed on any failure.
 */
export async function restoreShop(
  db: Database,
  config: Config,
  backup: CheckedBackup,
  options: RestoreOptions,
): Promise<Restored> {
  const shopId = options.as ?? backup.manifest.shopId;
  const isOlder = await isOfOlderSchema(backup);
  const { replaces = false } = options;
  if (replaces && backup.manifest.shopId !== shopId) {
    throw new BackupProblem(`${backup.path} is of another shop.`);
  }
  try {
    return await db.transaction(async (tx) => {
      const source = { ...backup, isOlder, chunks: readChunks(backup.path) };
      const replaced = replaces ? await takeOutShop(tx, shopId) : undefined;
      if (replaces && !replaced) throw new Refusal('SHOP_NOT_FOUND');
      return insertRestoredShop(tx, config, source, shopId, {
        ...options,
        hasFiles: replaces,
        finish: async () => {
          await claimDomains(tx, config, shopId, replaced?.domains ?? []);
          if (replaced) await putBack(tx, shopId, replaced);
          await options.finish?.(tx);
        },
      });
    });
  } catch (error) {
    throw explainedFailure(error, shopId, `${backup.path} cannot be restored`);
  }
}

/** The maximum size of a backup's rows in bytes: more than those of any shop, and less than a bomb. */
const MAX_UNPACKED_BYTES = { always: 1_073_741_824, perByteOfFile: 100 };

/** The rows and files of a shop, from a backup or straight from the shop. */
export interface ShopSource extends CheckedBackup {
  /** The schema of its rows is an earlier one. */
  isOlder: boolean;
  chunks: AsyncIterable<NewChunk & { bytes?: number }>;
}

/** Inserts them as a shop of this id. `path` begins the lines about faults. */
export async function insertRestoredShop(
  tx: Transaction,
  config: Config,
  source: ShopSource,
  shopId: string,
  {
    keys,
    finish,
    onProgress = () => {},
    beforeFiles,
    ownsFiles = false,
    hasFiles = false,
  }: Pick<RestoreOptions, 'keys' | 'onProgress' | 'beforeFiles' | 'ownsFiles'> & {
    /**
     * The files of the shop are there, and stay as they are: what the backup has beside them is added. Those that no row
     * names in the end are removed with other orphans.
     */
    hasFiles?: boolean;
    /** The last statements; when they fail, the files are removed. */
    finish: () => Promise<void>;
  },
): Promise<Restored> {
  const { manifest } = source;
  const similar = await findSimilarShop(tx, shopId);
  if (similar !== undefined) {
    throw new RestoreProblem(
      'ID_SIMILAR',
      `There is a shop ${similar}, and ids must differ in more than upper and lower case.`,
      { shopId, similar },
    );
  }
  const isCopy = shopId !== manifest.shopId;
  const storage = openMediaStorage(config);
  const present = hasFiles ? await namesOfFiles(storage, shopId) : undefined;
  let files = 0;
  let hasBegunFiles = false;
  try {
    await insertContent(tx, source, shopId, {
      isLeftOut: (table) =>
        (isCopy && OF_ONE_SHOP_ONLY.includes(table)) || (hasFiles && KEPT_AS_THEY_ARE.includes(table)),
      change: (lines) => (isCopy ? withNewPaths(lines, manifest.shopId, shopId) : lines),
      // Caches of a running service may hold versions of an earlier shop with the same ids, or of the shop this is a copy of.
      versionOffset: randomInt(2 ** 40),
      onProgress,
      writeFile: async (folder, file, bytes) => {
        if (!hasBegunFiles && !present) {
          if (ownsFiles) await storage.removeShop(shopId);
          else await refuseForeignFiles(storage, shopId);
          await beforeFiles?.();
        }
        hasBegunFiles = true;
        if (!present?.has(`${folder}/${file}`)) await storage.write(shopId, folder, [{ file, bytes }]);
        files++;
      },
    });
    const appsWithoutSecret = await resealSecrets(tx, shopId, keys);
    const webhooksWithoutSecret = await resealWebhookSecrets(tx, shopId, keys);
    await restoreManifests(tx, shopId, keys);
    const paymentsWithoutKeys = await resealAccounts(tx, shopId, keys);
    const unreadableKeys = await resealLicenceKeys(tx, shopId, keys);
    // The plan to delete it was about the shop that the rows are of.
    await updateDeletion(tx, shopId, null);
    await finish();
    return { shopId, files, appsWithoutSecret, webhooksWithoutSecret, paymentsWithoutKeys, unreadableKeys };
  } catch (error) {
    if (hasBegunFiles && !present) await storage.removeShop(shopId);
    throw error;
  }
}

async function namesOfFiles(storage: MediaStorage, shopId: string): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for await (const { folder, file } of storage.files(shopId)) names.add(`${folder}/${file}`);
  return names;
}

/** What becomes of the rows and files of a source. */
interface InsertOptions {
  isLeftOut: (table: string) => boolean;
  /** The rows of a table as they are inserted. */
  change: (lines: readonly string[], table: string) => readonly string[];
  /** Added to the versions by which caches are validated. */
  versionOffset: number;
  writeFile: (folder: string, file: string, content: Buffer) => Promise<void>;
  onProgress: (entries: number, bytes: number) => void;
}

/** Inserts the rows under this id, batch by batch, and hands over the files. */
export async function insertContent(
  tx: Transaction,
  source: ShopSource,
  shopId: string,
  { isLeftOut, change, versionOffset, writeFile, onProgress }: InsertOptions,
): Promise<void> {
  const { manifest, path } = source;
  await setTextFormats(tx);
  const older = source.isOlder ? await openOlderSchema(tx, manifest.schema) : undefined;
  const inserts = insertsFor(source, await findShopTables(tx));
  const limits = {
    bytesLeft: MAX_UNPACKED_BYTES.always + MAX_UNPACKED_BYTES.perByteOfFile * source.bytes,
  };
  let areRowsDone = false;
  for await (const { head, content, bytes = 0 } of source.chunks) {
    if (head.part === 'rows') {
      const insert = isLeftOut(head.table) ? undefined : inserts.get(head.table);
      if (insert) {
        const place = `${path} is damaged in ${chunkName(head)}`;
        try {
          for await (const lines of unpackRows(content, head.rows, limits)) {
            await tx.run(insert(shopId, change(lines, head.table), versionOffset));
          }
        } catch (error) {
          throw explainedFailure(error, shopId, place);
        }
      }
      onProgress(head.rows, bytes);
      continue;
    }
    // Before the first file is written, because only the row of the shop reserves its id.
    if (head.part !== 'manifest' && !areRowsDone) {
      await older?.moveRows();
      areRowsDone = true;
    }
    if (head.part === 'media') {
      if (!isMediaName({ shopId, folder: head.folder, file: head.file })) {
        throw new BackupProblem(`${path} is damaged in ${chunkName(head)}: no file of a shop has this name.`);
      }
      await writeFile(head.folder, head.file, content);
      onProgress(1, bytes);
    }
  }
}

/**
 * A backup may come from anywhere: its claims about proofs are ignored. Its domains must be proved here, unless only
 * programs on this machine can call, or those were proved for the shop that it replaces. None of them may be the
 * service's own.
 */
async function claimDomains(
  tx: Transaction,
  config: Config,
  shopId: string,
  proved: readonly string[],
): Promise<void> {
  const { domains } = (await selectSettings(tx, shopId))!;
  const policy = domainPolicy(config, await readDemoAccess(tx, config));
  const [problem] = [
    ...domainProblems(domains),
    ...domains.flatMap((host, index) => (policy.isOfService(host) ? [domainOfService(host, index)] : [])),
  ];
  if (problem) {
    const text = problemLine(problem);
    throw new RestoreProblem(
      'DOMAIN_IMPOSSIBLE',
      `The backup has a domain that no shop can have (${text}). Under another id it is restored without domains.`,
      { problem: text },
    );
  }
  await refuseDomainsOfOthers(tx, shopId, domains);
  await writeDomains(
    tx,
    shopId,
    domains,
    policy.needsProof ? domains.filter((host) => proved.includes(host)) : domains,
  );
}

/** false: it has the schema of this installation. A newer one is refused. */
export async function isOfOlderSchema({ path, manifest }: CheckedBackup): Promise<boolean> {
  const known = (await readMigrations()).map(({ name }) => name);
  if (!known.includes(manifest.schema)) {
    const kontor = toSingleLine(manifest.kontor);
    const schema = toSingleLine(manifest.schema);
    throw new RestoreProblem(
      'NEWER_VERSION',
      `${path} was made by Kontor ${kontor} with the schema ${schema}, which this version does not have. Update Kontor, then restore it.`,
    );
  }
  return manifest.schema !== known.at(-1);
}

/** Numbers that increase with every change of a row: caches are validated by them. */
const VERSIONS: readonly string[] = ['version', 'settings_version'];
/** Their versions are counted for people; what is cached of pages is validated by the version of the settings. */
const COUNTED_FOR_PEOPLE: readonly string[] = ['mailing', 'page', 'page_version', 'download_file'];

type InsertRows = (shopId: string, lines: readonly string[], versionOffset: number) => Sql;

/** By table. A table that this version leaves out of backups is left out here too. */
function insertsFor(
  { path, manifest: { tables } }: CheckedBackup,
  known: readonly ShopTable[],
): ReadonlyMap<string, InsertRows> {
  const columns = new Map(known.map((table) => [table.name, table.columns]));
  const kept = tables.filter(({ name }) => columns.has(name));
  for (const { name, columns: given } of kept) {
    const names = columns.get(name)!.map((column) => column.name);
    const wrong = given.find((column, place) => !names.includes(column) || given.indexOf(column) < place);
    if (wrong === undefined) continue;
    throw new BackupProblem(
      `${path} cannot be restored: its table ${name} has a column that does not belong there, ${toSingleLine(wrong)}.`,
    );
  }
  return new Map(kept.map((table) => [table.name, insertRows(table, columns.get(table.name)!)]));
}

/** Inserts rows from the texts of their columns; a column missing in the backup gets its default. */
function insertRows(
  { name, columns: given }: { name: string; columns: readonly string[] },
  columns: readonly TableColumn[],
): InsertRows {
  const types = new Map(columns.map((column) => [column.name, column.type]));
  const values = given.map((column, place) => {
    const value = `(entry ->> ${place})::${types.get(column)!}`;
    const isRaised = VERSIONS.includes(column) && !COUNTED_FOR_PEOPLE.includes(name);
    return isRaised ? `${value} + added.versions` : value;
  });
  const strings = [
    `insert into ${quoted(name)} (${['shop_id', ...given.map(quoted)].join(', ')}) select `,
    `::text, ${values.join(', ')} from (select `,
    '::bigint as versions) as added, jsonb_array_elements(',
    '::jsonb) as rows (entry)',
  ];
  return (shopId, lines, versionOffset) =>
    catalogueSql(strings, [shopId, versionOffset, `[${lines.join(',')}]`]);
}

/**
 * In texts of a copy, paths below the old id become paths below the new one: those of media files, and links in the
 * shop's own texts. A whole address (https://...) stays, as the merchant intended it.
 */
function withNewPaths(lines: readonly string[], from: string, to: string): string[] {
  const paths = new RegExp(String.raw`(?<=["'(]/(?:media|shop|rs/shops)/)${from}(?=[/?#"')\\])`, 'g');
  return lines.map((line) => line.replaceAll(paths, to));
}

/** A restore that fails removes all files of the shop, so there must be none before. */
async function refuseForeignFiles(storage: MediaStorage, shopId: string): Promise<void> {
  for await (const { folder } of storage.files(shopId)) {
    throw new RestoreProblem(
      'FILES_IN_THE_WAY',
      `There are media files of a shop ${shopId}, which this database does not have (${shopId}/${folder}). Move them away, or restore under another id.`,
      { shopId, folder },
    );
  }
}

/** `problem` starts the line about a fault of the backup, not of the installation. */
export function explainedFailure(error: unknown, shopId: string, problem: string): unknown {
  if (error instanceof UnpackProblem) {
    return new BackupProblem(`${problem}: ${error.message}.`, { cause: error });
  }
  const constraint = violatedConstraint(error);
  if (constraint === 'shop_pkey') {
    return new RestoreProblem('ID_TAKEN', `There is a shop ${shopId} already.`, { shopId }, error);
  }
  if (constraint === 'shop_id_form') {
    return new RestoreProblem(
      'ID_MALFORMED',
      `${JSON.stringify(shopId)} cannot be the id of a shop: use 1 to 63 letters, digits, - or _.`,
      {},
      error,
    );
  }
  if (constraint === 'shop_domain_pkey' || error instanceof SettingsProblem) {
    return new RestoreProblem(
      'DOMAIN_TAKEN',
      `Another shop has a domain of ${shopId}. Take it out of the settings of that shop, or restore under another id, without domains.`,
      { shopId },
      error,
    );
  }
  if (isAboutContent(error)) {
    return new BackupProblem(`${problem}: ${toSingleLine(error.message)}`, { cause: error });
  }
  return error;
}

/** The database refuses values of rows: the classes of codes for wrong, missing, repeated and too large ones. */
function isAboutContent(error: unknown): error is Error {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^(?:21|22|23|54)/.test(code);
}
