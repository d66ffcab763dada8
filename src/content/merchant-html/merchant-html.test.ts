import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { halfOf, SEED } from '../../../test/seed.ts';
import { boundedMarkup } from './bounded-markup.ts';
import { sanitise } from './merchant-html.ts';

describe('what merchants write', () => {
  test.each([
    ['<p>One <b>bold</b> word</p>', '<p>One <b>bold</b> word</p>'],
    ['1 < 2 &amp; 3 > 2 caf&eacute;', '1 &lt; 2 &amp; 3 &gt; 2 café'],
    // People leave out end tags; a list of 200 entries is not nested 200 levels deep.
    [`<ul>${'<li>x'.repeat(200)}</ul>`, `<ul>${'<li>x</li>'.repeat(200)}</ul>`],
    ['<p>one<p>two<h1>three', '<p>one</p><p>two</p><h2>three</h2>'],
    [
      '<table><tr><td>1<td>2<tr><td colspan=2>3</table>',
      '<table><tr><td>1</td><td>2</td></tr><tr><td colspan="2">3</td></tr></table>',
    ],
    ['<b>crossed <i>tags</b> end</i>', '<b>crossed <i>tags</i></b> end'],
    ['<script>alert(1)</script><style>p{}</style><title>x</title>text', 'text'],
    [
      '<img src=x onerror=alert(1)><img src=/media/S/x.png onerror="alert(1)">',
      '<img src="/media/S/x.png" alt="" loading="lazy" />',
    ],
    ['<a href="javascript:alert(1)">x</a>', '<a rel="noopener">x</a>'],
    [
      '<a href=https://shop.example/?a=1&b=2 title="a > b">x</a>',
      '<a href="https://shop.example/?a=1&amp;b=2" rel="noopener" title="a &gt; b">x</a>',
    ],
    ['<div onclick=x style="color: red">text</div>', '<div>text</div>'],
    ['a <br> b<hr/>', 'a <br /> b<hr />'],
    ['text <!-- note > --> end', 'text  end'],
    ['<img src="/media/x.png', '&lt;img src="/media/x.png'],
    ['<a href="/x>link</a> text', '<a rel="noopener">link</a> text'],
    ["<a title=it's href=/x>isn't</a>", '<a href="/x" rel="noopener" title="it\'s">isn\'t</a>'],
  ])('%s', (markup, shown) => {
    expect(sanitise(markup).text).toBe(shown);
  });

  test('deep nesting is flattened, and no word is lost', () => {
    const deep = sanitise(`${'<div>'.repeat(500)}<b>word</b>${'</div>'.repeat(500)}<p>after</p>`).text;
    expect(deep).toBe(`${'<div>'.repeat(100)}word${'</div>'.repeat(100)}<p>after</p>`);
  });

  test('markup beyond what can be sanitised in time is shown as text', () => {
    const { text } = sanitise(`<p>first</p>${'<p>one &lt;b&gt; more</p>'.repeat(10_000)}<p>last</p>`);
    expect(text).toMatch(/^<p>first<\/p><p>one &lt;b&gt; more<\/p>/);
    expect(text).toMatch(/<br \/>one &lt;b&gt; more<br \/>last$/);
    expect(text.match(/one &lt;b&gt; more/g)).toHaveLength(10_000);
  });

  test('every tag that is opened is closed, at most 100 levels deep', () => {
    const tags = '<b> </b> <p> </p> <li> <ul> </ul> <td> <tr> <table> </table> <br> <x> <script> </script>';
    const piece = fc.constantFrom(' ', ...tags.split(' '), ...'text < > & </ <!-- --> /'.split(' '));
    const markup = fc.array(piece, { maxLength: 300 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(markup, fc.nat(3), (text, times) => {
        const { head } = boundedMarkup(text.repeat(times + 1));
        const open: string[] = [];
        for (const [, isClosing, name] of head.matchAll(/<(\/?)([a-z]+)[^>]*>/g)) {
          if (name === 'br') continue;
          if (isClosing === '/') expect(open.pop()).toBe(name);
          else open.push(name!);
          expect(open.length).toBeLessThanOrEqual(100);
        }
        expect(open).toEqual([]);
      }),
      { numRuns: halfOf(300), seed: SEED },
    );
  });
});
