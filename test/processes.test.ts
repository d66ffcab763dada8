import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, expect, test, vi } from 'vitest';
import { isAlive } from '../src/db/embedded-init.ts';
import { newStartedFolder } from './first-start.ts';
import { cleanUp, postmasterOf, startKontor, waitFor, type Running } from './process.ts';

vi.setConfig({ testTimeout: 120_000 });
afterAll(cleanUp);

/** The processes that serve, by the number of the supervising one. */
async function serving({ pid }: Running): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['--ppid', String(pid), '-o', 'pid=,args=']);
  return stdout
    .split('\n')
    .flatMap((line) => (line.includes('kontor.js') ? [Number.parseInt(line, 10)] : []));
}

const customers = (service: Running) =>
  fetch(`${service.address}/rs/shops/DemoShop/customers`, {
    headers: { authorization: 'Bearer demo-all' },
  });

test.skipIf(process.platform !== 'linux')(
  'PROCESSES=2 serves from two processes; one that is killed is replaced, and all end together',
  async () => {
    const data = await newStartedFolder();
    const service = await startKontor({ KONTOR_DATA: data, PROCESSES: '2', LOG_LEVEL: 'info' });
    const listening = () => service.stderr().match(/Server listening/g)?.length;
    await waitFor(() => listening() === 2);
    expect(service.stdout().match(/Kontor is running/g)).toHaveLength(1);
    const [killed, other] = await serving(service);
    process.kill(killed!, 'SIGKILL');
    await waitFor(() => !isAlive(killed!));
    for (let n = 0; n < 5; n++) expect((await customers(service)).status).toBe(200);
    // Nobody can say whose they would be.
    expect((await fetch(`${service.address}/metrics`)).status).toBe(404);
    await waitFor(() => listening() === 3);
    expect(await serving(service)).toHaveLength(2);
    expect(await serving(service)).toContain(other);
    expect(service.stderr()).toContain('process 1 ended by itself (SIGKILL): starting another one');
    const postmaster = (await postmasterOf(data))!;
    const { code, stdout } = await service.stop();
    expect([code, stdout.match(/Kontor is running/g)?.length]).toEqual([0, 1]);
    expect(isAlive(postmaster)).toBe(false);
  },
);
