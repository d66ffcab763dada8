import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop } from '../../../test/builders.ts';
import { startService, type Service } from '../../../test/service.ts';
import { readPage } from '../../../test/storefront.ts';
import { badRequest, notFound } from '../../http/errors.ts';
import { moveSettingsVersion } from '../shop/queries.ts';
import { applySettings } from './file.ts';
import {
  cachedSettings,
  shopSettings,
  withCachedSettings,
  type Settings,
  type VerifySettings,
} from './settings.ts';

/** Two processes on one database: the first has cached the settings, then the second changes them. */
let first: Service;
let second: Service;
let before: Settings;

beforeAll(async () => {
  first = await startService();
  second = await startService({}, first);
  await givenShop(first, 'Harbour');
});
beforeEach(async () => {
  before = await shopSettings(first.db, 'Harbour');
});
afterAll(async () => {
  await second.close();
  await first.close();
});

const apply = (settings: object) => second.db.transaction((tx) => applySettings(tx, 'Harbour', settings));
const change = () => second.db.transaction((tx) => moveSettingsVersion(tx, 'Harbour'));

describe('work with cached settings', () => {
  /** Notes the versions that the work was tried with. */
  const tryWith = async (work: (settings: Settings, verify: VerifySettings) => unknown) => {
    const versions: number[] = [];
    const result = await withCachedSettings(first.db, 'Harbour', async (settings, verify) => {
      versions.push(settings.version - before.version);
      return work(settings, verify);
    }).catch((error: Error) => error.message);
    return { versions, result };
  };

  test('runs once while they are current', async () => {
    const ended = await tryWith((settings, verify) => {
      expect(settings).toBe(before);
      verify(before.version);
      return 'done';
    });
    expect(ended).toEqual({ versions: [0], result: 'done' });
  });

  test('runs again when its statement has read another version', async () => {
    await apply({ slogan: `From the sea, ${before.version}` });
    expect(cachedSettings(first.db, 'Harbour')).toBe(before);
    const ended = await tryWith((settings, verify) => {
      verify(before.version + 1);
      return settings.slogan;
    });
    expect(ended).toEqual({ versions: [0, 1], result: { en_GB: `From the sea, ${before.version}` } });
  });

  test('runs again when its statement was earlier than the settings', async () => {
    let tries = 0;
    const ended = await tryWith((_, verify) => verify(before.version - (tries++ === 0 ? 1 : 0)));
    expect(ended).toEqual({ versions: [0, 0], result: undefined });
  });

  test('is refused only by settings that are current', async () => {
    const refuse = (settings: Settings) => {
      if (settings.version === before.version) throw badRequest('refused');
      return 'done';
    };
    expect(await tryWith(refuse)).toEqual({ versions: [0], result: 'refused' });
    await change();
    expect(await tryWith(refuse)).toEqual({ versions: [0, 1], result: 'done' });
  });

  test('runs again when it has verified nothing and they have changed', async () => {
    expect(await tryWith(() => 'done')).toEqual({ versions: [0], result: 'done' });
    await change();
    expect(await tryWith(() => 'done')).toEqual({ versions: [0, 1], result: 'done' });
  });

  test('that finds nothing needs no other settings', async () => {
    await change();
    const ended = await tryWith((_, verify) => {
      verify(undefined);
      throw notFound();
    });
    expect(ended).toEqual({ versions: [0], result: 'HTTP 404 Not Found' });
  });

  test('fails at once for another reason', async () => {
    await change();
    const ended = await tryWith(() => {
      throw new Error('broken');
    });
    expect(ended).toEqual({ versions: [0], result: 'broken' });
  });

  test('ends with its third try when they change all the time', async () => {
    const ended = await tryWith(async ({ version }, verify) => {
      await change();
      verify(version + 1);
      return 'done';
    });
    expect(ended).toEqual({ versions: [0, 1, 2], result: 'done' });
  });
});

test('a page opens and closes as soon as another process opens and closes the shop', async () => {
  const titles = [];
  for (const publicCatalogue of [true, false, true]) {
    await apply({ publicCatalogue });
    const { text } = await readPage(first, '/Harbour/Categories');
    titles.push(/<title>(.*?)<\/title>/.exec(text)?.[1]);
  }
  expect(titles).toEqual(['Home page | Harbour', 'Harbour', 'Home page | Harbour']);
});
