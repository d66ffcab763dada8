import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from './config.ts';

describe('the configuration', () => {
  test('has a default for everything that needs one', () => {
    expect(readConfig({})).toEqual({
      PORT: 8080,
      HOST: '127.0.0.1',
      PROCESSES: '1',
      KONTOR_DATA: './data',
      DATABASE_POOL: 10,
      DATABASE_NAMED_STATEMENTS: true,
      RATE_LIMIT: 6000,
      RATE_LIMIT_ANONYMOUS: 36000,
      EVENT_DAYS: 30,
      CART_ABANDONED_AFTER: 4,
      MEDIA_QUOTA_MB: 2048,
      LOG_LEVEL: 'info',
    });
  });

  test('reads text as what it means, takes an empty variable as absent, and ignores what is not ours', () => {
    const config = readConfig({
      PORT: '0',
      DATABASE_NAMED_STATEMENTS: 'false',
      RATE_LIMIT: '0',
      PUBLIC_URL: 'https://shop.example/',
      LOG_LEVEL: '',
      HOME: '/root',
    });
    expect(config).toMatchObject({
      PORT: 0,
      DATABASE_NAMED_STATEMENTS: false,
      RATE_LIMIT: 0,
      PUBLIC_URL: 'https://shop.example/',
      LOG_LEVEL: 'info',
    });
    expect(config).not.toHaveProperty('HOME');
  });

  test.each([
    [{ PORT: 'abc' }, 'PORT must be integer (it is "abc"): Port to listen on.'],
    [{ PORT: '70000' }, 'PORT must be <= 65535 (it is "70000"): Port to listen on.'],
    [{ RATE_LIMIT: '-1' }, 'RATE_LIMIT must be >= 0 (it is "-1"): Calls per hour and token, 0 = none.'],
    [{ DATABASE_NAMED_STATEMENTS: 'maybe' }, 'DATABASE_NAMED_STATEMENTS must be boolean (it is "maybe")'],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be equal to one of the allowed values (it is "loud")'],
    [{ PUBLIC_URL: 'shop.example' }, 'PUBLIC_URL must match pattern'],
    [{ MEDIA_URL: 'https://bucket.example' }, 'MEDIA_URL must match pattern'],
    [{ MEDIA_URL: 's3://key:secret@bucket' }, 'MEDIA_URL must match pattern'],
    [{ MEDIA_URL: 's3://bucket?endpoint=minio:9000' }, 'MEDIA_URL must match pattern'],
    [{ MEDIA_URL: 's3://bucket?region=eu-1&acl=public' }, 'MEDIA_URL must match pattern'],
  ])('refuses %j by its name', (environment, message) => {
    expect(() => readConfig(environment)).toThrow(ConfigError);
    expect(() => readConfig(environment)).toThrow(message);
  });

  test.each([
    's3://bucket',
    's3://my.bucket-1/shops/images/',
    's3://bucket?region=eu-central-1',
    's3://bucket/shops?endpoint=http://127.0.0.1:9000&region=eu-1',
    's3://bucket?region=eu-1&endpoint=https%3A%2F%2Fs3.example',
  ])('takes %s as the store of images', (MEDIA_URL) => {
    expect(readConfig({ MEDIA_URL })).toMatchObject({ MEDIA_URL });
  });

  test('names every wrong variable, one line each', () => {
    expect(() => readConfig({ PORT: 'x', RATE_LIMIT: 'y' })).toThrow(/^PORT .*\nRATE_LIMIT .*$/);
  });

  test('never shows a secret', () => {
    for (const environment of [{ DATABASE_URL: 'mysql://me:hunter2@db/x' }, { KONTOR_SECRET: 'hunter2' }]) {
      expect(() => readConfig(environment)).toThrow(/^(?!.*hunter2)/s);
    }
  });
});
