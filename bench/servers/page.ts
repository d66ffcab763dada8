import { readFileSync } from 'node:fs';
import Fastify from 'fastify';
import pg from 'pg';

/**
 * The baseline of lists: Fastify, one named select by primary key, and a constant text. The text is a page, byte by
 * byte, because what a client does with an answer costs more when it holds a euro sign.
 */
const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['DATABASE_POOL']),
});
const text = readFileSync(process.env['PAGE_FILE']!);
const app = Fastify();
app.get<{ Params: { shopId: string; customerId: string } }>(
  '/:shopId/:customerId',
  async ({ params }, reply) => {
    await pool.query({
      name: 'customer',
      text: 'select * from customer where shop_id = $1 and customer_id = $2',
      values: [params.shopId, params.customerId],
    });
    return reply.type('application/json').send(text);
  },
);
await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
