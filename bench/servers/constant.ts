import Fastify from 'fastify';

/** The ceiling: Fastify alone, with nothing to do. */
const app = Fastify();
app.get('/', async () => ({ default: 'EUR', items: ['EUR'] }));
await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
