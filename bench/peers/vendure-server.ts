import { createRequire } from 'node:module';
import http from 'node:http';
import path from 'node:path';

/**
 * Starts Vendure from the folder that it is installed in: `fill` makes the tables and the products, `serve` answers, `work`
 * runs its jobs. Filling and working have no pages, so they say by a port that they are there.
 */

const environment = (name: string) => process.env[name]!;
const load = createRequire(path.join(environment('PEER_FOLDER'), 'package.json'));

/** As much of its interface as is used here. */
interface App {
  close(): Promise<void>;
}
interface Core {
  bootstrap(config: object): Promise<App>;
  bootstrapWorker(config: object): Promise<{ startJobQueue(): Promise<unknown> }>;
  DefaultLogger: new (options: object) => object;
  LogLevel: { Warn: number };
  DefaultJobQueuePlugin: { init(options: object): unknown };
  DefaultSearchPlugin: { init(options: object): unknown };
  dummyPaymentHandler: { code: string };
}
interface Filling {
  populate: (start: () => Promise<App>, data: object, csv: string) => Promise<App>;
}

const core = load('@vendure/core') as Core;
const { host, port, user, password, database } = JSON.parse(environment('PEER_DATABASE')) as Record<
  string,
  string
>;
const task = process.argv[2];

const config = {
  // While it fills its tables it would say too early that it is ready.
  apiOptions: { port: task === 'fill' ? 0 : Number(environment('PORT')), hostname: '127.0.0.1' },
  authOptions: {
    tokenMethod: ['bearer'],
    superadminCredentials: { identifier: 'bench', password: 'bench-bench' },
  },
  dbConnectionOptions: {
    type: 'postgres',
    host,
    port: Number(port),
    username: user,
    password,
    database,
    synchronize: task === 'fill',
    logging: false,
  },
  paymentOptions: { paymentMethodHandlers: [core.dummyPaymentHandler] },
  importExportOptions: { importAssetsDir: environment('PEER_FOLDER') },
  plugins: [core.DefaultJobQueuePlugin.init({}), core.DefaultSearchPlugin.init({ bufferUpdates: false })],
  logger: new core.DefaultLogger({ level: core.LogLevel.Warn }),
};

const data = {
  defaultLanguage: 'en',
  defaultZone: 'Europe',
  countries: [{ code: 'DE', name: 'Germany', zone: 'Europe' }],
  taxRates: [{ name: 'Standard Tax', percentage: 19 }],
  shippingMethods: [{ name: 'Parcel', price: 490 }],
  paymentMethods: [
    {
      name: 'Later',
      handler: {
        code: core.dummyPaymentHandler.code,
        arguments: [{ name: 'automaticSettle', value: 'false' }],
      },
    },
  ],
  collections: [],
};

if (task === 'serve') {
  await core.bootstrap(config);
} else if (task === 'work') {
  const worker = await core.bootstrapWorker(config);
  await worker.startJobQueue();
  sayReady();
} else {
  const { populate } = load('@vendure/core/cli') as Filling;
  const app = await populate(() => core.bootstrap(config), data, environment('PEER_PRODUCTS'));
  await app.close();
  sayReady();
}

function sayReady(): void {
  http
    .createServer((_request, response) => response.end('ready'))
    .listen(Number(environment('PORT')), '127.0.0.1');
}
