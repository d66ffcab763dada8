import type { Transaction } from '../../db/database.ts';
import { newPauses } from '../../http/pauses.ts';
import { newId } from '../../kernel/ids.ts';
import {
  addressKey,
  keyText,
  matchingKeys,
  MAX_SOURCE_LENGTH,
  MAX_SOURCE_PARAMETERS,
  type AddressKey,
} from './address.ts';
import { chainCheck } from './chains.ts';
import {
  countIn,
  deleteMissed,
  deleteSources,
  findReached,
  findSources,
  findTargetIds,
  insertRedirects,
  replaceRedirects,
  retarget,
  type RedirectIds,
  type StoredRedirect,
  type TargetKind,
} from './queries.ts';

export const MAX_TARGET_LENGTH = 2_000;

/** A redirect as people, files and apps say it. */
export interface GivenRedirect {
  source: string;
  status: 301 | 410;
  /** null for an address that is gone. */
  kind: TargetKind | null;
  /** The number of a product, the alias of a category, the path of a page in one of its languages, or an address. */
  target: string | null;
}

export type RedirectProblem =
  | 'REDIRECT_SOURCE_INVALID'
  | 'REDIRECT_SOURCE_HAS_PAGE'
  | 'REDIRECT_SOURCE_TOO_SPECIFIC'
  | 'REDIRECT_SOURCE_TAKEN'
  | 'REDIRECT_TARGET_MISSING'
  | 'REDIRECT_TARGET_UNKNOWN'
  | 'REDIRECT_TARGET_INVALID'
  | 'REDIRECT_LOOP'
  | 'REDIRECT_CHAIN'
  | 'TOO_MANY_REDIRECTS';

const TARGET_ADDRESS = /^(?:https?:\/\/(?!\/)|\/(?!\/))[^\s\p{Cc}\\]*$/iu;

/** The path of a page as its texts have it; empty: it is none. */
const pathOfTarget = (target: string) => addressKey(target)?.path ?? '';

/** The target as an address of this shop; undefined: it is elsewhere. */
function addressHere(address: string, domains: readonly string[]): string | undefined {
  if (address.startsWith('/')) return address;
  const { host, pathname, search } = new URL(address);
  return domains.includes(host) ? pathname + search : undefined;
}

interface Parsed {
  given: GivenRedirect;
  key: AddressKey;
  target: AddressKey | undefined;
  /** The sources that the target would find. */
  finds: readonly string[];
}

/** Checks what can be checked without the data of the shop. */
function parse(given: GivenRedirect, domains: readonly string[]): Parsed | RedirectProblem {
  const { source, status, kind, target } = given;
  const key = source.trim() === '' || source.length > MAX_SOURCE_LENGTH ? undefined : addressKey(source);
  if (!key) return 'REDIRECT_SOURCE_INVALID';
  // A page that exists is shown before redirects are looked up.
  if (key.path === '/') return 'REDIRECT_SOURCE_HAS_PAGE';
  if (key.parameters.length > MAX_SOURCE_PARAMETERS) return 'REDIRECT_SOURCE_TOO_SPECIFIC';
  if (status === 410) return { given, key, target: undefined, finds: [] };
  if (kind === null || target === null || target.trim() === '') return 'REDIRECT_TARGET_MISSING';
  if (kind !== 'address') return { given, key, target: undefined, finds: [] };
  const isAddress = TARGET_ADDRESS.test(target) && (target.startsWith('/') || URL.canParse(target));
  if (target.length > MAX_TARGET_LENGTH || !isAddress) return 'REDIRECT_TARGET_INVALID';
  const here = addressHere(target, domains);
  const address = here === undefined ? undefined : addressKey(here);
  return { given, key, target: address, finds: address ? matchingKeys(address) : [] };
}

export interface SaveOptions {
  origin: StoredRedirect['origin'];
  /** The hosts of the shop's own pages. */
  domains: readonly string[];
  /** Replaces redirects from the same addresses; else they are problems. */
  replaces?: boolean;
  /** The redirect that is changed, where it is one. */
  changed?: Pick<StoredRedirect, 'redirectId' | 'createdAt'>;
  /** Writes the rows; absent: they are inserted. */
  write?: (rows: readonly StoredRedirect[]) => Promise<unknown>;
}

/**
 * Writes redirects, and returns the problem of each that can't be: undefined for those that are written. A transaction
 * that must write all or none is ended by the caller.
 */
export async function saveRedirects(
  tx: Transaction,
  shopId: string,
  redirects: readonly GivenRedirect[],
  { origin, domains, replaces = false, changed, write }: SaveOptions,
): Promise<(RedirectProblem | undefined)[]> {
  const pause = newPauses();
  const parsed: (Parsed | RedirectProblem)[] = [];
  for (const given of redirects) {
    parsed.push(parse(given, domains));
    await pause();
  }
  const valid = parsed.filter((one) => typeof one !== 'string');
  // Locks the redirects of the shop: no two writes make a chain together.
  const hasRoom = await countIn(tx, shopId, changed ? 0 : valid.length);
  const named = (wanted: TargetKind) =>
    valid.flatMap(({ given: { kind, target } }) =>
      kind === wanted && target !== null ? [target.trim()] : [],
    );
  const [ids, sources, reached] = await Promise.all([
    findTargetIds(tx, shopId, {
      productNumbers: named('product'),
      aliases: named('category'),
      pagePaths: named('page').map(pathOfTarget),
    }),
    findSources(
      tx,
      shopId,
      valid.flatMap(({ key, finds }) => [keyText(key), ...finds]),
    ),
    findReached(
      tx,
      shopId,
      valid.map(({ key }) => key),
      changed ? [changed.redirectId] : [],
    ),
  ]);
  if (changed) {
    for (const [key, redirectId] of sources) if (redirectId === changed.redirectId) sources.delete(key);
  }
  const ownKeys = new Set(valid.map(({ key }) => keyText(key)));
  const check = chainCheck({
    isSource: (key) => sources.has(key) && !(replaces && ownKeys.has(key)),
    isTarget: (source) => reached.has(keyText(source)),
  });
  const written = new Set<string>();
  const rows: StoredRedirect[] = [];
  const toRow = (one: Parsed | RedirectProblem): RedirectProblem | undefined => {
    if (typeof one === 'string') return one;
    const { given, key, target, finds } = one;
    const sourceKey = keyText(key);
    if (!hasRoom) return 'TOO_MANY_REDIRECTS';
    if (written.has(sourceKey) || (sources.has(sourceKey) && !replaces)) return 'REDIRECT_SOURCE_TAKEN';
    const name = given.target?.trim() ?? '';
    const kind = given.status === 410 ? null : given.kind;
    const idOf = (wanted: keyof typeof ids, known = name) =>
      kind === wanted ? ids[wanted].get(known) : null;
    const [productId, categoryId, pageId] = [
      idOf('product'),
      idOf('category'),
      idOf('page', pathOfTarget(name)),
    ];
    if (productId === undefined || categoryId === undefined || pageId === undefined)
      return 'REDIRECT_TARGET_UNKNOWN';
    const problem = check({ source: key, finds });
    if (problem) return problem === 'loop' ? 'REDIRECT_LOOP' : 'REDIRECT_CHAIN';
    written.add(sourceKey);
    rows.push({
      redirectId: changed?.redirectId ?? newId(tx.now),
      source: given.source.trim(),
      sourceKey,
      status: given.status,
      productId,
      categoryId,
      pageId,
      address: kind === 'address' ? name : null,
      targetPath: target?.path ?? null,
      targetParameters: target?.parameters ?? null,
      origin,
      createdAt: changed?.createdAt ?? tx.now,
    });
    return undefined;
  };
  const problems: (RedirectProblem | undefined)[] = [];
  for (const one of parsed) {
    problems.push(toRow(one));
    await pause();
  }
  if (rows.length > 0) {
    await (write ? write(rows) : (replaces ? replaceRedirects : insertRedirects)(tx, shopId, rows));
    await deleteMissed(
      tx,
      shopId,
      rows.map(({ sourceKey }) => sourceKey),
    );
  }
  const rest = valid.length - rows.length;
  if (!changed && rest > 0) await countIn(tx, shopId, -rest);
  return problems;
}

/** The thing whose address has changed, with its paths in the shop: `/Products/AP-100`, one for each language of a page. */
export interface MovedThing {
  kind: keyof typeof ID_FIELDS;
  id: string;
  before: readonly string[];
  after: readonly string[];
}

const ID_FIELDS = { product: 'productId', category: 'categoryId', page: 'pageId' } as const;
const NO_IDS: RedirectIds = { productId: null, categoryId: null, pageId: null };

/** Keeps the former addresses of a product, category or page working. */
export async function keepFormerAddresses(
  tx: Transaction,
  shopId: string,
  { kind, id, before, after }: MovedThing,
): Promise<void> {
  const taken = keysOf(after);
  const former = keysOf(before);
  const ids: RedirectIds = { ...NO_IDS, [ID_FIELDS[kind]]: id };
  const rows = [...former]
    // A product number that differs in upper and lower case only has a new address, but the same key.
    .filter(([key, source]) => !after.includes(source) && (kind !== 'page' || !taken.has(key)))
    .map(([sourceKey, source]): StoredRedirect => ({
      ...ids,
      redirectId: newId(tx.now),
      source,
      sourceKey,
      status: 301,
      address: null,
      targetPath: null,
      targetParameters: null,
      origin: 'moved',
      createdAt: tx.now,
    }));
  if (rows.length === 0 || taken.size === 0) return;
  const hasRoom = await countIn(tx, shopId, rows.length);
  const again = [...taken.keys()].filter((key) => !former.has(key));
  const deleted = again.length === 0 ? 0 : await deleteSources(tx, shopId, again);
  await retarget(tx, shopId, [...former.keys()], ids);
  if (hasRoom) await replaceRedirects(tx, shopId, rows);
  if (deleted > 0) await countIn(tx, shopId, -deleted);
}

/** Paths by their keys. A very long one has no redirect. */
function keysOf(paths: readonly string[]): Map<string, string> {
  return new Map(
    paths.flatMap((path) => {
      const key = path.length > MAX_SOURCE_LENGTH ? undefined : addressKey(path);
      return key ? [[keyText(key), path] as const] : [];
    }),
  );
}
