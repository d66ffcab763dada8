import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startReceiver, type Receiver } from '../../../test/receiver.ts';
import { ConfigError, readConfig } from '../../config.ts';
import type { DemoAccess } from '../../http/demo-access.ts';
import { receiverPolicy, type Resolve } from './receiver-address.ts';
import { createSender } from './sending.ts';

/** A service that others can call. */
const open = readConfig({ HOST: '0.0.0.0' });
const allowing = readConfig({ HOST: '0.0.0.0', WEBHOOK_ALLOW: '127.0.0.0/8, fd00::/8' });
const CLOSED: DemoAccess = { isOpen: () => false };
const problemOf = (url: string, config = open, demoAccess = CLOSED) =>
  receiverPolicy(config, demoAccess).problemOf(new URL(url));

const NOT_PUBLIC = 'must be reachable at a public address';

describe('an address that is given', () => {
  test.each([
    'https://127.0.0.1/hook',
    'https://127.1/hook',
    'https://0x7f.1/hook',
    'https://0x7f000001/hook',
    'https://2130706433/hook',
    'https://017700000001/hook',
    'https://0/hook',
    'https://localhost/hook',
    'https://localhost./hook',
    'https://LOCALHOST:8443/hook',
    'https://shop.localhost/hook',
    'https://[::1]/hook',
    'https://[::]/hook',
    'https://[::ffff:127.0.0.1]/hook',
    'https://[::ffff:7f00:1]/hook',
    'https://[::127.0.0.1]/hook',
    'https://[64:ff9b::7f00:1]/hook',
    'https://[2002:7f00:1::]/hook',
    'https://[fe80::1]/hook',
    'https://[fd12:3456::1]/hook',
    'https://10.1.2.3/hook',
    'https://172.31.255.1/hook',
    'https://192.168.0.1:8443/hook',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/hook',
    'https://224.0.0.1/hook',
    'https://255.255.255.255/hook',
    'https://127。0。0。1/hook',
  ])('%s is inside', (url) => {
    expect(problemOf(url)).toBe(NOT_PUBLIC);
    // A private service may call all of them.
    expect(problemOf(url, readConfig({}), { isOpen: () => true })).toBeUndefined();
  });

  test.each([
    ['http://erp.example/hook', 'must be an https address'],
    ['ftp://erp.example/hook', 'must be an https address'],
    ['https://erp.example:22/hook', 'must have the port 443 or one above 1023'],
    ['https://erp.example:80/hook', 'must have the port 443 or one above 1023'],
    ['https://erp.example:1023/hook', 'must have the port 443 or one above 1023'],
    ['https://user@erp.example/hook', 'must not contain a user or a password'],
    ['https://:secret@erp.example/hook', 'must not contain a user or a password'],
    ['https://erp.example/hook#part', 'must not contain a fragment'],
    ['https://erp.example/hook', undefined],
    ['https://erp.example:443/hook', undefined],
    ['https://erp.example:1024/hook?key=1', undefined],
    ['https://93.184.215.14/hook', undefined],
    ['https://[2606:2800:21f:cb07::1]/hook', undefined],
  ])('%s: %s', (url, problem) => {
    expect(problemOf(url)).toBe(problem);
  });

  test('WEBHOOK_ALLOW opens its networks and no others, also without encryption', () => {
    expect(problemOf('http://127.0.0.1:8080/hook', allowing)).toBeUndefined();
    expect(problemOf('https://[fd00::7]/hook', allowing)).toBeUndefined();
    expect(problemOf('http://10.0.0.1:8080/hook', allowing)).toBe(NOT_PUBLIC);
    // In clear only to networks that are named.
    expect(problemOf('http://93.184.215.14:8080/hook', allowing)).toBe(NOT_PUBLIC);
  });

  test.each(['10.0.0.1', '10.0.0.0/33', '300.0.0.0/8', 'everything'])(
    'WEBHOOK_ALLOW=%s is refused',
    (value) => {
      expect(() => readConfig({ WEBHOOK_ALLOW: value })).toThrow(ConfigError);
      expect(() => readConfig({ WEBHOOK_ALLOW: value })).toThrow(
        /^WEBHOOK_ALLOW is ".*", expected networks such as/,
      );
    },
  );
});

describe('the address that a name leads to', () => {
  let receiver: Receiver;
  let port: string;

  beforeAll(async () => {
    receiver = await startReceiver();
    ({ port } = new URL(receiver.url));
  });

  afterAll(() => receiver.close());

  const send = async (url: string, resolve: Resolve, config = open) => {
    const sender = createSender(receiverPolicy(config, CLOSED, resolve), { timeout: 1_000 });
    const attempt = await sender.send(url, {}, Buffer.from('{}'));
    sender.close();
    return attempt!;
  };

  test('is checked for each connection: where a name led before does not count', async () => {
    for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '10.0.0.7']) {
      const attempt = await send(`https://rebinding.example:${port}/`, async () => [{ address, family: 4 }]);
      expect(attempt).toMatchObject({
        isDelivered: false,
        statusCode: null,
        error: 'Its name leads to no address that may be called',
      });
    }
    expect(receiver.calls).toEqual([]);
  });

  test('is connected to only if it is one of those that were checked', async () => {
    const policy = receiverPolicy(open, CLOSED, async () => [
      { address: '127.0.0.1', family: 4 },
      { address: '93.184.215.14', family: 4 },
      { address: '::1', family: 6 },
    ]);
    expect(await policy.addressesOf(new URL('https://mixed.example/'))).toEqual([
      { address: '93.184.215.14', family: 4 },
    ]);
  });

  test('in a network of WEBHOOK_ALLOW is called, under its name', async () => {
    const attempt = await send(
      `http://erp.internal:${port}/hook`,
      async () => [{ address: '127.0.0.1', family: 4 }],
      allowing,
    );
    expect(attempt).toMatchObject({ isDelivered: true, statusCode: 200, answer: 'ok' });
    expect(receiver.calls.at(-1)!.headers.host).toBe(`erp.internal:${port}`);
  });

  test('a name that does not exist, or takes too long, is a failure with a reason', async () => {
    const unknown = await send('https://unknown.example/', async () => {
      throw Object.assign(new Error('queryA ENOTFOUND unknown.example'), { code: 'ENOTFOUND' });
    });
    expect(unknown.error).toBe('The receiver could not be called: ENOTFOUND');
    const slow = await send('https://slow.example/', () => new Promise(() => {}));
    expect(slow.error).toBe('The receiver did not answer within 1 s');
  });
});
