import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeHtml, escapeHtml, html, Markup, plainText, safe, webAddress, type Part } from './html.ts';

describe('html', () => {
  test.each<[Part, string]>([
    ['<script>alert(1)</script>', '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>'],
    [`"quotes" & 'quotes'`, '<p>&quot;quotes&quot; &amp; &#39;quotes&#39;</p>'],
    ['&lt;', '<p>&amp;lt;</p>'],
    [0, '<p>0</p>'],
    ['', '<p></p>'],
    [null, '<p></p>'],
    [undefined, '<p></p>'],
    [false, '<p></p>'],
    [['a', ['<b>'], null, 1], '<p>a&lt;b&gt;1</p>'],
    [html`<b>${'<'}</b>`, '<p><b>&lt;</b></p>'],
    [[html`<i></i>`, html`<i></i>`], '<p><i></i><i></i></p>'],
    [safe('<hr>'), '<p><hr></p>'],
  ])('prints %j as %s', (part, printed) => {
    expect(html`<p>${part}</p>`.text).toBe(printed);
  });

  test('keeps a value inside of its attribute', () => {
    expect(html`<a title="${'" onclick="x'}" class="${"' id='x"}">${1}</a>`.text).toBe(
      `<a title="&quot; onclick=&quot;x" class="&#39; id=&#39;x">1</a>`,
    );
  });

  test.each([
    ['an attribute without quotes', () => html`<a href=${'x'}>x</a>`],
    ['a name of a tag', () => html`<${'a'}>x</a>`],
    ['a comment', () => html`<!-- ${'x'} -->`],
  ])('refuses a value in the place of %s', (_place, template) => {
    expect(template).toThrow('outside of quotes');
  });

  test('an attribute may be put in or left out, as markup only', () => {
    const option = (part: Part) => html`<option value="1" ${part}>x</option>`.text;
    expect(option(html`selected`)).toBe('<option value="1" selected>x</option>');
    expect(option(false)).toBe('<option value="1" >x</option>');
    expect(() => option('selected')).toThrow('Only html`...` may stand among the attributes');
    expect(() => option(['onclick="x"'])).toThrow('Only html`...` may stand among the attributes');
  });

  test('a stylesheet takes only what is declared safe', () => {
    const styled = (part: Part) =>
      html`<style media="${'print'}">
          p { ${part} }
        </style>
        ${'<'}`.text;
    expect(styled(safe('color: "red"'))).toMatch(
      /<style media="print">[^&]*color: "red"[^&]*<\/style>\s*&lt;$/,
    );
    expect(() => styled('color: red')).toThrow('Only safe(...)');
  });

  test('no text can leave its place', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', '/', '=', '-', ' ', 'a', ';', '#') }),
        (text) => {
          expect(escapeHtml(text)).not.toMatch(/[<>"']/);
          expect(html`<p title="${text}">${text}</p>`.text.match(/[<>"]/g)).toHaveLength(6);
        },
      ),
    );
  });

  test('prints no indentation, and keeps the blanks of what is put in', () => {
    const text = 'a\n    b';
    const markup = html`<div>
      <p class="note" title="${text}">${text}</p>
      ${safe('<pre>\n  x</pre>')}
    </div>`;
    expect(markup.text).toBe(
      '<div>\n<p class="note" title="a\n    b">a\n    b</p>\n<pre>\n  x</pre>\n</div>',
    );
  });

  test('encodes a document to the same bytes as its text', () => {
    const part = html`<b>${'5 € <'}</b>`;
    const parts: Part[] = [part, '<ü>', ['a', part], null, false, 7];
    const document = encodeHtml`<p title="${'"'}">${parts[0]} ${parts[1]} ${parts[2]}</p>
      ${parts[3]}${parts[4]}${parts[5]}`;
    const text = html`<p title="${'"'}">${parts[0]} ${parts[1]} ${parts[2]}</p>
      ${parts[3]}${parts[4]}${parts[5]}`;
    expect(document.toString()).toBe(text.text);
    expect(() => encodeHtml`<a href=${'x'}>x</a>`).toThrow('outside of quotes');
  });

  test('is a value of its own class, so that a text can not pretend to be markup', () => {
    const pretender = JSON.parse('{"text":"<b>"}') as Markup;
    expect(() => html`<p>${pretender}</p>`.text).toThrow(TypeError);
    expect(String(html`<p></p>`)).toBe('<p></p>');
  });
});

test.each([
  ['<p>Small things from the sea side</p>', 'Small things from the sea side'],
  ['plain', 'plain'],
  ['', ''],
  ['<p>one</p>\r\n\r\n<p>two<br />three</p>', 'one\ntwo\nthree'],
  ['a <b>bold</b>er <em>word</em>', 'a bolder word'],
  [
    'Fish &amp; chips &euro;&nbsp;5 &#8211; &#x2013; &unknown; &constructor;',
    'Fish & chips € 5 – – &unknown; &constructor;',
  ],
  ['<script>alert("<b>")</script>after', 'after'],
  ['<style>p{}</style><!-- note -->after', 'after'],
  ['1 < 2 and 3 > 2', '1 < 2 and 3 > 2'],
  ['<img src=x onerror=alert(1)>text', 'text'],
  ['&lt;script&gt;', '<script>'],
  ['&#0;&#xd800;&#x110000;', ''],
  ['caf&eacute; &Eacute;t&eacute; &#x2014; &rarr; &hearts;', 'café Été — → ♥'],
  ['&notanentity; &notit; AT&T ?a=1&copy=2', '&notanentity; &notit; AT&T ?a=1&copy=2'],
  ['&amp;amp; &amp;lt;b&amp;gt;', '&amp; &lt;b&gt;'],
  ['a&nbsp;&nbsp;b&#10;c', 'a b c'],
  ['<a title="a > b">link</a> <!-- 1 > 2 --> end', 'link end'],
  ['<p>one<li>two</p><script>x</script >three', 'one\ntwo\nthree'],
  ['<title>hidden', ''],
  ['5 <x', '5 <x'],
])('%j as text', (markup, text) => {
  expect(plainText(markup)).toBe(text);
});

test('markup that was made to be slow is not', () => {
  const began = performance.now();
  plainText('<'.repeat(200_000));
  plainText('<script>'.repeat(50_000));
  plainText('&#'.repeat(200_000));
  plainText(' '.repeat(200_000) + 'x');
  expect(performance.now() - began).toBeLessThan(1_000);
});

test.each([
  ['https://shop.example/a?b=c', 'https://shop.example/a?b=c'],
  ['http://shop.example', 'http://shop.example/'],
  ['javascript:alert(1)', undefined],
  [' javascript:alert(1)', undefined],
  ['data:text/html,x', undefined],
  ['/logo.png', undefined],
  ['', undefined],
  [null, undefined],
])('%j leads to %j', (text, address) => {
  expect(webAddress(text)).toBe(address);
});
