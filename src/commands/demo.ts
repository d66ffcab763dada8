import { reopenDemoAccess } from '../http/demo-access.ts';
import { isPrivate } from '../config.ts';
import { generateProducts } from './demo/generate.ts';
import { print, withDatabase, withShop, type Handlers } from './command.ts';
import { CommandProblem, UsageProblem } from './problem.ts';
import { startProgress } from './progress.ts';

export const handlers = {
  'demo open': ({ config }) => {
    if (!isPrivate(config)) {
      throw new CommandProblem(
        'Demo access is for a service that only this machine can call: HOST is a loopback address, and neither PUBLIC_URL nor TRUST_PROXY is set.',
      );
    }
    return withDatabase(config, async (db) => {
      const ended = await reopenDemoAccess(db);
      print(
        ended
          ? `Demo access is open again, within seconds. It was closed on ${ended.endedAt.toISOString()}, because a request had ${ended.sign}; the next one of this kind closes it again.`
          : 'Demo access is open already.',
      );
    });
  },
  'demo generate': ({ config, arguments: [shopId], options }) => {
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
} satisfies Handlers;

function wholeNumber(name: string, text: string | boolean | undefined, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new UsageProblem(
    `--${name} is a whole number from 1 to ${most}. See: npx kontor demo generate --help`,
  );
}
