/**
 * `npx tsx bench/own-pages.ts [REQUESTS]`: what a page of twenty blocks and the page of a product cost the thread that
 * answers, for new visitors and for one with a session. Needs nothing but `npm ci`.
 */
import type { Block } from '../src/content/blocks.ts';
import { cleanUp, newFolder, startKontor } from '../test/process.ts';
import { answeringTime } from './cpu-time.ts';
import { median } from './report.ts';

const REQUESTS = Number(process.argv[2] ?? 1_000);
const ROUNDS = 5;
const BASE = '/shop/DemoShop';

const BLOCKS: readonly Block[] = [
  { type: 'heading', text: 'How we roast', level: '2' },
  { type: 'richText', html: '<p>Slowly, and <b>by hand</b>.</p>'.repeat(20) },
  { type: 'products', title: 'New', source: 'newest', count: 8 },
  { type: 'categories', title: 'Our range' },
  { type: 'faq', questions: [{ question: 'Why?', answer: '<p>Because.</p>' }] },
  { type: 'quote', text: 'The best kettle', source: 'Ada' },
  {
    type: 'columns',
    columns: [
      { title: 'One', html: '<p>1</p>' },
      { title: 'Two', html: '<p>2</p>' },
    ],
  },
  { type: 'promises', promises: ['Free returns', 'Made here'] },
  { type: 'button', link: '/Categories/tea', linkText: 'Tea' },
  { type: 'newsletter', title: 'Letters' },
];

const { address, pid, stop } = await startKontor({
  KONTOR_DATA: await newFolder(),
  RATE_LIMIT: '0',
  RATE_LIMIT_ANONYMOUS: '0',
});
try {
  const made = await fetch(`${address}/manage/shops/DemoShop/pages`, {
    method: 'POST',
    headers: { authorization: 'Bearer demo-all', 'content-type': 'application/json' },
    body: JSON.stringify({
      kind: 'page',
      published: true,
      texts: [{ locale: 'en_GB', title: 'Twenty', blocks: [...BLOCKS, ...BLOCKS] }],
    }),
  });
  if (made.status !== 201) throw new Error(await made.text());
  await compare('new visitor', {});
  await compare('with a session', { cookie: await newSession() });
} finally {
  await stop();
  await cleanUp();
}

async function newSession(): Promise<string> {
  const answer = await fetch(`${address}${BASE}/consent`, {
    method: 'POST',
    headers: { origin: address },
    body: new URLSearchParams({ consent: 'necessary' }),
    redirect: 'manual',
  });
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ');
}

async function compare(who: string, headers: Record<string, string>): Promise<void> {
  const pages = [
    { name: 'page of 20 blocks', path: '/pages/twenty', times: [] as number[] },
    { name: 'product page', path: '/Products/AP-100', times: [] as number[] },
  ];
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { path, times } of pages) {
      const before = await answeringTime(pid);
      for (let request = 0; request < REQUESTS; request++) {
        const answer = await fetch(`${address}${BASE}${path}`, { headers });
        await answer.arrayBuffer();
        if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
      }
      // The first round warms up.
      if (round > 0) times.push(((await answeringTime(pid)) - before) / REQUESTS);
    }
  }
  for (const { name, times } of pages)
    process.stdout.write(`${name}, ${who}: ${median(times).toFixed(2)} ms of the processor\n`);
}
