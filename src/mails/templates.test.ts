import { describe, expect, test } from 'vitest';
import { oneLine, renderedMail, type Mail } from './templates.ts';

const sender = { name: 'Harbour & Hearth', storefront: 'https://shop.example/shop/Harbour' };

const mail = (locale: string, facts: Partial<Mail['facts']> = {}): Mail => ({
  to: 'ada@mail.example',
  locale,
  template: 'availability',
  facts: { productName: 'Ginger tea', productNumber: 'TE-120', ...facts },
});

describe('availability', () => {
  test('is text and HTML', () => {
    const { subject, language, text, html } = renderedMail(mail('en_GB'), sender);
    expect({ subject, language }).toEqual({ subject: 'Available again: Ginger tea', language: 'en' });
    expect(text).toContain('Ginger tea is available again at Harbour & Hearth.');
    expect(text).toContain('To the product: https://shop.example/shop/Harbour/Products/TE-120\n');
    expect(html).toContain('<html lang="en">');
    expect(html).toContain('<p>Ginger tea is available again at Harbour &amp; Hearth.</p>');
    expect(html).toContain('<a href="https://shop.example/shop/Harbour/Products/TE-120">To the product</a>');
  });

  test.each([
    ['de_DE', 'de', 'Wieder verfügbar: Ginger tea'],
    ['de_AT', 'de', 'Wieder verfügbar: Ginger tea'],
    ['fr_FR', 'fr', 'De nouveau disponible : Ginger tea'],
    ['en_US', 'en', 'Available again: Ginger tea'],
    ['nl_NL', 'en', 'Available again: Ginger tea'],
  ])('in %s speaks %s', (locale, language, subject) => {
    expect(renderedMail(mail(locale), sender)).toMatchObject({ language, subject });
  });

  test('takes what a merchant wrote as text only', () => {
    const facts = { productName: '<b>Tea</b>\r\nBcc: all@mail.example', productNumber: 'A/1 "x"' };
    const { subject, html, text } = renderedMail(mail('en_GB', facts), sender);
    expect(subject).toBe('Available again: <b>Tea</b> Bcc: all@mail.example');
    expect(html).not.toContain('<b>');
    expect(html).toContain('&lt;b&gt;Tea&lt;/b&gt;');
    expect(text).toContain('https://shop.example/shop/Harbour/Products/A%2F1%20%22x%22\n');
  });
});

test.each([
  ['a\r\nb', 'a b'],
  [' a\tb  c ', 'a b c'],
  ['a\u0000\u0085\u2028b', 'a b'],
  ['plain', 'plain'],
])('%j as one line', (text, line) => {
  expect(oneLine(text)).toBe(line);
});
