import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { openDatabase } from '../src/db/database.ts';
import { migrate } from '../src/db/migrate.ts';
import { CITUS_URL, createClusterDatabase, distributeDatabase, dropDatabase, onServers } from './cluster.ts';
import type { Request } from './reads.ts';

/** An installation that an earlier version has made, as a file of test/upgrade/ holds it. */
export interface Recording {
  now: string;
  lastMigration: string;
  /** The rows of every table, and where its sequences stand. */
  tables: Record<string, object[]>;
  sequences: Record<string, number>;
  /** What was asked in this order, and what came back. */
  answers: { request: Request; status: number; text: string }[];
}

/** A database with the schema of that version and these rows; on a cluster it is distributed, and as far as that needs newer. */
export async function loadRecording({ tables, sequences, lastMigration }: Recording) {
  const database = `upgrade_${randomBytes(6).toString('hex')}`;
  const connection = { ...inject('server'), database };
  await (CITUS_URL === undefined
    ? onServers(inject('nodes'), `create database ${database} template template0`)
    : createClusterDatabase(inject('nodes'), database));
  const db = openDatabase({ connection });
  // A name that stands right behind the last migration of that version.
  await migrate(db, () => {}, { before: `${lastMigration}~` });
  const client = new pg.Client(connection);
  await client.connect();
  // The rows come in no particular order, so foreign keys are not checked on the way.
  await client.query('set session_replication_role = replica');
  for (const [table, rows] of Object.entries(tables)) {
    if (rows.length === 0 || table === 'migration') continue;
    const columns = Object.keys(rows[0]!)
      .map((name) => `"${name}"`)
      .join();
    await client.query(
      `insert into ${table} (${columns}) overriding system value
       select ${columns} from json_populate_recordset(null::${table}, $1)`,
      [JSON.stringify(rows)],
    );
  }
  for (const [name, value] of Object.entries(sequences)) {
    await client.query('select setval($1, $2)', [name, value]);
  }
  await client.end();
  if (CITUS_URL !== undefined) {
    // Shops could first be distributed with the schema that has their jobs.
    await migrate(db, () => {}, { before: '0013' });
    await distributeDatabase(db);
  }
  await db.close();
  return { database, drop: () => dropDatabase(inject('nodes'), database) };
}

/**
 * An answer without what later versions have added to it, and without `mboUrl`, which leads to the admin that the first
 * versions did not have.
 */
export function asRecorded(text: string): string {
  return text
    .replace(/"mboUrl":"[^"]*"/, '"mboUrl":""')
    .replace(/"state":"[a-zA-Z]+",(?="cancelledOn")/, '')
    .replace(/"promotions":\[\],/, '')
    .replace(/"taxes":\[[^\]]*\],(?="buyer")/, '')
    .replace(/"buyer":\{[^{}]*\},(?="deliveryOption")/, '')
    .replace(/"deliveryOption":(?:null|\{[^{}]*\}),(?="shipments")/, '')
    .replaceAll(/"(?:dueAmount|refundableAmount)":\{[^}]*\},/g, '');
}
