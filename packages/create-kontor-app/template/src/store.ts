import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** What the app knows of a shop that has installed it. */
export interface Shop {
  clientId: string;
  clientSecret: string;
  shopId: string;
  apiUrl: string;
  /** null: the merchant has not agreed yet. */
  accessToken: string | null;
  /** The newest first. */
  orders: string[];
  /** The ids of the newest webhooks: one may come twice. */
  seen: string[];
}

export interface Store {
  byClientId(clientId: string | undefined): Shop | undefined;
  /** The shop at this address that has agreed. */
  byApiUrl(apiUrl: string): Shop | undefined;
  /** Changes all shops; returns when it is on the disk. Changes come one after the other. */
  change(change: (shops: readonly Shop[]) => readonly Shop[]): Promise<void>;
}

/** One file for all shops. An app with many of them takes a database. */
export async function openStore(folder: string): Promise<Store> {
  const file = path.join(folder, 'shops.json');
  await mkdir(folder, { recursive: true });
  let shops: readonly Shop[] = await readShops(file);
  let last: Promise<void> = Promise.resolve();
  return {
    byClientId: (clientId) => shops.find((shop) => shop.clientId === clientId),
    byApiUrl: (apiUrl) => shops.find((shop) => shop.apiUrl === apiUrl && shop.accessToken !== null),
    change(change) {
      const saved = last.then(async () => {
        const next = change(shops);
        // The file is complete or not there, whenever the process ends. It holds secrets.
        await writeFile(`${file}.new`, JSON.stringify(next, null, 2), { mode: 0o600 });
        await rename(`${file}.new`, file);
        shops = next;
      });
      // A change that fails is a problem of its caller, not of the next one.
      last = saved.catch(() => {});
      return saved;
    },
  };
}

async function readShops(file: string): Promise<Shop[]> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Shop[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
