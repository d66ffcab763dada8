import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { halfOf, SEED } from '../../../test/seed.ts';
import { compileCss, MAX_CSS_LENGTH } from './custom-css.ts';

describe('the stylesheet of a shop', () => {
  test('is written anew, with each selector in the main part of the page', () => {
    expect(
      compileCss(`
        /* Quieter * headings */
        h2, .card:hover > h3 { color: var(--accent); Margin : 0 0 calc(1rem + 2 * .5em) }
        .posts li:nth-child(2n+1) ~ li{border:1px solid #0af;;}
        @media (min-width: 48rem) { .content { max-width:40rem; columns: 2 } }
        p{}
      `),
    ).toEqual({
      css:
        'main h2,main .card:hover > h3{color:var(--accent);margin:0 0 calc(1rem + 2 * .5em)}' +
        'main .posts li:nth-child(2n+1) ~ li{border:1px solid #0af}' +
        '@media (min-width:48rem){main .content{max-width:40rem;columns:2}}',
    });
    expect(compileCss('')).toEqual({ css: '' });
  });

  test.each([
    // Ends the element, or a rule.
    '</style><script>alert(1)</script>',
    'p{color:red}</style>',
    'p{color:red</style>}',
    'p{color:red}}body{display:none',
    'p{color:red',
    '}p{color:red}',
    '@media (min-width:1px){p{color:red}',
    '@media (min-width:1px){@media (min-width:1px){p{color:red}}}',
    '/* p{color:red}',
    '<!-- p{color:red} -->',
    // Loads something.
    '@import "https://evil.example/a.css";',
    '@import url(https://evil.example);p{color:red}',
    '@font-face{font-family:a;src:url(//evil.example/a)}',
    '@media print{p{color:red}}',
    '@supports (display:grid){p{color:red}}',
    'p{background:url(https://evil.example/a.png)}',
    'p{background-color:url(//evil.example)}',
    'p{background-color:u/**/rl(//evil.example)}x{color:calc(url(//evil.example))}',
    'p{width:calc(url(//evil.example))}',
    String.raw`p{background-color:\75rl(//evil.example)}`,
    String.raw`p{background-color:\000075 rl(//evil.example)}`,
    String.raw`\70{color:red}`,
    'p{background-color:ｕｒｌ(//evil.example)}',
    'p{background-color:image-set("//evil.example/a" 1x)}',
    'p{list-style-type:"a"}',
    'p{width:expression(alert(1))}',
    'p{behavior:red}',
    'p{-moz-binding:red}',
    'p{cursor:pointer}',
    // Tells what is typed.
    'input[value^="a"]{color:red}',
    'a[href]{color:red}',
    'p:has(a){color:red}',
    'p:not(a){color:red}',
    'a:visited{color:red}',
    'p::first-letter{color:red}',
    // Lies over other parts, or writes text.
    'p{position:fixed}',
    'p{z-index:9}',
    'p{inset:0}',
    'p{transform:scale(9)}',
    'p{pointer-events:none}',
    'p::before{content:red}',
    'p:before{color:red}',
    'p{animation:a 1s}',
    'p{filter:none}',
    'p{all:unset}',
    'p{--accent:red}',
    'p{color:var(--other)}',
    'p{color:red!important}',
    'p{width:99999999px}',
    // Leaves the scope.
    '> p{color:red}',
    '~ footer{color:red}',
    ',p{color:red}',
    'p,{color:red}',
    '{color:red}',
    '#page{color:red}',
    ':root{color:red}',
    '&{color:red}',
    'p{a{color:red}}',
    'p{color:rgb(1,2}',
    'p{color:)rgb(}',
    'p{:red}',
    'p{color}',
    'p{color:}',
    'p{color:red}\0',
    'p{color:\u00a0ｒed}',
    'a'.repeat(MAX_CSS_LENGTH + 1),
  ])('%j is refused', (text) => {
    expect(compileCss(text)).toEqual({ problem: expect.objectContaining({ line: 1 }) });
  });

  test('says what is not possible, and in which line', () => {
    expect(compileCss('/* a\n b */\np { color: red;\n  position: fixed; }')).toEqual({
      problem: { line: 4, text: 'position: fixed; }' },
    });
  });

  test('never sends what could end its element or load anything', () => {
    const part = fc.constantFrom(
      ...'p|.a|{|}|;|:|,|(|)|color|url|var|--accent|red|/*|*/|@media|(min-width:1px)|<|/|>|\\|"|\'|#fff|1px| |\n|!|['.split(
        '|',
      ),
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 30 }).map((parts) => parts.join('')),
        (text) => {
          const compiled = compileCss(text);
          if ('problem' in compiled) return;
          expect(compiled.css).not.toMatch(/[<\\"'![\]]|url\(|@(?!media \(m)|\/\*|content|position/);
          // What was sent is understood, and in the scope.
          for (const [, selector] of compiled.css.matchAll(/(?:^|[,{}])([^{},@]*)(?=\{)/g))
            expect(selector === '' || selector!.startsWith('main ')).toBe(true);
        },
      ),
      { numRuns: halfOf(2_000), seed: SEED },
    );
  });

  test('takes time in proportion to its length', () => {
    for (const piece of [
      'a',
      '(',
      'a ',
      '.a',
      ':hover',
      '/*',
      '*/',
      'p{color:red}',
      '1',
      '-a',
      ' ',
      'calc(',
    ]) {
      const began = performance.now();
      compileCss(piece.repeat(MAX_CSS_LENGTH / piece.length));
      compileCss(`p{color:${piece.repeat((MAX_CSS_LENGTH - 20) / piece.length)}}`);
      expect(performance.now() - began).toBeLessThan(100);
    }
  });
});
