import type { Database } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { fillCarts, mustBalance, mustBeCartOrOrder, openShop, orderCart, stockUp } from './shop.ts';
import { allAtOnce, countOf, many, must, mustEqual, shuffled, tally, type Check } from './stage.ts';

export const opposite: Check = {
  name: 'opposite',
  summary: 'carts that hold the same scarce products in opposite order do not block each other',
  async run(stage) {
    const shop = await openShop(stage, 'Opposite');
    const stock = stage.size(1_000);
    const goods = await Promise.all(
      ['LEFT', 'RIGHT', 'MIDDLE'].map((number) => stockUp(shop, { number, stock })),
    );
    const [left, right] = [goods[0]!, goods[1]!];
    const carts = await fillCarts(shop, stage.size(3_000), {
      linesOf: (index) => {
        const chosen = [[left, right], [right, left], shuffled(goods)][index % 3]!;
        return chosen.map(({ productId }) => ({ productId, quantity: 1 + (index % 2) }));
      },
      buyerOf: (index) => index % 500,
    });
    const deadlocks = await stage.look(countDeadlocks);
    const replies = await allAtOnce(stage, 'checkouts', carts, (cart) => orderCart(shop, cart));

    const statuses = replies.map(({ status }) => status);
    const sold = countOf(statuses, 201);
    must(sold > 0 && sold + countOf(statuses, 409) === carts.length, `answers ${tally(statuses)}`);
    await mustBalance(shop, goods);
    mustEqual('open carts', await mustBeCartOrOrder(shop), carts.length - sold);
    // Whoever was refused has lost nothing. Reading also makes every connection hand in what it has counted.
    const refused = carts.filter((_, index) => statuses[index] === 409);
    const reads = await allAtOnce(stage, 'refused carts', refused, ({ cartId, cartToken }) =>
      shop.call('GET', `/carts/${cartId}`, { cartToken }),
    );
    mustEqual(
      'refused carts that can be read',
      countOf(
        reads.map(({ status }) => status),
        200,
      ),
      refused.length,
    );
    const seen = (await stage.look(countDeadlocks)) - deadlocks;
    return `${many(carts.length)} checkouts of 2 and 3 products in opposite order, ${many(sold)} sold, ${many(refused.length)} refused, each stock went down by what was sold, ${seen} deadlocks in PostgreSQL`;
  },
};

async function countDeadlocks(db: Database): Promise<number> {
  const row = await db.one<{ deadlocks: number }>(
    sql`select deadlocks from pg_stat_database where datname = current_database()`,
  );
  return row!.deadlocks;
}
