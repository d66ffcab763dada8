import { readFile } from 'node:fs/promises';
import { Type, type Static } from 'typebox';
import type { Config } from '../../config.ts';
import type { Queries, Transaction } from '../../db/database.ts';
import { recordEntry } from '../../http/audit-entry.ts';
import { backupsUnavailable, invalid, notFound, Refusal } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Id, Nullable, Timestamp } from '../../http/schemas.ts';
import type { Upload } from '../../http/upload.ts';
import { isId, newId } from '../../kernel/ids.ts';
import { StoreProblem, type BackupStore } from '../../platform/backup/store.ts';
import { isEmailAddress, MAX_EMAIL_ADDRESS_LENGTH } from '../../platform/email/address.ts';
import { findShop, findSimilarShop, updateSuspension } from '../../shops/shop/queries.ts';
import { causeOf } from '../log.ts';
import { NewShopId, OfShop, PlanName, ShopIdParameter } from '../schema.ts';
import { lockHostedShop } from '../queries.ts';
import { refuseUnknownPlan } from '../shops.ts';
import {
  askForBackup,
  findBackup,
  findBackups,
  findBackupPlan,
  isWholeShop,
  type ShopBackup,
} from './queries.ts';
import {
  findRestore,
  insertRestore,
  isUploaded,
  RESTORE_STATES,
  countOtherUploads,
  savePart,
  type ShopRestore,
} from './restore-queries.ts';

export interface BackupRouteDeps {
  config: Config;
  /** undefined: backups are not stored. */
  store: BackupStore | undefined;
}

const Moment = (description: string) => Nullable({ ...Timestamp, description });
const Count = (description: string, example: number) =>
  Nullable(Type.Integer({ description, examples: [example] }));
const Words = (description: string, example: string) =>
  Nullable(Type.String({ description, examples: [example] }));

const BackupIdField = Type.String({
  description: 'The id of the backup.',
  examples: ['0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E'],
});

const SHOWN_STATES = ['waiting', 'running', 'done', 'failed'] as const;

const Backup = Type.Object(
  {
    backupId: BackupIdField,
    state: Type.Enum([...SHOWN_STATES], {
      description:
        '`waiting`: it was asked for. `failed`: see `error`; the service tries again by itself with another one.',
      examples: ['done'],
    }),
    createdAt: Moment('The moment that it shows; null: it is not there yet.'),
    bytes: Count('The size of the file.', 1_048_576),
    rows: Count('Rows of all tables in it.', 12_040),
    files: Count('Files of images in it.', 310),
    error: Words('Why it has failed; null: it has not.', 'The store of backups: 503 SlowDown'),
    verifiedAt: Moment('When it was restored to try it; null: it was not.'),
    verifyError: Words('What was wrong then; null: nothing.', 'It is not in the store.'),
  },
  { title: 'shop backup' },
);

const BackupList = Type.Object(
  {
    goodAt: Moment(
      'When the last whole backup was made, or was found to be still what the shop is; null: there is none.',
    ),
    nextAt: Moment('When the next one is due; null: the shop has no turn yet.'),
    error: Words('Why the last attempt failed; null: it did not.', 'The store of backups: 503 SlowDown'),
    items: Type.Array(Backup, { description: 'The backups, newest first.' }),
  },
  { title: 'shop backup list' },
);

const Restore = Type.Object(
  {
    restoreId: Type.String({
      description: 'The id of the restore.',
      examples: ['0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E'],
    }),
    shopId: ShopIdParameter,
    state: Type.Enum([...RESTORE_STATES], {
      description:
        '`waiting`: it is under way. `done`: the shop is there. `failed`: nothing of a new shop is there, and one that was to be replaced is what it was.',
      examples: ['done'],
    }),
    errorCode: Words(
      'Why it has failed: `SHOP_ID_TAKEN`, `SHOP_ID_SIMILAR`, `DOMAIN_TAKEN`, `DOMAIN_IMPOSSIBLE`, `NEWER_VERSION`, `FILES_IN_THE_WAY`, `DAMAGED`, the code of another refusal, or `ERROR`; null: it has not.',
      'DAMAGED',
    ),
    error: Words(
      'The same in words.',
      'The backup is damaged at byte 512, in the manifest: it was cut off here.',
    ),
    doneAt: Moment('When it ended; null: it has not.'),
  },
  { title: 'shop restore' },
);

const OfBackup = Type.Object({ shopId: ShopIdParameter, backupId: Id });

const reading = { under: 'host', tag: 'host', labels: [], access: { host: 'host_backups_read' } } as const;
const writing = { ...reading, access: { host: 'host_backups_write' } } as const;

const listShopBackups = operation({
  ...reading,
  method: 'GET',
  path: '/shops/:shopId/backups',
  name: 'listShopBackups',
  summary: 'List backups',
  description: 'Also of a shop that is deleted, until its backups are removed.',
  params: OfShop,
  answer: BackupList,
});

const createShopBackup = operation({
  ...writing,
  method: 'POST',
  path: '/shops/:shopId/backups',
  name: 'createShopBackup',
  summary: 'Back up shop',
  description:
    'Makes a backup within seconds, in the background: ask for it until its state is `done`. While one waits, it is the same.',
  params: OfShop,
  status: 201,
  answer: Backup,
});

const getShopBackup = operation({
  ...reading,
  method: 'GET',
  path: '/shops/:shopId/backups/:backupId',
  name: 'getShopBackup',
  summary: 'Get backup',
  params: OfBackup,
  answer: Backup,
});

const downloadShopBackup = operation({
  ...reading,
  method: 'GET',
  path: '/shops/:shopId/backups/:backupId/file',
  name: 'downloadShopBackup',
  summary: 'Download backup',
  description:
    'The file, as `kontor shop backup` writes it and `kontor shop restore` takes it. It holds the data of all customers, so the audit log of the shop gets an entry.',
  params: OfBackup,
  produces: 'bytes',
  answer: Type.String({ description: 'The file.' }),
});

const MAX_PARTS = 500;
/** Files at a time: their parts wait in the database. */
const MAX_UPLOADS = 10;

const sendBackupPart = operation({
  ...writing,
  method: 'PUT',
  path: '/uploads/:uploadId/parts/:part',
  name: 'sendBackupPart',
  summary: 'Send part of backup',
  description: `A file of a backup in parts of at most 10 MB for a request, numbered from 1 to at most ${MAX_PARTS}; restore it with \`uploadId\`. Choose any id that is not used yet. A part that is sent again replaces the first one. What is not restored is removed after two days. At most ${MAX_UPLOADS} files are sent at a time.`,
  params: Type.Object({
    uploadId: Id,
    part: Type.Integer({ minimum: 1, maximum: MAX_PARTS, description: 'The number.', examples: [1] }),
  }),
  accepts: 'multipart',
  body: Type.Object(
    {
      part: Type.Unsafe<Upload>({
        type: 'string',
        format: 'binary',
        description: 'The part, with any name.',
        examples: ['shop.backup'],
      }),
    },
    { title: 'backup part (upload)' },
  ),
  status: 204,
});

const createShopRestore = operation({
  ...writing,
  method: 'POST',
  path: '/restores',
  name: 'createShopRestore',
  summary: 'Create shop from backup',
  description:
    'Makes a shop from a stored backup, or from one that was sent, in the background: ask for the restore until its state is `done` or `failed`. All of the shop is there then, or nothing. Under another id than that of the backup it gets neither its tokens nor its domains. Roles of people are in no backup: name an owner. With `replaces`, a stored backup takes the place of its own shop: the shop is suspended from now on until it ends, and when the restore fails it is what it was. Its people, plan, usage, own mail server, and audit log stay; everything else is what it was in the backup.',
  constraints: { shop_restore_waiting: () => new Refusal('SHOP_ID_TAKEN') },
  body: Type.Object(
    {
      shopId: NewShopId,
      backupId: Type.Optional(
        Type.String({ ...BackupIdField, maxLength: 36, description: 'A stored backup, of any shop.' }),
      ),
      uploadId: Type.Optional(
        Type.String({ ...BackupIdField, maxLength: 36, description: 'A backup that was sent in parts.' }),
      ),
      owner: Type.Optional(
        Type.String({
          maxLength: MAX_EMAIL_ADDRESS_LENGTH,
          description: 'Who owns it: gets an invitation.',
          examples: ['owner@tea-house.example'],
        }),
      ),
      plan: Type.Optional(PlanName),
      isSuspended: Type.Optional(
        Type.Boolean({ description: 'Created closed; resume it later.', examples: [false] }),
      ),
      replaces: Type.Optional(
        Type.Boolean({
          description:
            'The shop is there, and `backupId` is a backup of it, which takes its place. `uploadId`, `owner`, `plan` and `isSuspended` are left out.',
          examples: [false],
        }),
      ),
    },
    { title: 'new shop restore' },
  ),
  status: 201,
  answer: Restore,
});

const getShopRestore = operation({
  ...reading,
  method: 'GET',
  path: '/restores/:restoreId',
  name: 'getShopRestore',
  summary: 'Get restore',
  params: Type.Object({ restoreId: Id }),
  answer: Restore,
});

/** Backups of shops, and shops made from them. */
export function hostBackups(api: Operations, { config, store }: BackupRouteDeps): void {
  const backupOf = async (db: Queries, shopId: string, backupId: string): Promise<ShopBackup> => {
    const backup = await findBackup(db, backupId);
    if (backup?.shop !== shopId || backup.state === 'removing') throw notFound();
    return backup;
  };

  api.read(listShopBackups, async ({ db, shopId }) => {
    const [plan, backups] = await Promise.all([findBackupPlan(db, shopId), findBackups(db, shopId)]);
    if (!plan && backups.length === 0 && !(await findShop(db, shopId))) throw new Refusal('SHOP_NOT_FOUND');
    return {
      goodAt: plan?.goodAt?.toISOString() ?? null,
      nextAt: plan?.dueAt.toISOString() ?? null,
      error: plan?.error ?? null,
      items: backups.filter(({ state }) => state !== 'removing').map(toBackup),
    };
  });

  api.read(getShopBackup, async ({ db, shopId, params }) =>
    toBackup(await backupOf(db, shopId, params.backupId)),
  );

  api.write(createShopBackup, async ({ tx, shopId }) => {
    if (!store) throw new Refusal('BACKUPS_OFF');
    if (!(await isWholeShop(tx, shopId))) throw new Refusal('SHOP_NOT_FOUND');
    return toBackup(await askForBackup(tx, shopId));
  });

  api.read(downloadShopBackup, async ({ db, shopId, params, caller, header }) => {
    const backup = await backupOf(db, shopId, params.backupId);
    if (!store || backup.state !== 'done') throw notFound();
    const { place, bytes } = backup;
    const stream = await store.read(place, bytes!).catch((error: unknown) => {
      throw error instanceof StoreProblem ? backupsUnavailable(error) : error;
    });
    if (!stream) throw notFound();
    const { now: at } = db;
    if (await findShop(db, shopId)) {
      const object = { backupId: backup.backupId };
      const cause = causeOf(caller, downloadShopBackup);
      await recordEntry(db, { shopId, entryId: newId(at), at, ...cause, object });
    }
    header('content-length', String(bytes));
    header('content-disposition', `attachment; filename="${place.split('/').at(-1)}"`);
    return stream;
  });

  api.write(sendBackupPart, async ({ tx, params, body }) => {
    const content = await readFile(body.part.path);
    if (content.length === 0) throw invalid('STRING_EMPTY', 'part');
    if ((await countOtherUploads(tx, params.uploadId)) >= MAX_UPLOADS) {
      throw new Refusal('TOO_MANY_UPLOADS', { limit: MAX_UPLOADS });
    }
    await savePart(tx, params.uploadId, params.part, content);
  });

  api.write(createShopRestore, async ({ tx, body, caller }) => {
    if (body.replaces) return toRestore(await askToReplace(tx, body, caller.app!.name));
    const { shopId, backupId, uploadId, owner = null, plan = null, isSuspended = false } = body;
    if (owner !== null && !isEmailAddress(owner)) throw invalid('WRONG_FORMAT', 'owner');
    refuseUnknownPlan(config, plan);
    if (backupId === undefined && uploadId === undefined) throw invalid('MISSING', 'backupId');
    if (backupId !== undefined && uploadId !== undefined) throw invalid('UNKNOWN_VALUE', 'uploadId');
    if (backupId !== undefined) {
      const backup = isId(backupId) ? await findBackup(tx, backupId) : undefined;
      if (backup?.state !== 'done') throw invalid('UNKNOWN_VALUE', 'backupId');
    } else if (!isId(uploadId!) || !(await isUploaded(tx, uploadId!))) {
      throw invalid('UNKNOWN_VALUE', 'uploadId');
    }
    // The restore itself is refused by constraints; this saves the way.
    if (await findShop(tx, shopId)) throw new Refusal('SHOP_ID_TAKEN');
    const similar = await findSimilarShop(tx, shopId);
    if (similar !== undefined) throw new Refusal('SHOP_ID_SIMILAR', { shop: similar });
    const restore = await insertRestore(tx, {
      shop: shopId,
      backupId: backupId ?? null,
      uploadId: uploadId ?? null,
      plan,
      owner,
      isSuspended,
      replaces: false,
      byName: caller.app!.name,
    });
    return toRestore(restore);
  });

  /** Closes the shop until its backup has taken its place. */
  const askToReplace = async (
    tx: Transaction,
    { shopId, backupId, ...others }: Static<NonNullable<(typeof createShopRestore)['body']>>,
    byName: string,
  ): Promise<ShopRestore> => {
    for (const name of ['uploadId', 'owner', 'plan', 'isSuspended'] as const) {
      if (others[name] !== undefined) throw invalid('UNKNOWN_VALUE', name);
    }
    if (backupId === undefined) throw invalid('MISSING', 'backupId');
    const shop = await lockHostedShop(tx, shopId);
    if (!shop) throw new Refusal('SHOP_NOT_FOUND');
    if (shop.deletionAt !== null && shop.deletionAt <= tx.now) throw new Refusal('SHOP_DELETION_BEGUN');
    const backup = isId(backupId) ? await findBackup(tx, backupId) : undefined;
    if (backup?.state !== 'done' || backup.shop !== shopId) throw invalid('UNKNOWN_VALUE', 'backupId');
    const restore = await insertRestore(tx, {
      shop: shopId,
      backupId,
      uploadId: null,
      plan: null,
      owner: null,
      isSuspended: shop.isSuspended,
      replaces: true,
      byName,
    });
    if (!shop.isSuspended) await updateSuspension(tx, shopId, tx.now);
    return restore;
  };

  api.read(getShopRestore, async ({ db, params }) => {
    const restore = await findRestore(db, params.restoreId);
    if (!restore) throw notFound();
    return toRestore(restore);
  });
}

function toBackup(backup: ShopBackup): Static<typeof Backup> {
  const { backupId, state, createdAt, bytes, rows, files, error, verifiedAt, verifyError } = backup;
  return {
    backupId,
    state: state === 'removing' ? 'done' : state,
    createdAt: createdAt?.toISOString() ?? null,
    bytes,
    rows,
    files,
    error,
    verifiedAt: verifiedAt?.toISOString() ?? null,
    verifyError,
  };
}

function toRestore({
  restoreId,
  shop,
  state,
  errorCode,
  error,
  doneAt,
}: ShopRestore): Static<typeof Restore> {
  return { restoreId, shopId: shop, state, errorCode, error, doneAt: doneAt?.toISOString() ?? null };
}
