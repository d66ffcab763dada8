import { generateProducts } from './demo/generate.ts';
import { print, UsageProblem, withShop, type Command } from './command.ts';
import { startProgress } from './progress.ts';

export const demoCommands: Command[] = [
  {
    name: 'demo generate',
    arguments: ['SHOP'],
    summary: 'Fill a shop with many made-up products.',
    details:
      'The same seed makes the same products, numbered G<seed>-000001 and so on; what is there already is not made\nagain. Variations of products come in addition.',
    example: 'demo generate MyShop --products 1000',
    options: {
      products: { type: 'string', value: 'N', required: true, summary: 'How many, at most 5,000,000.' },
      seed: { type: 'string', value: 'S', summary: 'A whole number; 1 when not said.' },
    },
    run: ({ config, arguments: [shopId], options }) => {
      const products = wholeNumber('products', options['products'], 5_000_000);
      const seed = wholeNumber('seed', options['seed'] ?? '1', 1_000_000_000);
      return withShop(config, shopId!, async (db) => {
        const progress = startProgress('products', products);
        const made = await generateProducts(db, { shopId: shopId!, products, seed }, progress.advance);
        if (made === 0) {
          print(`${shopId} has the ${products} products of seed ${seed} already.`);
          return;
        }
        progress.end();
        print(`${made} products added to ${shopId}.`);
      });
    },
  },
];

function wholeNumber(name: string, text: string | boolean | undefined, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new UsageProblem(
    `--${name} is a whole number from 1 to ${most}. See: npx kontor demo generate --help`,
  );
}
