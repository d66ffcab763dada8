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
  /** The number of a product, the alias of a category, or an address. */
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
    findTargetIds(tx, shopId, { productNumbers: named('product'), aliases: named('category') }),
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
    const isGone = given.status === 410;
    const productId = !isGone && given.kind === 'product' ? ids.products.get(name) : null;
    const categoryId = !isGone && given.kind === 'category' ? ids.categories.get(name) : null;
    if (productId === undefined || categoryId === undefined) return 'REDIRECT_TARGET_UNKNOWN';
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
      address: !isGone && given.kind === 'address' ? name : null,
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

/** The thing whose address has changed, with its paths in the shop: `/Products/AP-100`. */
export interface MovedPage {
  productId: string | null;
  categoryId: string | null;
  before: string;
  after: string;
}

/** Keeps the former address of a product or category working. */
export async function keepFormerAddress(
  tx: Transaction,
  shopId: string,
  { productId, categoryId, before, after }: MovedPage,
): Promise<void> {
  const [from, to] = [addressKey(before), addressKey(after)];
  // A very long address has no redirect.
  if (!from || !to || before.length > MAX_SOURCE_LENGTH) return;
  const hasRoom = await countIn(tx, shopId, 1);
  const isSpelling = keyText(from) === keyText(to);
  const deleted = isSpelling ? 0 : await deleteSources(tx, shopId, [keyText(to)]);
  await retarget(tx, shopId, from.path, { productId, categoryId });
  if (hasRoom) {
    await replaceRedirects(tx, shopId, [
      {
        redirectId: newId(tx.now),
        source: before,
        sourceKey: keyText(from),
        status: 301,
        productId,
        categoryId,
        address: null,
        targetPath: null,
        targetParameters: null,
        origin: 'moved',
        createdAt: tx.now,
      },
    ]);
  }
  if (deleted > 0) await countIn(tx, shopId, -deleted);
}
