import { createTransport } from 'nodemailer';
import { describe, expect, test } from 'vitest';
import { mimeBytes } from './mime.ts';

const letter = {
  messageId: '<one@shop.example>',
  date: new Date('2026-11-16T19:00:00Z'),
  from: { name: 'Häfen, "Herd" & Co', address: 'hello@harbour.example' },
  to: { name: '', address: 'ada@mail.example' },
  subject: `Bestellung über 12,00 € ${'und mehr '.repeat(12)}`,
  headers: { 'Auto-Submitted': 'auto-generated' },
};

const emails = {
  'plain ASCII': { text: 'Thank you!\n\n.\n-- \nBench', html: '<p>Thank you!</p>\n.' },
  'other letters, long lines and dots': {
    text: `Grüße €\n..\n.${'x y '.repeat(60)}\n${'€'.repeat(200)}\r\nfrom =20 here `,
    html: `<p>${'<b>ü</b> '.repeat(60)}</p>\n.\n`,
  },
  'texts that are attached': {
    text: 'Text',
    html: '<p>Text</p>',
    attachments: [
      {
        filename: 'terms-and-conditions.txt',
        content: Buffer.from('Übergabe\n'.repeat(50)),
        contentType: 'text/plain; charset=utf-8',
      },
      { filename: 'Rechnung Ü 1001.pdf', content: Buffer.alloc(3000, 7), contentType: 'application/pdf' },
      { filename: 'empty.pdf', content: Buffer.alloc(0), contentType: 'application/pdf' },
    ],
  },
  'a logo': {
    text: 'Text',
    html: '<img src="cid:logo@shop.example">',
    attachments: [
      {
        cid: 'logo@shop.example',
        filename: 'logo.png',
        content: Buffer.alloc(500, 9),
        contentDisposition: 'inline' as const,
      },
    ],
  },
};

/** Without what differs from one time to the next, and where a long line is broken. */
function comparable(bytes: Buffer): string[] {
  return bytes
    .toString()
    .replaceAll(/--_NmP-[0-9a-f]+/g, 'boundary')
    .replaceAll('=\r\n', '')
    .split('\r\n');
}

describe('the bytes of an email', () => {
  test.each(Object.entries(emails))('are what nodemailer streams: %s', async (_name, parts) => {
    const mail = { ...letter, ...parts };
    const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
    const { message } = await transport.sendMail(mail);
    const bytes = mimeBytes(mail);
    expect(comparable(bytes)).toEqual(comparable(message as Buffer));
    expect(
      Math.max(
        ...bytes
          .toString()
          .split('\r\n')
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(76);
    expect(bytes.toString().replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  });
});
