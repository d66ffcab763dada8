import { dayOf } from '../../http/dates.ts';
import type { IncomingHttpHeaders } from 'node:http';
import type { Database, Queries } from '../../db/database.ts';
import { addressKey, keyText } from './address.ts';
import { addMissed, findMissedOfDay, type MissedAddress } from './queries.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The addresses that this process has counted and not yet written. */
    missedAddresses: MissedAddresses;
  }
}

/** Milliseconds between two writes of the counts. */
const WRITE_EVERY = 20_000;
/** Rows of one shop and day. */
export const MAX_PER_DAY = 200;
/** Counts that this process holds, of one shop and of all. */
const MAX_OF_SHOP = 200;
const MAX_HELD = 5_000;
/** Different addresses that one visitor adds before the next write: who asks for more is trying names. */
const MAX_OF_VISITOR = 10;
const MAX_VISITORS = 5_000;
const MAX_LENGTH = 300;

/** Programs say so; a person who follows an old link comes with a browser. */
const PROGRAM =
  /bot\b|crawl|spider|slurp|scan|curl|wget|python|java\/|go-http|httpclient|headless|monitor|preview/i;

/** Addresses that only programs ask for: they look for software with known holes, or for files that every site may have. */
const PROBE =
  /\.(?:php\d?|aspx?|jspx?|cgi|env|git|ini|sql|bak|old|sh|yml|yaml|config|log|xml|txt|json|map|js|css|ico|png|jpe?g|gif|webp|svg|woff2?|gz|zip)$|^\/(?:\.|wp-|wp\/|cgi-bin|admin|phpmyadmin|vendor|xmlrpc|_next|api\/|actuator|boaform)/;

/** Parameters that name a page in other shop software. All others may hold personal data, and are left out. */
const NAMING =
  /^(?:objectpath|viewaction|viewobjectid|p|page_id|product_id|cat|variant|sku|id|route|path|sarticle|scategory)=/;

export interface MissedAddresses {
  /** Counts an address that no page has, without a statement. */
  count(shop: { shopId: string }, request: Seen, address: string): void;
  /** Writes the counts now. */
  write(): Promise<void>;
  /** Writes the remaining counts, and ends. */
  close(): Promise<void>;
}

interface Seen {
  method: string;
  ip: string;
  host: string;
  headers: IncomingHttpHeaders;
}

/**
 * Counts the addresses that people ask for in vain. The numbers are for merchants to look at, so the last seconds may be
 * lost, and what looks like a program that tries names is left out.
 */
export function createMissedAddresses(db: Database, onFailure: (error: unknown) => void): MissedAddresses {
  /** By shop, and there by address and referrer. */
  let held = new Map<string, Map<string, MissedAddress>>();
  let size = 0;
  let visitors = new Map<string, number>();

  const write = async () => {
    const shops = [...held];
    held = new Map();
    size = 0;
    visitors = new Map();
    for (const [shopId, rows] of shops) {
      await addWithinLimit(db, shopId, [...rows.values()]).catch(onFailure);
    }
  };
  let writing = Promise.resolve();
  const writeNext = () => (writing = writing.then(write));
  const timer = setInterval(() => void writeNext(), WRITE_EVERY).unref();

  return {
    count({ shopId }, { method, ip, host, headers }, address) {
      if (method !== 'GET' || !isPerson(headers)) return;
      const counted = countedAddress(address);
      if (counted === undefined) return;
      const referrer = referrerOf(headers.referer, host);
      const rows = held.get(shopId) ?? new Map<string, MissedAddress>();
      const key = `${counted}\n${referrer}`;
      const known = rows.get(key);
      if (known) {
        known.hits++;
        return;
      }
      const visitor = `${shopId} ${ip}`;
      const added = visitors.get(visitor) ?? 0;
      const isFull = rows.size >= MAX_OF_SHOP || size >= MAX_HELD || visitors.size >= MAX_VISITORS;
      if (isFull || added >= MAX_OF_VISITOR) return;
      visitors.set(visitor, added + 1);
      held.set(shopId, rows.set(key, { day: dayOf(db.now), address: counted, referrer, hits: 1 }));
      size++;
    },
    write: writeNext,
    close() {
      clearInterval(timer);
      return writeNext();
    },
  };
}

function isPerson(headers: IncomingHttpHeaders): boolean {
  const agent = headers['user-agent'] ?? '';
  return agent !== '' && !PROGRAM.test(agent) && (headers.accept ?? '').includes('text/html');
}

/** undefined: it is not counted. */
function countedAddress(address: string): string | undefined {
  const key = addressKey(address);
  if (!key || key.path === '/' || PROBE.test(key.path)) return undefined;
  const text = keyText({ path: key.path, parameters: key.parameters.filter((one) => NAMING.test(one)) });
  return text.length > MAX_LENGTH ? undefined : text;
}

/** The page with the link, without its parameters, which may be secret; of a page of the shop itself, its path. */
function referrerOf(referer: string | undefined, host: string): string {
  if (referer === undefined || !URL.canParse(referer)) return '';
  const url = new URL(referer);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return '';
  const page = url.host === host ? url.pathname : `${url.origin}${url.pathname}`;
  return page.slice(0, MAX_LENGTH);
}

/** Rows that exist are counted up; new ones are added while the day has room, the most frequent first. */
async function addWithinLimit(db: Queries, shopId: string, rows: readonly MissedAddress[]): Promise<void> {
  for (const day of new Set(rows.map((row) => row.day))) {
    const ofDay = rows.filter((row) => row.day === day);
    const stored = await findMissedOfDay(db, shopId, day, 2 * MAX_PER_DAY);
    const keyOf = ({ address, referrer }: Pick<MissedAddress, 'address' | 'referrer'>) =>
      `${address}\n${referrer}`;
    const known = new Set(stored.map(keyOf));
    const [older, newer] = [
      ofDay.filter((row) => known.has(keyOf(row))),
      ofDay.filter((row) => !known.has(keyOf(row))),
    ];
    const room = Math.max(0, MAX_PER_DAY - stored.length);
    const added = newer.toSorted((one, other) => weight(other) - weight(one)).slice(0, room);
    if (older.length + added.length > 0) await addMissed(db, shopId, [...older, ...added]);
  }
}

/** A link on another page is a reason to redirect, even if few follow it. */
const weight = ({ hits, referrer }: MissedAddress) => hits + (referrer === '' ? 0 : 1_000_000);
