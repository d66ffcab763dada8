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
      DOWNLOAD_MAX_MB: 1024,
      DATABASE_NAMED_STATEMENTS: true,
      CACHE_MB: 384,
      CERTIFICATE_ASK_HOST: '127.0.0.1',
      MAILING_RATE: 6000,
      RATE_LIMIT: 6000,
      RATE_LIMIT_ANONYMOUS: 36000,
      EVENT_DAYS: 30,
      CART_ABANDONED_AFTER: 4,
      VIES_URL: 'https://ec.europa.eu/taxation_customs/vies/rest-api',
      MEDIA_QUOTA_MB: 2048,
      KONTOR_DEMO: 0,
      BACKUP_KEEP: '7/4/12',
      BACKUP_KEEP_DELETED: 30,
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
    [{ PORT: 'abc' }, 'PORT is "abc", expected a whole number from 0 to 65535'],
    [{ PORT: '70000' }, 'PORT is "70000", expected a whole number from 0 to 65535'],
    [{ RATE_LIMIT: '-1' }, 'RATE_LIMIT is "-1", expected a whole number of 0 or more'],
    [{ DATABASE_NAMED_STATEMENTS: 'maybe' }, 'DATABASE_NAMED_STATEMENTS is "maybe", expected true or false'],
    [
      { LOG_LEVEL: 'loud' },
      'LOG_LEVEL is "loud", expected one of trace, debug, info, warn, error, fatal, silent',
    ],
    [
      { PUBLIC_URL: 'shop.example' },
      'PUBLIC_URL is "shop.example", expected scheme and host such as https://shop.example',
    ],
    [
      { DATABASE_URL: 'mysql://host/db' },
      'DATABASE_URL is not as it should be, expected an address such as postgres://user:password@host/database',
    ],
    [
      { WEBHOOK_ALLOW: '10.0.0.0/64' },
      'WEBHOOK_ALLOW is "10.0.0.0/64", expected networks such as 10.0.0.0/8, 192.168.0.0/16',
    ],
    [
      { PUBLIC_ADDRESSES: '203.0.113.5, 1.2' },
      'PUBLIC_ADDRESSES is "203.0.113.5, 1.2", expected up to eight addresses such as 203.0.113.5, 2001:db8::5',
    ],
    [{ MEDIA_URL: 'https://bucket.example' }, 'MEDIA_URL is "https://bucket.example", expected a store'],
    [{ MEDIA_URL: 's3://key:secret@bucket' }, 'MEDIA_URL is "s3://key:secret@bucket", expected a store'],
    [{ MEDIA_URL: 's3://bucket?endpoint=minio:9000' }, 'MEDIA_URL is'],
    [{ MEDIA_URL: 's3://bucket?region=eu-1&acl=public' }, 'MEDIA_URL is'],
    [{ BACKUP_URL: '/var/backups' }, 'BACKUP_URL is "/var/backups", expected a store'],
    [{ BACKUP_URL: 'file://server/backups' }, 'BACKUP_URL is'],
    [{ BACKUP_KEEP: '0/4/12' }, 'BACKUP_KEEP is "0/4/12", expected days/weeks/months such as 7/4/12'],
    [{ BACKUP_KEEP: '7/4' }, 'BACKUP_KEEP is'],
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
