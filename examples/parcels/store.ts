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
}

/**
 * One label, or the labels of one shipment. It is stored before Sendcloud is asked, so that whatever happens between the
 * request and its answer, the same reference is asked for again.
 */
export interface Job {
  clientId: string;
  orderId: string;
  kind: 'shipment' | 'return';
  /** 1, 2, ... of its kind and order. */
  number: number;
  /** What Sendcloud knows it by. */
  reference: string;
  option: string;
  /** The weight of each parcel in grams. */
  parcels: number[];
  askedAt: string;
  /** undefined: it is not known yet whether there is a label. */
  made?: { carrier: string; parcels: { trackingNumber: string; trackingUrl: string; link: string }[] };
  /** The shop knows of it, and so does the customer. */
  isRecorded: boolean;
}

export interface Data {
  readonly shops: readonly Shop[];
  readonly jobs: readonly Job[];
}

export interface Store {
  readonly data: Data;
  /** Returns when it is on the disk. Changes come one after the other. */
  change(change: (data: Data) => Data): Promise<void>;
}

/** One file for everything. An app with many shops takes a database. */
export async function openStore(folder: string): Promise<Store> {
  const file = path.join(folder, 'parcels.json');
  await mkdir(folder, { recursive: true });
  let data = await readData(file);
  let last: Promise<void> = Promise.resolve();
  return {
    get data() {
      return data;
    },
    change(change) {
      const saved = last.then(async () => {
        const next = change(data);
        // The file is complete or not there, whenever the process ends. It holds secrets.
        await writeFile(`${file}.new`, JSON.stringify(next, null, 2), { mode: 0o600, flush: true });
        await rename(`${file}.new`, file);
        data = next;
      });
      // A change that fails is a problem of its caller, not of the next one.
      last = saved.catch(() => {});
      return saved;
    },
  };
}

async function readData(file: string): Promise<Data> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Data;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { shops: [], jobs: [] };
    throw error;
  }
}
