import type { Database } from '../src/db/database.ts';
import { generateProducts } from '../src/commands/demo/generate.ts';
import { applySettings } from '../src/shops/settings/file.ts';
import { shopSettings } from '../src/shops/settings/settings.ts';
import { startFakeAssistant } from '../test/fake-assistant.ts';
import { interleavedRounds, type Round, type Subject } from './load.ts';
import { applyDelivery, createBareShop, stockUp } from './shop.ts';
import { checkout, newSearch, newWord, type Call, type Step } from './targets.ts';

/**
 * What assistants ask for by the Universal Commerce Protocol, beside what the API does for the same: searching for new
 * words, and a cart with one line.
 */
export interface AssistantOptions {
  products: number;
  rounds: number;
  seconds: number;
}

/** Medians of the rounds. */
export interface Compared {
  name: string;
  api: Pick<Round, 'p95Ms' | 'requestsPerSecond'>;
  assistant: Pick<Round, 'p95Ms' | 'requestsPerSecond'>;
}

const SHOP = 'Assisted';
const CONNECTIONS = 8;

export async function measureAssistants(
  db: Database,
  origin: string,
  { products, rounds, seconds }: AssistantOptions,
  say: (line: string) => void,
): Promise<Compared[]> {
  const assistant = await startFakeAssistant();
  try {
    const token = await createBareShop(db, SHOP);
    await generateProducts(db, { shopId: SHOP, products, seed: 1 }, () => {});
    const saleIds = (await stockUp(db, SHOP)).map(({ id }) => id);
    await applyDelivery(db, SHOP);
    await db.transaction((tx) =>
      applySettings(tx, SHOP, { assistants: { open: true, callsPerHour: 100_000 } }),
    );
    await db.pool.query('vacuum analyze');
    const { shippingMethods } = await shopSettings(db, SHOP);
    const { shippingMethodId } = shippingMethods[0]!;
    const root = `/rs/shops/${SHOP}`;
    const [create, firstLine] = checkout({ root, saleIds, shippingMethodId }) as [Step, Step];
    const ask = (path: string, body: () => object): Step => ({
      name: path,
      call: (): Call => ({
        method: 'POST',
        path: `/ucp${path}`,
        headers: { host: `${SHOP.toLowerCase()}.localhost`, 'ucp-agent': `profile="${assistant.profile}"` },
        body: JSON.stringify(body()),
      }),
    });
    const pairs: [name: string, api: Step[], assistant: Step[]][] = [
      [
        'search for a new word',
        [newSearch(root)],
        [ask('/catalog/search', () => ({ query: newWord().word, pagination: { limit: 20 } }))],
      ],
      [
        'a cart with one line; a checkout session',
        [create, firstLine],
        [
          ask('/checkout-sessions', () => ({
            line_items: [{ item: { id: saleIds[Math.floor(Math.random() * saleIds.length)] }, quantity: 1 }],
          })),
        ],
      ],
    ];
    const subjects = pairs.flatMap(([name, ...flows]) =>
      flows.map((flow): Subject => ({ name, origin, token, calls: [], flow, connections: CONNECTIONS })),
    );
    const measured = await interleavedRounds(subjects, { rounds, seconds, settle: async () => {} }, say);
    const medianOf = (subject: Subject) => {
      const all = measured.get(subject)!;
      const median = (key: 'p95Ms' | 'requestsPerSecond') =>
        all.map((round) => round[key]).toSorted((a, b) => a - b)[all.length >> 1]!;
      return { p95Ms: median('p95Ms'), requestsPerSecond: median('requestsPerSecond') };
    };
    return pairs.map(([name], index) => ({
      name,
      api: medianOf(subjects[2 * index]!),
      assistant: medianOf(subjects[2 * index + 1]!),
    }));
  } finally {
    await assistant.close();
  }
}
