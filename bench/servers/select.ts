import Fastify from 'fastify';
import pg from 'pg';

/** The baseline: Fastify and one named select by primary key, with nothing else around it. */
const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['DATABASE_POOL']),
});
const app = Fastify();
app.get<{ Params: { shopId: string; customerId: string } }>('/:shopId/:customerId', async ({ params }) => {
  const { rows } = await pool.query<object>({
    name: 'customer',
    text: 'select * from customer where shop_id = $1 and customer_id = $2',
    values: [params.shopId, params.customerId],
  });
  return rows[0];
});
await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
