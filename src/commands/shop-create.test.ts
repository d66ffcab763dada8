import { PassThrough } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { isCountry } from '../shops/countries/countries.ts';
import { logoOf } from '../shops/shop/draw-logo.ts';
import { legalDrafts } from '../shops/shop/legal-drafts.ts';
import { currencyOf, localeOf, starterSettings } from '../shops/shop/starter-settings.ts';
import { contentProblems } from '../shops/settings/checks.ts';
import { openDialogue } from './ask.ts';
import { readAnswers } from './shop-create.ts';

/** Somebody at a terminal who types these lines, and what the terminal shows. */
async function typing(lines: string, options: Record<string, string> = {}) {
  const output = new PassThrough();
  const input = new PassThrough();
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => output.write(text));
  const dialogue = openDialogue(input, output);
  // One line for each question, as a person does.
  const answers = lines.split('\n');
  output.on('data', (text: Buffer) => {
    if (!String(text).endsWith(': ')) return;
    const next = answers.shift();
    if (next === undefined) input.end();
    else input.write(`${next}\n`);
  });
  try {
    return await readAnswers('TeaTime', options, dialogue);
  } finally {
    dialogue.close();
    spy.mockRestore();
  }
}

test('Enter takes what stands in brackets', async () => {
  expect(await typing('\n\n\n\n')).toEqual({
    shopId: 'TeaTime',
    name: 'TeaTime',
    country: 'DE',
    locale: 'en_GB',
    currency: 'EUR',
    email: 'shop@teatime.example',
  });
});

test('language and currency follow the country, and a wrong answer is asked for again', async () => {
  expect(await typing('Tee & Zeit\nUK\nch\n\n\nnobody\nhallo@tee.example')).toEqual({
    shopId: 'TeaTime',
    name: 'Tee & Zeit',
    country: 'CH',
    locale: 'de_CH',
    currency: 'CHF',
    email: 'hallo@tee.example',
  });
});

test('what an option says is not asked for', async () => {
  expect(await typing('\n', { name: 'Thé', country: 'FR', language: 'fr', currency: 'EUR' })).toMatchObject({
    locale: 'fr_FR',
    email: 'shop@teatime.example',
  });
});

test('leaving the dialogue changes nothing', async () => {
  await expect(typing('Tea')).rejects.toThrow('Nothing was changed.');
});

test.each([
  [{ country: 'UK' }, 'UK is no country code like DE, GB or US.'],
  [{ language: 'german' }, 'german is no language like de or de_AT.'],
  [{ currency: 'Euro' }, 'Euro is no currency code like EUR.'],
  [{ email: 'me' }, 'me is no email address like hello@shop.example.'],
])('a wrong option: %j', async (options, reason) => {
  await expect(readAnswers('A', options, undefined)).rejects.toThrow(reason);
});

const shopIn = (country: string, locale: string) => ({
  shopId: 'A',
  name: 'Tea <b>& Time',
  email: 'a@b.example',
  country,
  locale,
  currency: currencyOf(country) ?? 'EUR',
});

test.each(['AT', 'CH', 'DK', 'FR', 'GB', 'JP', 'US', 'BR'])(
  'a shop in %s has settings without a problem',
  (country) => {
    expect(isCountry(country)).toBe(true);
    const settings = starterSettings(shopIn(country, localeOf(country)), {
      url: '/media/A/files/l.png',
      colour: '#0b5d66',
    });
    const { default: standard } = settings.taxClasses![0]!;
    expect(standard).toBe(true);
    expect([...contentProblems(settings, [])]).toEqual([]);
  },
);

test('a country without known rates starts with 0 %', () => {
  const { taxClasses, taxes } = starterSettings(shopIn('US', 'en_US'), { url: '/l.png', colour: '#000' });
  expect(taxClasses).toEqual([
    { key: 'standard', name: 'No tax', default: true, defaultDigital: true, rates: { US: 0 } },
  ]);
  expect(taxes).toEqual({ model: 'net' });
});

test.each([
  ['DE', { model: 'gross', specialTerritories: true, delivery: 'shares' }],
  ['AT', { model: 'gross', specialTerritories: true, delivery: 'shares' }],
  ['FR', { model: 'gross', specialTerritories: true }],
  ['GB', { model: 'gross' }],
])('a new shop in %s has the tax settings that are usual there', (country, taxes) => {
  const settings = starterSettings(shopIn(country, `en_${country}`), { url: '/l.png', colour: '#000' });
  expect(settings.taxes).toEqual(taxes);
});

test.each([
  ['en_GB', '(draft)'],
  ['de_AT', '(Entwurf)'],
  ['fr_FR', '(projet)'],
  ['it_IT', '(draft)'],
])('every legal text in %s says that it is a draft, and holds no markup of the name', (locale, mark) => {
  const drafts = legalDrafts(shopIn('AT', locale));
  expect(drafts).toHaveLength(6);
  for (const [, content] of drafts) {
    expect(content['name']).toMatch(new RegExp(` ${mark.replaceAll(/[()]/g, '\\$&')}$`));
    expect(content['shortDescription']).toMatch(/^<p><strong>/);
    expect(content['description']).not.toMatch(/<b>|\{\w+\}/);
  }
});

test('only countries with the right of withdrawal have its text', () => {
  const pages = legalDrafts(shopIn('US', 'en_US')).map(([page]) => page);
  expect(pages).not.toContain('rights-of-withdrawal');
  expect(pages).toHaveLength(5);
});

test.each([
  ['Tea & Time', 2],
  ['MyShop', 2],
  ['Öl', 1],
  ['чай', 1],
  ['99 Ideas for you', 2],
])('the logo of %s has %i letters', (name, letters) => {
  const { svg, colour } = logoOf(name, 'Tea');
  expect(svg.match(/<path /g)).toHaveLength(letters);
  expect(svg).toContain(`fill="${colour}"`);
});
