import Fastify from 'fastify';
import pg from 'pg';

/** The baseline of writes: Fastify and one transaction that locks a row, inserts two and updates one. */
const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['DATABASE_POOL']),
});
const app = Fastify();
app.post<{ Params: { id: string } }>('/:id', async ({ params }, reply) => {
  const values = [params.id];
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query({ name: 'lock', text: 'select * from bench_owner where id = $1 for update', values });
    await client.query({
      name: 'one',
      text: 'insert into bench_entry (owner, amount) values ($1, 1)',
      values,
    });
    await client.query({
      name: 'two',
      text: 'insert into bench_entry (owner, amount) values ($1, 2)',
      values,
    });
    const { rows } = await client.query<object>({
      name: 'sum',
      text: 'update bench_owner set amount = amount + 3 where id = $1 returning *',
      values,
    });
    await client.query('commit');
    return await reply.code(201).send(rows[0]);
  } finally {
    client.release();
  }
});
app.get('/health', async () => ({}));
await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
