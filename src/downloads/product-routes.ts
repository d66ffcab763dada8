import { Type } from 'typebox';
import type { Config } from '../config.ts';
import { lockProduct, moveVersions } from '../catalogue/products/queries.ts';
import { setFact } from '../catalogue/products/facts.ts';
import { saveProduct } from '../catalogue/products/save-product.ts';
import type { Queries, Transaction } from '../db/database.ts';
import { toMilliseconds } from '../http/dates.ts';
import { notFound, Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Id } from '../http/schemas.ts';
import type { Upload } from '../http/upload.ts';
import { newId } from '../kernel/ids.ts';
import { addMedia, refuseFullMedia, takeMedia } from '../platform/media/quota.ts';
import type { MediaStorage } from '../platform/media/storage.ts';
import { checkFile, downloadName } from './file-type.ts';
import { countKeys } from './key-queries.ts';
import { storeInParts } from './part-file.ts';
import {
  deleteFile,
  findDigitalProduct,
  findDownloadFiles,
  insertFile,
  lockDigitalProduct,
  lockFile,
  saveDigitalProduct,
  moveTold,
  startDownloadRun,
  tellBuyers,
  updateNote,
  updateFile,
  type DownloadFile,
} from './queries.ts';
import { DigitalProductBody, DigitalProductView, DownloadFileBody, FileUpload, MAX_FILES } from './schema.ts';

const shared = { under: 'manage', tag: 'downloads', labels: [] } as const;
const params = Type.Object({ productId: Id });
const fileParams = Type.Object({ productId: Id, fileId: Id });

/** Of the whole body of an upload. */
export const uploadLimit = ({ DOWNLOAD_MAX_MB }: Pick<Config, 'DOWNLOAD_MAX_MB'>) =>
  DOWNLOAD_MAX_MB * 1_048_576;

/** The limits of a product to which the first file or key is added. */
const DEFAULTS = { hasKeys: false, maxDownloads: 10, days: null, fewKeys: 10 };

export const getDigitalProduct = operation({
  ...shared,
  method: 'GET',
  path: '/products/:productId/downloads',
  name: 'getDigitalProduct',
  summary: 'Get digital product',
  description: 'The files and the licence keys that buyers of a product get. 404: it has none.',
  access: 'products_read',
  params,
  answer: DigitalProductView,
});

export const setDigitalProduct = operation({
  ...shared,
  method: 'PUT',
  path: '/products/:productId/downloads',
  name: 'setDigitalProduct',
  summary: 'Set digital product',
  description:
    'Says how a product is delivered when it is paid. A product without a reason against the right of withdrawal becomes digital content, so the checkout asks for the consent that the law wants. 400: it has variations, which are delivered one by one.',
  access: 'products_write',
  params,
  body: DigitalProductBody,
  answer: DigitalProductView,
});

export const addDownloadFile = operation({
  ...shared,
  method: 'POST',
  path: '/products/:productId/downloads/files',
  name: 'addDownloadFile',
  summary: 'Add download file',
  description:
    'Earlier buyers of the product get it, too. 400: the file is not of the kind that its name says. 409: the product has 50 files. 413: it is too large, or the shop has no space left.',
  access: 'products_write',
  params,
  accepts: 'multipart',
  uploadLimit,
  body: FileUpload,
  status: 201,
  answer: DigitalProductView,
});

export const replaceDownloadFile = operation({
  ...shared,
  method: 'POST',
  path: '/products/:productId/downloads/files/:fileId/versions',
  name: 'replaceDownloadFile',
  summary: 'Replace download file',
  description:
    'Uploads a new version. Buyers get it from now on, earlier ones included; the former one is removed.',
  access: 'products_write',
  params: fileParams,
  accepts: 'multipart',
  uploadLimit,
  body: FileUpload,
  status: 201,
  answer: DigitalProductView,
});

export const setDownloadFile = operation({
  ...shared,
  method: 'PUT',
  path: '/products/:productId/downloads/files/:fileId',
  name: 'setDownloadFile',
  summary: 'Set download file',
  description:
    'Says what is new in the version of a file, and tells earlier buyers of it, each of them once.',
  access: 'products_write',
  params: fileParams,
  body: DownloadFileBody,
  answer: DigitalProductView,
});

export const deleteDownloadFile = operation({
  ...shared,
  method: 'DELETE',
  path: '/products/:productId/downloads/files/:fileId',
  name: 'deleteDownloadFile',
  summary: 'Delete download file',
  description: 'Those who have bought it can no longer download it.',
  access: 'products_write',
  params: fileParams,
  status: 204,
});

/** The files of products, and how they are delivered. */
export function digitalProducts(api: Operations, media: MediaStorage): void {
  const { config } = api;

  api.read(getDigitalProduct, ({ db, shopId, params: { productId } }) => loadProduct(db, shopId, productId));

  api.write(setDigitalProduct, async ({ tx, shopId, params: { productId }, body }) => {
    await makeDigital(tx, shopId, productId);
    await saveDigitalProduct(tx, shopId, { productId, ...body });
    return loadProduct(tx, shopId, productId);
  });

  /** Stores the uploaded file before the transaction, which names it or not. */
  const prepare = async (db: Queries, shopId: string, { path, name }: Upload) => {
    await checkFile(path, downloadName(name));
    await refuseFullMedia(db, config, shopId);
    const storageKey = newId(new Date());
    const discard = () => media.removeFolders(shopId, [storageKey]);
    try {
      return {
        prepared: { storageKey, bytes: await storeInParts(media, shopId, storageKey, path) },
        discard,
      };
    } catch (error) {
      await discard();
      throw error;
    }
  };

  api.write(
    { ...addDownloadFile, prepare: ({ db, shopId, body }) => prepare(db, shopId, body.file) },
    async ({ tx, shopId, params: { productId }, body: { file }, prepared, created }) => {
      await makeDigital(tx, shopId, productId);
      if ((await findDownloadFiles(tx, shopId, [productId])).length >= MAX_FILES)
        throw new Refusal('DOWNLOADS_FULL', { limit: MAX_FILES });
      await takeMedia(tx, config, shopId, prepared.bytes);
      const fileId = newId(tx.now);
      await insertFile(tx, shopId, {
        ...prepared,
        fileId,
        productId,
        name: downloadName(file.name),
        note: null,
        version: 1,
        sha256: file.sha256,
        createdAt: tx.now,
        changedAt: tx.now,
      });
      created({ fileId });
      return loadProduct(tx, shopId, productId);
    },
  );

  api.write(
    { ...replaceDownloadFile, prepare: ({ db, shopId, body }) => prepare(db, shopId, body.file) },
    async ({ tx, shopId, params, body: { file }, prepared, afterCommit }) => {
      const { productId, fileId } = params;
      const known = await lockFileOf(tx, shopId, productId, fileId);
      await addMedia(tx, shopId, -known.bytes);
      await takeMedia(tx, config, shopId, prepared.bytes);
      await updateFile(tx, shopId, {
        ...known,
        ...prepared,
        name: downloadName(file.name),
        note: null,
        version: known.version + 1,
        sha256: file.sha256,
        changedAt: tx.now,
      });
      // Who has yet to be told of the former version is not: there is another one.
      await moveTold(tx, shopId, fileId, null);
      afterCommit(() => media.removeFolders(shopId, [known.storageKey]));
      return loadProduct(tx, shopId, productId);
    },
  );

  api.write(setDownloadFile, async ({ tx, shopId, params: { productId, fileId }, body }) => {
    await lockFileOf(tx, shopId, productId, fileId);
    await updateNote(tx, shopId, fileId, body.note?.trim() ?? null);
    if (body.notify) await tellBuyers(tx, shopId, fileId);
    return loadProduct(tx, shopId, productId);
  });

  api.write(deleteDownloadFile, async ({ tx, shopId, params: { productId, fileId }, afterCommit }) => {
    const { bytes, storageKey } = await lockFileOf(tx, shopId, productId, fileId);
    await deleteFile(tx, shopId, fileId);
    await addMedia(tx, shopId, -bytes);
    await moveVersions(tx, shopId, [productId]);
    afterCommit(() => media.removeFolders(shopId, [storageKey]));
  });
}

async function lockFileOf(
  tx: Transaction,
  shopId: string,
  productId: string,
  fileId: string,
): Promise<DownloadFile> {
  const file = await lockFile(tx, shopId, fileId);
  if (file?.productId !== productId) throw notFound();
  return file;
}

/**
 * Locks a product as one that is delivered digitally. It becomes one with its first file, key or rule: its pages say so,
 * the checkout asks for consent, and from now on the shop's orders are watched.
 */
export async function makeDigital(tx: Transaction, shopId: string, productId: string): Promise<void> {
  const product = await lockProduct(tx, shopId, productId);
  if (!product) throw notFound();
  if (product.kind === 'master') throw new Refusal('MASTER_NOT_DELIVERED');
  // Its page says how it is delivered, which the caller changes.
  await moveVersions(tx, shopId, [productId]);
  if (await lockDigitalProduct(tx, shopId, productId)) return;
  await saveDigitalProduct(tx, shopId, { ...DEFAULTS, productId });
  await startDownloadRun(tx, shopId);
  if (product.facts.withdrawalExcluded !== undefined) return;
  const declared = { ...product, facts: { ...product.facts } };
  setFact(declared, 'withdrawalExcluded', 'digitalContent');
  await saveProduct(tx, shopId, product, declared);
}

async function loadProduct(db: Queries, shopId: string, productId: string) {
  const [product, files, keys] = await Promise.all([
    findDigitalProduct(db, shopId, productId),
    findDownloadFiles(db, shopId, [productId]),
    countKeys(db, shopId, productId),
  ]);
  if (!product) throw notFound();
  const { hasKeys, maxDownloads, days, fewKeys } = product;
  return { productId, hasKeys, maxDownloads, days, fewKeys, files: files.map(toFile), keys };
}

const toFile = ({ fileId, name, version, note, bytes, sha256, changedAt }: DownloadFile) => ({
  fileId,
  name,
  version,
  note,
  bytes,
  sha256,
  changedOn: toMilliseconds(changedAt),
});
