import { mkdir, writeFile } from 'node:fs/promises';
import pino from 'pino';
import { buildApp } from './composition/app.ts';
import { readConfig } from './config.ts';
import { openDatabase } from './db/database.ts';
import { manifestSchemaText } from './apps/manifest/schema.ts';
import { openapiText, operationsText } from './openapi/document.ts';
import { settingsFormat } from './composition/settings-format.ts';
import { errorGuide } from './site/docs/error-guide.ts';
import { settingsSchemaText } from './shops/settings/format.ts';

/** `npm run generate`: writes the generated files. A test fails when they are stale. */
async function generate(): Promise<void> {
  // The pool connects at its first query, and nothing here makes one.
  const db = openDatabase({ connection: { host: '/nowhere' } });
  const app = await buildApp({ config: readConfig({}), db, log: pino({ level: 'silent' }) });
  await app.ready();
  const root = new URL('../', import.meta.url);
  await writeFile(new URL('openapi.json', root), await openapiText(app));
  await mkdir(new URL('schema/', root), { recursive: true });
  await writeFile(new URL('schema/operations.json', root), await operationsText(app));
  await writeFile(new URL('schema/shop-settings.schema.json', root), settingsSchemaText(settingsFormat));
  await writeFile(new URL('schema/app-manifest.schema.json', root), manifestSchemaText());
  await writeFile(new URL('docs/errors.md', root), errorGuide());
  await app.close();
  await db.close();
}

await generate();
