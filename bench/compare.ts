import type { PoolConfig } from 'pg';
import { generateProducts } from '../src/commands/demo/generate.ts';
import type { Database } from '../src/db/database.ts';
import { shopSettings } from '../src/shops/settings/settings.ts';
import { interleavedRounds, load, tryOnce, type Round, type Subject } from './load.ts';
import { JOBS, type Job, type JobCalls, type Peer, type PeerProduct, type PeerSetup } from './peers/peer.ts';
import { vendure } from './peers/vendure.ts';
import { median } from './report.ts';
import { applyDelivery, createBareShop, stockUp } from './shop.ts';
import { checkout, type Call } from './targets.ts';

/** A new peer is a file like vendure.ts, and a word here. */
const peers: Readonly<Record<string, Peer>> = { vendure };

/** `vendure=FOLDER`, the folder in which it is installed. */
export function readPeer(text: string): { peer: Peer; folder: string } {
  const [name = '', folder = ''] = text.split('=');
  const peer = peers[name.toLowerCase()];
  if (!peer || folder === '') {
    throw new Error(`--compare ${text}: write NAME=FOLDER; the names are ${Object.keys(peers).join(', ')}`);
  }
  return { peer, folder };
}

export interface ComparisonOptions {
  products: number;
  rounds: number;
  seconds: number;
}

export interface Compared {
  job: Job;
  kontorPerSecond: number;
  peerPerSecond: number;
  kontorP99Ms: number;
  peerP99Ms: number;
  /** The median of the rounds' own ratios. */
  times: number;
}

const SHOP = 'Compared';

export interface ComparedShop {
  token: string;
  saleIds: string[];
  shippingMethodId: string;
}

export async function createComparedShop(db: Database, products: number): Promise<ComparedShop> {
  const token = await createBareShop(db, SHOP);
  await generateProducts(db, { shopId: SHOP, products, seed: 1 }, () => {});
  const sales = await stockUp(db, SHOP);
  await applyDelivery(db, SHOP);
  const { shippingMethods } = await shopSettings(db, SHOP);
  await db.pool.query('vacuum analyze');
  return {
    token,
    saleIds: sales.map(({ id }) => id),
    shippingMethodId: shippingMethods[0]!.shippingMethodId,
  };
}

/** Kontor and a peer with the same products, in turn. */
export async function measureComparison(
  kontor: { origin: string },
  shop: ComparedShop,
  { peer, folder }: ReturnType<typeof readPeer>,
  setup: Pick<PeerSetup, 'start' | 'workFolder'> & { db: Database; connection: PoolConfig },
  { rounds, seconds }: ComparisonOptions,
  say: (line: string) => void,
): Promise<{ peer: string; compared: Compared[] }> {
  const products = await readProducts(kontor.origin, shop.token);
  const searched = frequentWord(products);
  const database = await createDatabase(setup.db, setup.connection, peer.name.toLowerCase());
  say(`${peer.name}: makes ${products.length} products ...`);
  const { start, workFolder } = setup;
  const other = await peer.start({ folder, products, searched, database, start, workFolder });
  const ours = kontorJobs(shop, products, searched);
  const compared: Compared[] = [];
  for (const job of JOBS) {
    const pair = [
      subjectOf('Kontor', kontor.origin, shop.token, ours[job]),
      { ...subjectOf(peer.name, other.origin, '', other.jobs[job]), mayBeSilent: true },
    ] as const;
    for (const subject of pair) {
      await tryOnce(subject);
      await load(subject, seconds);
    }
    say(`${job}: Kontor, ${peer.name}`);
    const settle = async () => {};
    const measured = await interleavedRounds([...pair], { rounds, seconds, settle }, say);
    compared.push(comparedJob(job, pair, measured));
  }
  return { peer: `${peer.name} ${other.version}`, compared };
}

function subjectOf(name: string, origin: string, token: string, job: JobCalls): Subject {
  return { name, origin, token, calls: [], ...job };
}

/** A checkout counts once, however many requests it takes. */
function comparedJob(
  job: Job,
  [kontor, peer]: readonly [Subject, Subject],
  measured: Map<Subject, Round[]>,
): Compared {
  const rates = (subject: Subject) =>
    measured.get(subject)!.map(({ requestsPerSecond }) => requestsPerSecond / (subject.flow?.length ?? 1));
  const [ours, others] = [rates(kontor), rates(peer)];
  const p99 = (subject: Subject) => median(measured.get(subject)!.map(({ p99Ms }) => p99Ms));
  return {
    job,
    kontorPerSecond: median(ours),
    peerPerSecond: median(others),
    kontorP99Ms: p99(kontor),
    peerP99Ms: p99(peer),
    times: median(ours.map((rate, round) => rate / others[round]!)),
  };
}

function kontorJobs(
  { saleIds, shippingMethodId }: ComparedShop,
  products: readonly KontorProduct[],
  searched: string,
): Record<Job, JobCalls> {
  const root = `/rs/shops/${SHOP}`;
  const get = (path: string): Call => ({ method: 'GET', path: `${root}${path}` });
  return {
    product: { calls: products.map(({ productId }) => get(`/products/${productId}`)) },
    'list of 20': { calls: [get('/products?resultsPerPage=20')] },
    search: { calls: [get(`/products?q=${encodeURIComponent(searched)}&resultsPerPage=20`)] },
    checkout: { flow: checkout({ root, saleIds, shippingMethodId }) },
  };
}

interface KontorProduct extends PeerProduct {
  productId: string;
}

/** As a client reads them. */
async function readProducts(origin: string, token: string): Promise<KontorProduct[]> {
  const products: KontorProduct[] = [];
  for (let page = 1; ; page++) {
    const response = await fetch(`${origin}/rs/shops/${SHOP}/products?resultsPerPage=100&page=${page}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { items } = (await response.json()) as { items: ListedProduct[] };
    products.push(...items.map(toPeerProduct));
    if (items.length < 100) return products;
  }
}

interface ListedProduct {
  productId: string;
  productNumber: string;
  name: string;
  description: string | null;
  priceInfo: { price: { amount: number } };
}

function toPeerProduct({
  productId,
  productNumber,
  name,
  description,
  priceInfo,
}: ListedProduct): KontorProduct {
  const price = Math.round(priceInfo.price.amount * 100);
  return { productId, number: productNumber, name, description: description ?? '', price };
}

/** The word that is nearest to being in every twentieth name. */
function frequentWord(products: readonly PeerProduct[]): string {
  const counts = new Map<string, number>();
  for (const { name } of products) {
    for (const word of new Set(name.toLowerCase().match(/\p{L}{4,}/gu) ?? [])) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  const distance = (count: number) => Math.abs(count - products.length / 20);
  return [...counts].toSorted(([, left], [, right]) => distance(left) - distance(right))[0]![0];
}

async function createDatabase(db: Database, { host, port, user, password }: PoolConfig, name: string) {
  const database = `peer_${name}`;
  await db.pool.query(`create database ${database}`);
  return {
    host: host!,
    port: port ?? 5432,
    user: user!,
    password: typeof password === 'string' ? password : '',
    database,
  };
}
